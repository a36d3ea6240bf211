module github.com/cosim-go/cosim/examples/loopback

go 1.25.0
