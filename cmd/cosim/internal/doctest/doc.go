// Package doctest holds the documentation in docs/ to what the program does. It has
// tests alone: the field reference and the list of codes are compared with the loader's
// own tables, each example is run with the built command, and the JSON Schema is held
// against every document that ships.
//
// go test -update rewrites the output of the examples in docs/errors.md.
package doctest
