package doctest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the repository, seen from this package.
const root = "../../../.."

// A page is a Markdown file taken apart.
type page struct {
	text     string
	headings []*heading
}

// A heading is a title with what stands under it, up to the next one.
type heading struct {
	level  int
	title  string // without backquotes
	text   string // without code blocks and tables
	blocks []block
	table  [][]string // the first table, its head included; cells without the space around them
}

// A block is a fenced code block.
type block struct {
	language   string
	text       string
	start, end int // offsets of the text in the page
}

func readPage(t *testing.T, name string) *page {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	p := &page{text: string(data)}
	h := &heading{}
	var open *block
	at := 0
	for line := range strings.Lines(p.text) {
		start := at
		at += len(line)
		line = strings.TrimSuffix(line, "\n")
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case open != nil && fence:
			open.end = start
			open.text = p.text[open.start:open.end]
			h.blocks = append(h.blocks, *open)
			open = nil
		case open != nil:
		case fence:
			open = &block{language: language, start: at}
		case strings.HasPrefix(line, "#"):
			title := strings.TrimLeft(line, "#")
			h = &heading{level: len(line) - len(title), title: strings.Trim(title, " `")}
			p.headings = append(p.headings, h)
		case strings.HasPrefix(line, "|"):
			h.table = append(h.table, cells(line))
		default:
			h.text += line + "\n"
		}
	}
	if open != nil {
		t.Fatalf("%s: a code block is not closed", name)
	}
	return p
}

func cells(line string) []string {
	var all []string
	for _, c := range strings.Split(strings.Trim(line, "|"), "|") {
		all = append(all, strings.TrimSpace(c))
	}
	return all
}

// rows gives the rows of the heading's table, whose head has to be the given one.
func (h *heading) rows(t *testing.T, head ...string) [][]string {
	t.Helper()
	if len(h.table) < 2 || strings.Join(h.table[0], "|") != strings.Join(head, "|") {
		t.Errorf("%q has no table %q", h.title, head)
		return nil
	}
	for _, row := range h.table[2:] {
		if len(row) != len(head) || row[len(row)-1] == "" {
			t.Errorf("%q: row %q is not %q", h.title, row, head)
			return nil
		}
	}
	return h.table[2:]
}

// under finds the heading of a title.
func (p *page) under(t *testing.T, title string) *heading {
	t.Helper()
	for _, h := range p.headings {
		if h.title == title {
			return h
		}
	}
	t.Fatalf("there is no heading %q", title)
	return nil
}
