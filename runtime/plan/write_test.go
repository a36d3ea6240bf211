package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/runtime/session"
	"github.com/cosim-go/cosim/topology/layout"
)

// fill sets every field of a value to something that is not zero, so that a field
// that the encoder forgets shows.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{fmt.Sprint("B", *n): "1", fmt.Sprint("A", *n): "2"}))
	case reflect.String:
		v.SetString(fmt.Sprintf("s%d \"<é\x01\\>", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(int64(*n))
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	default:
		panic(v.Kind())
	}
}

func filled() *Plan {
	p, n := &Plan{}, 0
	fill(reflect.ValueOf(p).Elem(), &n)
	return p
}

func encoded(t testing.TB, p *Plan) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, p.WriteJSON(&b))
	return b.Bytes()
}

func standard(t testing.TB, p *Plan) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(p))
	return strings.TrimSuffix(b.String(), "\n")
}

// Requirements: P3, X3. The encoder is written by hand, so every field of every type
// is compared with what encoding/json makes of it.
func TestWriteJSONWritesEveryFieldAsEncodingJSONDoes(t *testing.T) {
	empty := &Plan{Images: []Image{}, Launch: Launch{
		Env:       Env{Path: []string{}},
		Machines:  []Machine{},
		Processes: []Process{{Args: []string{}, Env: map[string]string{}, Dirs: []string{}, DependsOn: []string{}}},
		Missing:   []Missing{},
	}}
	for name, p := range map[string]*Plan{"every field set": filled(), "nothing set": empty} {
		t.Run(name, func(t *testing.T) {
			text := encoded(t, p)
			var compact bytes.Buffer
			require.NoError(t, json.Compact(&compact, text))
			require.Equal(t, standard(t, p), compact.String())
			again := &Plan{}
			require.NoError(t, json.Unmarshal(text, again))
			require.Equal(t, text, encoded(t, again))
		})
	}
}

func TestWriteJSONPutsAFieldOnEachLine(t *testing.T) {
	text := string(encoded(t, filled()))
	require.True(t, strings.HasSuffix(text, "}\n"))
	require.Contains(t, text, "\n  \"launch\": {\n    \"version\": ")
	require.NotContains(t, text, " \n")
}

type failingWriter struct{}

var errFull = errors.New("full")

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }

func TestWriteJSONReturnsTheWritersError(t *testing.T) {
	require.ErrorIs(t, filled().WriteJSON(failingWriter{}), errFull)
}

func small() *Plan {
	return &Plan{Images: []Image{}, Launch: Launch{
		Version:  Version,
		Session:  Session{Name: "s", RunDir: "/r", PoolDir: "/p", SocketDir: "/r", Workspace: "/w", Topology: "t.yaml"},
		Env:      Env{PageSize: 4096, Path: []string{}, DiskLockDir: "/l"},
		Machines: []Machine{{ID: "m", Placement: "local", Pool: Pool{Path: "/p/m.pool", Size: 4096}, Disks: []Disk{}}},
		Processes: []Process{
			{ID: "m/d", Args: []string{}, Timeout: "1s", Stop: adapters.Stop{Signal: "TERM", Grace: "5s"}, FDs: []adapters.FD{{Number: 3, Channel: "m/d"}}},
			{ID: "m/vhost", DependsOn: []string{"m/d"}, Timeout: "1s", Stop: adapters.Stop{Signal: "TERM", Grace: "5s"}, FDs: []adapters.FD{{Number: 3, Channel: "m/d"}}},
		},
		Missing: []Missing{},
	}}
}

func TestReadGivesWhatWasWritten(t *testing.T) {
	p, err := Read(encoded(t, small()), 4096)
	require.NoError(t, err)
	require.Equal(t, string(encoded(t, small())), string(encoded(t, p)))
}

