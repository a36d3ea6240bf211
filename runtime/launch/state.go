package launch

import (
	"time"

	"github.com/cosim-go/cosim/runtime/session"
	"github.com/cosim-go/cosim/runtime/supervise"
)

// saveEvery bounds how often session.json is written while many processes start, and
// how far it is behind them.
const saveEvery = 200 * time.Millisecond

// processEvent takes over a process's new state and tells the observer. It is called
// by one goroutine.
func (r *run) processEvent(e supervise.Event) {
	if e.Process.ID == "" {
		r.tell(Event{Note: e.Text})
		return
	}
	r.tell(Event{Process: &e.Process, Text: e.Text})
	r.stateMu.Lock()
	defer r.stateMu.Unlock()
	r.takeOver(e.Process)
	phase, wait := r.phase(), saveEvery-time.Since(r.saved)
	switch {
	case phase != r.state.Phase || wait <= 0:
		r.state.Phase = phase
		_ = r.save()
	case r.later == nil:
		r.later = time.AfterFunc(wait, r.saveLater)
	}
}

// saveLater writes what has changed since the last time.
func (r *run) saveLater() {
	r.stateMu.Lock()
	defer r.stateMu.Unlock()
	if r.later != nil && r.state.Phase != session.Ended {
		_ = r.save()
	}
}

// takeOver replaces the record of one process.
func (r *run) takeOver(p supervise.ProcessState) {
	record := processRecord(p)
	for i := range r.state.Processes {
		if r.state.Processes[i].ID == p.ID {
			r.state.Processes[i] = record
			return
		}
	}
	r.state.Processes = append(r.state.Processes, record)
}

func processRecord(p supervise.ProcessState) session.ProcessState {
	record := session.ProcessState{ID: p.ID, PID: p.PID, StartTime: p.StartTime, State: string(p.State), Signal: p.Signal}
	if p.ExitStatus >= 0 && !p.Ended.IsZero() {
		status := p.ExitStatus
		record.ExitStatus = &status
	}
	return record
}

// phase is how far the session has come, as its processes tell.
func (r *run) phase() session.Phase {
	if len(r.state.Processes) < len(r.plan.Launch.Processes) {
		return session.Starting
	}
	phase := session.Running
	for _, p := range r.state.Processes {
		switch supervise.State(p.State) {
		case supervise.Stopping, supervise.Failed, supervise.NotStarted:
			return session.Stopping
		case supervise.Waiting, supervise.Starting:
			phase = session.Starting
		}
	}
	return phase
}

// save writes session.json. It is a record for others: a failure to write it does not
// end the session, and is said at the end.
func (r *run) save() error {
	r.cancelSave()
	r.saved = time.Now()
	return session.WriteState(r.layout.StateFile(), r.state)
}

func (r *run) cancelSave() {
	if r.later != nil {
		r.later.Stop()
		r.later = nil
	}
}

// settle returns when session.json is not being written, and will not be before the end.
func (r *run) settle() {
	r.stateMu.Lock()
	defer r.stateMu.Unlock()
	r.cancelSave()
}

// end writes the last state of the session.
func (r *run) end(code int, failure string, processes []supervise.ProcessState) {
	r.stateMu.Lock()
	defer r.stateMu.Unlock()
	now := time.Now().UTC()
	r.state.Phase, r.state.Ended, r.state.ExitCode, r.state.FirstFailure = session.Ended, &now, &code, failure
	if processes != nil {
		r.state.Processes = r.state.Processes[:0]
		for _, p := range processes {
			r.state.Processes = append(r.state.Processes, processRecord(p))
		}
	}
	if err := r.save(); err != nil {
		r.tell(Event{Warning: "writing session.json: " + err.Error()})
	}
}
