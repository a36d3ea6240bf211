package tap

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestTapLeavesWhatItDidNotMake(t *testing.T) {
	b := tapped(t, nil)
	if _, err := New(b.near, "x", nil, nil); err == nil || !strings.Contains(err.Error(), "something of that name is there") {
		t.Errorf("New on a socket in use = %v", err)
	}
	if err := os.Remove(b.near); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.near, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.cancel()
	if err := <-b.ended; err != nil {
		t.Errorf("Serve = %v", err)
	}
	if got, err := os.ReadFile(b.near); string(got) != "mine" {
		t.Errorf("the file that took the socket's name: %q, %v", got, err)
	}
}

func TestNewRefusesPaths(t *testing.T) {
	long := strings.Repeat("x", 108)
	for _, test := range []struct{ near, far, want string }{
		{long, "y", `cannot listen on "` + long + `": a path of 108 bytes, a socket's has 1 to 107`},
		{"y", long, `cannot connect to "` + long + `": a path of 108 bytes, a socket's has 1 to 107`},
		{"", "y", `cannot listen on "": a path of 0 bytes, a socket's has 1 to 107`},
		{"/nowhere/at/all", "y", `cannot listen on "/nowhere/at/all": no such file or directory`},
	} {
		_, err := New(test.near, test.far, nil, nil)
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Message != test.want {
			t.Errorf("New(%.10q, %.10q) = %v, want %s", test.near, test.far, err, test.want)
		}
	}
}
