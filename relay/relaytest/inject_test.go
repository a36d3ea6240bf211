package relaytest

import (
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// A recorder is a Conn whose far end takes every piece by itself.
type recorder struct {
	pieces []string
	ended  bool
	source []byte
}

func (r *recorder) Read(p []byte) (int, error) {
	if len(r.source) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.source)
	r.source = r.source[n:]
	return n, nil
}

func (r *recorder) Write(p []byte) (int, error) {
	if len(p) > 0 {
		r.pieces = append(r.pieces, string(p))
	}
	return len(p), nil
}

func (r *recorder) CloseWrite() error {
	r.ended = true
	return nil
}

func (r *recorder) Close() error { return r.CloseWrite() }

func TestInjectTearsIntoPieces(t *testing.T) {
	far := &recorder{source: []byte("abcde")}
	c := Inject(far, Faults{ReadSize: 2, WriteSize: 3})
	for _, want := range []string{"ab", "cd", "e"} {
		got := make([]byte, 8)
		if n, err := c.Read(got); err != nil || string(got[:n]) != want {
			t.Errorf("Read = %q, %v, want %q", got[:n], err, want)
		}
	}
	if n, err := c.Write([]byte("12345678")); n != 8 || err != nil {
		t.Errorf("Write = %d, %v, want 8, nil", n, err)
	}
	if len(far.pieces) != 3 || far.pieces[0] != "123" || far.pieces[2] != "78" {
		t.Errorf("pieces = %q, want 123 456 78", far.pieces)
	}
}

func TestInjectCutsReading(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want error
	}{{"at the end of the stream", nil, io.EOF}, {"with an error", errTorn, errTorn}} {
		t.Run(test.name, func(t *testing.T) {
			for after := range int64(5) {
				c := Inject(&recorder{source: []byte("abcde")}, Faults{ReadCut: &Cut{After: after, Err: test.err}})
				got := make([]byte, 5)
				n, err := io.ReadFull(c, got)
				if test.err == nil && n > 0 {
					err = io.EOF
				}
				if n != int(after) || err != test.want {
					t.Errorf("cut after %d: read %d, %v, want %v", after, n, err, test.want)
				}
				if n, err := c.Read(got); n != 0 || err != test.want {
					t.Errorf("cut after %d: Read again = %d, %v, want 0, %v", after, n, err, test.want)
				}
			}
		})
	}
}

func TestInjectCutsWriting(t *testing.T) {
	for after := range int64(5) {
		far := &recorder{}
		c := Inject(far, Faults{WriteSize: 2, WriteCut: &Cut{After: after, Err: errTorn}})
		if n, err := c.Write([]byte("abcde")); n != int(after) || err != errTorn {
			t.Errorf("cut after %d: Write = %d, %v, want %v", after, n, err, errTorn)
		}
		if !far.ended {
			t.Errorf("cut after %d: the far end sees no end", after)
		}
		if n, err := c.Write([]byte("f")); n != 0 || err != errTorn {
			t.Errorf("cut after %d: Write again = %d, %v, want 0, %v", after, n, err, errTorn)
		}
	}
	far := &recorder{}
	c := Inject(far, Faults{WriteCut: &Cut{After: 3}})
	if n, err := c.Write([]byte("abc")); n != 3 || err != nil || !far.ended {
		t.Errorf("Write of all that goes through = %d, %v, ended %v, want 3, nil, true", n, err, far.ended)
	}
	if _, err := c.Write([]byte("d")); err != io.ErrClosedPipe {
		t.Errorf("Write after the cut = %v, want ErrClosedPipe", err)
	}
}

func TestInjectDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := BufferedPipe(16)
		slow := Inject(client, Faults{WriteSize: 1, Delay: func() time.Duration { return time.Second }})
		begin := time.Now()
		if _, err := slow.Write([]byte("abc")); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("three pieces took %v, want 3s", took)
		}
		server.Close()
		slow.Close()
	})
}

func TestCloseEndsADelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := Pipe()
		slow := Inject(client, Faults{Delay: func() time.Duration { return time.Hour }})
		begin := time.Now()
		go func() {
			synctest.Wait()
			slow.Close()
		}()
		if _, err := slow.Read(make([]byte, 1)); err == nil {
			t.Error("Read = nil after Close")
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("Read returned %v after Close, want at once", took)
		}
		server.Close()
	})
}
