package supervise

import (
	"bufio"
	"context"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// socketCondition waits for a socket that somebody listens on. Connecting would tell,
// but many servers take one client only. So it looks at the file, and then at the
// kernel's list of sockets: bind makes the file, and only listen lets a client connect.
func socketCondition(path string) *condition {
	exists := func() bool {
		fi, err := os.Lstat(path)
		return err == nil && fi.Mode().Type() == fs.ModeSocket
	}
	return &condition{
		unmet: func() string {
			if exists() {
				return "nobody listens on the socket at " + path
			}
			return "no socket at " + path
		},
		look: exists,
		await: func(ctx context.Context) error {
			if err := poll(ctx, exists); err != nil {
				return err
			}
			if !listed(path) {
				if err := pause(ctx, listenPause); err != nil || !listed(path) {
					return err
				}
			}
			return poll(ctx, func() bool { return exists() && listens(path) })
		},
	}
}

// A unixSocket is a line of /proc/net/unix, see proc(5).
type unixSocket struct {
	listens bool
	path    string
}

// listed reports whether the kernel knows a socket by a path. It does not where the
// process gave another name of the file, or has a network name space of its own.
func listed(path string) bool {
	return findSocket(path, func(unixSocket) bool { return true })
}

func listens(path string) bool {
	return findSocket(path, func(s unixSocket) bool { return s.listens })
}

func findSocket(path string, ok func(unixSocket) bool) bool {
	list, err := os.Open("/proc/net/unix")
	if err != nil {
		return false
	}
	defer list.Close()
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		if s, valid := parseSocket(lines.Text()); valid && s.path == path && ok(s) {
			return true
		}
	}
	return false
}

// From the kernel's include/linux/net.h and uapi/linux/net.h.
const (
	acceptFlag = 0x10000 // __SO_ACCEPTCON, of a socket that listens
	datagram   = 2       // SOCK_DGRAM, of a socket on which nobody has to listen
)

func parseSocket(line string) (unixSocket, bool) {
	fields := strings.SplitN(strings.Join(strings.Fields(line), " "), " ", 8)
	if len(fields) < 8 {
		return unixSocket{}, false // it has no name
	}
	flags, err := strconv.ParseUint(fields[3], 16, 32)
	if err != nil {
		return unixSocket{}, false
	}
	kind, err := strconv.ParseUint(fields[4], 16, 32)
	return unixSocket{flags&acceptFlag != 0 || kind == datagram, fields[7]}, err == nil
}
