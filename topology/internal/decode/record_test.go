package decode

import (
	"testing"

	"github.com/cosim-go/cosim/topology/schema"
)

func TestARecordHoldsEverySection(t *testing.T) {
	for _, s := range schema.Sections {
		if len(s.Fields) > maxFields {
			t.Errorf("%s has %d fields, a record holds %d", s.Name, len(s.Fields), maxFields)
		}
	}
}
