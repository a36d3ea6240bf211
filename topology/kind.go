package topology

import (
	"time"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/layout"
	"github.com/cosim-go/cosim/topology/placeholder"
)

// A Role says what a kind may be used for.
type Role string

// The roles of a kind.
const (
	RoleVhost  Role = "vhost"
	RoleDevice Role = "device"
)

// A Kind is the recipe that turns a vhost or a device into a process. Built-in kinds
// are given to [Load] in [Options.Kinds]; template kinds come from the documents.
type Kind struct {
	Name       string
	Role       Role
	MaxDevices int // of a vhost kind
	Program    Path
	Params     []Param // in order of declaration
	TakesDisks bool    // vhost kinds always do

	// RegionsRequired and RegionsOnly are rules of a built-in kind: regions that
	// each device must have, and whether it may have no other.
	RegionsRequired []string
	RegionsOnly     bool

	// Check reports what the rules above cannot express. It sees one machine after
	// its expansion and is called once for each machine written, for each kind in it.
	// It may be nil.
	Check func(m *Machine, report func(diag.Diagnostic))

	Template *Template // nil for a built-in kind
	Pos      diag.Pos  // zero for a built-in kind
}

// DefaultMaxDevices is the number of devices that a vhost kind takes where it does not say.
const DefaultMaxDevices = 64

// A Template is what a kind written in YAML says about its process.
type Template struct {
	Args    []placeholder.Text
	Env     []TextVar // sorted by name
	Regions []Region
	Ready   Ready
	Attach  Attach
	Channel bool // device and vhost are joined by a socket pair
	Stop    Stop
}

// A TextVar is a variable of the environment with placeholders in its value.
type TextVar struct {
	Name  string
	Value placeholder.Text
}

// Ready says when a process is ready: when all that is given holds. Nothing given
// means that it was executed.
type Ready struct {
	Socket, File, Log placeholder.Text // empty texts are not given
	Exec              []placeholder.Text
}

// Attach is what a device adds to its vhost's command line.
type Attach struct {
	Args     []placeholder.Text
	VFIOUser bool // the short form "vfio-user"; Args is empty then
}

// Stop says how a process is asked to leave.
type Stop struct {
	Signal string        // without SIG, such as "TERM"
	Grace  time.Duration // before it is killed
}

// DefaultStop is how a process is stopped that says nothing else.
var DefaultStop = Stop{Signal: "TERM", Grace: 5 * time.Second}

// A ParamType is the type of a kind's parameter.
type ParamType string

// The types of params, and the Go types of their values.
const (
	TypeString   ParamType = "string"   // string
	TypeStrings  ParamType = "strings"  // []string
	TypeInt      ParamType = "int"      // int64
	TypeSize     ParamType = "size"     // layout.Size
	TypeBool     ParamType = "bool"     // bool
	TypeEnum     ParamType = "enum"     // string
	TypePath     ParamType = "path"     // string, a resource path
	TypeDuration ParamType = "duration" // time.Duration
	TypeMapping  ParamType = "mapping"  // json.RawMessage, an object; built-in kinds only
)

// A Param declares one parameter of a kind.
type Param struct {
	Name       string
	Type       ParamType
	Doc        string // one sentence, for built-in kinds
	Default    any    // nil where Required, or where absence means something of its own
	Required   bool
	Min, Max   *int64 // inclusive; in bytes for a size, in nanoseconds for a duration
	MultipleOf int64  // 0 means any
	Values     []string
	Pos        diag.Pos
}

// Params are the values of a process's parameters: those written, with the defaults
// of the kind behind them.
type Params struct {
	kind  *Kind
	given []ParamValue
}

// A ParamValue is one parameter as written.
type ParamValue struct {
	Name  string
	Value any // of the Go type that belongs to its ParamType
	Pos   diag.Pos
}

// NewParams joins the values written for a kind with its defaults. It keeps given.
func NewParams(kind *Kind, given []ParamValue) Params { return Params{kind, given} }

// Given returns the value written for a name, and where.
func (p Params) Given(name string) (ParamValue, bool) {
	for _, v := range p.given {
		if v.Name == name {
			return v, true
		}
	}
	return ParamValue{}, false
}

// Value returns the value of a name, written or default, and nil where there is neither.
func (p Params) Value(name string) any {
	if v, ok := p.Given(name); ok {
		return v.Value
	}
	if p.kind != nil {
		for i := range p.kind.Params {
			if p.kind.Params[i].Name == name {
				return p.kind.Params[i].Default
			}
		}
	}
	return nil
}

// String returns the value of a string, enum or path, and "" where there is none.
func (p Params) String(name string) string { s, _ := p.Value(name).(string); return s }

// Strings returns the value of strings, and nil where there is none.
func (p Params) Strings(name string) []string { s, _ := p.Value(name).([]string); return s }

// Int returns the value of an int, and 0 where there is none.
func (p Params) Int(name string) int64 { n, _ := p.Value(name).(int64); return n }

// Bool returns the value of a bool, and false where there is none.
func (p Params) Bool(name string) bool { b, _ := p.Value(name).(bool); return b }

// Size returns the value of a size, and 0 where there is none.
func (p Params) Size(name string) layout.Size { s, _ := p.Value(name).(layout.Size); return s }

// Param returns the declaration of a parameter, and nil where the kind has none of that name.
func (k *Kind) Param(name string) *Param {
	for i := range k.Params {
		if k.Params[i].Name == name {
			return &k.Params[i]
		}
	}
	return nil
}
