package topology

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"gopkg.in/yaml.v3"
)

const benchDevices = 64

// explicit writes every machine out, with four fields in each device: about 19 MB for 4096
// machines.
func explicit(machines int) []byte {
	var b bytes.Buffer
	b.WriteString("version: 1\nmachines:\n")
	for m := range machines {
		fmt.Fprintf(&b, "  - id: m%d\n    vhost: {kind: qemu-vhost, memory: 32G, cpus: 4}\n    devices:\n", m)
		for d := range benchDevices {
			fmt.Fprintf(&b, "      - {id: gpu%d, kind: gem5-mi300x, timeout: 90s, regions: {vram: 8G}}\n", d)
		}
	}
	return b.Bytes()
}

// counted describes the same machines with counts.
func counted(machines int) []byte {
	return fmt.Appendf(nil, `version: 1
machines:
  - id: m
    count: %d
    vhost: {kind: qemu-vhost, memory: 32G, cpus: 4}
    devices:
      - {id: gpu, count: %d, kind: gem5-mi300x, timeout: 90s, regions: {vram: 8G}}
`, machines, benchDevices)
}

// aliased describes the same machines with the devices of the first shared by the others.
func aliased(machines int) []byte {
	text := strings.Replace(string(explicit(1)), "devices:\n", "devices: &devices\n", 1)
	return []byte(text + numbered(machines-1, "  - {id: n%d, vhost: {kind: qemu-vhost, memory: 32G, cpus: 4}, devices: *devices}\n"))
}

// templated writes every machine out, and makes devices and vhosts of templates.
func templated(machines int) []byte {
	text := string(explicit(machines))
	text = strings.ReplaceAll(text, "{kind: qemu-vhost, memory: 32G, cpus: 4}", "{use: host, cpus: 4}")
	text = strings.ReplaceAll(text, "kind: gem5-mi300x, timeout: 90s, regions: {vram: 8G}", "use: gpu, timeout: 90s, regions: {vram: 8G}")
	return []byte(text + "templates:\n  host: {kind: qemu-vhost, memory: 32G}\n  gpu: {kind: gem5-mi300x, regions: {vram: 4G}, params: {memory: pool}}\n")
}

// asWritten is what a program that checks nothing would decode a document to.
type asWritten struct {
	Version  int
	Machines []struct {
		ID    string
		Vhost struct {
			Kind, Memory, Use string
			CPUs              int
		}
		Devices []struct {
			ID, Kind, Use, Timeout string
			Regions                map[string]string
		}
	}
	Templates map[string]any
}

func unmarshal(tb testing.TB, data []byte) {
	var document asWritten
	if err := yaml.Unmarshal(data, &document); err != nil || document.Version != 1 {
		tb.Fatal(err)
	}
}

func loadAndPlace(tb testing.TB, data []byte) {
	model, problems := Load(FromFS(fstest.MapFS{"main.yaml": {Data: data}}), "main.yaml", testOptions())
	if model == nil {
		tb.Fatal(problems.Err())
	}
	if _, problems := Layout(model, testPage); problems.HasErrors() {
		tb.Fatal(problems.Err())
	}
}

// BenchmarkLoad loads, checks and lays out, beside a bare Unmarshal of the same bytes to
// structs: x-unmarshal is how many times as long it takes, in the same run.
func BenchmarkLoad(b *testing.B) {
	for _, form := range []struct {
		name string
		make func(machines int) []byte
	}{{"explicit", explicit}, {"template", templated}} {
		for _, machines := range []int{64, 512, 4096} {
			b.Run(fmt.Sprintf("form=%s/machines=%d", form.name, machines), func(b *testing.B) {
				data := form.make(machines)
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				var bare time.Duration
				for b.Loop() {
					b.StopTimer()
					start := time.Now()
					unmarshal(b, data)
					bare += time.Since(start)
					b.StartTimer()
					loadAndPlace(b, data)
				}
				b.ReportMetric(float64(b.Elapsed())/float64(bare), "x-unmarshal")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*machines), "ns/machine")
			})
		}
	}
}

// BenchmarkShort loads the same machines in shorter forms, beside the explicit one:
// x-faster is how many times as long that takes, in the same run.
func BenchmarkShort(b *testing.B) {
	const machines = 4096
	long := explicit(machines)
	for _, form := range []struct {
		name string
		make func(machines int) []byte
	}{{"count", counted}, {"alias", aliased}} {
		b.Run(fmt.Sprintf("form=%s/machines=%d", form.name, machines), func(b *testing.B) {
			start := time.Now()
			loadAndPlace(b, long)
			explicitly := time.Since(start)
			data := form.make(machines)
			b.ReportAllocs()
			for b.Loop() {
				loadAndPlace(b, data)
			}
			b.ReportMetric(float64(explicitly)*float64(b.N)/float64(b.Elapsed()), "x-faster")
		})
	}
}

// peakEnv makes the test binary do one load or one Unmarshal, and tell the most memory
// that it had.
const peakEnv = "TOPOLOGY_PEAK"

// BenchmarkPeak measures the peak memory (VmHWM, proc(5)) of a process of its own that
// loads 4096 explicit machines, against one that unmarshals the same bytes.
func BenchmarkPeak(b *testing.B) {
	if what := os.Getenv(peakEnv); what != "" {
		data := explicit(4096)
		if what == "load" {
			loadAndPlace(b, data)
		} else {
			unmarshal(b, data)
		}
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			b.Fatal(err)
		}
		fmt.Printf("peak %s\n", peakLine.FindSubmatch(status)[1])
		return
	}
	var load, bare float64
	for b.Loop() {
		load += peakOf(b, "load")
		bare += peakOf(b, "unmarshal")
	}
	b.ReportMetric(load/float64(b.N)/1024, "MiB-load")
	b.ReportMetric(bare/float64(b.N)/1024, "MiB-unmarshal")
	b.ReportMetric(load/bare, "x-unmarshal")
}

var (
	peakLine = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)
	peakTold = regexp.MustCompile(`peak (\d+)`)
)

// peakOf gives the peak memory of a child in KiB.
func peakOf(b *testing.B, what string) float64 {
	child := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkPeak$", "-test.benchtime=1x")
	child.Env = append(os.Environ(), peakEnv+"="+what)
	out, err := child.Output()
	m := peakTold.FindSubmatch(out)
	if err != nil || m == nil {
		b.Fatalf("%v: %s", err, out)
	}
	kib, _ := strconv.ParseFloat(string(m[1]), 64)
	return kib
}

// TestFormsAreEqual shows that the forms that are measured describe the same topology.
func TestFormsAreEqual(t *testing.T) {
	const machines = 3
	want := shape(mustLoad(t, string(explicit(machines))))
	for name, data := range map[string][]byte{"count": counted(machines), "alias": aliased(machines), "template": templated(machines)} {
		got := shape(mustLoad(t, string(data)))
		if name == "alias" {
			got = strings.NewReplacer("n0", "m1", "n1", "m2").Replace(got)
		}
		if got != want {
			t.Errorf("form %s describes\n%s\nwant\n%s", name, got, want)
		}
	}
}

var written = regexp.MustCompile(` at main.yaml:\d+:\d+(, as before)?`)

// shape describes a model without its positions.
func shape(m *Model) string {
	var b strings.Builder
	for _, machine := range m.Machines {
		one := *m
		one.Machines = []*Machine{machine}
		b.WriteString(written.ReplaceAllString(describe(&one), ""))
	}
	return b.String()
}
