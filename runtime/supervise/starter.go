package supervise

import "runtime"

// A starter runs functions on one operating-system thread. Children are started there,
// because PDEATHSIG is bound to the thread that started a child: the kernel sends it
// when that thread ends, not when the process does.
type starter struct {
	mail *mailbox
	quit chan struct{}
	done chan struct{}
}

func newStarter() *starter {
	s := &starter{newMailbox(), make(chan struct{}), make(chan struct{})}
	go s.run()
	return s
}

func (s *starter) run() {
	defer close(s.done)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		select {
		case <-s.mail.wake:
			for _, f := range s.mail.take() {
				f()
			}
		case <-s.quit:
			return
		}
	}
}

// do queues a function.
func (s *starter) do(f func()) { s.mail.post(f) }

// call runs a function and waits for it.
func (s *starter) call(f func() error) error {
	result := make(chan error, 1)
	s.do(func() { result <- f() })
	return <-result
}

// close ends the thread. No child may be left and no function queued.
func (s *starter) close() {
	close(s.quit)
	<-s.done
}
