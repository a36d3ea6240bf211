package main

// Host and device exchange JSON objects, a request and its reply in turn. The data
// itself stays in the pool.

// A request asks a device to copy a range of the guest's memory to the start of its
// window, each byte combined with one of Key by exclusive or.
type request struct {
	Offset int    `json:"offset"` // in the guest's memory
	Size   int    `json:"size"`
	Key    []byte `json:"key"` // repeated as often as needed; not empty
}

// A reply says what the device found.
type reply struct {
	SHA256 []byte `json:"sha256,omitempty"` // of the bytes read from the guest's memory
	Error  string `json:"error,omitempty"`
}

// transform writes the bytes of from, combined with key, to the start of to.
func transform(to, from, key []byte) {
	for i, b := range from {
		to[i] = b ^ key[i%len(key)]
	}
}
