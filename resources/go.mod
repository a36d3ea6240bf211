module github.com/cosim-go/cosim/resources

go 1.25
