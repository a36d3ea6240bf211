package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/cosim-go/cosim/relay/gateway"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/route"
	"github.com/cosim-go/cosim/relay/stats"
)

func (c *cli) statusCommand() *cobra.Command {
	connect := ""
	cmd := &cobra.Command{
		Use:   "status --connect PATH",
		Short: "Show the hosts, cartridges and requests of a switch",
		Long: `Ask the switch that listens on the Unix socket PATH how it is, and print its hosts, what their
cartridges are, which requests run, how those ended that have, and which frames were lost.

Exit codes: 0 it has answered, 2 wrong usage, 3 there is no switch, 4 it did not answer.`,
		Args: noArgs,
		PreRunE: func(*cobra.Command, []string) error {
			if connect == "" {
				return usage("cosim relay status needs --connect PATH; see cosim relay status --help")
			}
			return c.checkFormat()
		},
		RunE: func(*cobra.Command, []string) error { return c.relayStatus(connect) },
	}
	c.formatFlag(cmd)
	cmd.Flags().StringVar(&connect, "connect", "", "socket of the switch")
	return cmd
}

func (c *cli) relayStatus(connect string) error {
	client, err := dialSwitch(context.Background(), connect)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeoutCause(context.Background(), dialPatience, errSilent)
	defer cancel()
	s, err := statusOf(ctx, client)
	if err != nil {
		return &exitError{code: exitFailed, msg: "asking for the status: " + err.Error()}
	}
	if c.format == "json" {
		encoder := json.NewEncoder(c.stdout)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(s)
	}
	_, err = io.WriteString(c.stdout, statusText(s))
	return err
}

// statusOf asks a switch how it is.
func statusOf(ctx context.Context, client *gateway.Client) (*gateway.Status, error) {
	data, err := client.Status(ctx)
	if err != nil {
		return nil, err
	}
	var s gateway.Status
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	return &s, nil
}

// statusText is a status as tables.
func statusText(s *gateway.Status) string {
	var b strings.Builder
	healthy := 0
	for _, m := range s.Masters {
		if m.Healthy {
			healthy++
		}
	}
	fmt.Fprintf(&b, "%s, %d healthy; %s; %s; %s\n", plural(len(s.Masters), "host"), healthy,
		plural(len(s.Capabilities), "cap"), plural(s.Callers, "caller"), plural(len(s.Protocol.Requests.Active), "request"))
	table(&b, "HOST\tHEALTH\tCAPS\tCONNECTED\tLAST ERROR", s.Masters, masterRow)
	table(&b, "CARTRIDGE\tVERSION\tSTATE\tLIFECYCLE\tREQUESTS\tPOOLS\tRESTARTS\tCAPS", s.Inventory.Records, recordRow)
	table(&b, "REQUEST\tCAP\tFROM\tTO\tAGE\tIDLE\tARGUMENTS\tRESPONSE", s.Protocol.Requests.Active, func(a stats.Active) string { return activeRow(a, s.Masters) })
	r := s.Protocol.Requests
	fmt.Fprintf(&b, "\n%s ever%s\n", plural(int(r.TotalRegistered), "request"), counts(", ended with ", r.TerminatedByKind))
	fmt.Fprintf(&b, "%s dropped%s; %s late\n", plural(int(s.Protocol.Drops.Total), "frame"), counts(": ", s.Protocol.Drops.ByReason),
		plural(int(s.Protocol.Stragglers.Total), "frame"))
	return b.String()
}

// table adds a table with a row for each value, or nothing where there is none.
func table[T any](b *strings.Builder, head string, all []T, row func(T) string) {
	if len(all) == 0 {
		return
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, head)
	for _, v := range all {
		fmt.Fprintln(w, row(v))
	}
	w.Flush()
	b.WriteByte('\n')
	for line := range strings.Lines(text.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

// counts lists numbers by their names, which are sorted, with a text before them.
func counts[K ~string](before string, n map[K]uint64) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(n)) {
		all = append(all, fmt.Sprintf("%s %d", name, n[name]))
	}
	if len(all) == 0 {
		return ""
	}
	return before + strings.Join(all, ", ")
}

func masterRow(m route.MasterHealth) string {
	health, connected, last := "healthy", seconds(m.ConnectedSeconds), ""
	switch {
	case !m.Attached:
		health, connected = "lost", "-"
	case !m.Healthy:
		health = "unhealthy"
	}
	if m.LastError != nil {
		last = cell(*m.LastError)
	}
	return fmt.Sprintf("%s\t%s\t%d\t%s\t%s", cell(m.ID), health, m.Caps, connected, last)
}

func recordRow(r manifest.Record) string {
	state, requests, pools, restarts := "-", "-", "-", "-"
	if r.Stats != nil {
		state = "not started"
		if r.Stats.Running {
			state = "running"
		}
		requests, pools, restarts = fmt.Sprint(r.Stats.ActiveRequests), poolsText(r.Stats.Pools), fmt.Sprint(r.Stats.Restarts)
	}
	var urns []string
	for c := range r.Caps() {
		urns = append(urns, c.URN.String())
	}
	if r.AttachmentError != nil {
		state, urns = string(r.AttachmentError.Kind), []string{r.AttachmentError.Message}
	}
	lifecycle := cmp.Or(r.Lifecycle, manifest.LifecycleDiscovered)
	return strings.Join([]string{
		cell(r.Install.ID), cell(r.Install.Version), cell(state), cell(string(lifecycle)), requests, cell(pools), restarts, cell(strings.Join(urns, " ")),
	}, "\t")
}

// poolsText lists the pools that have a bound, or requests that wait: all 1 of 4, 2 waiting.
func poolsText(pools manifest.Pools) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		p := pools[name]
		if p.Effective() == 0 && p.Queued == 0 {
			continue
		}
		text := fmt.Sprintf("%s %d", name, p.Active)
		if n := p.Effective(); n > 0 {
			text += fmt.Sprintf(" of %d", n)
		}
		if p.Queued > 0 {
			text += fmt.Sprintf(", %d waiting", p.Queued)
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return "-"
	}
	return strings.Join(all, "; ")
}

func activeRow(a stats.Active, masters []route.MasterHealth) string {
	name := func(index int) string {
		if index < 0 || index >= len(masters) {
			return fmt.Sprint(index)
		}
		return cell(masters[index].ID)
	}
	from := "a caller"
	if a.OriginMaster != nil {
		from = name(*a.OriginMaster)
	}
	var arguments, response uint64 // what goes out to the handler, and comes in from it
	for _, s := range a.Streams {
		arguments, response = arguments+s.BytesOut, response+s.BytesIn
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", a.RID, cell(a.CapURN), from, name(a.DestinationMaster),
		seconds(float64(a.AgeMS)/1000), seconds(float64(a.IdleMS)/1000), humanBytes(int64(arguments)), humanBytes(int64(response)))
}

// cell is a text that stays within its cell.
func cell(text string) string { return strings.ReplaceAll(clean(text), "\t", " ") }

func seconds(s float64) string {
	return (time.Duration(s*1000) * time.Millisecond).Round(100 * time.Millisecond).String()
}
