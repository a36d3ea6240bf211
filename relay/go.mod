module github.com/cosim-go/cosim/relay

go 1.25
