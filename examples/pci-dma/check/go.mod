module github.com/cosim-go/cosim/examples/pci-dma/check

go 1.25.0

require (
	github.com/cosim-go/cosim/runtime v0.0.0
	github.com/cosim-go/cosim/topology v0.0.0
)

require golang.org/x/sys v0.47.0 // indirect

replace github.com/cosim-go/cosim/topology => ../../../topology

replace github.com/cosim-go/cosim/adapters => ../../../adapters

replace github.com/cosim-go/cosim/runtime => ../../../runtime
