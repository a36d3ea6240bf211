package frame

// An Attribution says whose doing an error or a log message is. Nothing in this package makes
// one up: a frame that has none, or an unknown one, reads as such.
type Attribution uint8

// The attribution classes.
const (
	NoAttribution          Attribution = iota // none was given, or an unknown one
	AttributionInput                          // follows from the input alone: trying again never helps
	AttributionResource                       // memory, accelerator or disk is exhausted
	AttributionEnvironment                    // network, registry, deployment, or a dead process
	AttributionInternal                       // a defect of engine or cartridge, or unclassified at its source
	AttributionUser                           // the operator ended it

	numAttributions
)

var attributionNames = [numAttributions]string{"", "input", "resource", "environment", "internal", "user"}

// String returns the class as it is written in meta, such as environment; nothing for none.
func (a Attribution) String() string {
	if a < numAttributions {
		return attributionNames[a]
	}
	return ""
}

// ParseAttribution returns the class with that name, and false for an unknown or empty name.
func ParseAttribution(name []byte) (Attribution, bool) {
	for a, known := range attributionNames {
		if string(name) == known && known != "" {
			return Attribution(a), true
		}
	}
	return NoAttribution, false
}

// Keys of meta that several types have.
const (
	metaAttribution = "attribution_class"
	metaArgURN      = "arg_urn"
	metaCode        = "code"
	metaMessage     = "message"
	metaProgress    = "progress"
	metaManifest    = "manifest"
	metaPools       = "pools"
	metaCapacity    = "handler_capacity"
)

// class returns the class in a value, [NoAttribution] for anything else.
func (v Value) class() Attribution {
	name, _ := v.Text()
	a, _ := ParseAttribution(name)
	return a
}

// argURN returns the URN of an argument, nil when there is none. One that is there and is no
// text, or is blank, is a protocol violation.
func (v Value) argURN(t Type) ([]byte, error) {
	if v.Kind() == NoValue {
		return nil, nil
	}
	urn := v.notBlank()
	if urn == nil {
		return nil, Errorf(ErrProtocol, "%v frame: meta %q is no text or blank", t, metaArgURN)
	}
	return urn, nil
}
