package relaytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// BenchSwitch measures requests through a switch with 1, 4 and 16 masters, each with a host of four caps at the far end of
// a connection that open makes. start makes the switch of its ends of them, and gives what closes the switch; the ids of
// the masters do not matter. For a [route.Switch] see the benchmarks of package route.
//
// Each is a sub-benchmark with a name that stays. An operation is a request: REQ and END to the host, and an END back.
//
//   - switch/masters=1/in-flight=1: one after the other. The metric x-raw is the ratio to as many bytes there and back,
//     without frames, over a connection of the same kind; p50-ns is the median of the requests.
//   - switch/masters=1/in-flight=32: 32 at a time, against the same as many at a time.
//   - switch/masters=16/in-flight=32: requests to all masters by turns. The metric x-1master is the ratio to the same with
//     one master.
//
// Both are measured by turns in the same run.
func BenchSwitch[C io.ReadWriteCloser](b *testing.B, open func() (client, server C, err error),
	start func(sockets []C) (call.Opener, io.Closer, error)) {
	benchAll(b, switchCases(open, start))
}

// MeasureSwitch measures what [BenchSwitch] does, outside of a test.
func MeasureSwitch[C io.ReadWriteCloser](open func() (client, server C, err error),
	start func(sockets []C) (call.Opener, io.Closer, error), o *MeasureOptions) ([]Figure, error) {
	return measureAll(switchCases(open, start), o)
}

const manyInFlight = 32

func switchCases[C io.ReadWriteCloser](open func() (client, server C, err error),
	start func(sockets []C) (call.Opener, io.Closer, error)) []benchCase {
	request := func(masters, inFlight int) func() (*path, error) {
		return func() (*path, error) { return requests(open, start, masters, inFlight) }
	}
	raw := func(inFlight int) func() (*path, error) {
		return func() (*path, error) { return rawRequests(open, inFlight) }
	}
	cases := []benchCase{
		{name: "switch/masters=1/in-flight=1", floor: "raw", metric: "x-raw", latency: true, open: eachPath(request(1, 1), raw(1))},
		{name: "switch/masters=1/in-flight=32", floor: "raw", metric: "x-raw", open: eachPath(request(1, manyInFlight), raw(manyInFlight))},
	}
	for _, masters := range []int{4, 16} {
		cases = append(cases, benchCase{
			name: fmt.Sprintf("switch/masters=%d/in-flight=32", masters), floor: "1 master", metric: "x-1master",
			open: eachPath(request(masters, manyInFlight), request(1, manyInFlight)),
		})
	}
	return cases
}

// eachPath makes two paths.
func eachPath(a, b func() (*path, error)) func() (x, y *path, err error) {
	return func() (x, y *path, err error) {
		if x, err = a(); err != nil {
			return nil, nil, err
		}
		if y, err = b(); err != nil {
			x.close()
			return nil, nil, err
		}
		return x, y, nil
	}
}

// requests are requests through a switch.
func requests[C io.ReadWriteCloser](open func() (client, server C, err error),
	start func(sockets []C) (call.Opener, io.Closer, error), masters, inFlight int) (*path, error) {
	var near []C
	var hosts sync.WaitGroup
	var ends []io.ReadWriteCloser
	closeAll := func() {
		closer(ends...)()
		hosts.Wait()
	}
	var names []string
	for i := range masters {
		client, server, err := open()
		if err != nil {
			closeAll()
			return nil, err
		}
		near = append(near, client)
		ends = append(ends, client, server)
		urns := []string{caps.Identity}
		for c := range 4 {
			urns = append(urns, fmt.Sprintf(`cap:bench-%d-%d;in="media:";out="media:"`, i, c))
		}
		names = append(names, fmt.Sprintf(`cap:bench-%d-%d`, i, i%4))
		hosts.Go(func() { serveRequests(server, urns) })
	}
	s, stop, err := start(near)
	if err != nil {
		closeAll()
		return nil, err
	}
	p := &path{close: func() {
		stop.Close()
		closeAll()
	}}
	p.run = func(n int) error {
		return p.each(n, inFlight, func(i int) error { return request(s, names[i%masters]) })
	}
	return p, nil
}

