module github.com/cosim-go/cosim/resources

go 1.25

require (
	github.com/cosim-go/cosim/adapters v0.0.0
	github.com/cosim-go/cosim/topology v0.0.0
	gopkg.in/yaml.v3 v3.0.1
)

replace (
	github.com/cosim-go/cosim/adapters => ../adapters
	github.com/cosim-go/cosim/topology => ../topology
)
