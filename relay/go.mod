module github.com/cosim-go/cosim/relay

go 1.25.0

require (
	github.com/fxamacker/cbor/v2 v2.9.2
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/x448/float16 v0.8.4 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)
