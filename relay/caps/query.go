package caps

// Conditions and exclusions that are looked at, and terms of a condition: more would narrow down
// little.
const (
	mostConditions = 4
	mostTerms      = 16
	mostExclusions = 4
)

// A condition holds for the caps that have one of some terms.
type condition struct {
	terms [mostTerms]int32
	n     int // of them; more than mostTerms when there is no room for all
	size  int // how many caps may meet it
}

// A query is conditions that all caps meet that are wanted, and some others: those conditions that
// the fewest meet, by rising size. No cap is wanted that has one of the excluded terms.
type query struct {
	index      *Index
	conditions [mostConditions]condition
	n          int
	excluded   [mostExclusions]int32
	exclusions int
	hopeless   bool // no cap meets all
}

// dispatch adds the conditions for caps that are dispatchable for a request.
func (q *query) dispatch(request *Cap) {
	if request.effect != EffectOpen {
		q.effect(request.effect)
	}
	if !request.in.IsTop() {
		q.takes(request.in)
	}
	q.demand(tagOfKey, request.tags)
	q.demand(outOfKey, request.out.urn.tags)
	q.exclude(tagOfKey, request.tags)
	q.exclude(outOfKey, request.out.urn.tags)
}

// equivalent adds the conditions for caps that are equivalent to one. When that one takes
// anything, so do they: what they demand of their input is met by a media URN without tags.
func (q *query) equivalent(c *Cap) {
	q.effect(c.effect)
	q.takes(c.in)
	q.demand(tagOfKey, c.tags)
	q.demand(outOfKey, c.out.urn.tags, term{what: outIsTop})
}

func (q *query) effect(e Effect) {
	var c condition
	q.alternative(&c, term{what: hasEffect, value: e.String()})
	q.add(&c)
}

// takes adds the condition for caps that take an instance as their input.
func (q *query) takes(instance Media) {
	var c condition
	q.alternative(&c, term{what: inOfNone})
	tags := instance.urn.tags
	for i := range tags {
		t := &tags[i]
		switch {
		case t.Form == FormExactly:
			q.alternative(&c, t.value(inOfKey))
			q.alternative(&c, t.others(inOfKey))
		case t.Form.supplies():
			q.alternative(&c, t.wide(inOfKey))
		}
		if t.Form.demands() {
			q.without(term{what: inExcludes, key: t.Key})
		}
	}
	q.add(&c)
}

// demand adds the conditions for caps whose tags, or those of out, are instances of a pattern, or
// that have some other term instead.
func (q *query) demand(of trait, pattern []Tag, instead ...term) {
	for i := range pattern {
		var c condition
		switch t := &pattern[i]; {
		case t.Form == FormExactly:
			q.alternative(&c, t.value(of))
			q.alternative(&c, t.others(of))
		case t.Form.demands():
			q.alternative(&c, t.wide(of))
			q.alternative(&c, t.wide(of+ofOpen))
		default:
			continue
		}
		for _, t := range instead {
			q.alternative(&c, t)
		}
		q.add(&c)
	}
}

// exclude excludes what caps cannot have whose tags, or those of out, are instances of a pattern.
func (q *query) exclude(of trait, pattern []Tag) {
	for i := range pattern {
		switch t := &pattern[i]; t.Form {
		case FormAbsent:
			q.without(t.wide(of))
		case FormAbsentOrNot, FormPresentNot:
			q.without(t.value(of))
		}
	}
}

// without excludes a term, as long as there is room.
func (q *query) without(t term) {
	if n, there := q.index.terms[t]; there && q.exclusions < mostExclusions {
		q.excluded[q.exclusions] = n
		q.exclusions++
	}
}

// alternative adds a term to a condition, unless no cap has it.
func (q *query) alternative(c *condition, t term) {
	n, there := q.index.terms[t]
	if !there {
		return
	}
	if c.n < mostTerms {
		c.terms[c.n] = n
	}
	c.n++
	c.size += len(q.index.registered.with.list(n))
}

// add adds a condition, if it is new and among the best.
func (q *query) add(c *condition) {
	for i := range q.conditions[:q.n] {
		if q.conditions[i] == *c {
			return
		}
	}
	switch {
	case c.size == 0:
		q.hopeless = true
		return
	case c.n > mostTerms:
		return
	case q.n < mostConditions:
		q.n++
	case q.conditions[q.n-1].size <= c.size:
		return
	}
	at := q.n - 1
	for ; at > 0 && q.conditions[at-1].size > c.size; at-- {
		q.conditions[at] = q.conditions[at-1]
	}
	q.conditions[at] = *c
}
