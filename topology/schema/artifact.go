package schema

// Artifact is a file that a recipe may build.
var Artifact = section(Section{
	Name:  "artifact",
	Doc:   "A file that a recipe may build.",
	Short: &Short{"path"},
	Fields: []Field{
		{Name: "path", Type: Path, Required: true, Doc: "The file."},
		{Name: "recipe", Type: Mapping, Section: "recipe", Doc: "How to build the file; absent means that it is the user's own."},
	},
})

// Image is an artifact that holds the content of a disk.
var Image = section(Section{
	Name:  "image",
	Doc:   "A file with the content of a disk, which a recipe may build.",
	Short: &Short{"path"},
	Fields: []Field{
		{Name: "path", Type: Path, Required: true, Doc: "The file."},
		{Name: "recipe", Type: Mapping, Section: "recipe", Doc: "How to build the file; absent means that it is the user's own."},
		{Name: "format", Type: Enum, Values: Formats, Doc: "The format of the file, which is never probed; may be absent where a disk that shows the image gives it."},
	},
})

// Recipe says how to build an artifact.
var Recipe = section(Section{
	Name: "recipe",
	Doc:  "How to build an artifact: a program, or `size` alone.",
	Fields: []Field{
		{Name: "program", Type: Program, Doc: "The program that writes the file named by COSIM_IMAGE; run without a shell."},
		{Name: "args", Type: Text, Shape: Sequence, Doc: "Arguments of the program."},
		{Name: "env", Type: Text, Shape: Map, Keys: Text, Doc: "Variables set on top of the inherited environment."},
		{Name: "dir", Type: Path, Doc: "Working directory of the program; absent means the workspace root."},
		{Name: "inputs", Type: Path, Shape: Sequence, Doc: "Files and directories whose change makes the artifact stale."},
		{Name: "timeout", Type: Duration, Default: "1h", Min: int64(MinDuration), Max: int64(MaxDuration), Doc: "How long the program may take."},
		{Name: "size", Type: Size, Doc: "Makes an empty, sparse disk of that size; stands alone."},
	},
})

// Disk is a block device of a vhost or of a device that takes disks.
var Disk = section(Section{
	Name: "disk",
	Doc:  "A block device of a vhost, or of a device whose kind takes disks.",
	Use:  true,
	Fields: []Field{
		{Name: "id", Type: Identifier, Required: true, Doc: "The name of the disk, unique in its machine."},
		{Name: "use", Type: Identifier, Doc: "The template that this disk is based on."},
		{Name: "path", Type: Path, Doc: "The file with its content; this or `image: true` is required."},
		{Name: "image", Type: Bool, Default: "false", Doc: "Shows the boot image of the machine's vhost."},
		{Name: "recipe", Type: Mapping, Section: "recipe", Doc: "How to build the file named by `path`."},
		{Name: "format", Type: Enum, Values: Formats, Doc: "The format of the file, which is never probed; required unless the image gives it."},
		{Name: "mode", Type: Enum, Values: DiskModes, Default: "overlay", Doc: "Whether writes go to a layer of the session, are thrown away, or go to the file itself."},
		{Name: "readonly", Type: Bool, Default: "false", Doc: "The guest cannot write."},
		{Name: "size", Type: Size, Doc: "Makes the overlay larger than the file."},
		{Name: "bus", Type: Enum, Values: append(VhostBuses[:len(VhostBuses):len(VhostBuses)], DeviceBuses...), Doc: "How it is attached: `virtio` (default), `nvme` or `ide` on a vhost, `drive` (default) or `scsi` on a device."},
	},
})
