// Bench compares the relay's frame path with what a user could take in its place and with what the machine
// needs for moving the bytes alone, and prints the ratios. README.md says what each line means.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"

	"github.com/cosim-go/cosim/relay/bench/internal/measure"
	"github.com/cosim-go/cosim/relay/bench/internal/ours"
	"github.com/cosim-go/cosim/relay/bench/internal/suite"
	"github.com/cosim-go/cosim/relay/relaytest"
)

func main() {
	ours.Main()
	if err := run(os.Args[1:], os.Stdout); err != nil {
		if err == flag.ErrHelp {
			os.Exit(2)
		}
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	samples := flags.Int("samples", 7, "samples of each contender, taken in turn")
	duration := flags.Duration("time", 100*time.Millisecond, "time of one sample, about")
	only := flags.String("only", "", "measure the scenarios alone whose name, such as hop/payload=64B, this regular expression matches")
	asJSON := flags.Bool("json", false, "write one JSON object rather than tables")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	options := measure.Options{Samples: *samples, Time: *duration}
	report := report{Samples: *samples}
	report.Comparisons, err = compare(match, options, func(c measure.Comparison) error {
		if *asJSON {
			return nil
		}
		return c.Print(out)
	})
	if err != nil {
		return err
	}
	report.Lines = suite.Judge(report.Comparisons)
	if *asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "\t")
		return encoder.Encode(report)
	}
	return suite.PrintLines(out, report.Lines)
}

// A report is what -json writes.
type report struct {
	Samples     int                  `json:"samples"`
	Comparisons []measure.Comparison `json:"comparisons"`
	Lines       []suite.Verdict      `json:"lines"`
}

// compare measures the scenarios that match and shows each when it is done.
func compare(match *regexp.Regexp, o measure.Options, show func(measure.Comparison) error) ([]measure.Comparison, error) {
	var done []measure.Comparison
	for _, group := range suite.Groups() {
		scenarios, err := group.Scenarios()
		if err != nil {
			return nil, err
		}
		for _, s := range scenarios {
			if !match.MatchString(s.Name()) {
				continue
			}
			c, err := measure.Compare(s, o)
			if err != nil {
				return nil, err
			}
			if err := show(c); err != nil {
				return nil, err
			}
			done = append(done, c)
		}
	}
	return compareRelay(done, match, o, show)
}

// compareRelay goes on with what package relaytest measures.
func compareRelay(done []measure.Comparison, match *regexp.Regexp, o measure.Options, show func(measure.Comparison) error) ([]measure.Comparison, error) {
	var showing error
	options := &relaytest.MeasureOptions{Rounds: o.Samples, Round: o.Time, Only: match.MatchString, Each: func(f relaytest.Figure) {
		c := suite.Of(f)
		done = append(done, c)
		showing = errors.Join(showing, show(c))
	}}
	for _, group := range suite.RelayGroups() {
		if _, err := group.Measure(options); err != nil || showing != nil {
			return done, errors.Join(err, showing)
		}
	}
	return done, nil
}
