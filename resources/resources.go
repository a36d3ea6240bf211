// Package resources holds the library of templates that comes with cosim, so that an
// installed program works without a checkout.
//
// The files are YAML documents: vhosts and devices, which import nothing; machines, which
// import both; and clusters, which import machines.
package resources

import "embed"

// FS holds the library. Its paths are those that topologies import, such as
// vhosts/qemu.yaml.
//
//go:embed vhosts devices machines clusters
var FS embed.FS
