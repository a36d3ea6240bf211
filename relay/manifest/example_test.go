package manifest_test

import (
	"fmt"

	"github.com/cosim-go/cosim/relay/manifest"
)

func ExampleCartridge() {
	identity, err := manifest.NewCap("cap:effect=none", "Identity")
	if err != nil {
		fmt.Println(err)
		return
	}
	c := manifest.Cartridge{
		Name: "demo", Version: "1.2.3", Description: "shows a manifest",
		Groups: []manifest.CapGroup{{Name: "default", Caps: []manifest.Cap{identity}}},
		Pools:  manifest.PoolDeclarations{Capacities: map[string]uint64{manifest.PoolAll: 4}},
	}
	if err := c.Check(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Install())
	fmt.Printf("%s\n", c.InitialPools().AppendJSON(nil))
	// Output:
	// demo 1.2.3 (release)
	// {"all":{"declared":4,"configured":4,"active":0,"queued":0,"caps":["cap:effect=none"]},"cap:effect=none":{"declared":0,"configured":0,"active":0,"queued":0}}
}

func ExampleParseInventory() {
	v, err := manifest.ParseInventory([]byte(`{"caps": ["cap:effect=none", "CAP:Hash;in=media:"], "installed_cartridges": []}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Caps, v.Check(false))
	_, err = manifest.ParseInventory([]byte(`{"installed_cartridges": [{"id": "demo", "version": 1}]}`))
	fmt.Println(err)
	// Output:
	// [cap:effect=none cap:hash] <nil>
	// inventory: installed_cartridges[0]("demo").version is the number 1, want a text
}

func ExampleFollower() {
	var f manifest.Follower
	for _, text := range []string{
		`{"caps": ["cap:effect=none"], "host_protocol_stats": {"outgoing_rids": 1}}`,
		`{"caps": ["cap:effect=none"], "host_protocol_stats": {"outgoing_rids": 2}}`,
		`{"caps": ["cap:effect=none", "cap:hash"], "host_protocol_stats": {"outgoing_rids": 2}}`,
	} {
		v, change, err := f.Read([]byte(text))
		fmt.Println(len(v.Caps), change.Caps, err)
	}
	// Output:
	// 1 true <nil>
	// 1 false <nil>
	// 2 true <nil>
}
