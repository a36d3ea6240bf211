package source

import "gopkg.in/yaml.v3"

// A merge key is a plain `<<`: https://yaml.org/type/merge.html.
func isMergeKey(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "<<" && plain(n) && n.Style&yaml.TaggedStyle == 0
}

func hasMerge(n *yaml.Node) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if isMergeKey(n.Content[i]) {
			return true
		}
	}
	return false
}

// flatten gives the entries of a mapping with its merge keys resolved: its own keys win
// over merged ones, earlier sources over later ones. Names in taken are left out.
func (v Value) flatten(taken map[string]bool) []Entry {
	if v.shared && !v.file.budget.Spend(v.Len()+len(taken), v) {
		return nil
	}
	own := make(map[string]bool, v.Len())
	for name := range taken {
		own[name] = true
	}
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		if e, ok := v.entry(i); ok && !isMergeKey(v.node.Content[i]) {
			own[e.Name] = true
		}
	}
	var entries []Entry
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		e, ok := v.entry(i)
		switch {
		case !ok:
		case isMergeKey(v.node.Content[i]):
			entries = append(entries, e.Value.sources(own)...)
		case !taken[e.Name]:
			entries = append(entries, e)
		}
	}
	return entries
}

// sources gives what the value of a merge key brings in, and adds its names to taken.
func (v Value) sources(taken map[string]bool) []Entry {
	if v.IsMapping() {
		entries := v.flatten(taken)
		for _, e := range entries {
			taken[e.Name] = true
		}
		return entries
	}
	var entries []Entry
	for i := range v.Items() {
		if source := v.Item(i); source.IsMapping() {
			entries = append(entries, source.sources(taken)...)
		}
	}
	return entries
}

// validMerge reports whether n is what a merge key may name.
func validMerge(n *yaml.Node) bool {
	n = resolved(n)
	if n.Kind != yaml.SequenceNode {
		return n.Kind == yaml.MappingNode
	}
	for _, item := range n.Content {
		if resolved(item).Kind != yaml.MappingNode {
			return false
		}
	}
	return true
}
