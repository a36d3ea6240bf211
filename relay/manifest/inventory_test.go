package manifest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// record returns a record of a document: the five members that it has to have, and more.
func record(id, more string) string {
	return fmt.Sprintf(`{"registry_url":null,"channel":"release","id":%q,"version":"1","sha256":""%s}`, id, more)
}

func groups(urns ...string) string {
	var list []string
	for _, urn := range urns {
		list = append(list, fmt.Sprintf(`{"urn":%q,"title":"t","aliases":["a"]}`, urn))
	}
	return `,"cap_groups":[{"name":"g","caps":[` + strings.Join(list, ",") + `]}]`
}

const failed = `,"attachment_error":{"kind":"disabled","message":"off","detected_at_unix_seconds":1}`

const stats = `"running":true,"active_request_count":0,"peer_request_count":0,"memory_footprint_mb":0,"memory_rss_mb":0,"restart_count":0`

func inventory(records ...string) string {
	return `{"installed_cartridges":[` + strings.Join(records, ",") + `]}`
}

func parse(t *testing.T, doc string) *manifest.Inventory {
	t.Helper()
	v, err := manifest.ParseInventory([]byte(doc))
	if err != nil {
		t.Fatalf("ParseInventory(%s): %v", doc, err)
	}
	return v
}

func capTexts(list []*caps.Cap) string {
	var texts []string
	for _, c := range list {
		texts = append(texts, c.String())
	}
	return strings.Join(texts, " ")
}

// Requirement: N1
func TestCapSet(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"flat alone":           {`{"caps":["cap:a","cap:effect=none"]}`, "cap:a cap:effect=none"},
		"records alone":        {inventory(record("x", groups("cap:b", "cap:a")), record("y", groups("cap:c"))), "cap:b cap:a cap:c"},
		"flat, then records":   {`{"installed_cartridges":[` + record("x", groups("cap:c", "cap:a")) + `],"caps":["cap:b","cap:a"]}`, "cap:b cap:a cap:c"},
		"canonical, once":      {`{"caps":["CAP:B;a","cap:a;b","cap:in=media:;b;a;out=media:"]}`, "cap:a;b"},
		"failed records":       {inventory(record("x", groups("cap:a")+failed), record("y", groups("cap:b"))), "cap:b"},
		"the same cap twice":   {inventory(record("x", groups("cap:a")), record("x", groups("cap:a"))), "cap:a"},
		"nothing":              {`{"caps":[]}`, ""},
		"null is absent":       {`{"caps":null,"installed_cartridges":[]}`, ""},
		"null records":         {`{"caps":["cap:a"],"installed_cartridges":null}`, "cap:a"},
		"escaped names":        {`{"c\u0061ps":["cap:\u0061"]}`, "cap:a"},
		"unknown keys":         {`{"Caps":1,"CAPS":{},"caps":["cap:a"],"more":[{}],"more":0}`, "cap:a"},
		"white space":          {" \r\n\t{ \"caps\" : [ \"cap:a\" , \"cap:b\" ] } \n", "cap:a cap:b"},
		"lifecycle is no gate": {inventory(record("x", groups("cap:a")+`,"lifecycle":"discovered"`)), "cap:a"},
		"no stats":             {inventory(record("x", groups("cap:a")+`,"runtime_stats":null`)), "cap:a"},
	} {
		if got := capTexts(parse(t, c.doc).Caps); got != c.want {
			t.Errorf("%s: caps %s, want %s", name, got, c.want)
		}
	}
}

