package peer

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

const (
	natsSubject = "bench"
	natsStart   = 10 * time.Second // until the server takes connections
	natsAnswer  = 10 * time.Second // until a request is answered
)

// A broker is a NATS server in this process and two clients, on the loopback interface: the server knows no
// Unix sockets.
type broker struct {
	server    *server.Server
	near, far *nats.Conn
}

func newBroker() (*broker, error) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		return nil, err
	}
	b := &broker{server: s}
	s.Start()
	if !s.ReadyForConnections(natsStart) {
		return nil, errors.Join(fmt.Errorf("no connections after %v", natsStart), b.close())
	}
	if b.near, err = nats.Connect(s.ClientURL()); err != nil {
		return nil, errors.Join(err, b.close())
	}
	if b.far, err = nats.Connect(s.ClientURL()); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *broker) close() error {
	for _, c := range []*nats.Conn{b.near, b.far} {
		if c != nil {
			c.Close()
		}
	}
	b.server.Shutdown()
	b.server.WaitForShutdown()
	return nil
}

// subscribe has f called with each message, in order, on a goroutine of the far client.
func (b *broker) subscribe(f func(*nats.Msg)) error {
	sub, err := b.far.Subscribe(natsSubject, f)
	if err != nil {
		return err
	}
	return errors.Join(sub.SetPendingLimits(-1, -1), b.far.Flush())
}
