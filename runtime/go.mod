module github.com/cosim-go/cosim/runtime

go 1.25.0

require (
	github.com/cosim-go/cosim/adapters v0.0.0
	github.com/cosim-go/cosim/topology v0.0.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/sys v0.47.0
)

require (
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace github.com/cosim-go/cosim/topology => ../topology

replace github.com/cosim-go/cosim/adapters => ../adapters
