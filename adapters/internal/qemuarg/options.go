package qemuarg

import "strings"

// Options is an option string such as "socket,id=s,path=/a,,b". The zero value is empty.
type Options struct {
	b strings.Builder
}

// NewOptions starts an option string with its first value, which has no key: a driver
// or a type.
func NewOptions(first string) *Options {
	o := &Options{}
	o.b.WriteString(first)
	return o
}

// Add appends a key and its value. QEMU reads a doubled comma in a value as one, and
// gives no other character a meaning (QEMU util/qemu-option.c, get_opt_value).
func (o *Options) Add(key, value string) *Options {
	if o.b.Len() > 0 {
		o.b.WriteByte(',')
	}
	o.b.WriteString(key)
	o.b.WriteByte('=')
	o.b.WriteString(strings.ReplaceAll(value, ",", ",,"))
	return o
}

// AddIf is Add where the condition holds, and nothing otherwise.
func (o *Options) AddIf(cond bool, key, value string) *Options {
	if cond {
		o.Add(key, value)
	}
	return o
}

// String gives the option string.
func (o *Options) String() string { return o.b.String() }
