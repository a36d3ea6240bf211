// Package qemuarg writes the arguments of QEMU: option strings with their commas
// doubled, JSON objects with their keys in a fixed order, sizes, identifiers, and the
// nodes of a disk.
//
// Paths and other texts may hold any character; what QEMU would read as syntax is
// escaped here.
package qemuarg
