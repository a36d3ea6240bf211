package caps

import "slices"

// Dispatchable reports whether a provider can serve a request: it takes what the request sends,
// gives what the request wants, has its effect, and its tags are what the request asks for. More
// tags than those are no hindrance. A provider that does not say what it gives serves nobody who
// wants something particular.
func Dispatchable(provider, request *Cap) bool {
	return (request.effect == EffectOpen || provider.effect == request.effect) &&
		conform(provider.tags, request.tags) &&
		(request.in.IsTop() || request.in.Conforms(provider.in)) &&
		(request.out.IsTop() || !provider.out.IsTop() && provider.out.Conforms(request.out))
}

// Accepts reports whether c, as a pattern, covers another cap as an instance of it.
func (c *Cap) Accepts(instance *Cap) bool {
	return (c.effect == EffectOpen || c.effect == instance.effect) &&
		conform(instance.tags, c.tags) &&
		instance.in.Conforms(c.in) &&
		(c.out.IsTop() || c.out.Conforms(instance.out))
}

// Equivalent reports whether each accepts the other; see [URN.Equivalent]. Caps are the same only
// when their texts are.
func (c *Cap) Equivalent(other *Cap) bool { return c.Accepts(other) && other.Accepts(c) }

// HasIdentity reports whether some cap of a table accepts [Identity].
func HasIdentity(table []*Cap) bool {
	return slices.ContainsFunc(table, func(c *Cap) bool { return c.Accepts(identity) })
}