// Requirement: N1
func TestRefusedInventories(t *testing.T) {
	deep := strings.Repeat("[", 127) + strings.Repeat("]", 127)
	for doc, want := range map[string]string{
		``:                                 "inventory is no JSON at byte 0: the text ends early",
		`[]`:                               "inventory is an array, want an object",
		`null`:                             "inventory is null, want an object",
		`"x"`:                              "inventory is a text, want an object",
		`12`:                               "inventory is the number 12, want an object",
		`true`:                             "inventory is a boolean, want an object",
		`{"caps":[]} x`:                    "inventory is no JSON at byte 12: something follows the end",
		`{"a":}`:                           "inventory: a is no JSON at byte 5: want a value",
		`{`:                                "inventory is no JSON at byte 1: want a text",
		`{"caps":["cap:a"`:                 "inventory: caps is no JSON at byte 16: want , or ]",
		"{\"caps\":[\"cap:\xff\"]}":        "inventory is no UTF-8",
		"\xef\xbb\xbf{}":                   "inventory is no JSON at byte 0: want a value",
		`{}`:                               `inventory has neither "caps" nor "installed_cartridges"`,
		`{"caps":null}`:                    `inventory has neither "caps" nor "installed_cartridges"`,
		`{"caps":{}}`:                      "inventory: caps is an object, want an array",
		`{"caps":[1]}`:                     "inventory: caps[0] is the number 1, want a text",
		`{"caps":["cap:a",null]}`:          "inventory: caps[1] is null, want a text",
		`{"caps":["cap:a","x:b"]}`:         `inventory: caps[1] is "x:b", which is no cap URN: `,
		`{"caps":[],"caps":[]}`:            "inventory: caps occurs twice",
		`{"caps":[],"x":` + deep + `}`:     "",
		`{"caps":[],"x":[` + deep + `]}`:   "nested deeper than 128",
		`{"installed_cartridges":{}}`:      "inventory: installed_cartridges is an object, want an array",
		`{"installed_cartridges":"demo"}`:  "inventory: installed_cartridges is a text, want an array",
		inventory(`[]`):                    "inventory: installed_cartridges[0] is an array, want an object",
		inventory(record("x", ""), `null`): "inventory: installed_cartridges[1] is null, want an object",
		inventory(`{"channel":"release","id":"x","version":"1","sha256":""}`):                          `inventory: installed_cartridges[0]("x").registry_url is missing`,
		inventory(`{"registry_url":null,"id":"x","version":"1","sha256":""}`):                          `inventory: installed_cartridges[0]("x").channel is missing`,
		inventory(`{"registry_url":null,"channel":"release","version":"1","sha256":""}`):               "inventory: installed_cartridges[0].id is missing",
		inventory(`{"registry_url":null,"channel":"release","id":"x","sha256":""}`):                    `inventory: installed_cartridges[0]("x").version is missing`,
		inventory(`{"registry_url":null,"channel":"release","id":"x","version":"1"}`):                  `inventory: installed_cartridges[0]("x").sha256 is missing`,
		inventory(`{"registry_url":false}`):                                                            "inventory: installed_cartridges[0].registry_url is a boolean, want a text",
		inventory(`{"id":null}`):                                                                       "inventory: installed_cartridges[0].id is null, want a text",
		inventory(`{"id":"x","channel":"beta"}`):                                                       `inventory: installed_cartridges[0]("x").channel is "beta", want "release" or "nightly"`,
		inventory(`{"id":"x","channel":"Release"}`):                                                    `inventory: installed_cartridges[0]("x").channel is "Release", want "release" or "nightly"`,
		inventory(record("x", `,"id":"y"`)):                                                            `inventory: installed_cartridges[0]("x").id occurs twice`,
		inventory(record("x", `,"e":1,"e":2`)):                                                         `inventory: installed_cartridges[0]("x").e occurs twice`,
		inventory(record("x", `,"lifecycle":4`)):                                                       `inventory: installed_cartridges[0]("x").lifecycle is the number 4, want a text`,
		inventory(record("x", `,"cap_groups":{}`)):                                                     `inventory: installed_cartridges[0]("x").cap_groups is an object, want an array`,
		inventory(record("x", `,"cap_groups":[null]`)):                                                 `inventory: installed_cartridges[0]("x").cap_groups[0] is null, want an object`,
		inventory(record("x", `,"cap_groups":[{}]`)):                                                   `inventory: installed_cartridges[0]("x").cap_groups[0] has nothing, neither a name nor caps`,
		inventory(record("x", `,"cap_groups":[{"caps":[{"title":"t","aliases":["a"]}]}]`)):             `cap_groups[0].caps[0].urn is missing`,
		inventory(record("x", `,"cap_groups":[{"caps":[{"urn":"cap:a","aliases":["a"]}]}]`)):           `cap_groups[0].caps[0].title is missing`,
		inventory(record("x", `,"cap_groups":[{"caps":[{"urn":"cap:a","title":"t"}]}]`)):               `cap_groups[0].caps[0].aliases is missing`,
		inventory(record("x", `,"cap_groups":[{"caps":[{"urn":"cap:a","title":"t","aliases":[]}]}]`)):  `cap_groups[0].caps[0].aliases is empty, want one alias or more`,
		inventory(record("x", `,"cap_groups":[{"caps":[{"urn":"cap:a","title":"t","aliases":[1]}]}]`)): `cap_groups[0].caps[0].aliases[0] is the number 1, want a text`,
		inventory(record("x", `,"cap_groups":[{"caps":[{"urn":"cap:a","version":1.0}]}]`)):             `cap_groups[0].caps[0].version is 1.0, want a whole number from 0 to 2^64-1`,
		inventory(record("x", `,"cap_groups":[{"caps":[{"urn":["cap:a"]}]}]`)):                         `cap_groups[0].caps[0].urn is an array, want a text`,
		inventory(record("x", groups("cap:a;a"))):                                                      `installed_cartridges[0]("x").cap_groups[0].caps[0].urn is "cap:a;a", which is no cap URN: `,
		inventory(record("x", groups("cap:a;a")+failed)):                                               `cap_groups[0].caps[0].urn is "cap:a;a", which is no cap URN: `,
		inventory(record("x", `,"attachment_error":"off"`)):                                            `attachment_error is a text, want an object`,
		inventory(record("x", `,"attachment_error":{"kind":"disabled","message":"m"}`)):                `attachment_error.detected_at_unix_seconds is missing`,
		inventory(record("x", `,"attachment_error":{"detected_at_unix_seconds":9223372036854775808}`)): `detected_at_unix_seconds is 9223372036854775808, want a whole number of 64 bits`,
		inventory(record("x", `,"runtime_stats":[]`)):                                                  `runtime_stats is an array, want an object`,
		inventory(record("x", `,"runtime_stats":{`+stats+`}`)):                                         `runtime_stats.pools is missing`,
		inventory(record("x", `,"runtime_stats":{`+stats+`,"pools":null}`)):                            `runtime_stats.pools is null, want an object`,
		inventory(record("x", `,"runtime_stats":{"running":1}`)):                                       `runtime_stats.running is the number 1, want a boolean`,
		inventory(record("x", `,"runtime_stats":{`+stats+`,"pools":{"gpu":{}}}`)):                      `runtime_stats.pools.gpu.declared is missing`,
	} {
		_, err := manifest.ParseInventory([]byte(doc))
		switch {
		case want != "":
			if !errors.Is(err, frame.ErrProtocol) || !strings.Contains(err.Error(), want) {
				t.Errorf("ParseInventory(%s) = %v, want %s", doc, err, want)
			}
		case err != nil:
			t.Errorf("ParseInventory(%s) = %v", doc, err)
		}
	}
}

