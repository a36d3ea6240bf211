package preflight

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cosim-go/cosim/runtime/internal/tool"
)

// A version is QEMU's, of which the first two numbers count.
type version struct{ major, minor int }

func (v version) less(w version) bool {
	return cmp.Or(cmp.Compare(v.major, w.major), cmp.Compare(v.minor, w.minor)) < 0
}

func (v version) String() string { return fmt.Sprintf("%d.%d", v.major, v.minor) }

// An offer is what a QEMU binary says of itself.
type offer struct {
	Version string   `json:"version"` // as printed, such as "7.2.22"; empty where it is no QEMU
	Devices []string `json:"devices"`
	Objects []string `json:"objects"`
}

// askFor is how long a binary may take to answer one question.
const askFor = 20 * time.Second

// qemu compares what the plan's processes need with what their QEMU binaries offer.
func (c *checker) qemu(ctx context.Context) {
	needs := needsOf(c.plan.Launch.Processes)
	if len(needs) == 0 {
		return
	}
	cache := openCache(cacheFile(c.plan.Launch.Env.DiskLockDir))
	failed := map[string]bool{}
	for _, n := range needs {
		if failed[n.program] {
			continue
		}
		o, err := cache.offer(ctx, n.program)
		switch {
		case err != nil:
			failed[n.program] = true
			c.warn(Problem{Message: fmt.Sprintf("it is not known what %s offers: %v", n.program, err)})
		case o.Version == "":
			failed[n.program] = true
			c.warn(Problem{Message: fmt.Sprintf("it is not known what %s offers: it does not answer like QEMU", n.program)})
		case !o.has(n.feature):
			c.refuse(n.problem(o))
		}
	}
	if len(c.report.Problems) == 0 {
		cache.save()
	}
}

func (n *need) problem(o *offer) Problem {
	by := fmt.Sprintf("process %q needs", n.by[0])
	if len(n.by) > 1 {
		by = fmt.Sprintf("process %q and %d more need", n.by[0], len(n.by)-1)
	}
	hint := fmt.Sprintf("QEMU has it since %s", n.feature.since)
	if o.parsed().less(n.feature.since) {
		hint += "; install that or a later one, or name one with `program`"
	} else {
		hint += ", but this build has not"
	}
	if n.feature.hint != "" {
		hint += "; " + n.feature.hint
	}
	return Problem{fmt.Sprintf("%s the %s, which %s (QEMU %s) does not have", by, n.feature, n.program, o.Version), hint}
}

// has goes by the lists where there is one, since a distribution may leave things out,
// and else by the version.
func (o *offer) has(f *feature) bool {
	switch {
	case f.name == "":
		return !o.parsed().less(f.since)
	case f.option == "-device":
		return slices.Contains(o.Devices, f.name)
	}
	return slices.Contains(o.Objects, f.name)
}

func (o *offer) parsed() version {
	var v version
	fmt.Sscanf(o.Version, "%d.%d", &v.major, &v.minor)
	return v
}

// ask asks a QEMU binary what it offers. It starts no machine.
func ask(ctx context.Context, program string) (*offer, error) {
	text, err := answer(ctx, program, "-version")
	if err != nil {
		return nil, err
	}
	o := &offer{Version: versionIn(text), Devices: []string{}, Objects: []string{}}
	if o.Version == "" {
		return o, nil
	}
	if text, err = answer(ctx, program, "-device", "help"); err != nil {
		return nil, err
	}
	o.Devices = devicesIn(text)
	if text, err = answer(ctx, program, "-object", "help"); err != nil {
		return nil, err
	}
	o.Objects = objectsIn(text)
	return o, nil
}

func answer(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, askFor, fmt.Errorf("no answer within %s", askFor))
	defer cancel()
	var out bytes.Buffer
	err := tool.Run(ctx, tool.Command{Path: program, Args: args, Dir: "/", Output: &out, Grace: time.Second})
	return out.String(), err
}

var versionLine = regexp.MustCompile(`(?m)^QEMU emulator version (\d+\.\d+[0-9.]*)`)

func versionIn(text string) string {
	if m := versionLine.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// devicesIn reads lines such as
//
//	name "virtio-blk-pci", bus PCI, alias "virtio-blk"
func devicesIn(text string) []string {
	names := []string{}
	for line := range strings.Lines(text) {
		for part := range strings.SplitSeq(strings.TrimSpace(line), ", ") {
			key, quoted, _ := strings.Cut(part, " ")
			if name, err := strconv.Unquote(quoted); err == nil && (key == "name" || key == "alias") {
				names = append(names, name)
			}
		}
	}
	return names
}

// objectsIn reads the indented names below "List of user creatable objects:".
func objectsIn(text string) []string {
	names := []string{}
	for line := range strings.Lines(text) {
		if name := strings.TrimSpace(line); name != "" && strings.HasPrefix(line, " ") {
			names = append(names, name)
		}
	}
	return names
}
