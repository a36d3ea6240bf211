package route_test

import (
	"cmp"
	"slices"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

// A twin does what a switch has to do, in the simplest way: it knows what each host and each call is to get.
type twin struct {
	lastXID uint64
	hosts   []*twinHost
	live    []*twinRequest // in the order in which they were registered
	ended   []*twinRequest
	kinds   map[stats.Kind]uint64
	late    uint64
	lost    uint64
}

// A twinHost is what a host is to get.
type twinHost struct {
	attached bool
	frames   []seen
}

// seen is what tells frames of a test apart.
type seen struct {
	typ      frame.Type
	rid, xid frame.ID
}

type twinRequest struct {
	rid, xid frame.ID
	origin   int // -1 for the engine
	dest     int
	parent   *twinRequest
	children []*twinRequest // the newest first
	bodyDone bool
	ended    bool
	got      []frame.Type // by the engine
}

func (w *twin) number() frame.ID {
	w.lastXID++
	return frame.Number(w.lastXID)
}

func (w *twin) toHost(i int, typ frame.Type, r *twinRequest) {
	if w.hosts[i].attached {
		w.hosts[i].frames = append(w.hosts[i].frames, seen{typ, r.rid, r.xid})
	}
}

// toRequester gives a frame of a response to whoever made the request.
func (w *twin) toRequester(typ frame.Type, r *twinRequest) {
	if r.origin < 0 {
		r.got = append(r.got, typ)
	} else {
		w.toHost(r.origin, typ, r)
	}
}

func (w *twin) open(rid frame.ID, origin, dest int, parent *twinRequest) *twinRequest {
	r := &twinRequest{rid: rid, xid: w.number(), origin: origin, dest: dest}
	if parent != nil && !parent.ended && (origin < 0 || parent.dest == origin) {
		r.parent = parent
		parent.children = append([]*twinRequest{r}, parent.children...)
	}
	w.live = append(w.live, r)
	w.toHost(dest, frame.TypeReq, r)
	return r
}

// refuse is the answer to a peer call that nobody serves.
func (w *twin) refuse(rid frame.ID, from int) {
	w.toHost(from, frame.TypeErr, &twinRequest{rid: rid, xid: w.number()})
}

func (w *twin) body(r *twinRequest, typ frame.Type) {
	switch {
	case r.ended && r.origin < 0: // the engine learns of it
	case r.ended || r.bodyDone:
		w.late++
	default:
		r.bodyDone = typ.Terminal()
		w.toHost(r.dest, typ, r)
	}
}

func (w *twin) response(r *twinRequest, from int, typ frame.Type) {
	switch {
	case r.ended:
		w.late++
	case r.dest != from:
		w.lost++
	case !typ.Terminal():
		w.toRequester(typ, r)
	default:
		kind := stats.KindEnd
		if typ == frame.TypeErr {
			kind = stats.KindErr
		}
		w.end(r, kind)
		w.toRequester(typ, r)
		if !r.bodyDone {
			w.toHost(r.dest, frame.TypeEnd, r)
		}
	}
}

func (w *twin) end(r *twinRequest, kind stats.Kind) {
	r.ended = true
	w.kinds[kind]++
	w.live = slices.DeleteFunc(w.live, func(o *twinRequest) bool { return o == r })
	w.ended = append(w.ended, r)
	if r.parent != nil {
		r.parent.children = slices.DeleteFunc(r.parent.children, func(o *twinRequest) bool { return o == r })
	}
	for _, c := range r.children {
		c.parent = nil
	}
}

func (w *twin) cancel(r *twinRequest) {
	for family := []*twinRequest{r}; len(family) > 0; family = family[1:] {
		r := family[0]
		family = append(family, r.children...)
		w.end(r, stats.KindCancelled)
		w.toHost(r.dest, frame.TypeCancel, r)
		w.toRequester(frame.TypeErr, r)
	}
}

func (w *twin) die(i int) {
	w.hosts[i].attached = false
	w.hosts[i].frames = nil
	concerned := slices.DeleteFunc(slices.Clone(w.live), func(r *twinRequest) bool { return r.dest != i && r.origin != i })
	slices.SortFunc(concerned, func(a, b *twinRequest) int {
		x, _ := a.xid.Number()
		y, _ := b.xid.Number()
		return cmp.Compare(x, y)
	})
	for _, r := range concerned {
		w.end(r, stats.KindMasterDied)
		if r.dest == i {
			w.toRequester(frame.TypeErr, r)
		} else {
			w.toHost(r.dest, frame.TypeCancel, r)
		}
	}
}
