package schema

// The codes of diagnostics. A code stays once it is published.
const (
	FileNotFound   = "file-not-found"
	FileUnreadable = "file-unreadable"
	FileTooLarge   = "file-too-large"
	FileEmpty      = "file-empty"
	Encoding       = "encoding"
	YAMLSyntax     = "yaml-syntax"
	TabIndent      = "tab-indent"
	SecondDocument = "second-document"
	DuplicateKey   = "duplicate-key"
	BadKey         = "bad-key"
	BadTag         = "bad-tag"
	BadMerge       = "bad-merge"
	TooDeep        = "too-deep"
	AliasCycle     = "alias-cycle"
	TooManyNodes   = "too-many-nodes"
	TooMany        = "too-many-problems"

	BadVersion     = "bad-version"
	BadImport      = "bad-import"
	ImportNotFound = "import-not-found"
	ImportCycle    = "import-cycle"

	UnknownField = "unknown-field"
	MissingField = "missing-field"
	WrongType    = "wrong-type"
	NullItem     = "null-item"

	UnknownTemplate   = "unknown-template"
	TemplateCycle     = "template-cycle"
	DuplicateTemplate = "duplicate-template"
	UnknownKind       = "unknown-kind"
	WrongRole         = "wrong-role"
	DuplicateKind     = "duplicate-kind"

	NeedsQuotes   = "needs-quotes"
	BadIdentifier = "bad-identifier"
	BadInteger    = "bad-integer"
	OutOfRange    = "out-of-range"
	BadSize       = "bad-size"
	BadDuration   = "bad-duration"
	UnknownValue  = "unknown-value"
	BadPath       = "bad-path"
	BadRegexp     = "bad-regexp"
	BadText       = "bad-text"
	BadEnvName    = "bad-env-name"

	ReservedIdentifier = "reserved-identifier"
	DuplicateID        = "duplicate-id"
	CaseClash          = "case-clash"
	TooManyMachines    = "too-many-machines"
	TooManyDevices     = "too-many-devices"

	BootNeedsKernel = "boot-needs-kernel"
	BadRecipe       = "bad-recipe"
	RecipeConflict  = "recipe-conflict"
	BadDisk         = "bad-disk"
	NoImage         = "no-image"
	FormatConflict  = "format-conflict"
	DisksNotTaken   = "disks-not-taken"
	MissingDisk     = "missing-disk"

	UnknownParam       = "unknown-param"
	MissingParam       = "missing-param"
	BadParam           = "bad-param"
	UnknownRegion      = "unknown-region"
	MissingRegion      = "missing-region"
	BadPlaceholder     = "bad-placeholder"
	UnknownPlaceholder = "unknown-placeholder"
	AttachNotTaken     = "attach-not-taken"

	RegionSize   = "region-size"
	RegionAlign  = "region-align"
	PoolTooLarge = "pool-too-large"
	BadPageSize  = "bad-page-size"
)

// A Code is one code and what it says.
type Code struct {
	Name string
	Doc  string // one sentence
}

// Codes lists every code of the loader and of the layout.
var Codes = []Code{
	{FileNotFound, "The top-level document does not exist."},
	{FileUnreadable, "A document exists and cannot be read."},
	{FileTooLarge, "A document is larger than 64 MiB."},
	{FileEmpty, "A document holds nothing."},
	{Encoding, "A document is not UTF-8 text, or holds a character that YAML does not allow."},
	{YAMLSyntax, "A document is not YAML."},
	{TabIndent, "A line is indented with a tab."},
	{SecondDocument, "A file holds more than one YAML document."},
	{DuplicateKey, "A key appears twice in one mapping."},
	{BadKey, "A key of a mapping is not a scalar."},
	{BadTag, "A value has a tag that does not fit it, or that is not one of YAML's own."},
	{BadMerge, "A merge key `<<` does not name a mapping or a sequence of mappings."},
	{TooDeep, "Mappings and sequences are nested more than 64 levels deep."},
	{AliasCycle, "An alias stands inside the value that it names."},
	{TooManyNodes, "Aliases and templates multiply the document beyond what is read in one load."},
	{TooMany, "There are more problems than are kept; the rest is left out."},

	{BadVersion, "The version of a document is not 1."},
	{BadImport, "The text of an import is no path, or has a fragment other than `#templates`."},
	{ImportNotFound, "An imported file is nowhere to be found."},
	{ImportCycle, "A file imports itself, directly or through others."},

	{UnknownField, "A section has no field of this name."},
	{MissingField, "A required field is absent."},
	{WrongType, "A value has another type than its field."},
	{NullItem, "A sequence has a null in it."},

	{UnknownTemplate, "A `use` names a template that no document defines."},
	{TemplateCycle, "A template uses itself, directly or through others."},
	{DuplicateTemplate, "Two templates have the same name."},
	{UnknownKind, "A `kind` names a kind that does not exist."},
	{WrongRole, "A vhost names a kind for devices, or a device one for vhosts."},
	{DuplicateKind, "Two kinds have the same name."},

	{NeedsQuotes, "A plain scalar that YAML reads as number, bool or null stands where a string is needed."},
	{BadIdentifier, "A name is not 1 to 48 letters, digits, underscores or hyphens."},
	{BadInteger, "A value is not a decimal or hexadecimal integer."},
	{OutOfRange, "A value lies outside its limits."},
	{BadSize, "A value is not a size."},
	{BadDuration, "A value is not a duration."},
	{UnknownValue, "A value is not one of those that its field knows."},
	{BadPath, "A path is empty, or one of its elements is `..`."},
	{BadRegexp, "A regular expression does not compile (RE2)."},
	{BadText, "A text holds a NUL, which no argument, variable or path can."},
	{BadEnvName, "The name of an environment variable is empty or holds `=` or a NUL."},

	{ReservedIdentifier, "An identifier is reserved for the session's own files."},
	{DuplicateID, "Two machines, or two devices or disks of one machine, have the same identifier."},
	{CaseClash, "Two identifiers differ in case alone."},
	{TooManyMachines, "A topology has more than 4096 machines."},
	{TooManyDevices, "A machine has more devices than its vhost's kind takes."},

	{BootNeedsKernel, "A boot has `initrd` or `append` without `kernel`."},
	{BadRecipe, "A recipe has neither `program` nor `size`, both, or fields that do not go together."},
	{RecipeConflict, "One file has two different recipes."},
	{BadDisk, "Fields of a disk contradict each other."},
	{NoImage, "A disk shows the image of a vhost that has none."},
	{FormatConflict, "A disk gives its image another format than the image itself."},
	{DisksNotTaken, "A device has disks, and its kind takes none."},
	{MissingDisk, "A kind's text refers to a disk that the vhost or device does not have."},

	{UnknownParam, "A kind has no parameter of this name."},
	{MissingParam, "A required parameter is absent."},
	{BadParam, "The declaration of a parameter contradicts itself."},
	{UnknownRegion, "A device has a region that its kind has no use for."},
	{MissingRegion, "A device lacks a region that its kind needs."},
	{BadPlaceholder, "A placeholder is malformed, or stands where it has no value."},
	{UnknownPlaceholder, "There is no placeholder of this name."},
	{AttachNotTaken, "A device attaches something to a vhost whose kind has no place for it."},

	{RegionSize, "The size of a region or of guest memory is not a multiple of the page size."},
	{RegionAlign, "An alignment is not a power of two of at least one page."},
	{PoolTooLarge, "The pool of a machine would be larger than 2^63-1 bytes."},
	{BadPageSize, "The page size is not a power of two."},
}
