package cartridge_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/frame"
)

// credit reads a grant for an argument and returns how much it is.
func (r *flowing) credit(stream string) uint64 {
	r.t.Helper()
	f := r.want(frame.TypeCredit)
	require.Equal(r.t, stream, string(f.StreamID))
	require.Equal(r.t, frame.RequestDirection, f.CreditDirection())
	return f.Credit.Or(0)
}

// Law L10: grants come in batches of half the credit, and what is held back before a wait.
func TestGrants(t *testing.T) {
	read, goOn := make(chan int), make(chan struct{})
	s := served(t, 8, func(_ context.Context, r *cartridge.Request) error {
		in, err := r.Next()
		if err != nil {
			return err
		}
		var b [1]byte
		for n := range read {
			for range n {
				if _, err := io.ReadFull(in, b[:]); err != nil {
					return err
				}
			}
			goOn <- struct{}{}
		}
		_, err = io.Copy(io.Discard, in)
		return err
	})
	r := s.req(testCap)
	r.begin("arg0")
	for range 8 {
		r.chunk("arg0", bstr("x"))
	}
	s.silent() // all of it has arrived
	read <- 4
	<-goOn
	s.silent() // of four that were read three are consumed: no batch yet
	read <- 1
	<-goOn
	require.Equal(t, uint64(4), r.credit("arg0"), "a batch")
	read <- 2
	<-goOn
	close(read) // reads the last, then waits
	require.Equal(t, uint64(4), r.credit("arg0"), "before the wait")
	r.endStream("arg0")
	r.endBody()
	r.wantSuccess()
	require.NoError(t, s.finish())
}

// What is held back is granted before any wait: for another argument, for credit, for a peer.
func TestGrantsBeforeOtherWaits(t *testing.T) {
	for name, wait := range map[string]func(ctx context.Context, r *cartridge.Request) error{
		"for another argument": func(_ context.Context, r *cartridge.Request) error {
			_, err := r.Next()
			return err
		},
		"for credit": func(_ context.Context, r *cartridge.Request) error {
			_, err := r.Output("media:", nil).Write(make([]byte, 9*262144))
			return err
		},
		"for a peer": func(ctx context.Context, r *cartridge.Request) error {
			l, err := r.Open(ctx, callRequest("cap:other"))
			if err != nil {
				return err
			}
			defer l.Close()
			_, err = l.Next(ctx)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := served(t, 8, func(ctx context.Context, r *cartridge.Request) error {
				in, err := r.Next()
				if err != nil {
					return err
				}
				var b [1]byte
				for range 2 { // the first is consumed with the second
					if _, err := io.ReadFull(in, b[:]); err != nil {
						return err
					}
				}
				return wait(ctx, r)
			})
			r := s.req(testCap)
			r.begin("arg0")
			r.chunk("arg0", bstr("x"))
			r.chunk("arg0", bstr("y"))
			for f := s.next(); ; f = s.next() {
				if f.Type == frame.TypeCredit {
					require.Equal(t, uint64(1), f.Credit.Or(0))
					break
				}
			}
			r.cancel(frame.CancelReason{})
			for s.next().Type != frame.TypeErr {
			}
			require.NoError(t, s.finish())
		})
	}
}

// Law L15: an argument that is read while an output waits for credit is granted at once.
func TestGrantsWhileAnOutputWaits(t *testing.T) {
	s := served(t, 4, func(ctx context.Context, r *cartridge.Request) error {
		in, err := r.Next()
		if err != nil {
			return err
		}
		written := make(chan error, 1)
		go func() {
			_, err := r.Output("media:", nil).Write(make([]byte, 5*262144))
			written <- err
		}()
		_, err = io.Copy(io.Discard, in)
		return errors.Join(err, <-written)
	})
	r := s.req(testCap)
	r.begin("arg0")
	r.want(frame.TypeStreamStart)
	for range 4 {
		r.want(frame.TypeChunk)
	}
	for range 3 { // one by one, though a batch is two
		r.chunk("arg0", bstr("x"))
		require.Equal(t, uint64(1), r.credit("arg0"))
	}
	r.endStream("arg0")
	r.endBody()
	r.grant(nil, 1) // for the only stream
	r.want(frame.TypeChunk)
	r.want(frame.TypeStreamEnd)
	r.wantSuccess()
	require.NoError(t, s.finish())
}

