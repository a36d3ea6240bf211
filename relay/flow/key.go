package flow

import "github.com/cosim-go/cosim/relay/frame"

// A Key names a flow: the frames with one request id and one routing id, or none. No routing
// id (the zero ID) and the routing id 0 are two flows. Keys are compared with == and serve as
// map keys.
type Key struct {
	RID frame.ID
	XID frame.ID // the zero ID for none
}

// KeyOf returns the key of the flow that a frame belongs to.
func KeyOf(h frame.Head) Key { return Key{h.ID, h.RoutingID} }
