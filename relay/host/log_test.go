package host

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
)

// Lines counts the records of a log.
type lines struct {
	mu      sync.Mutex
	counts  map[string]int
	longest int // value of the key line
}

func (l *lines) logger() *slog.Logger { return slog.New(lineHandler{l}) }

func (l *lines) count(message string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts[message]
}

type lineHandler struct{ l *lines }

func (h lineHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h lineHandler) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h lineHandler) WithGroup(string) slog.Handler            { return h }

func (h lineHandler) Handle(_ context.Context, r slog.Record) error {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	if h.l.counts == nil {
		h.l.counts = map[string]int{}
	}
	h.l.counts[r.Message]++
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "line" {
			h.l.longest = max(h.l.longest, len(a.Value.String()))
		}
		return true
	})
	return nil
}

// forceCancel returns the CANCEL of a request that kills its process.
func forceCancel(q req, code string, at frame.Attribution, message string) *frame.Frame {
	f, err := frame.NewCancel(q.RID, true, frame.CancelReason{Code: []byte(code), Attribution: at, Message: []byte(message)})
	if err != nil {
		panic(err)
	}
	f.RoutingID = q.XID
	return &f
}

// killAll ends those of the processes that run a program.
func killAll(ids []int, program string) {
	for _, id := range ids {
		line, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(id), "cmdline"))
		if strings.HasPrefix(string(line), program) {
			syscall.Kill(id, syscall.SIGKILL)
		}
	}
}

// stderrLines are the lines that cartridges write to standard error.
type stderrLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *stderrLines) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, nil))
}

func (l *stderrLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(p))
	return len(p), nil
}

func (l *stderrLines) await(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return strings.Contains(strings.Join(l.lines, ""), text)
	}, patience, time.Millisecond, "no line %q", text)
}