// So is one whose reader does not come to wait.
func TestGrantsWhileAnOutputWaitsAndTheInputDoesNot(t *testing.T) {
	read, proceed := make(chan struct{}), make(chan struct{})
	s := served(t, 8, func(ctx context.Context, r *cartridge.Request) error {
		in, err := r.Next()
		if err != nil {
			return err
		}
		written := make(chan error, 1)
		go func() {
			_, err := r.Output("media:", nil).Write(make([]byte, 9*262144))
			written <- err
		}()
		<-read
		var b [2]byte
		if _, err := io.ReadFull(in, b[:]); err != nil {
			return err
		}
		<-proceed
		return <-written
	})
	r := s.req(testCap)
	r.begin("arg0")
	r.want(frame.TypeStreamStart)
	for range 8 {
		r.want(frame.TypeChunk)
	}
	r.chunk("arg0", bstr("x"))
	r.chunk("arg0", bstr("y"))
	s.silent() // both are there
	close(read)
	require.Equal(t, uint64(1), r.credit("arg0"))
	close(proceed)
	r.grant(nil, 1)
	r.want(frame.TypeChunk)
	r.want(frame.TypeStreamEnd)
	r.wantSuccess()
	require.NoError(t, s.finish())
}

// Pieces of an item behind its first are granted at once, alone: an item may be longer than all credit.
func TestContinuationIsGrantedAtOnce(t *testing.T) {
	s := served(t, 8, func(_ context.Context, r *cartridge.Request) error {
		in, err := r.Next()
		if err != nil {
			return err
		}
		var items []string
		for item, err := range in.Items() {
			if err != nil {
				return err
			}
			items = append(items, string(item.CBOR))
		}
		if len(items) != 2 || items[0] != "\x83\x01\x02\x03" || items[1] != "\x04" {
			return errors.New("other items")
		}
		return nil
	})
	r := s.req(testCap)
	r.begin("arg0", true)
	for _, piece := range []string{"\x83", "\x01", "\x02"} {
		r.chunk("arg0", []byte(piece))
		require.Equal(t, uint64(1), r.credit("arg0"), "also the first, before a wait")
	}
	r.chunk("arg0", []byte{3})
	require.Equal(t, uint64(1), r.credit("arg0"), "the last piece")
	s.silent()
	r.chunk("arg0", []byte{4})
	r.endStream("arg0")
	r.endBody()
	r.wantSuccess()
	require.NoError(t, s.finish())
}

// Law L12: a CHUNK beyond the credit ends its request, and only that.
func TestChunkBeyondTheCredit(t *testing.T) {
	s := served(t, 32, func(ctx context.Context, r *cartridge.Request) error {
		<-ctx.Done()
		var e *cartridge.Error
		if r.ContentType() == "other" {
			return nil
		}
		if !errors.As(context.Cause(ctx), &e) || e.Code != "CREDIT_VIOLATION" {
			t.Errorf("cause = %v", context.Cause(ctx))
		}
		return nil
	})
	other := s.begin(testCap, func(f *frame.Frame) { f.ContentType = []byte("other") })
	r := s.req(testCap)
	r.begin("arg0")
	for range 32 {
		r.chunk("arg0", bstr("x"))
	}
	require.Equal(t, uint64(0), s.silent().Drops.Or(99))
	r.chunk("arg0", bstr("x"))
	r.wantErr("CREDIT_VIOLATION", frame.AttributionInternal)
	require.Equal(t, uint64(1), s.silent().Drops.Or(99))
	other.cancel(frame.CancelReason{})
	_ = other.want(frame.TypeErr)
	require.NoError(t, s.finish())
}

