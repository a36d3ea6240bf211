// Package qmp speaks to the monitor of a QEMU process: greeting, negotiation, one
// command at a time. Events are read and dropped.
//
// [Dial] connects and reads the greeting, [Client.Negotiate] leaves the mode in which
// QEMU accepts nothing but qmp_capabilities, [Client.Execute] runs a command. A monitor
// serves one client at a time, so close a client as soon as it is not needed.
//
// The protocol is that of QEMU's docs/interop/qmp-spec.
package qmp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// MaxLine is the length in bytes of the longest message that a client reads. The
// longest known answer is that of query-qmp-schema, about 200 KiB in QEMU 7.2.
const MaxLine = 4 << 20

// ErrLineTooLong is returned for a message longer than [MaxLine].
var ErrLineTooLong = fmt.Errorf("message is longer than %d bytes", MaxLine)

// An Error is QEMU's refusal of a command. The client can be used further.
type Error struct {
	Class string `json:"class"` // such as "CommandNotFound"
	Desc  string `json:"desc"`  // for people
}

// Error returns QEMU's description.
func (e *Error) Error() string { return e.Desc }

// A Greeting is what QEMU says of itself.
type Greeting struct {
	Major, Minor, Micro int
	Package             string   // the packager's own version; may be empty
	Capabilities        []string // that the monitor offers
}

// A Client is a connection to one monitor. Its methods may be called at the same time,
// and then take turns. After an error other than an [*Error] only Close is of use.
type Client struct {
	greeting Greeting
	conn     net.Conn
	reader   *bufio.Reader

	mu     sync.Mutex
	lastID uint64
	broken error // what made the connection unusable
}

// Dial connects to the monitor's Unix socket and waits for its greeting. The caller
// closes the client.
func Dial(ctx context.Context, path string) (*Client, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	c := &Client{conn: conn, reader: bufio.NewReader(conn)}
	if err := c.within(ctx, c.readGreeting); err != nil {
		conn.Close()
		return nil, fmt.Errorf("reading the greeting at %s: %w", path, err)
	}
	return c, nil
}

// Greeting returns what QEMU said when the client connected.
func (c *Client) Greeting() Greeting { return c.greeting }

// Negotiate ends the negotiation without asking for any capability. It is the first
// command of a connection.
func (c *Client) Negotiate(ctx context.Context) error {
	_, err := c.Execute(ctx, "qmp_capabilities", nil)
	return err
}

// Execute runs a command and returns what QEMU answers. The arguments are anything
// that becomes a JSON object; nil means none. An error of QEMU's is an [*Error].
func (c *Client) Execute(ctx context.Context, command string, args any) (json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return nil, fmt.Errorf("%s: %w", command, c.broken)
	}
	c.lastID++
	request, err := json.Marshal(struct {
		Execute   string `json:"execute"`
		Arguments any    `json:"arguments,omitempty"`
		ID        uint64 `json:"id"`
	}{command, args, c.lastID})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	var answer json.RawMessage
	err = c.within(ctx, func() error {
		if _, err := c.conn.Write(append(request, '\n')); err != nil {
			return err
		}
		answer, err = c.readAnswer()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	return answer, nil
}

// Close ends the connection; QEMU then serves the next client. It may be called twice.
func (c *Client) Close() error {
	if err := c.conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// within runs one exchange that ends when the context does. An exchange that was cut
// leaves the stream at an unknown place, so the client is broken from then on.
func (c *Client) within(ctx context.Context, exchange func() error) error {
	stop := context.AfterFunc(ctx, func() { c.conn.SetDeadline(time.Unix(1, 0)) })
	err := exchange()
	if !stop() {
		c.broken = context.Cause(ctx)
		if err != nil {
			err = c.broken
		}
	}
	var refused *Error
	if err != nil && !errors.As(err, &refused) && c.broken == nil {
		c.broken = err
	}
	return err
}

// A message is anything that a monitor sends.
type message struct {
	QMP *struct {
		Version struct {
			QEMU    struct{ Major, Minor, Micro int }
			Package string
		}
		Capabilities []string
	}
	Event  string
	Return json.RawMessage
	Error  *Error
	ID     *uint64
}

func (c *Client) readGreeting() error {
	m, err := c.readMessage()
	if err != nil {
		return err
	}
	if m.QMP == nil {
		return errors.New("it is not the greeting of a QEMU monitor")
	}
	v := m.QMP.Version
	c.greeting = Greeting{v.QEMU.Major, v.QEMU.Minor, v.QEMU.Micro, v.Package, m.QMP.Capabilities}
	return nil
}

// readAnswer skips events and answers to anything but the last request. QEMU answers
// a request that it cannot parse without its id.
func (c *Client) readAnswer() (json.RawMessage, error) {
	for {
		m, err := c.readMessage()
		switch {
		case err != nil:
			return nil, err
		case m.Event != "", m.ID != nil && *m.ID != c.lastID:
		case m.Error != nil:
			return nil, m.Error
		case m.Return != nil:
			return m.Return, nil
		default:
			return nil, errors.New("the monitor sent neither an answer nor an event")
		}
	}
}

func (c *Client) readMessage() (*message, error) {
	var line []byte
	for {
		part, err := c.reader.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			return nil, ErrLineTooLong
		}
		line = append(line, part...)
		if err == nil {
			break
		}
		if err == io.EOF && len(line) > 0 {
			return nil, io.ErrUnexpectedEOF
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
	m := new(message)
	if err := json.Unmarshal(line, m); err != nil {
		return nil, fmt.Errorf("reading a message: %w", err)
	}
	return m, nil
}
