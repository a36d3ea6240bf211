module github.com/cosim-go/cosim/topology

go 1.25

require (
	github.com/stretchr/testify v1.12.1 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
