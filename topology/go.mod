module github.com/cosim-go/cosim/topology

go 1.25

require gopkg.in/yaml.v3 v3.0.1

require github.com/rogpeppe/go-internal v1.16.0

require golang.org/x/tools v0.26.0 // indirect
