package supervise

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/plan"
)

// BenchmarkPump moves lines of 100 bytes from a pipe to a log. The floor is a plain copy of
// the same bytes.
func BenchmarkPump(b *testing.B) {
	data := []byte(strings.Repeat(strings.Repeat("x", 99)+"\n", 10000))
	pass := regexp.MustCompile("^PASS")
	for _, bm := range []struct {
		name  string
		match func([]byte) bool
	}{
		{"unmatched", nil},
		{"matched", func(line []byte) bool { pass.Match(line); return true }},
	} {
		b.Run("lines="+bm.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			p, theirs, err := newPump(filepath.Join(b.TempDir(), "log"), bm.match)
			if err != nil {
				b.Fatal(err)
			}
			p.start()
			out := os.NewFile(uintptr(theirs), "pipe")
			for b.Loop() {
				out.Write(data)
			}
			out.Close()
			p.finish(drainLimit)
		})
	}
	b.Run("floor", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		var ends [2]int
		if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
			b.Fatal(err)
		}
		in, out := os.NewFile(uintptr(ends[0]), "in"), os.NewFile(uintptr(ends[1]), "out")
		log, err := os.Create(filepath.Join(b.TempDir(), "log"))
		if err != nil {
			b.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			buf := make([]byte, 64<<10)
			for off := int64(0); ; {
				n, err := in.Read(buf)
				log.WriteAt(buf[:n], off)
				if off += int64(n); off > 3*logKeep {
					off = 0
				}
				if err != nil {
					return
				}
			}
		}()
		for b.Loop() {
			out.Write(data)
		}
		out.Close()
		<-done
		in.Close()
		log.Close()
	})
}

// BenchmarkRun runs a session whose devices leave with their vhost, and nothing else.
func BenchmarkRun(b *testing.B) {
	for _, devices := range []int{1, 64} {
		b.Run(fmt.Sprintf("devices=%d", devices), func(b *testing.B) {
			dir := b.TempDir()
			var procs []plan.Process
			v := plan.Process{ID: "m/vhost", Machine: "m", Role: "vhost", Program: "/bin/true", Timeout: "1m", Log: dir + "/vhost.log"}
			v.Stop.Signal, v.Stop.Grace = "TERM", "5s"
			for i := range devices {
				d := v
				d.ID, d.Role = fmt.Sprintf("m/d%d", i), "device"
				d.Program, d.Args = "/bin/sleep", []string{"1000"}
				d.Log = fmt.Sprintf("%s/d%d.log", dir, i)
				d.Stop.Grace = "1ms"
				v.DependsOn = append(v.DependsOn, d.ID)
				procs = append(procs, d)
			}
			procs = append(procs, v)
			for b.Loop() {
				result, err := Run(b.Context(), procs, &Options{Mark: "bench-" + filepath.Base(dir)})
				if err != nil || result.Err() != nil {
					b.Fatal(err, result.Err())
				}
			}
		})
	}
}
