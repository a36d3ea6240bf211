package admission_test

import (
	"context"
	"fmt"

	"github.com/cosim-go/cosim/relay/admission"
	"github.com/cosim-go/cosim/relay/manifest"
)

func Example() {
	const encode, decode = "cap:effect=none;encode", "cap:decode;effect=none"
	c := admission.New(manifest.Pools{
		"cap:effect=none;encode": {},
		"cap:decode;effect=none": {},
		"codec":                  {Configured: 1, Caps: []string{encode, decode}},
		"all":                    {},
	})
	p, err := c.Acquire(context.Background(), encode)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, ok := c.TryAcquire(decode)
	fmt.Println("while the other is served:", ok)
	p.Release()
	_, ok = c.TryAcquire(decode)
	fmt.Println("after that:", ok)
	// Output:
	// while the other is served: false
	// after that: true
}
