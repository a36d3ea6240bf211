package schema

// Device is what a vhost sees on its bus, or several with `count`.
var Device = section(Section{
	Name: "device",
	Doc:  "What a vhost sees on its bus, or several with `count`.",
	Use:  true,
	Fields: []Field{
		{Name: "id", Type: Identifier, Doc: "The name of the device, with `count` its stem; absent means the name in `use`, else in `kind`, and a number."},
		{Name: "use", Type: Identifier, Doc: "The template that this device is based on."},
		{Name: "kind", Type: Identifier, Required: true, Doc: "The kind that turns it into a process; its role is `device`."},
		{Name: "count", Type: Integer, Min: 1, Max: MaxDevices, Doc: "Makes that many devices, numbered from 0."},
		{Name: "program", Type: Program, Doc: "The executable; absent means that of the kind."},
		{Name: "args", Type: Text, Shape: Sequence, Doc: "Arguments passed on verbatim, behind those of the kind."},
		{Name: "env", Type: Text, Shape: Map, Keys: Text, Doc: "Variables set on top of the inherited environment, over those of the kind."},
		{Name: "params", Type: Any, Shape: Map, Keys: Identifier, Doc: "Parameters of the kind."},
		{Name: "timeout", Type: Duration, Default: "120s", Min: int64(MinDuration), Max: int64(MaxDuration), Doc: "How long the process may take to become ready."},
		{Name: "disks", Type: Mapping, Shape: Sequence, Section: "disk", Doc: "Disks of the device, where its kind takes them."},
		{Name: "regions", Type: Mapping, Shape: Map, Keys: Identifier, Section: "region", Doc: "Shared-memory regions by name, in this order, behind those of the kind."},
	},
})

// Region is a range of shared memory.
var Region = section(Section{
	Name:  "region",
	Doc:   "A range of shared memory.",
	Short: &Short{"size"},
	Fields: []Field{
		{Name: "size", Type: Size, Required: true, Doc: "A whole multiple of the page size."},
		{Name: "align", Type: Size, Doc: "A power of two of at least one page; absent means 2M, or one page where that is larger."},
	},
})
