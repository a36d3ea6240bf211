package qemuarg

import (
	"strconv"

	"github.com/cosim-go/cosim/adapters"
)

// Node is the name of the block node of a process's disk, counted from 0. Node names
// hold 31 characters at most (QEMU include/block/block_int-common.h, node_name), less
// than an identifier, so they are numbered.
func Node(index int) string { return "cosim.disk" + strconv.Itoa(index) }

// Blockdev gives the nodes of a disk: its file, and the format on top. The file's format
// is never probed, and a colon in its path has no meaning.
//
// A snapshot disk needs no flush to reach the file, which is thrown away; QEMU's own
// snapshot=on makes its temporary layer the same way.
func Blockdev(index int, f adapters.DiskFile) []string {
	node := Node(index)
	return []string{
		"-blockdev", diskOptions("file", node+"-file", f).Add("filename", f.Path).String(),
		"-blockdev", diskOptions(f.Format, node, f).Add("file", node+"-file").String(),
	}
}

func diskOptions(driver, node string, f adapters.DiskFile) *Options {
	return NewOptions("driver="+driver).Add("node-name", node).
		AddIf(f.ReadOnly, "read-only", "on").
		AddIf(f.Snapshot && !f.ReadOnly, "cache.no-flush", "on")
}
