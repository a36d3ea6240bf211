package peer

import (
	"errors"
	"math"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/cosim-go/cosim/relay/bench/internal/carry"
	"github.com/cosim-go/cosim/relay/bench/internal/load"
)

// NATSLink publishes bodies as messages. NATS holds no sender back and drops what a receiver does not take, so
// the link lets a window of messages go and waits for a quarter of it to arrive before it sends another.
func NATSLink(item load.Item) (carry.Link, error) {
	b, err := newBroker()
	if err != nil {
		return nil, err
	}
	l := &natsLink{broker: b, body: item.Body(), arrived: make(chan struct{}, 1), closed: make(chan struct{})}
	l.quarter = max(min(natsBytes/len(l.body), natsMessages)/4, 1)
	l.window = make(chan struct{}, 4)
	l.waited.L = &l.mu
	l.close = sync.OnceValue(func() error {
		close(l.closed)
		l.mu.Lock()
		l.want = math.MaxInt // lets go what still waits
		l.mu.Unlock()
		l.waited.Signal()
		return b.close()
	})
	if err := b.subscribe(l.take); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

const (
	natsBytes    = 16 << 20 // in flight at most; the server cuts a receiver off at 64 MiB
	natsMessages = 4096
)

type natsLink struct {
	broker  *broker
	body    []byte
	quarter int           // messages
	window  chan struct{} // a token for each quarter in flight
	sent    int
	closed  chan struct{}
	close   func() error

	mu      sync.Mutex
	waited  sync.Cond // want has grown
	got     int       // messages that arrived
	want    int       // until then
	see     carry.See
	arrived chan struct{} // got has reached want
}

func (l *natsLink) Send(n int) error {
	for range n {
		if l.sent%l.quarter == 0 {
			select {
			case l.window <- struct{}{}:
			case <-l.closed:
				return nats.ErrConnectionClosed
			}
		}
		if err := l.broker.near.Publish(natsSubject, l.body); err != nil {
			return err
		}
		l.sent++
	}
	return nil
}

// take is called with each message that arrives. Those that nobody waits for yet stay with the client.
func (l *natsLink) take(m *nats.Msg) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.got == l.want {
		l.waited.Wait()
	}
	l.got++
	if l.got%l.quarter == 0 {
		<-l.window
	}
	if l.see != nil {
		l.see(m.Data)
	}
	if l.got == l.want {
		l.arrived <- struct{}{}
	}
}

func (l *natsLink) Receive(n int, see carry.See) error {
	l.mu.Lock()
	l.want, l.see = l.want+n, see
	l.mu.Unlock()
	l.waited.Signal()
	select {
	case <-l.arrived:
		return nil
	case <-l.closed:
		return nats.ErrConnectionClosed
	}
}

func (l *natsLink) Close() error { return l.close() }

// NATSEcho is a request and its answer.
func NATSEcho(tape load.Tape) (carry.Echo, error) {
	b, err := newBroker()
	if err != nil {
		return nil, err
	}
	e := &natsEcho{broker: b, items: tape.Items}
	if err := b.subscribe(func(m *nats.Msg) { m.Respond(m.Data) }); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return e, nil
}

type natsEcho struct {
	broker *broker
	items  []load.Item
	next   int
}

func (e *natsEcho) Trip(see carry.See) error {
	body := e.items[e.next].Body()
	e.next = (e.next + 1) % len(e.items)
	m, err := e.broker.near.Request(natsSubject, body, natsAnswer)
	if see != nil && err == nil {
		see(m.Data)
	}
	return err
}

func (e *natsEcho) Close() error { return e.broker.close() }