func TestReadRefuses(t *testing.T) {
	change := func(f func(*Plan)) []byte {
		p := small()
		f(p)
		return encoded(t, p)
	}
	good := encoded(t, small())
	tests := map[string]struct {
		data []byte
		want string
	}{
		"nothing":              {nil, "unexpected end of JSON input"},
		"a list":               {[]byte("[1]"), "line 1: the plan cannot be a JSON array"},
		"another document":     {[]byte("{}"), "no launch.version"},
		"an unknown field":     {bytes.Replace(good, []byte(`"dir"`), []byte(`"dri"`), 1), `unknown field "dri"`},
		"a broken text":        {good[:len(good)/2], "line "},
		"something behind":     {append(bytes.Clone(good), "{}"...), "invalid character '{' after"},
		"another version":      {change(func(p *Plan) { p.Launch.Version = 2 }), "its version is 2, this cosim executes version 1"},
		"another page size":    {change(func(p *Plan) { p.Launch.Env.PageSize = 65536 }), "page size of 65536 bytes, this host has 4096"},
		"a relative path":      {change(func(p *Plan) { p.Launch.Session.RunDir = "r" }), `"r" is not an absolute path`},
		"no session name":      {change(func(p *Plan) { p.Launch.Session.Name = "a/.." }), `"a/.." is not the name of a session`},
		"a machine twice":      {change(func(p *Plan) { p.Launch.Machines = append(p.Launch.Machines, p.Launch.Machines[0]) }), "stands there twice"},
		"a text for a number":  {bytes.Replace(good, []byte(`"page_size": 4096`), []byte(`"page_size": "4K"`), 1), `"launch.env.page_size" cannot be a JSON string`},
		"a process twice":      {change(func(p *Plan) { p.Launch.Processes[1].ID = "m/d" }), `"m/d" stands there twice`},
		"a dependency behind":  {change(func(p *Plan) { p.Launch.Processes[0].DependsOn = []string{"m/vhost"} }), "does not stand before it"},
		"a channel of one end": {change(func(p *Plan) { p.Launch.Processes[0].FDs = nil }), "stands in 1 processes"},
		"a descriptor apart":   {change(func(p *Plan) { p.Launch.Processes[0].FDs[0].Number = 7 }), "descriptor 7 stands where 3 is due"},
		"no duration":          {change(func(p *Plan) { p.Launch.Processes[0].Timeout = "soon" }), `"soon" is not a duration`},
		"a long socket":        {change(func(p *Plan) { p.Launch.Processes[0].Ready.Socket = "/" + strings.Repeat("x", session.MaxSocketPath) }), "has 108 bytes, 107 is the most"},
		"a broken pattern":     {change(func(p *Plan) { p.Launch.Processes[0].Ready.Log = "(" }), "missing closing )"},
		"a region outside": {change(func(p *Plan) {
			p.Launch.Machines[0].Pool.Regions = append(p.Launch.Machines[0].Pool.Regions, region(4096, 4096))
		}), "lies outside its pool"},
		"a region that wraps": {change(func(p *Plan) {
			p.Launch.Machines[0].Pool.Regions = append(p.Launch.Machines[0].Pool.Regions, region(1<<64-4096, 8192))
		}), "lies outside its pool"},
		"a pool elsewhere":     {change(func(p *Plan) { p.Launch.Machines[0].Pool.Path = "/etc/m.pool" }), `it must be "/p/m.pool"`},
		"an overlay elsewhere": {change(func(p *Plan) { p.Launch.Machines[0].Disks = []Disk{{ID: "d", Target: "/x", Backing: "/y"}} }), `it must be "/r/m/d.qcow2"`},
		"no identifier":        {change(func(p *Plan) { p.Launch.Machines[0].ID = "../m" }), `"../m" is not the identifier of a machine`},
		"a foreign file": {change(func(p *Plan) {
			p.Launch.Machines[0].Pool.Regions = append(p.Launch.Machines[0].Pool.Regions, layout.Region{Name: "m", File: "/dev/shm/other"})
		}), "must be named cosim-"},
		"an unknown state": {change(func(p *Plan) { p.Images = []Image{{Path: "/i", State: "old"}} }), `unknown state "old"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Read(test.data, 4096)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func region(offset, size uint64) layout.Region {
	return layout.Region{Name: "m", Offset: layout.Addr(offset), Size: layout.Size(size)}
}
