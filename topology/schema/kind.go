package schema

// Kind says how a vhost or a device becomes a process.
var Kind = section(Section{
	Name: "kind",
	Doc:  "How a vhost or a device becomes a process.",
	Fields: []Field{
		{Name: "role", Type: Enum, Values: Roles, Required: true, Doc: "What the kind may be used for."},
		{Name: "program", Type: Program, Required: true, Doc: "The executable, where the entry names none."},
		{Name: "max_devices", Type: Integer, Role: "vhost", Default: "64", Min: 1, Max: MaxDevices, Doc: "How many devices a machine with such a vhost may have."},
		{Name: "args", Type: Placeholder, Shape: Sequence, Doc: "Arguments of the program, before the entry's own."},
		{Name: "env", Type: Placeholder, Shape: Map, Keys: Text, Doc: "Variables set on top of the inherited environment."},
		{Name: "params", Type: Mapping, Shape: Map, Keys: Identifier, Section: "param", Doc: "Parameters by name."},
		{Name: "regions", Type: Mapping, Shape: Map, Keys: Identifier, Section: "region", Role: "device", Doc: "Shared-memory regions of each device, which its entry may replace one by one."},
		{Name: "ready", Type: Mapping, Section: "ready", Values: []string{ReadyNone}, Doc: "When the process is ready; `none`, the default, means that it was executed."},
		{Name: "attach", Type: Placeholder, Shape: Sequence, Role: "device", Values: []string{AttachShort}, Doc: "Arguments that each device adds to its vhost's command line, or `vfio-user`."},
		{Name: "channel", Type: Bool, Role: "device", Default: "false", Doc: "Joins the device and its vhost by a socket pair."},
		{Name: "stop", Type: Mapping, Section: "stop", Doc: "How the process is asked to leave."},
	},
})

// Param declares one parameter of a kind.
var Param = section(Section{
	Name: "param",
	Doc:  "A parameter of a kind.",
	Fields: []Field{
		{Name: "type", Type: Enum, Values: ParamTypes, Required: true, Doc: "The type of its values."},
		{Name: "default", Type: Any, Doc: "The value where none is given; a parameter without it is required."},
		{Name: "min", Type: Any, Doc: "The least value of an `int`, `size` or `duration`."},
		{Name: "max", Type: Any, Doc: "The greatest value of an `int`, `size` or `duration`."},
		{Name: "values", Type: String, Shape: Sequence, Doc: "The legal values of an `enum`, which requires them."},
	},
})

// Ready says when a process is ready.
var Ready = section(Section{
	Name: "ready",
	Doc:  "When a process is ready: when everything that is given holds.",
	Fields: []Field{
		{Name: "socket", Type: Placeholder, Doc: "There is a socket at this path; it is never connected to."},
		{Name: "file", Type: Placeholder, Doc: "There is a file at this path."},
		{Name: "log", Type: Placeholder, Doc: "A regular expression (RE2) that matches a line the process wrote."},
		{Name: "exec", Type: Placeholder, Shape: Sequence, Doc: "A command that exits with 0."},
	},
})

// Stop says how a process is asked to leave.
var Stop = section(Section{
	Name: "stop",
	Doc:  "How a process is asked to leave.",
	Fields: []Field{
		{Name: "signal", Type: Enum, Values: StopSignals, Default: "TERM", Doc: "The signal, without SIG."},
		{Name: "grace", Type: Duration, Default: "5s", Min: int64(MinDuration), Max: int64(MaxDuration), Doc: "How long the process may take before it is killed."},
	},
})
