package qemudevice

import (
	"bytes"
	"encoding/json"

	"github.com/cosim-go/cosim/adapters/internal/qemuarg"
	"github.com/cosim-go/cosim/topology"
)

// deviceObject is the device with its properties, in the order in which they are
// written, and its disk.
func deviceObject(d *topology.Device) *qemuarg.Object {
	o := (&qemuarg.Object{}).Add("driver", d.Params.String("device")).Add("id", qemuarg.ID(d.ID))
	for _, p := range properties(d) {
		o.Add(p.name, p.value)
	}
	for i, disk := range d.Disks {
		if disk.Bus == busDrive {
			o.Add("drive", qemuarg.Node(i))
			break // check refuses a second one
		}
	}
	return o
}

// A property is one property of the QEMU device, its value as JSON.
type property struct {
	name  string
	value json.RawMessage
}

// properties takes the mapping of the param apart, in order.
func properties(d *topology.Device) []property {
	raw, _ := d.Params.Value("properties").(json.RawMessage)
	if len(raw) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	var list []property
	if _, err := dec.Token(); err != nil {
		panic("qemudevice: properties are no JSON object: " + err.Error())
	}
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil {
			panic("qemudevice: properties are no JSON object: " + err.Error())
		}
		list = append(list, property{name.(string), value})
	}
	return list
}
