package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/route"
)

// maxTold is how long a policy or a state may be, in bytes: a frame of the relay has to hold it, and its head.
const maxTold = 3 << 20

// switchFiles are the files that a switch tells hosts of. They are safe for concurrent use.
type switchFiles struct {
	mu     sync.Mutex
	policy *told      // nil for none
	meta   frame.Meta // of the policy; may be none
	words  string     // what meta says
	states []*told
}

// told is a file with what was read of it last.
type told struct {
	host string // that it is for; "" for all
	path string
	data []byte
}

// read reads the file, and reports whether it has changed.
func (f *told) read() (changed bool, err error) {
	file, err := os.Open(f.path)
	if err != nil {
		return false, plainError(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxTold+1))
	if err != nil {
		return false, plainError(err)
	}
	if len(data) > maxTold {
		return false, fmt.Errorf("it is longer than %d MiB", maxTold>>20)
	}
	changed = f.data == nil || !bytes.Equal(data, f.data)
	f.data = data
	return changed, nil
}

// readSwitchFiles reads the files that the flags name.
func readSwitchFiles(f *switchFlags) (*switchFiles, error) {
	files := &switchFiles{}
	read := func(what, host, path string) (*told, error) {
		t := &told{host: host, path: path}
		if _, err := t.read(); err != nil {
			return nil, refused(fmt.Sprintf("cannot read the %s %q: %v", what, path, err))
		}
		return t, nil
	}
	var err error
	if f.policy != "" {
		if files.policy, err = read("policy", "", f.policy); err != nil {
			return nil, err
		}
	}
	if len(f.policyMeta) > 0 {
		var b frame.MetaBuilder
		for _, m := range f.policyMeta {
			b.Text(m.name, m.value)
			files.words += ", " + m.name + "=" + m.value
		}
		if files.meta, err = b.Meta(); err != nil {
			return nil, usage("--policy-meta: %v", err)
		}
	}
	for _, s := range f.states {
		state, err := read("state", s.name, s.value)
		if err != nil {
			return nil, err
		}
		files.states = append(files.states, state)
	}
	return files, nil
}

// policyNow returns the policy as it was read last, nil for none.
func (f *switchFiles) policyNow() *route.Policy {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.policyLocked()
}

func (f *switchFiles) policyLocked() *route.Policy {
	switch {
	case f.policy != nil:
		return &route.Policy{Meta: f.meta, Payload: f.policy.data}
	case f.meta.IsSet():
		return &route.Policy{Meta: f.meta}
	}
	return nil
}

// policyText says what the policy is.
func (f *switchFiles) policyText() string {
	if f.policy == nil {
		return strings.TrimPrefix(f.words, ", ")
	}
	return fmt.Sprintf("%s of %q%s", plural(len(f.policy.data), "byte"), f.policy.path, f.words)
}

// welcome says that a host that joined has got the policy, and sends it its state.
func (b *switchboard) welcome(host string) {
	b.files.mu.Lock()
	defer b.files.mu.Unlock()
	if b.files.policyLocked() != nil {
		b.j.say("host %q: policy sent: %s", host, b.files.policyText())
	}
	for _, state := range b.files.states {
		if state.host == host {
			b.sendState(state)
		}
	}
}

func (b *switchboard) sendState(state *told) {
	err := b.s.SendState(state.host, state.data)
	switch {
	case errors.Is(err, route.ErrUnknownMaster) || errors.Is(err, route.ErrClosed): // it gets it when it joins
	case err != nil:
		b.j.say("host %q: the state %q was not sent: %v", state.host, state.path, err)
	default:
		b.j.say("host %q: state sent: %s of %q", state.host, plural(len(state.data), "byte"), state.path)
	}
}

// rereadOnHangup reads the files again at every SIGHUP, until ctx ends.
func (b *switchboard) rereadOnHangup(ctx context.Context, hangups <-chan os.Signal) {
	for {
		select {
		case <-hangups:
			b.reread()
		case <-ctx.Done():
			return
		}
	}
}

func (b *switchboard) reread() {
	b.files.mu.Lock()
	defer b.files.mu.Unlock()
	changes := 0
	reread := func(what string, t *told) bool {
		changed, err := t.read()
		if err != nil {
			b.j.say("cannot read the %s %q: %v; the last one stays", what, t.path, err)
			changes++
		}
		if changed {
			changes++
		}
		return changed
	}
	if p := b.files.policy; p != nil && reread("policy", p) {
		if err := b.s.SetPolicy(b.files.policyLocked()); err != nil {
			b.j.say("the policy was not sent to all hosts: %v", err)
		}
		b.j.say("policy sent to all hosts: %s", b.files.policyText())
	}
	for _, state := range b.files.states {
		if reread("state", state) {
			b.sendState(state)
		}
	}
	if changes == 0 {
		b.j.say("SIGHUP: nothing has changed")
	}
}

// A named is a value of a flag NAME=VALUE.
type named struct{ name, value string }

func values(all []named) []string {
	var v []string
	for _, n := range all {
		v = append(v, n.value)
	}
	return v
}

// A namedFlag is a flag that may be repeated.
type namedFlag struct {
	all  *[]named
	form string
}

func (f namedFlag) String() string { return "" }
func (f namedFlag) Type() string   { return f.form }

func (f namedFlag) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" || value == "" {
		return fmt.Errorf("it is %s", f.form)
	}
	*f.all = append(*f.all, named{name, value})
	return nil
}
