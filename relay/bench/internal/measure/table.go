package measure

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Print writes a comparison as a table, a row a contender. The last column says how ours, the scenario's first
// contender of that kind, stands to the row: 1.20x means that it takes 1.2 times as long.
func (c Comparison) Print(w io.Writer) error {
	fmt.Fprintf(w, "%s/%s\n", c.Group, c.Case)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\t\tns/op\tlow\thigh\tp99\tMB/s\tallocs/op\tB/op\tours : it\t")
	ours, have := c.ours()
	for _, r := range c.Results {
		ratio := ""
		if have && r.Name != ours.Name {
			ratio = fmt.Sprintf("%.2fx", ours.Ns/r.Ns)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f\t%.0f\t%s\t\n", r.Kind, r.Name,
			figure(r.Ns), figure(r.Low), figure(r.High), figure(r.P99), c.rate(r), r.Allocs, r.AllocBy, ratio)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

func (c Comparison) ours() (Result, bool) {
	for _, r := range c.Results {
		if r.Kind == Ours {
			return r, true
		}
	}
	return Result{}, false
}

// rate is the payload that a contender moves, in 10^6 bytes a second.
func (c Comparison) rate(r Result) string {
	if c.Bytes == 0 || r.Ns == 0 {
		return "-"
	}
	return figure(float64(c.Bytes) * 1e3 / r.Ns)
}

// figure writes a number with the digits that mean something.
func figure(v float64) string {
	switch {
	case v == 0:
		return "-"
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}
