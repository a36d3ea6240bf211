package pipe_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cosim-go/cosim/relay/internal/pipe"
)

func expectRead(t *testing.T, r io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != want {
		t.Errorf("Read = %q, %v, want %q", got, err, want)
	}
}

func expectEnd(t *testing.T, r io.Reader, want error) {
	t.Helper()
	if n, err := r.Read(make([]byte, 10)); n != 0 || err != want {
		t.Errorf("Read = %d, %v, want %v", n, err, want)
	}
}

// Random pieces through a small connection come out as they went in, however they are written.
func TestBytesComeOutAsTheyWentIn(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		a, b := pipe.New(1 + r.IntN(9000))
		want := make([]byte, 200_000)
		for i := range want {
			want[i] = byte(r.Uint32())
		}
		go func() {
			defer a.Close()
			for rest := want; len(rest) > 0; {
				piece := rest[:min(len(rest), 1+r.IntN(20_000))]
				write := a.Write
				if r.IntN(3) == 0 {
					write = a.TryWrite
				}
				n, err := write(piece)
				if err != nil {
					t.Error(err)
					return
				}
				rest = rest[n:]
			}
		}()
		got, err := io.ReadAll(b)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("seed %d: %d bytes, %v, want %d", seed, len(got), err, len(want))
		}
		b.Close()
	}
}

func TestTryWriteTakesWhatFits(t *testing.T) {
	a, b := pipe.New(10)
	for _, c := range []struct {
		write string
		want  int
	}{{"abcdef", 6}, {"ghijkl", 4}, {"m", 0}, {"", 0}} {
		if n, err := a.TryWrite([]byte(c.write)); n != c.want || err != nil {
			t.Errorf("TryWrite(%q) = %d, %v, want %d", c.write, n, err, c.want)
		}
	}
	expectRead(t, b, "abcdefgh")
	if n, err := a.TryWrite([]byte("0123456789")); n != 8 || err != nil {
		t.Errorf("TryWrite = %d, %v, want 8", n, err)
	}
	expectRead(t, b, "ij01234567")
}

func TestTryWriteDoesNotComeBetweenTheBytesOfAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pipe.New(4)
		done := make(chan error)
		go func() {
			_, err := a.Write([]byte("abcdefgh"))
			done <- err
		}()
		synctest.Wait()
		expectRead(t, b, "ab")
		if n, err := a.TryWrite([]byte("x")); n != 0 || err != nil {
			t.Errorf("TryWrite = %d, %v while somebody writes", n, err)
		}
		expectRead(t, b, "cdefgh")
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestWritesOfManyStandTogether(t *testing.T) {
	a, b := pipe.New(7)
	var group sync.WaitGroup
	for c := byte('a'); c <= 'h'; c++ {
		group.Go(func() {
			for range 20 {
				if _, err := a.Write(bytes.Repeat([]byte{c}, 10)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() {
		group.Wait()
		a.CloseWrite()
	}()
	got, err := io.ReadAll(b)
	if err != nil || len(got) != 8*20*10 {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	for piece := range len(got) / 10 {
		p := got[10*piece : 10*piece+10]
		if !bytes.Equal(p, bytes.Repeat(p[:1], 10)) {
			t.Fatalf("%q: writes are mixed", p)
		}
	}
}

func TestEachDirectionEndsByItself(t *testing.T) {
	a, b := pipe.New(0)
	if _, err := a.Write([]byte("last")); err != nil {
		t.Fatal(err)
	}
	if err := a.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	expectRead(t, b, "last")
	expectEnd(t, b, io.EOF)
	if _, err := a.Write([]byte("more")); err != io.ErrClosedPipe {
		t.Errorf("Write after CloseWrite = %v", err)
	}
	if _, err := a.TryWrite([]byte("more")); err != io.ErrClosedPipe {
		t.Errorf("TryWrite after CloseWrite = %v", err)
	}
	if _, err := b.Write([]byte("back")); err != nil {
		t.Fatal(err)
	}
	expectRead(t, a, "back")
	a.Close()
	if _, err := b.Write([]byte("back")); err != io.ErrClosedPipe {
		t.Errorf("Write to a closed end = %v", err)
	}
	expectEnd(t, a, io.ErrClosedPipe)
	expectEnd(t, b, io.EOF)
	b.Close()
	expectEnd(t, b, io.ErrClosedPipe)
	a.Close()
}

func TestCloseWakesWhoWaits(t *testing.T) {
	for _, closes := range []string{"near", "far"} {
		synctest.Test(t, func(t *testing.T) {
			a, b := pipe.New(5)
			read, written := make(chan error), make(chan error)
			go func() {
				_, err := a.Read(make([]byte, 1))
				read <- err
			}()
			go func() {
				n, err := a.Write([]byte("0123456789"))
				if n != 5 {
					t.Errorf("Write = %d, want 5", n)
				}
				written <- err
			}()
			synctest.Wait()
			end, want := a, io.ErrClosedPipe
			if closes == "far" {
				end, want = b, io.EOF
			}
			end.Close()
			if err := <-read; err != want {
				t.Errorf("%s end closes: Read = %v, want %v", closes, err, want)
			}
			if err := <-written; err != io.ErrClosedPipe {
				t.Errorf("%s end closes: Write = %v, want %v", closes, err, io.ErrClosedPipe)
			}
		})
	}
}

// A connection takes memory as it is used, and none for a Write and a Read after that.
func TestAConnectionInUseDoesNotAllocate(t *testing.T) {
	a, b := pipe.New(0)
	p := make([]byte, 100_000)
	if n := testing.AllocsPerRun(50, func() {
		if _, err := a.Write(p); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(b, p); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Write and Read allocate %v times", n)
	}
}
