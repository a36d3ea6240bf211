package image

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/cosim-go/cosim/runtime/internal/durable"
	"github.com/cosim-go/cosim/runtime/plan"
)

const stampVersion = 1

// A stamp is what a build leaves beside its image.
type stamp struct {
	Version int     `json:"version"`
	Recipe  string  `json:"recipe"` // its digest
	Inputs  []input `json:"inputs"`
}

// newStamp reads all inputs of an image's recipe.
func newStamp(i *plan.Image) (*stamp, error) {
	inputs, err := listInputs(i)
	if err != nil {
		return nil, err
	}
	for n := range inputs {
		if err := inputs[n].read(); err != nil {
			return nil, fmt.Errorf("reading input: %w", err)
		}
	}
	return &stamp{stampVersion, i.Recipe.Digest, append([]input{}, inputs...)}, nil
}

// readStamp reads the stamp of the image at path. The error wraps fs.ErrNotExist where
// there is none.
func readStamp(path string) (*stamp, error) {
	text, err := os.ReadFile(path + StampSuffix)
	if err != nil {
		return nil, err
	}
	s := &stamp{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, err
	}
	if s.Version != stampVersion {
		return nil, fmt.Errorf("its version is %d, this cosim knows version %d", s.Version, stampVersion)
	}
	return s, nil
}

func (s *stamp) write(path string) error {
	return durable.Write(path+StampSuffix, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(s)
	})
}
