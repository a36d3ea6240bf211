package schema

// Vhost is the simulator that runs a machine's CPU and guest.
var Vhost = section(Section{
	Name: "vhost",
	Doc:  "The simulator that runs a machine's CPU and guest.",
	Use:  true,
	Fields: []Field{
		{Name: "use", Type: Identifier, Doc: "The template that this vhost is based on."},
		{Name: "kind", Type: Identifier, Required: true, Doc: "The kind that turns it into a process; its role is `vhost`."},
		{Name: "memory", Type: Size, Required: true, Doc: "Guest memory, the first region of the machine's pool."},
		{Name: "cpus", Type: Integer, Default: "1", Min: 1, Max: MaxCPUs, Doc: "Number of CPUs of the guest."},
		{Name: "program", Type: Program, Doc: "The executable; absent means that of the kind."},
		{Name: "image", Type: Mapping, Section: "image", Doc: "The boot image."},
		{Name: "boot", Type: Mapping, Section: "boot", Doc: "Direct boot of a kernel, and firmware."},
		{Name: "disks", Type: Mapping, Shape: Sequence, Section: "disk", Doc: "Disks of the guest; without any, a vhost with an `image` gets one for it, `{id: boot, image: true}`."},
		{Name: "args", Type: Text, Shape: Sequence, Doc: "Arguments passed on verbatim, behind all others."},
		{Name: "env", Type: Text, Shape: Map, Keys: Text, Doc: "Variables set on top of the inherited environment."},
		{Name: "params", Type: Any, Shape: Map, Keys: Identifier, Doc: "Parameters of the kind."},
		{Name: "timeout", Type: Duration, Default: "120s", Min: int64(MinDuration), Max: int64(MaxDuration), Doc: "How long the process may take to become ready."},
		{Name: "expect", Type: Mapping, Section: "expect", Doc: "The guest's verdict on its serial log (of a template kind: the process's log)."},
	},
})

// Boot is a direct boot.
var Boot = section(Section{
	Name: "boot",
	Doc:  "Direct boot of a kernel, and firmware.",
	Fields: []Field{
		{Name: "kernel", Type: Mapping, Section: "artifact", Doc: "The kernel to boot."},
		{Name: "initrd", Type: Mapping, Section: "artifact", Doc: "The initial RAM disk; needs `kernel`."},
		{Name: "append", Type: Text, Doc: "The kernel's command line; needs `kernel`."},
		{Name: "firmware", Type: Mapping, Section: "artifact", Doc: "The firmware to start instead of the simulator's own."},
	},
})

// Expect is the guest's verdict.
var Expect = section(Section{
	Name: "expect",
	Doc:  "The guest's verdict, matched line by line.",
	Fields: []Field{
		{Name: "pass", Type: Regexp, Doc: "A line that must appear before the vhost ends, whatever its exit status."},
		{Name: "fail", Type: Regexp, Doc: "A line that ends the session as failed."},
	},
})
