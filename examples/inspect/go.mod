module github.com/cosim-go/cosim/examples/inspect

go 1.25

require github.com/cosim-go/cosim/topology v0.0.0

require gopkg.in/yaml.v3 v3.0.1 // indirect

replace github.com/cosim-go/cosim/topology => ../../topology
