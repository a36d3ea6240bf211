package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// hosts gives the hosts that connect their ids.
type hosts struct {
	engine engine
	fixed  string // the id of them all; "" for one each
	max    int

	mu    sync.Mutex
	known []*slot // in the order of their numbers
	last  uint64  // goes up with every host that joins
}

// A slot is the place of a host that has joined, or wants to.
type slot struct {
	id   string
	busy bool   // somebody joins there now
	pid  int    // of the last host that joined there; 0 for none or unknown
	has  string // what that one had installed; "" for nothing
	used uint64 // when it joined; 0 for never
}

// reattachPatience is how long a host of a fixed id waits for the end of its earlier connection to be noticed.
const reattachPatience = 2 * time.Second

// host makes a connection that of a master.
func (s *server) host(ctx context.Context, g *greeting, pid int) {
	has := installed(g.first)
	place, err := s.hosts.reserve(ctx, has, pid)
	if err != nil {
		s.log.Warn("a host was refused", "pid", pid, "error", err)
		g.conn.Close()
		return
	}
	_, err = s.engine.AddMaster(ctx, place.id, g.again())
	again := s.hosts.settle(place, has, pid, err == nil)
	if err != nil {
		if !errors.Is(err, errShutdown) {
			s.log.Warn("a host was refused", "master", place.id, "pid", pid, "error", err)
		}
		return
	}
	if s.options.Joined != nil {
		s.running.Go(func() { s.options.Joined(Joined{Host: place.id, PID: pid, Again: again}) })
	}
}

// reserve returns the slot of a host that announced what it has.
func (h *hosts) reserve(ctx context.Context, has string, pid int) (*slot, error) {
	if h.fixed == "" {
		return h.choose(has, pid)
	}
	h.mu.Lock()
	if h.known == nil {
		h.known = []*slot{{id: h.fixed}}
	}
	place := h.known[0]
	h.mu.Unlock()
	limit := time.Now().Add(reattachPatience)
	for !h.engine.AcceptsAttach(h.fixed) && time.Now().Before(limit) && ctx.Err() == nil {
		pause(ctx, 10*time.Millisecond)
	}
	return place, nil
}

// choose returns a slot that is free: that of a host with the same cartridges, of the same process if there are
// several; or one where nobody has joined yet, or else the one that was joined the longest time ago.
func (h *hosts) choose(has string, pid int) (*slot, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var same, unused, oldest *slot
	for _, s := range h.known {
		switch {
		case s.busy || !h.engine.AcceptsAttach(s.id):
			continue
		case s.used == 0:
			unused = s
			continue
		case s.has == has && pid != 0 && s.pid == pid, s.has == has && has != "" && (same == nil || same.pid != pid):
			same = s
		}
		if oldest == nil || s.used < oldest.used {
			oldest = s
		}
	}
	best := cmp.Or(same, unused)
	if best == nil && len(h.known) < h.max {
		best = &slot{id: fmt.Sprintf("host-%d", len(h.known)+1)}
		h.known = append(h.known, best)
	}
	if best = cmp.Or(best, oldest); best == nil {
		return nil, fmt.Errorf("%d hosts are there, and more are not taken", h.max)
	}
	best.busy = true
	return best, nil
}

// settle says whether the host of a slot has joined, and returns whether one had before.
func (h *hosts) settle(place *slot, has string, pid int, joined bool) (again bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	again = place.used != 0
	place.busy = false
	if joined {
		h.last++
		place.has, place.pid, place.used = has, pid, h.last
	}
	return again
}

// installed returns what a host has installed, as a text that is the same for the same cartridges; "" when it has
// nothing, or nothing that can be read.
func installed(notify *frame.Frame) string {
	data, ok := notify.Manifest()
	if !ok {
		return ""
	}
	v, err := manifest.ParseInventory(data)
	if err != nil {
		return ""
	}
	var all []string
	for _, r := range v.Records {
		all = append(all, fmt.Sprintf("%q", []string{r.Install.Registry, r.Install.Channel, r.Install.ID, r.Install.Version, r.Install.SHA256}))
	}
	if len(all) == 0 {
		for _, c := range v.Caps {
			all = append(all, c.String())
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

var errShutdown = &call.Cancelled{Code: call.CodeAborted, Attribution: frame.AttributionEnvironment, Message: "the switch is shutting down"}
