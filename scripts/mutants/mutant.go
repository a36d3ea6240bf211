package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A mutant is one way to break a rule, and the tests that have to notice.
type mutant struct {
	id   string // of the requirement
	what string // is broken
	file string // relative to the root of the repository
	test command
	old  string // whole lines of the file
	new  string // what they become
}

func (m mutant) String() string { return m.id + ": " + m.what }

// A command is a run of `go test`.
type command struct {
	module   string // directory
	packages string // pattern
	run      string // pattern of -run
	long     bool   // without -short
}

var head = regexp.MustCompile(`^== ([A-Z]+[0-9]+): (\S.*)$`)

// parse reads one file of the table. Lines in front of the first mutant, and lines that
// start with "#", are comments.
func parse(name, text string) ([]mutant, error) {
	var list []mutant
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if fields := head.FindStringSubmatch(line); fields != nil {
			list = append(list, mutant{id: fields[1], what: fields[2]})
			continue
		}
		if strings.HasPrefix(line, "==") {
			return nil, fmt.Errorf("%s:%d: a mutant starts with a line such as == T6: what is broken", name, i+1)
		}
		if len(list) == 0 || line == "" || line[0] == '#' {
			continue
		}
		if err := list[len(list)-1].add(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	for _, m := range list {
		if m.file == "" || m.test.run == "" || m.old == m.new || m.old == "" {
			return nil, fmt.Errorf("%s: %v: needs a file, a test, and lines that change", name, m)
		}
	}
	return list, nil
}

func (m *mutant) add(line string) error {
	switch text := line[1:] + "\n"; line[0] {
	case ' ':
		m.old += text
		m.new += text
		return nil
	case '-':
		m.old += text
		return nil
	case '+':
		m.new += text
		return nil
	}
	switch fields := strings.Fields(line); {
	case fields[0] == "file" && len(fields) == 2:
		m.file = fields[1]
	case fields[0] == "test" && (len(fields) == 4 || len(fields) == 5 && fields[4] == "long"):
		m.test = command{fields[1], fields[2], fields[3], len(fields) == 5}
		if _, err := regexp.Compile(fields[3]); err != nil {
			return err
		}
	default:
		return fmt.Errorf("unknown line %q", line)
	}
	return nil
}

var errStale = errors.New("stale: its lines are not in the file exactly once")

// apply changes the content of the file.
func (m mutant) apply(content string) (string, error) {
	content, old := "\n"+content, "\n"+m.old
	at := strings.Index(content, old)
	if at < 0 || strings.Contains(content[at+1:], old) {
		return "", errStale
	}
	return (content[:at+1] + m.new + content[at+len(old):])[1:], nil
}
