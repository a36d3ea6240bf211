module github.com/cosim-go/cosim/scripts/mutants

go 1.25.0
