package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/cosim-go/cosim/topology/layout"
)

// Read decodes a plan that WriteJSON wrote, perhaps long ago or changed by hand, and
// checks that it can be executed: the version, the page size of this host, and that
// its processes, channels and paths fit together. Fields that it does not know are an
// error, because they would be lost.
func Read(data []byte, page layout.Size) (*Plan, error) {
	var probe struct {
		Launch struct {
			Version *int `json:"version"`
		} `json:"launch"`
	}
	if err := json.Unmarshal(data, &probe); err != nil {
		return nil, fmt.Errorf("reading plan: %w", describe(data, err))
	}
	switch v := probe.Launch.Version; {
	case v == nil:
		return nil, errors.New("reading plan: it has no launch.version; a plan is the whole output of cosim run --dry-run")
	case *v != Version:
		return nil, fmt.Errorf("reading plan: its version is %d, this cosim executes version %d", *v, Version)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	p := &Plan{}
	if err := dec.Decode(p); err != nil {
		return nil, fmt.Errorf("reading plan: %w", describe(data, err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("reading plan: something follows the plan in its file")
	}
	if p.Launch.Env.PageSize != page {
		return nil, fmt.Errorf("reading plan: it was made for a page size of %d bytes, this host has %d", p.Launch.Env.PageSize, page)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("reading plan: %w", err)
	}
	return p, nil
}

// describe adds the line to errors of the JSON text.
func describe(data []byte, err error) error {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	at := int64(-1)
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &typed):
		at = typed.Offset
		field := "the plan"
		if typed.Field != "" {
			field = strconv.Quote(typed.Field)
		}
		err = fmt.Errorf("%s cannot be a JSON %s", field, typed.Value)
	}
	if at < 0 || at > int64(len(data)) {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:at], []byte{'\n'}), err)
}
