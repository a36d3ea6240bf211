package owned

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

func TestMakeUsesADirectoryOfThisUserAlone(t *testing.T) {
	dir := t.TempDir()
	for _, wantMade := range []bool{true, false} {
		root, made, err := Make(dir + "/d")
		if err != nil || made != wantMade {
			t.Fatalf("Make = %v, %v, want made %v", made, err, wantMade)
		}
		root.Close()
	}
	if info, err := os.Stat(dir + "/d"); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode = %v, %v, want 0700", info.Mode(), err)
	}
	if err := errors.Join(os.Symlink("d", dir+"/link"), os.WriteFile(dir+"/file", nil, 0o600), os.Mkdir(dir+"/group", 0o700), os.Chmod(dir+"/group", 0o770)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "file", "group"} {
		var refused *Error
		if _, _, err := Make(dir + "/" + name); !errors.As(err, &refused) {
			t.Errorf("Make(%s) = %v, want a refusal", name, err)
		}
		if err := Check(dir + "/" + name); !errors.As(err, &refused) {
			t.Errorf("Check(%s) = %v, want a refusal", name, err)
		}
	}
	if _, _, err := Make(dir + "/none/d"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Make without a parent = %v, want fs.ErrNotExist", err)
	}
}
