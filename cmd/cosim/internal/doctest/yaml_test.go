package doctest

import (
	"encoding/json"
	"regexp"
	"strconv"
	"testing"

	"gopkg.in/yaml.v3"
)

// jsonOf gives a document as an editor sees it, with scalars read as YAML 1.2 has them
// (section 10.3.2). The parser's own types are those of YAML 1.1 in part.
func jsonOf(t *testing.T, text string) any {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	if len(document.Content) == 0 {
		return nil
	}
	return plainValue(document.Content[0])
}

func plainValue(n *yaml.Node) any {
	switch n.Kind {
	case yaml.AliasNode:
		return plainValue(n.Alias)
	case yaml.SequenceNode:
		items := []any{}
		for _, item := range n.Content {
			items = append(items, plainValue(item))
		}
		return items
	case yaml.MappingNode:
		return plainMapping(n)
	}
	return plainScalar(n)
}

func plainMapping(n *yaml.Node) map[string]any {
	fields := map[string]any{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Tag == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		fields[key.Value] = plainValue(value)
	}
	for _, m := range merged {
		sources, ok := plainValue(m).([]any)
		if !ok {
			sources = []any{plainValue(m)}
		}
		for _, source := range sources {
			for key, value := range source.(map[string]any) {
				if _, own := fields[key]; !own {
					fields[key] = value
				}
			}
		}
	}
	return fields
}

var (
	integer = regexp.MustCompile(`^([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$`)
	float   = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
)

func plainScalar(n *yaml.Node) any {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	tagged := n.Style&yaml.TaggedStyle != 0
	if tagged && n.Tag == "!!str" || !tagged && n.Style&quoted != 0 {
		return n.Value
	}
	switch s := n.Value; {
	case s == "" || s == "~" || s == "null" || s == "Null" || s == "NULL":
		return nil
	case s == "true" || s == "True" || s == "TRUE":
		return true
	case s == "false" || s == "False" || s == "FALSE":
		return false
	case integer.MatchString(s) && s[:1] == "0" && len(s) > 1 && (s[1] == 'x' || s[1] == 'o'):
		v, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			return 1e30 // too large for any field
		}
		return json.Number(strconv.FormatUint(v, 10))
	case integer.MatchString(s):
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return 1e30
		}
		return json.Number(strconv.FormatInt(v, 10))
	case float.MatchString(s):
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return 1e300
		}
		return v
	default:
		return s
	}
}
