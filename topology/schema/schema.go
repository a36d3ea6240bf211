// Package schema describes topology documents as they are written: every section with
// its fields, their types, defaults, limits and legal values, and every diagnostic code.
//
// The loader takes its checks for unknown and missing fields from these tables, and the
// field reference, the JSON Schema and the list of codes are made from or compared with
// them, so that none can drift from what the loader does. [Sections] lists all sections,
// [Lookup] finds one by name, [Codes] lists the codes. The tables must not be changed.
package schema

// A Type is what a field holds, as far as the document alone can tell.
type Type string

// The types of fields. All but Integer, Bool, Size, Text, Mapping and Any must be
// strings; a plain scalar that YAML 1.2 reads as null, bool or number has to be quoted.
const (
	Identifier  Type = "identifier"  // 1 to 48 letters, digits, underscores or hyphens
	String      Type = "string"      // any text
	Text        Type = "text"        // a string, or a number or bool, which counts as the text written
	Integer     Type = "integer"     // decimal, or 0x and hexadecimal digits
	Bool        Type = "bool"        // true or false
	Size        Type = "size"        // bytes as an integer, or digits and a binary unit
	Duration    Type = "duration"    // in Go's form, such as 90s
	Path        Type = "path"        // a resource path
	Program     Type = "program"     // a resource path with a slash, or a name looked up in PATH
	Regexp      Type = "regexp"      // RE2
	Enum        Type = "enum"        // one of Values
	Import      Type = "import"      // path of a document, optionally followed by #templates
	Placeholder Type = "placeholder" // a Text with placeholders
	Mapping     Type = "mapping"     // the section named by Section
	Template    Type = "template"    // a mapping with any fields of one of the sections that take `use`
	Any         Type = "any"         // what the kind's declaration of the parameter says
)

// A Shape says how many values of its type a field holds.
type Shape string

// The shapes. The zero value is a single value.
const (
	One      Shape = ""
	Sequence Shape = "sequence" // of values
	Map      Shape = "map"      // from names to values; Keys says what a name is
)

// A Field is one key of a section.
type Field struct {
	Name     string
	Type     Type
	Shape    Shape
	Section  string   // name of the section, where Type is Mapping
	Keys     Type     // of a Map: Identifier or Text
	Required bool     // after the merge of templates
	Default  string   // as it would be written; empty where absence means absence
	Min, Max int64    // inclusive, both 0 without limits; nanoseconds for a Duration
	Values   []string // of an Enum; the words that stand for the whole value elsewhere
	Role     string   // of a kind's field: the one role that has it, "" for both
	Doc      string   // one sentence, without markup apart from backquotes
}

// A Short is the short form of a section: a scalar that stands for a mapping with one field.
type Short struct {
	Field string // what the scalar is the value of
}

// A Section is a mapping with fixed keys.
type Section struct {
	Name   string // also how messages call it: unknown field "memroy" in vhost
	Doc    string // one sentence
	Use    bool   // takes `use`
	Short  *Short // nil where there is no short form
	Fields []Field

	index map[string]int
}

// Sections lists every section, the document first.
var Sections = []*Section{
	Document, Machine, Placement, Vhost, Boot, Expect, Artifact, Image, Recipe, Disk,
	Device, Region, Kind, Param, Ready, Stop,
}

// Lookup finds a section by name, and gives nil where there is none.
func Lookup(name string) *Section {
	for _, s := range Sections {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Field finds a field by name, and gives nil where the section has none of that name.
func (s *Section) Field(name string) *Field {
	if i := s.Index(name); i >= 0 {
		return &s.Fields[i]
	}
	return nil
}

// Index gives the position of a field in Fields, and -1 where the section has none of
// that name.
func (s *Section) Index(name string) int {
	if i, ok := s.index[name]; ok {
		return i
	}
	return -1
}

// Names lists the fields in the order of Fields.
func (s *Section) Names() []string {
	names := make([]string, len(s.Fields))
	for i := range s.Fields {
		names[i] = s.Fields[i].Name
	}
	return names
}

// Users lists the sections that take `use`, the largest first.
func Users() []*Section { return []*Section{Machine, Vhost, Device, Disk} }

func section(s Section) *Section {
	s.index = make(map[string]int, len(s.Fields))
	for i := range s.Fields {
		s.index[s.Fields[i].Name] = i
	}
	return &s
}
