package topology

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/cosim-go/cosim/topology/diag"
)

// hang is far above what any document of the fuzzer's size takes.
const hang = time.Minute

// FuzzLoad loads a document and one that it may import. Nothing may panic or hang, every
// position lies inside its file, what comes out does not depend on the run, and there is
// a model unless there are errors.
func FuzzLoad(f *testing.F) {
	for _, name := range archives(f) {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		files, _ := split(archive)
		main, lib := "", ""
		for name, file := range files {
			if name == "main.yaml" {
				main = string(file.Data)
			} else {
				lib = string(file.Data)
			}
		}
		f.Add(main, lib)
	}
	f.Fuzz(func(t *testing.T, main, lib string) {
		watchdog := time.AfterFunc(hang, func() { panic("topology: loading hangs") })
		defer watchdog.Stop()
		files := fstest.MapFS{"main.yaml": {Data: []byte(main)}, "lib.yaml": {Data: []byte(lib)}, "resources/lib.yaml": {Data: []byte(lib)}}
		model, problems := Load(FromFS(files), "main.yaml", testOptions())
		if (model == nil) != problems.HasErrors() {
			t.Errorf("model is nil: %v, problems: %v", model == nil, problems)
		}
		checkPositions(t, files, problems)
		if !reflect.DeepEqual(problems, problems.Sorted()) {
			t.Error("problems are not sorted, or there twice")
		}
		for _, d := range problems {
			checkMessage(t, d)
		}
		if _, again := Load(FromFS(files), "main.yaml", testOptions()); !reflect.DeepEqual(problems, again) {
			t.Errorf("a second run reports\n%swant\n%s", text(t, again), text(t, problems))
		}
		if model != nil {
			_, problems = Layout(model, testPage)
			checkPositions(t, files, problems)
		}
	})
}

func checkMessage(t *testing.T, d diag.Diagnostic) {
	if d.Message == "" || strings.HasPrefix(d.Message, "yaml: ") {
		t.Errorf("message %q of %s", d.Message, d.Code)
	}
}
