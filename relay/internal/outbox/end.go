package outbox

import (
	"context"
	"io"
)

// Uncork begins to write to w, which is the outbox's from now on, or with nil to what New was
// given. An outbox that is dead closes w.
func (o *Outbox) Uncork(w io.WriteCloser) {
	o.mu.Lock()
	if o.err != nil {
		o.mu.Unlock()
		if w != nil {
			w.Close()
		}
		return
	}
	defer o.mu.Unlock()
	if w != nil {
		o.link = newLink(w, o.wrote)
	}
	o.corked = false
	o.flush()
	o.watch()
}

// Finish takes no more frames, writes what is queued, then closes the link. It returns when that
// is done, or the error that ended writing, [ErrClosed] when Close came first. When ctx ends
// first it does as Close and returns the cause. What is corked waits for Uncork.
func (o *Outbox) Finish(ctx context.Context) error {
	o.mu.Lock()
	o.ending = true
	if o.finished {
		o.mu.Unlock()
		return nil
	}
	o.flush()
	o.mu.Unlock()
	err := o.reach(ctx, o.taken.Load())
	if err == nil {
		o.mu.Lock()
		o.finished = o.err == nil
		o.mu.Unlock()
	}
	closeErr := o.Close()
	if err == nil {
		err = closeErr
	}
	return err
}

// Close ends writing at once: what is queued is lost. It closes the link, which ends a write
// that waits for it, and returns when nobody writes any more, with the error of closing. Further
// calls return the same.
//
// A file that the runtime does not poll, such as a pipe that a process inherited as its standard
// output, does not end a write when it is closed: Close does not wait for that.
func (o *Outbox) Close() error {
	o.mu.Lock()
	o.end(ErrClosed)
	o.mu.Unlock()
	o.closeLink()
	if o.link == nil || !o.link.stubborn() {
		o.done.Wait()
	}
	return o.closeErr
}

// fail ends writing for an error and tells who wants to know.
func (o *Outbox) fail(err error) {
	if !o.end(err) {
		return
	}
	o.done.Add(1)
	go func() {
		o.closeLink()
		o.done.Done()
		if o.options.Failed != nil {
			o.options.Failed(err)
		}
	}()
}

// end ends writing, unless it has ended.
func (o *Outbox) end(err error) bool {
	if o.err != nil {
		return false
	}
	o.err = err
	o.queue.drop()
	o.written.Store(o.taken.Load())
	o.waiters.wakeAll()
	o.stall.stop()
	return true
}

// closeLink closes the link, without the lock: somebody may be writing.
func (o *Outbox) closeLink() {
	o.closing.Do(func() {
		if o.link != nil {
			o.closeErr = o.link.close()
		}
	})
}
