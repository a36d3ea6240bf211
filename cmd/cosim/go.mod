module github.com/cosim-go/cosim/cmd/cosim

go 1.25
