module github.com/cosim-go/cosim/adapters

go 1.25

require (
	github.com/cosim-go/cosim/topology v0.0.0
	github.com/rogpeppe/go-internal v1.16.0
)

require (
	golang.org/x/tools v0.26.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace github.com/cosim-go/cosim/topology => ../topology
