module github.com/cosim-go/cosim/cmd/cosim

go 1.25.0

require (
	al.essio.dev/pkg/shellescape v1.6.0
	github.com/cosim-go/cosim/adapters v0.0.0
	github.com/cosim-go/cosim/relay v0.0.0
	github.com/cosim-go/cosim/resources v0.0.0
	github.com/cosim-go/cosim/runtime v0.0.0
	github.com/cosim-go/cosim/topology v0.0.0
	github.com/creack/pty v1.1.24
	github.com/fxamacker/cbor/v2 v2.9.2
	github.com/rogpeppe/go-internal v1.16.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	github.com/spf13/cobra v1.10.2
	golang.org/x/sys v0.47.0
	golang.org/x/term v0.45.0
	gopkg.in/yaml.v3 v3.0.1
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	golang.org/x/text v0.14.0 // indirect
	golang.org/x/tools v0.26.0 // indirect
)

replace github.com/cosim-go/cosim/topology => ../../topology

replace github.com/cosim-go/cosim/adapters => ../../adapters

replace github.com/cosim-go/cosim/runtime => ../../runtime

replace github.com/cosim-go/cosim/resources => ../../resources

replace github.com/cosim-go/cosim/relay => ../../relay