// each does something n times, some of them at a time, and notes how long each took.
func (p *path) each(n, inFlight int, do func(i int) error) error {
	p.begin(n)
	errs := make([]error, inFlight)
	var all sync.WaitGroup
	for w := range inFlight {
		all.Go(func() {
			for i := w; i < n && errs[w] == nil; i += inFlight {
				began := time.Now()
				errs[w] = do(i)
				p.trips[i] = time.Since(began)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// request makes a request without arguments and reads its response.
func request(o call.Opener, cap string) error {
	ctx := context.Background()
	l, err := o.Open(ctx, call.Request{Cap: cap, Batch: true})
	if err != nil {
		return err
	}
	defer l.Close()
	end := frame.NewBodyEnd(l.ID())
	if err := l.Send(ctx, &end); err != nil {
		return err
	}
	f, err := l.Next(ctx)
	switch {
	case err != nil:
		return err
	case f.Type != frame.TypeEnd:
		return fmt.Errorf("a %s frame in place of the end", f.Type)
	}
	return nil
}

// serveRequests is a host that ends each request with its body, and echoes the chunks that come before.
func serveRequests(conn io.ReadWriteCloser, urns []string) error {
	manifest, err := json.Marshal(map[string]any{"caps": urns, "installed_cartridges": []string{}})
	if err != nil {
		return err
	}
	in, out := frame.NewReader(conn, nil), frame.NewWriter(conn, nil)
	f, err := frame.NewRelayNotify(frame.Notify{Manifest: manifest, Limits: frame.DefaultLimits()})
	if err != nil {
		return err
	}
	if err := errors.Join(out.Write(&f), out.Flush()); err != nil {
		return err
	}
	numbers := flow.NewSeqAssigner(nil)
	for {
		if !in.Buffered() {
			out.Flush()
		}
		f, err := in.Next()
		if err != nil {
			return err
		}
		var answer frame.Frame
		switch f.Type {
		case frame.TypeChunk:
			answer = frame.NewChunk(f.ID, []byte("out"), 0, f.Payload, flow.Checksum(f.Payload))
		case frame.TypeEnd:
			if answer, err = frame.NewEnd(f.ID, frame.EndInfo{ExitCode: frame.Some[int64](0)}); err != nil {
				return err
			}
		default:
			continue
		}
		answer.RoutingID = f.RoutingID
		numbers.Assign(&answer)
		if err := out.Write(&answer); err != nil {
			return err
		}
		if answer.Type.Terminal() {
			numbers.Remove(flow.Key{RID: answer.ID, XID: answer.RoutingID})
		}
	}
}

// Bytes of what such a request is on the wire, there and back.
const (
	requestSize  = 180
	responseSize = 60
)

// rawRequests are as many bytes there and back, without frames. Each of those in flight has a connection of its own.
func rawRequests[C io.ReadWriteCloser](open func() (client, server C, err error), inFlight int) (*path, error) {
	var ends []io.ReadWriteCloser
	var far sync.WaitGroup
	var near []C
	p := &path{close: func() {
		closer(ends...)()
		far.Wait()
	}}
	for range inFlight {
		client, server, err := open()
		if err != nil {
			p.close()
			return nil, err
		}
		near = append(near, client)
		ends = append(ends, client, server)
		far.Go(func() {
			buf := make([]byte, requestSize)
			for {
				if _, err := io.ReadFull(server, buf); err != nil {
					return
				}
				if _, err := server.Write(buf[:responseSize]); err != nil {
					return
				}
			}
		})
	}
	p.run = func(n int) error {
		return p.each(n, inFlight, func(i int) error {
			var buf [requestSize]byte
			if _, err := near[i%inFlight].Write(buf[:]); err != nil {
				return err
			}
			_, err := io.ReadFull(near[i%inFlight], buf[:responseSize])
			return err
		})
	}
	return p, nil
}
