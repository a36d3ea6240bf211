package proc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	pauseMin    = time.Millisecond       // pause between the first two rounds
	pauseMax    = 50 * time.Millisecond  // longest pause between two rounds
	unsureLimit = 500 * time.Millisecond // for a look at all processes during which none comes or goes
)

// Kill sends SIGKILL to what carries the mark, round after round since one that is about
// to be killed may still start another, until nothing is left. It returns what it killed
// and, if it ended before, what is left.
//
// In each round it waits for the end of each process, at most as long as the patience;
// without patience it goes on at once, and the next round looks. After a round that
// found something or had an error, it asks whether to go on; it ends with the error of
// that round if not, and with that of the last round if the context ends.
func (s *Search) Kill(ctx context.Context, patience time.Duration, goOn func(error) bool) (killed, left []Marked, err error) {
	began := time.Now()
	seen := began // when something was left
	for {
		found, sure, err := s.Find()
		left = found
		for _, m := range killed {
			if m.lives() && !slices.Contains(left, m) {
				left = append(left, m) // it lost its environment, and has not let go of all else
			}
		}
		done, killErr := s.killEach(found, patience)
		for _, m := range done {
			if !slices.Contains(killed, m) {
				killed = append(killed, m)
			}
		}
		if len(left) > 0 {
			seen = time.Now()
		}
		if err == nil && len(left) == 0 && (sure || time.Since(seen) > unsureLimit) {
			return killed, nil, nil
		}
		err = errors.Join(err, killErr)
		quiet := err == nil && len(left) == 0
		if !quiet && !goOn(err) || !pause(ctx, time.Since(began)/8) {
			return killed, left, err
		}
	}
}

// killEach returns those that got the signal and, if there is patience, ended.
func (s *Search) killEach(found []Marked, patience time.Duration) (killed []Marked, err error) {
	var errs []error
	for _, m := range found {
		sent, err := m.Kill(patience, func() bool {
			again, what := s.look(m.PID)
			return what == marked && again == m
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("killing process %d (%s): %w", m.PID, m.Label, err))
		} else if sent {
			killed = append(killed, m)
		}
	}
	return killed, errors.Join(errs...)
}

// lives is Alive, but for a process that cannot be read.
func (id ID) lives() bool {
	s, err := readStat(id.PID)
	return err == nil && s.start == id.StartTime && !s.dead()
}

// pause waits between two rounds, and returns false if the context ends before.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(min(max(d, pauseMin), pauseMax))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
