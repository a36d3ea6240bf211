package host

import "time"

// arm makes ticks and heartbeats go on, as they do while something runs.
func (h *Host) arm() {
	if h.ticks == nil {
		h.ticks = time.AfterFunc(h.options.Republish, h.tick)
	}
	if h.heartbeats == nil {
		h.heartbeats = time.AfterFunc(h.options.HeartbeatEvery, h.beat)
	}
}

// disarm ends ticks and heartbeats.
func (h *Host) disarm() {
	for _, t := range []**time.Timer{&h.ticks, &h.heartbeats} {
		if *t != nil {
			(*t).Stop()
			*t = nil
		}
	}
}

// tick does what is due while something runs.
func (h *Host) tick() {
	h.mu.Lock()
	defer h.unlock()
	if h.closed {
		h.ticks = nil
		return
	}
	h.sweepTables()
	h.drain()
	alive := len(h.processes) > 0
	if alive || h.stale {
		h.announce()
	}
	h.ticks = nil
	if alive || h.stale {
		h.ticks = time.AfterFunc(h.options.Republish, h.tick)
	}
}

// sweepTables gives up what is too much, and says so.
func (h *Host) sweepTables() {
	h.sweep()
	if h.evictions > 0 {
		h.options.Logger.Error("the tables of requests were too full: requests that never ended were given up", "entries", h.evictions)
		h.evictions = 0
	}
}
