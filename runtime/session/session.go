// Package session names every path of a session, and keeps its lock and its state.
package session

// A Layout names every path of a session (the SessionLayout of the design). All
// paths are absolute. It is a plain value; nothing has to exist.
type Layout struct {
	Name      string
	Hash      string // 8 hexadecimal digits of SHA-256 of the absolute run directory
	RunDir    string
	PoolDir   string
	Workspace string
	SocketDir string // RunDir, or a short directory where socket paths would be too long
}
