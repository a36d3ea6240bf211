package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// where tests are.
type where struct {
	module, packages string
	long             bool
}

func (c command) where() where { return where{c.module, c.packages, c.long} }

// baseline runs all tests of the mutants in the unbroken copy, and counts those that
// pass. Each has to be there and pass; where one is not, what is wrong stands in broken.
func (t *tree) baseline(ctx context.Context, list []mutant) (tests int, broken map[where]string, err error) {
	var order []where
	patterns := make(map[where][]string)
	for _, m := range list {
		w := m.test.where()
		if patterns[w] == nil {
			order = append(order, w)
		}
		if !slices.Contains(patterns[w], m.test.run) {
			patterns[w] = append(patterns[w], m.test.run)
		}
	}
	broken = make(map[where]string)
	for _, w := range order {
		o, err := goTest(ctx, t.dir, command{w.module, w.packages, strings.Join(patterns[w], "|"), w.long})
		if err != nil {
			return 0, nil, err
		}
		if problem := o.unfit(patterns[w]); problem != "" {
			broken[w] = problem
		}
		tests += len(o.passed)
	}
	return tests, broken, nil
}

// unfit says why a run without a mutant is no base to compare with.
func (o outcome) unfit(patterns []string) string {
	switch {
	case o.hung != "":
		return o.hung + " does not end"
	case o.red():
		return fmt.Sprintf("it fails without a mutant: %s\n%s", o.failed, o.output)
	}
	for _, pattern := range patterns {
		top, _, _ := strings.Cut(pattern, "/")
		if !slices.ContainsFunc(o.passed, regexp.MustCompile(top).MatchString) {
			return fmt.Sprintf("no test matches %q", pattern)
		}
	}
	return ""
}

// try breaks the copy, runs the mutant's tests, and restores the copy.
func (t *tree) try(ctx context.Context, m mutant) (verdict string, killed bool, err error) {
	restore, err := t.mutate(m)
	if err != nil {
		return fmt.Sprintf("ERROR: %s: %s: %v", m.what, m.file, err), false, nil
	}
	defer func() { err = errors.Join(err, restore()) }()
	start := time.Now()
	o, err := goTest(ctx, t.dir, m.test)
	if err != nil {
		return "", false, err
	}
	verdict, killed = o.verdict(m, since(start))
	return verdict, killed, nil
}

// verdict is the line about a mutant, behind its ID.
func (o outcome) verdict(m mutant, took string) (string, bool) {
	switch {
	case o.noBuild:
		return fmt.Sprintf("ERROR: does not compile: %s\n%s", m.what, o.output), false
	case o.hung != "":
		return fmt.Sprintf("ERROR: %s does not end: %s", o.hung, m.what), false
	case o.failed != "":
		return fmt.Sprintf("killed by %s %s (%s): %s", m.test.module, o.failed, took, m.what), true
	case o.broke:
		return fmt.Sprintf("ERROR: fails without a test: %s\n%s", m.what, o.output), false
	}
	return fmt.Sprintf("SURVIVED %s %s (%s): %s", m.test.module, m.test.run, took, m.what), false
}
