package relaytest_test

import (
	"fmt"
	"io"

	"github.com/cosim-go/cosim/relay/relaytest"
)

// A file of vectors is checked against the codec; what fails has a line each.
func ExampleCheckVectors() {
	report, err := relaytest.CheckVectors("mine.json", []byte(`{
		"valid": [{"name": "beat", "hex": "a40004010702010300", "canonical": true,
			"fields": {"version": 4, "type": 7, "type_name": "heartbeat", "id": {"uint": 1}, "seq": 0}}],
		"invalid": [{"name": "empty", "hex": "a0", "class": "decode"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range report.Sections {
		fmt.Printf("%s: %d of %d passed\n", s.Name, s.Passed, s.Run)
	}
	for _, failure := range report.Failures {
		fmt.Println(failure)
	}
	// Output:
	// valid: 1 of 1 passed
	// invalid: 0 of 1 passed
	// mine.json: invalid: empty: Decode = invalid_frame, want decode: offset 0: no version
}

// A connection that is cut after five bytes, and torn into pieces of two.
func ExampleInject() {
	client, server := relaytest.BufferedPipe(64)
	bad := relaytest.Inject(server, relaytest.Faults{ReadSize: 2, ReadCut: &relaytest.Cut{After: 5, Err: io.ErrUnexpectedEOF}})
	client.Write([]byte("0123456789"))
	buf := make([]byte, 10)
	for {
		n, err := bad.Read(buf)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s\n", buf[:n])
	}
	// Output:
	// 01
	// 23
	// 4
	// unexpected EOF
}
