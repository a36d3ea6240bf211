// Mutants breaks rules of this repository, one at a time, and looks whether a test
// turns red.
//
// The table is data: table/*.txt, a mutant each block. A block has a head, the file it
// breaks, the tests that have to notice, and the change as in a diff (lines that start
// with a space are context, with a minus are taken out, with a plus are put in):
//
//	== T6: a sequence is put behind the template's
//	file topology/internal/merge/overlay.go
//	test topology ./internal/merge TestMerge
//	 	unchanged
//	-	taken out
//	+	put in
//
// `test` names a module, a package pattern, and what `go test -run` takes. The tests run
// with -short, unless the line ends in "long".
//
// The files of the working tree are copied to a temporary directory, but for those that
// git ignores. All tests that the table names have to pass in the copy first. A mutant is
// killed when it compiles and a test fails; where it survives, where its lines are not in
// the file exactly once (it is stale), or where it does not compile, hangs, or makes a
// package fail without a test, the exit status is 1.
package main
