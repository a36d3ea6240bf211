// Package topology turns YAML documents into a checked model of a co-simulation.
//
// [Load] reads a top-level document and everything it imports, merges its templates,
// checks every rule, expands counts and returns a [Model], together with all problems
// found, each with file, line and column. [Layout] places the regions of each machine
// in its memory pool. The steps of Load are there by themselves as well: [Read],
// [Documents.Merge] and [Merged.Expand].
//
// What the package does depends on the documents alone. It opens no file, reads no
// environment and no clock: documents reach it through a [Source], built-in kinds and
// the directories of the library through [Options]. Whether an executable or an image
// exists is the business of those who make a plan.
//
// A load is one goroutine's work. Different loads may run at the same time if their
// sources allow it, and a finished model may be read by any number of goroutines.
package topology
