package session

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/cosim-go/cosim/runtime/execenv"
	"github.com/cosim-go/cosim/runtime/internal/leaktest"
)

func TestMain(m *testing.M) {
	leaktest.Main(m, map[string]func(){
		"acquire": helperAcquire,
		"wait":    helperWait,
		"spawn":   helperSpawn,
	})
}

// helperAcquire holds the lock of the session in the workspace of its argument.
func helperAcquire() {
	l, err := NewLayout(execenv.ExecEnv{WorkDir: os.Args[1], ShmDir: os.Args[1]}, Options{Name: "s"})
	if err == nil {
		_, err = Acquire(l)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("locked")
	leaktest.UntilTold()
}

func helperWait() {
	fmt.Println("ready")
	leaktest.UntilTold()
}

// helperSpawn starts a process of its own that is no child of the test.
func helperSpawn() {
	child := exec.Command("/bin/sleep", "1000")
	if err := child.Start(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(child.Process.Pid)
	leaktest.UntilTold()
}

// at makes the layout of a session in a workspace, its pools in there too.
func at(t *testing.T, workspace string) Layout {
	t.Helper()
	l, err := NewLayout(execenv.ExecEnv{WorkDir: workspace, ShmDir: workspace}, Options{Name: "s"})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func acquireIn(t *testing.T, workspace string) *Lock {
	t.Helper()
	k, err := Acquire(at(t, workspace))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Release() })
	return k
}
