package route_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
)

// serve is a host that ends every request as soon as its body has ended.
func serve(conn io.ReadWriteCloser, urns ...string) {
	in := frame.NewReader(conn, nil)
	out := frame.NewWriter(conn, nil)
	n, _ := frame.NewRelayNotify(frame.Notify{Manifest: []byte(manifestOf(urns...)), Limits: frame.DefaultLimits()})
	out.Write(&n)
	out.Flush()
	seq := flow.NewSeqAssigner(nil)
	check := frame.ID{}
	for {
		if !in.Buffered() {
			out.Flush()
		}
		f, err := in.Next()
		if err != nil {
			return
		}
		switch {
		case f.Type == frame.TypeReq && check.IsZero():
			check = f.ID
		case f.Type == frame.TypeChunk && f.ID == check:
			echo := frame.NewChunk(f.ID, []byte("x"), 0, f.Payload, flow.Checksum(f.Payload))
			echo.RoutingID = f.RoutingID
			seq.Assign(&echo)
			out.Write(&echo)
		}
		if f.Type == frame.TypeEnd {
			end, _ := frame.NewEnd(f.ID, frame.EndInfo{ExitCode: frame.Some[int64](0)})
			end.RoutingID = f.RoutingID
			seq.Assign(&end)
			out.Write(&end)
			seq.Remove(flow.Key{RID: end.ID, XID: end.RoutingID})
		}
	}
}

// benchSwitch returns a switch with some masters of four caps each, and the caps that reach them.
func benchSwitch(b *testing.B, masters int) (*route.Switch, []string) {
	s, err := route.New(context.Background(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	var names []string
	for i := range masters {
		near, far, err := relaytest.SocketPair()
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { far.Close() })
		own := []string{identity}
		for c := range 4 {
			own = append(own, fmt.Sprintf(`cap:m%d-%d;in="media:";out="media:"`, i, c))
		}
		go serve(far, own...)
		if _, err := s.AddMaster(context.Background(), fmt.Sprint(i), near); err != nil {
			b.Fatal(err)
		}
		names = append(names, fmt.Sprintf("cap:m%d-1", i))
	}
	return s, names
}

func oneRequest(s *route.Switch, cap string) error {
	ctx := context.Background()
	l, err := s.Open(ctx, call.Request{Cap: cap, Batch: true})
	if err != nil {
		return err
	}
	defer l.Close()
	end := frame.NewBodyEnd(frame.ID{})
	if err := l.Send(ctx, &end); err != nil {
		return err
	}
	for {
		f, err := l.Next(ctx)
		if err != nil {
			return err
		}
		if f.Type == frame.TypeEnd {
			return nil
		}
	}
}

func BenchmarkRequests(b *testing.B) {
	for _, masters := range []int{1, 4, 16} {
		for _, inFlight := range []int{1, 32} {
			b.Run(fmt.Sprintf("masters=%d/in-flight=%d", masters, inFlight), func(b *testing.B) {
				s, names := benchSwitch(b, masters)
				b.ReportAllocs()
				b.ResetTimer()
				var wg sync.WaitGroup
				next := make(chan int, 1024)
				for range inFlight {
					wg.Go(func() {
						for i := range next {
							if err := oneRequest(s, names[i%len(names)]); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				for i := range b.N {
					next <- i
				}
				close(next)
				wg.Wait()
			})
		}
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	near, far, err := relaytest.SocketPair()
	if err != nil {
		b.Fatal(err)
	}
	defer near.Close()
	go func() {
		defer far.Close()
		buf := make([]byte, 4096)
		for {
			n, err := far.Read(buf)
			if err != nil {
				return
			}
			far.Write(buf[:n])
		}
	}()
	buf := make([]byte, 200)
	began := time.Now()
	for b.Loop() {
		near.Write(buf)
		near.Read(buf)
	}
	_ = began
}
