package schema

// Document is a whole file.
var Document = section(Section{
	Name: "document",
	Doc:  "A topology file.",
	Fields: []Field{
		{Name: "version", Type: Integer, Required: true, Min: Version, Max: Version, Doc: "The version of the format."},
		{Name: "imports", Type: Import, Shape: Sequence, Doc: "Files whose templates and kinds this one needs, relative to it or to the resources directory."},
		{Name: "templates", Type: Template, Shape: Map, Keys: Identifier, Doc: "Named mappings that `use` merges into machines, vhosts, devices and disks."},
		{Name: "kinds", Type: Mapping, Shape: Map, Keys: Identifier, Section: "kind", Doc: "Kinds defined in this file, by name."},
		{Name: "machines", Type: Mapping, Shape: Sequence, Section: "machine", Doc: "The machines; only those of the top-level document are run."},
	},
})

// Machine is one simulated computer, or several with `count`.
var Machine = section(Section{
	Name: "machine",
	Doc:  "One simulated computer, or several with `count`.",
	Use:  true,
	Fields: []Field{
		{Name: "id", Type: Identifier, Required: true, Doc: "The name of the machine; with `count`, its stem."},
		{Name: "use", Type: Identifier, Doc: "The template that this machine is based on."},
		{Name: "count", Type: Integer, Min: 1, Max: MaxMachines, Doc: "Makes that many machines, numbered from 0; absent means one with the `id` as written."},
		{Name: "vhost", Type: Mapping, Section: "vhost", Required: true, Doc: "The simulator that runs the CPU and the guest."},
		{Name: "devices", Type: Mapping, Shape: Sequence, Section: "device", Doc: "What the vhost sees on its bus, in this order."},
		{Name: "placement", Type: Mapping, Section: "placement", Doc: "Where the machine runs; absent means this host."},
	},
})

// Placement is where a machine runs.
var Placement = section(Section{
	Name: "placement",
	Doc:  "Where a machine runs.",
	Fields: []Field{
		{Name: "agent", Type: Identifier, Default: "local", Doc: "The host that runs the machine; `local` is this one."},
	},
})
