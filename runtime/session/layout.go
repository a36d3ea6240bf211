package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cosim-go/cosim/runtime/execenv"
)

// MaxName is the length of the longest session name, as of any identifier.
const MaxName = 48

// DirName is the directory in the workspace root that holds the run directories.
const DirName = ".cosim"

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

// Options say what is known of a session before its topology is read. The zero value
// is a session of the working directory.
type Options struct {
	Name      string // an identifier; empty means the stem of Topology
	RunDir    string // empty means .cosim/<name> in the workspace
	PoolDir   string // empty means cosim-<name>-<hash> in the directory of shared memory
	Workspace string // empty means the working directory
	Topology  string // file name as it was asked for; "-" is standard input
}

// An OptionError says which option does not make a session.
type OptionError struct {
	Option string // as on the command line, such as "--name"
	Value  string
	Reason string // one line, lower case
}

func (e *OptionError) Error() string { return fmt.Sprintf("%s %q: %s", e.Option, e.Value, e.Reason) }

// NewLayout names the paths of a session. Relative paths mean the working directory of
// env. The socket directory is the run directory until [NewSockets] has seen the
// machines. The error is an [*OptionError].
func NewLayout(env execenv.ExecEnv, opts Options) (Layout, error) {
	name := opts.Name
	if name == "" {
		name = defaultName(opts.Topology)
	}
	if !identifier(name) {
		return Layout{}, &OptionError{"--name", name, fmt.Sprintf("is not 1 to %d letters, digits, underscores or hyphens", MaxName)}
	}
	l := Layout{Name: name, Workspace: absolute(env, opts.Workspace)}
	l.RunDir = filepath.Join(l.Workspace, DirName, name)
	if opts.RunDir != "" {
		l.RunDir = absolute(env, opts.RunDir)
	}
	l.Hash = Hash(l.RunDir)
	l.SocketDir = l.RunDir
	l.PoolDir = filepath.Join(env.ShmDir, "cosim-"+l.Mark())
	if opts.PoolDir != "" {
		l.PoolDir = absolute(env, opts.PoolDir)
	}
	return l, l.checkPaths()
}

// checkPaths refuses characters that would change the meaning of JSON and of log
// lines, into which paths are put as they are.
func (l Layout) checkPaths() error {
	for _, p := range []struct{ option, path string }{
		{"--workspace", l.Workspace}, {"--run-dir", l.RunDir}, {"--pool-dir", l.PoolDir},
	} {
		if reason := unfit(p.path); reason != "" {
			return &OptionError{p.option, p.path, reason}
		}
	}
	return nil
}

func unfit(path string) string {
	for i, r := range path {
		switch {
		case r == '"' || r == '\\' || unicode.IsControl(r):
			return fmt.Sprintf("the paths of a session must not hold the character %q", r)
		case r == utf8.RuneError && !utf8.ValidString(path[i:]):
			return "the paths of a session must be valid UTF-8"
		}
	}
	return ""
}

// Hash tells sessions of one name apart: 8 hexadecimal digits of SHA-256 of the
// absolute run directory.
func Hash(runDir string) string {
	sum := sha256.Sum256([]byte(runDir))
	return hex.EncodeToString(sum[:4])
}

// Mark is the value of [MarkVariable] in each process of the session.
func (l Layout) Mark() string { return l.Name + "-" + l.Hash }

func absolute(env execenv.ExecEnv, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(env.WorkDir, path)
}

// defaultName makes a name of a topology's file name: the stem, with a hyphen for each
// character that an identifier cannot have, cut to its longest.
func defaultName(topology string) string {
	if topology == "-" {
		return "stdin"
	}
	base := filepath.Base(topology)
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	if stem == "" {
		stem = base // a file such as ".yaml"
	}
	var name strings.Builder
	for _, r := range stem {
		if name.Len() == MaxName {
			break
		}
		if !identifierRune(r) {
			r = '-'
		}
		name.WriteRune(r)
	}
	return name.String()
}

func identifier(name string) bool {
	return len(name) >= 1 && len(name) <= MaxName && strings.IndexFunc(name, func(r rune) bool { return !identifierRune(r) }) < 0
}

func identifierRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}
