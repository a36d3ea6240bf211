package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/relaytest"
)

func (c *cli) benchCommand() *cobra.Command {
	round := 20 * time.Millisecond
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure what frames cost here, next to copying their bytes",
		Long: `Measure the frame path on this host, over Unix socket pairs, and print what a frame takes next
to a floor that is measured by turns with it: copying the bytes in memory, sending them over a
socket without frames, or a loop that reads and writes in place of the relay. Times depend on
the host and on what else it does; the ratios are what to compare.

    encode, decode, check    the codec alone; check is what a relay looks at
    hop                      encoded here, decoded at the other end of a socket
    roundtrip                one frame there and one back, the median of many
    bridge, bridge-roundtrip the same through a relay slave between two sockets

It takes less than 20 seconds.`,
		Args: noArgs,
		PreRunE: func(*cobra.Command, []string) error {
			if round <= 0 || round > time.Minute {
				return usage("--round %v: it is above 0s and at most 1m", round)
			}
			return c.checkFormat()
		},
		RunE: func(*cobra.Command, []string) error { return c.bench(round) },
	}
	c.formatFlag(cmd)
	cmd.Flags().DurationVar(&round, "round", round, "how long each of seven rounds of a line takes, about")
	return cmd
}

// A benchLine is a figure as it is printed in JSON.
type benchLine struct {
	Name    string  `json:"name"`
	Payload int     `json:"payload"`
	FrameNS float64 `json:"frame_ns"`
	Floor   string  `json:"floor"`
	FloorNS float64 `json:"floor_ns"`
	Ratio   float64 `json:"ratio"`
}

func (c *cli) bench(round time.Duration) error {
	lines := []benchLine{}
	var output error
	o := &relaytest.MeasureOptions{Round: round, Each: func(f relaytest.Figure) {
		lines = append(lines, benchLine{f.Name, f.Payload, f.Frame, f.Floor, f.Base, f.Ratio})
		if c.format != "json" && output == nil {
			output = c.printFigure(f)
		}
	}}
	if c.format != "json" {
		if _, err := fmt.Fprintf(c.stdout, "%-32s %12s %12s  %8s  %s\n", "", "frame", "floor", "ratio", "floor is"); err != nil {
			return err
		}
	}
	if err := measureRelay(o); err != nil {
		return &exitError{code: exitFailed, msg: err.Error()}
	}
	if c.format == "json" {
		return json.NewEncoder(c.stdout).Encode(map[string]any{"version": 1, "figures": lines})
	}
	return output
}

func (c *cli) printFigure(f relaytest.Figure) error {
	_, err := fmt.Fprintf(c.stdout, "%-32s %12s %12s  %8.2f  %s\n", f.Name, nanoseconds(f.Frame), nanoseconds(f.Base), f.Ratio, f.Floor)
	return err
}

func nanoseconds(ns float64) string {
	if ns < 10_000 {
		return fmt.Sprintf("%.0f ns", ns)
	}
	return fmt.Sprintf("%.1f us", ns/1000)
}

func measureRelay(o *relaytest.MeasureOptions) error {
	if _, err := relaytest.MeasureCodec(o); err != nil {
		return err
	}
	if _, err := relaytest.MeasureLink(relaytest.SocketPair, o); err != nil {
		return err
	}
	_, err := relaytest.MeasureBridge(relaytest.SocketPair, func(local, socket relaytest.Conn) error {
		return bridge.NewSlave(local, nil).Run(context.Background(), socket, nil)
	}, o)
	return err
}
