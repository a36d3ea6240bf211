package pool

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/internal/leaktest"
	"github.com/cosim-go/cosim/topology/layout"
)

const (
	benchPools = 4096
	benchSize  = layout.GiB
)

// BenchmarkSetup makes, sizes and maps 4096 pools of 1 GiB, and reports as "x-bare" how
// many times as long that takes as the three system calls alone. The two take turns, so
// that the machine's load touches both; the ratio is that of their medians.
func BenchmarkSetup(b *testing.B) {
	var ours, bare []float64
	for b.Loop() {
		ours = append(ours, timed(b, setup))
		bare = append(bare, timed(b, bareSetup))
	}
	b.ReportMetric(median(ours)/median(bare), "x-bare")
	b.ReportMetric(median(ours)*1e9/benchPools, "ns/pool")
}

func BenchmarkReadAt(b *testing.B) {
	p, err := New(leaktest.ShmDir(b)+"/pool", layout.MiB)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for _, size := range []int{8, 4096, 1 << 20} {
		b.Run("payload="+strconv.Itoa(size), func(b *testing.B) {
			buf := make([]byte, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.ReadAt(buf, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// timed gives the seconds that a setup takes; taking it down again is not counted.
func timed(b *testing.B, run func(b *testing.B, paths []string) (undo func())) float64 {
	dir := leaktest.ShmDir(b)
	paths := make([]string, benchPools)
	for i := range paths {
		paths[i] = dir + "/" + strconv.Itoa(i) + ".pool"
	}
	start := time.Now()
	undo := run(b, paths)
	seconds := time.Since(start).Seconds()
	undo()
	for _, path := range paths {
		if err := unix.Unlink(path); err != nil {
			b.Fatal(err)
		}
	}
	return seconds
}

func setup(b *testing.B, paths []string) func() {
	pools := make([]*Pool, len(paths))
	for i, path := range paths {
		p, err := New(path, benchSize)
		if err != nil {
			b.Fatal(err)
		}
		pools[i] = p
	}
	return func() {
		for _, p := range pools {
			p.Close()
		}
	}
}

func bareSetup(b *testing.B, paths []string) func() {
	mem := make([]uintptr, len(paths))
	for i, path := range paths {
		fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
		if err != nil {
			b.Fatal(err)
		}
		if err := unix.Ftruncate(fd, int64(benchSize)); err != nil {
			b.Fatal(err)
		}
		addr, _, errno := unix.Syscall6(unix.SYS_MMAP, 0, uintptr(benchSize), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED, uintptr(fd), 0)
		if errno != 0 {
			b.Fatal(errno)
		}
		mem[i] = addr
		unix.Close(fd)
	}
	return func() {
		for _, addr := range mem {
			unix.Syscall(unix.SYS_MUNMAP, addr, uintptr(benchSize), 0)
		}
	}
}

func median(list []float64) float64 {
	list = slices.Clone(list)
	slices.Sort(list)
	return list[len(list)/2]
}
