package doctest

import (
	"strings"
	"testing"

	"github.com/cosim-go/cosim/adapters/builtin"
	"github.com/cosim-go/cosim/topology"
)

// Every placeholder of the reference has a value where the reference says so, and none
// elsewhere.
func TestReferenceHasThePlaceholdersOfTheLoader(t *testing.T) {
	rows := readPage(t, reference).under(t, "Placeholders").rows(t, "Name", "Where", "Value")
	for _, row := range rows {
		name, where := strings.Trim(row[0], "`"), row[1]
		for _, c := range []struct {
			where    string // as the reference says it
			document string
			valid    bool
		}{
			{"vhost", vhostWith(name), where == "all" || where == "vhost"},
			{"device", deviceWith(name, false), where == "all" || where == "device"},
			{"device with `channel`", deviceWith(name, true), where != "vhost"},
		} {
			_, list := topology.Load(textSource(c.document), "topology.yaml", &topology.Options{Kinds: builtin.Table().Kinds()})
			if list.HasErrors() == c.valid {
				t.Errorf("%s in a %s, which the reference has for %q: %v", name, c.where, where, list.Err())
			}
		}
	}
	if len(rows) < 20 {
		t.Errorf("%d placeholders were found, too few to be all", len(rows))
	}
}

func vhostWith(name string) string {
	return strings.ReplaceAll(`version: 1
kinds:
  host: {role: vhost, program: p, args: ["{{PLACEHOLDER}}"], params: {NAME: {type: int, default: 1}}}
machines:
  - id: m
    vhost:
      kind: host
      memory: 1G
      disks: [{id: ID, path: d, format: raw}]
`, "PLACEHOLDER", strings.ReplaceAll(name, "regions.NAME", "regions.memory"))
}

func deviceWith(name string, channel bool) string {
	extra := ""
	if channel {
		extra = "channel: true, "
	}
	return strings.NewReplacer("PLACEHOLDER", name, "EXTRA", extra).Replace(`version: 1
kinds:
  host: {role: vhost, program: p, args: ["{{attach}}"]}
  nic: {role: device, program: p, EXTRAargs: ["{{PLACEHOLDER}}", "{{disks.ID.path}}"], params: {NAME: {type: int, default: 1}}, regions: {NAME: 1M}}
machines:
  - id: m
    vhost: {kind: host, memory: 1G}
    devices:
      - {kind: nic, disks: [{id: ID, path: d, format: raw}]}
`)
}
