module github.com/cosim-go/cosim/adapters

go 1.25

require github.com/cosim-go/cosim/topology v0.0.0

replace github.com/cosim-go/cosim/topology => ../topology
