package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
)

// A peer is a device as its host sees it.
type peer struct {
	id     string
	window region
	socket string
}

// peers is a flag.Value that may be given many times, each ID,OFFSET:SIZE,SOCKET.
type peers []peer

func (p *peers) String() string { return fmt.Sprintf("%d devices", len(*p)) }

// Set adds one device.
func (p *peers) Set(text string) error {
	parts := strings.SplitN(text, ",", 3) // a path may hold commas, an identifier none
	if len(parts) != 3 {
		return fmt.Errorf("device %q is not of the form ID,OFFSET:SIZE,SOCKET", text)
	}
	d := peer{id: parts[0], socket: parts[2]}
	if err := d.window.Set(parts[1]); err != nil {
		return err
	}
	*p = append(*p, d)
	return nil
}

// A host owns the guest's memory and checks what the devices do with it.
type host struct {
	pool   string
	memory []byte
	rounds int
	out    io.Writer
}

// errVerdict is a run whose checks did not all pass.
var errVerdict = errors.New("the devices did not do what they were asked")

// runHost asks each device in turn, and prints the verdict as its last line.
func runHost(args []string, out io.Writer) error {
	h := host{out: out}
	var memory region
	var devices peers
	flags := flag.NewFlagSet("host", flag.ContinueOnError)
	flags.StringVar(&h.pool, "pool", "", "")
	flags.IntVar(&h.rounds, "rounds", 4, "")
	flags.Var(&memory, "memory", "")
	flags.Var(&devices, "device", "")
	if err := parse(flags, args); err != nil {
		return err
	}
	if len(devices) == 0 || h.rounds < 1 {
		return fmt.Errorf("%w: no device, or no round", errUsage)
	}
	var err error
	if h.memory, err = mapRegion(h.pool, memory); err != nil {
		return err
	}
	defer syscall.Munmap(h.memory)

	if err := h.tryAll(devices); err != nil {
		fmt.Fprintln(out, "VERDICT: FAIL")
		return err
	}
	fmt.Fprintln(out, "VERDICT: PASS")
	return nil
}

// tryAll runs all rounds with every device. It keeps each connected until all are
// done, because a device leaves with its host.
func (h *host) tryAll(devices []peer) error {
	var failed error
	for _, d := range devices {
		l, err := connect(h.pool, d)
		if err == nil {
			defer l.close()
			err = h.try(l)
		}
		if err != nil {
			fmt.Fprintf(h.out, "FAIL %s: %v\n", d.id, err)
			failed = errVerdict
		}
	}
	return failed
}

// A link is a device that the host is connected to.
type link struct {
	id     string
	window []byte
	conn   net.Conn
}

func connect(pool string, d peer) (*link, error) {
	conn, err := net.Dial("unix", d.socket)
	if err != nil {
		return nil, err
	}
	window, err := mapRegion(pool, d.window)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &link{d.id, window, conn}, nil
}

func (l *link) close() {
	l.conn.Close()
	syscall.Munmap(l.window)
}

// try runs all rounds with one device.
func (h *host) try(l *link) error {
	in, out := json.NewDecoder(l.conn), json.NewEncoder(l.conn)
	for round := 1; round <= h.rounds; round++ {
		q := h.newRequest(len(l.window))
		if err := out.Encode(q); err != nil {
			return err
		}
		var r reply
		if err := in.Decode(&r); err != nil {
			return fmt.Errorf("reading a reply: %w", err)
		}
		if err := h.judge(q, r, l.window); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		fmt.Fprintf(h.out, "PASS %s: round %d, %d bytes\n", l.id, round, q.Size)
	}
	return nil
}

// newRequest fills a random range of the guest's memory, at most as long as the
// window, with random bytes.
func (h *host) newRequest(window int) request {
	q := request{Key: make([]byte, 32)}
	rand.Read(q.Key) // never fails
	q.Size = 1 + random(min(window, len(h.memory)))
	q.Offset = random(len(h.memory) - q.Size + 1)
	rand.Read(h.memory[q.Offset : q.Offset+q.Size])
	return q
}

// judge compares the window and the reply with what the host wrote.
func (h *host) judge(q request, r reply, window []byte) error {
	if r.Error != "" {
		return errors.New(r.Error)
	}
	sent := h.memory[q.Offset : q.Offset+q.Size]
	if sum := sha256.Sum256(sent); !bytes.Equal(r.SHA256, sum[:]) {
		return fmt.Errorf("the device read something else than the %d bytes at %d", q.Size, q.Offset)
	}
	want := make([]byte, q.Size)
	transform(want, sent, q.Key)
	if !bytes.Equal(window[:q.Size], want) {
		return fmt.Errorf("the window does not hold the %d bytes that were asked for", q.Size)
	}
	return nil
}

// random is a number of at least 0 and less than n.
func random(n int) int {
	var b [8]byte
	rand.Read(b[:])
	return int(binary.LittleEndian.Uint64(b[:]) % uint64(n))
}