// Law L9: an output starts with the credit of the link and waits at 0.
func TestOutputWaitsForCredit(t *testing.T) {
	s := served(t, 3, func(_ context.Context, r *cartridge.Request) error {
		out := r.Output("media:", &cartridge.OutputOptions{Sequence: true})
		for i := range 8 {
			if err := out.WriteValue(i); err != nil {
				return err
			}
		}
		return nil
	})
	r := s.req(testCap)
	begin := r.want(frame.TypeStreamStart)
	require.True(t, begin.IsSequence.Or(false))
	for i := range 3 {
		require.Equal(t, []byte{byte(i)}, r.want(frame.TypeChunk).Payload)
	}
	s.silent()
	f := frame.NewCredit(r.id, begin.StreamID, 1, frame.RequestDirection)
	r.sendAs(&f) // the wrong direction
	r.grant([]byte("other"), 1)
	s.silent()
	r.grant(begin.StreamID, 1)
	require.Equal(t, []byte{3}, r.want(frame.TypeChunk).Payload)
	s.silent()
	r.grant(begin.StreamID, ^uint64(0))
	r.grant(nil, ^uint64(0)) // 2^64-1 is the most there is
	for i := 4; i < 8; i++ {
		require.Equal(t, []byte{byte(i)}, r.want(frame.TypeChunk).Payload)
	}
	require.Equal(t, uint64(8), r.want(frame.TypeStreamEnd).ChunkCount.Or(0))
	r.wantSuccess()
	r.grant(nil, 1) // too late is nothing wrong
	s.silent()
	require.NoError(t, s.finish())
}

// A grant that names no stream is for the only one that is open.
func TestGrantForTheOnlyOutput(t *testing.T) {
	s := served(t, 1, func(_ context.Context, r *cartridge.Request) error {
		for range 2 {
			out := r.Output("media:", &cartridge.OutputOptions{Sequence: true})
			for range 2 {
				if err := out.WriteValue(1); err != nil {
					return err
				}
			}
			if err := out.Close(); err != nil {
				return err
			}
		}
		return nil
	})
	r := s.req(testCap)
	for range 2 {
		r.want(frame.TypeStreamStart)
		r.want(frame.TypeChunk)
		s.silent()
		r.grant(nil, 1)
		r.want(frame.TypeChunk)
		r.want(frame.TypeStreamEnd)
	}
	r.wantSuccess()
	require.NoError(t, s.finish())
}

// An argument that is closed is credited as it comes, so that the next one can follow.
func TestClosedArgumentIsDrained(t *testing.T) {
	arrived, closed := make(chan struct{}), make(chan struct{})
	s := served(t, 4, func(_ context.Context, r *cartridge.Request) error {
		in, err := r.Next()
		if err != nil {
			return err
		}
		<-arrived
		in.Close()
		close(closed)
		if _, err := in.Read(make([]byte, 1)); err == nil {
			return errors.New("read from what is closed")
		}
		in, err = r.Next()
		if err != nil {
			return err
		}
		data, err := io.ReadAll(in)
		if string(data) != "wanted" {
			return errors.New("not what was wanted")
		}
		return err
	})
	r := s.req(testCap)
	r.begin("arg0")
	for range 3 {
		r.chunk("arg0", bstr("x"))
	}
	s.silent()
	close(arrived)
	require.Equal(t, uint64(3), r.credit("arg0"))
	<-closed
	for range 10 {
		r.chunk("arg0", bstr("x"))
		require.Equal(t, uint64(1), r.credit("arg0"))
	}
	r.endStream("arg0")
	r.arg("arg1", bstr("wanted"))
	r.endBody()
	r.wantSuccess()
	require.NoError(t, s.finish())
}

// Two arguments at the same time: each has its own credit.
func TestArgumentsSideBySide(t *testing.T) {
	s := served(t, 2, func(_ context.Context, r *cartridge.Request) error {
		a, err := r.Next()
		if err != nil {
			return err
		}
		b, err := r.Next()
		if err != nil {
			return err
		}
		var p [2]byte
		for range 3 { // b is ahead of a
			if _, err := io.ReadFull(b, p[1:]); err != nil {
				return err
			}
		}
		for range 3 {
			if _, err := io.ReadFull(a, p[:1]); err != nil {
				return err
			}
		}
		if string(p[:]) != "ab" {
			return errors.New("mixed up")
		}
		return nil
	})
	r := s.req(testCap)
	r.begin("a")
	r.begin("b")
	r.chunk("a", bstr("a"))
	r.chunk("a", bstr("a"))
	r.chunk("b", bstr("b"))
	r.chunk("b", bstr("b"))
	require.Equal(t, uint64(1), r.credit("b"))
	r.chunk("b", bstr("b"))
	require.Equal(t, uint64(1), r.credit("b"))
	for f := s.next(); string(f.StreamID) != "a"; f = s.next() {
		require.Equal(t, frame.TypeCredit, f.Type)
	}
	r.chunk("a", bstr("a"))
	r.wantSuccess()
	require.NoError(t, s.finish())
}
