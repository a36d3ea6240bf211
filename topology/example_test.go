package topology_test

import (
	"fmt"
	"os"
	"testing/fstest"

	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
)

// A document defines its own kinds here, so that it needs no built-in ones.
func ExampleLoad() {
	files := fstest.MapFS{
		"node.yaml": {Data: []byte(`version: 1
imports: [kinds.yaml]
machines:
  - id: node
    count: 2
    vhost: {kind: host, memory: 4G}
    devices:
      - {kind: nic, count: 2}
`)},
		"kinds.yaml": {Data: []byte(`version: 1
kinds:
  host: {role: vhost, program: host-sim, args: ["{{attach}}"]}
  nic: {role: device, program: nic-sim, regions: {bar0: 64M}}
`)},
	}
	model, problems := topology.Load(topology.FromFS(files), "node.yaml", nil)
	if problems.HasErrors() {
		_ = diag.WriteText(os.Stdout, problems)
		return
	}
	pools, problems := topology.Layout(model, 4096)
	if problems.HasErrors() {
		_ = diag.WriteText(os.Stdout, problems)
		return
	}
	for _, machine := range pools.Machines {
		fmt.Println(machine.ID, machine.Size)
		for _, region := range machine.Regions {
			fmt.Printf("  %#x %s %s\n", region.Offset, region.Size, region.Name)
		}
	}
	// Output:
	// node0 4224M
	//   0x0 4G memory
	//   0x100000000 64M nic-0.bar0
	//   0x104000000 64M nic-1.bar0
	// node1 4224M
	//   0x0 4G memory
	//   0x100000000 64M nic-0.bar0
	//   0x104000000 64M nic-1.bar0
}

// Problems know where they are, and what was probably meant.
func ExampleLoad_problems() {
	files := fstest.MapFS{"two.yaml": {Data: []byte(`version: 1
kinds:
  host: {role: vhost, program: host-sim}
machines:
  - id: m0
    vhost: {kind: host, memroy: 32G}
  - id: M0
    vhost: {kind: hots, memory: 1.5G}
`)}}
	_, problems := topology.Load(topology.FromFS(files), "two.yaml", nil)
	_ = diag.WriteText(os.Stdout, problems)
	// Output:
	// two.yaml:6:25: unknown field "memroy" in vhost
	// 	hint: did you mean "memory"?
	// two.yaml:7:9: machine "M0" differs from "m0" in case alone
	// 	two.yaml:5:9: "m0" is declared here
	// two.yaml:8:19: unknown vhost kind "hots"
	// 	hint: did you mean "host"?
	// two.yaml:8:33: size "1.5G": must be a whole number
	// 	hint: write 1536M
}
