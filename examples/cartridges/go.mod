module github.com/cosim-go/cosim/examples/cartridges

go 1.25.0

require github.com/cosim-go/cosim/relay v0.0.0

require (
	github.com/fxamacker/cbor/v2 v2.9.2 // indirect
	github.com/x448/float16 v0.8.4 // indirect
)

replace github.com/cosim-go/cosim/relay => ../../relay