// An error tells what a URN lacks, to programs too, and repeats no more than the beginning of long texts.
func TestErrorsOfInventories(t *testing.T) {
	_, err := manifest.ParseInventory([]byte(`{"caps":["cap:a;a"]}`))
	if !errors.Is(err, caps.ErrDuplicateKey) {
		t.Errorf("error %v is no %v", err, caps.ErrDuplicateKey)
	}
	long := strings.Repeat("ü", 10_000)
	_, err = manifest.ParseInventory([]byte(inventory(record(long, `,"`+long+`":1,"`+long+`":2`))))
	if err == nil || len(err.Error()) > 1000 {
		t.Errorf("error of %d bytes", len(err.Error()))
	}
}

// Requirement: N2
func TestIdentityIsAnnounced(t *testing.T) {
	for _, c := range []struct {
		doc             string
		ok, okWithEmpty bool
	}{
		{`{"caps":["cap:a","cap:effect=none"]}`, true, true},
		{inventory(record("x", groups("cap:effect=none"))), true, true},
		{inventory(record("x", groups("cap:effect=none")+failed), record("y", groups("cap:a"))), false, false},
		{`{"caps":["cap:a"]}`, false, false},
		{`{"caps":["cap:a;effect=none"]}`, false, false},
		{`{"caps":[]}`, false, true},
		{inventory(record("x", groups("cap:a")+failed)), false, true},
	} {
		v := parse(t, c.doc)
		for _, allow := range []bool{false, true} {
			err, want := v.Check(allow), c.ok || allow && c.okWithEmpty
			if (err == nil) != want || err != nil && !errors.Is(err, frame.ErrProtocol) {
				t.Errorf("%s: Check(%v) = %v", c.doc, allow, err)
			}
		}
	}
}

// What a host announces reads as a switch has to see it: also for one that reads the flat list alone, and one that
// reads the records alone.
func TestHostAnnouncesBothForms(t *testing.T) {
	good, bad := mustCap(t, "cap:effect=none"), mustCap(t, "cap:lost")
	records := []manifest.Record{
		{Install: manifest.Install{ID: "good"}, Groups: []manifest.CapGroup{{Name: "g", Caps: []manifest.Cap{good}}}, Stats: &manifest.RuntimeStats{}},
		{Install: manifest.Install{Channel: "release", ID: "bad"}, Groups: []manifest.CapGroup{{Name: "g", Caps: []manifest.Cap{bad}}},
			AttachmentError: &manifest.AttachmentError{Kind: manifest.HandshakeFailed}},
	}
	v := manifest.NewInventory(records, nil)
	if records[1].Groups == nil {
		t.Error("NewInventory changed the records")
	}
	text := string(v.AppendJSON(nil))
	if strings.Contains(text, "lost") {
		t.Errorf("a failed cartridge has its caps in %s", text)
	}
	again := parse(t, text)
	if got := capTexts(again.Caps); got != "cap:effect=none" || len(again.Records) != 2 || again.Records[1].AttachmentError == nil {
		t.Errorf("read again: caps %s, records %+v", got, again.Records)
	}
	if err := again.Check(false); err != nil {
		t.Error(err)
	}
	if got := again.Records[0].Install.Channel; got != manifest.ChannelRelease {
		t.Errorf("channel %q", got)
	}
	if got := string(manifest.NewInventory(nil, nil).AppendJSON(nil)); got != `{"caps":[],"installed_cartridges":[]}` {
		t.Errorf("nothing to offer: %s", got)
	}
}

func mustCap(t testing.TB, urn string) manifest.Cap {
	t.Helper()
	c, err := manifest.NewCap(urn, "title")
	if err != nil {
		t.Fatal(err)
	}
	return c
}
