package endtoend

import (
	"encoding/json"
	"fmt"
	"time"
)

// What a request has its handler do.
const (
	doEcho  = "echo"  // answers with the payload
	doCount = "count" // answers with the payload's length
	doPeer  = "peer"  // has another cartridge echo the payload, and passes that on
	doFail  = "fail"  // fails in the middle of the payload, with codeRefused
	doWait  = "wait"  // takes nothing and waits to be cancelled
	doExit  = "exit"  // ends its process, with a status
	doDie   = "die"   // ends its process, by SIGKILL
)

const (
	mediaPlan    = "media:plan"
	mediaPayload = "media:payload"
	codeRefused  = "REFUSED"
	exitStatus   = 3
)

// A plan is the first argument of a request; the second one is the payload.
type plan struct {
	Do    string
	Peer  string        // the cap for doPeer
	Delay time.Duration // before the handler does anything
	Pause time.Duration // in the middle of the payload
}

func (p *plan) encode() []byte {
	data, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return data
}

// capOf returns the cap that a cartridge serves beside identity.
func capOf(name string) string {
	return fmt.Sprintf(`cap:endtoend=%s;in="media:payload";out="media:payload"`, name)
}
