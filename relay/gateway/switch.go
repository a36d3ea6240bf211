package gateway

import (
	"context"
	"net"

	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/route"
)

// Serve lets hosts and callers that connect to l use a switch, until ctx ends or l fails. It takes over l. Hosts become
// masters, which stay when Serve ends; the connections of callers end with it: requests that run are cancelled, and
// their callers told. Serve returns nil when ctx ended, after all that it began.
//
// Several calls may serve one switch, as long as no two give ids to hosts by themselves. No options are the defaults.
func Serve(ctx context.Context, l net.Listener, s *route.Switch, o *Options) error {
	return serve(ctx, l, routed{s}, o)
}

// routed is a switch as an engine.
type routed struct{ *route.Switch }

func (r routed) status() Status {
	return Status{
		Ready:        r.AllReady(),
		Masters:      r.Health(),
		Limits:       Limits(r.Limits()),
		Capabilities: r.Capabilities(),
		Inventory:    manifest.NewInventory(r.Inventory(), nil),
		Protocol:     r.Stats(),
	}
}
