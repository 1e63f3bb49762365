package dispatch

import "sync"

// ending are the runs here whose commands have ended and whose outcomes are not
// committed yet. The next fire of a job that forbids overlap waits for that: it would be
// skipped for our own bookkeeping. Safe for concurrent use.
type ending struct {
	mu   sync.Mutex
	runs map[string]int    // by job
	held map[string][]item // by job: what waits
}

func newEnding() *ending { return &ending{runs: map[string]int{}, held: map[string][]item{}} }

func (e *ending) begin(job string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.runs[job]++
}

// hold keeps a fire back while an outcome of its job is on its way.
func (e *ending) hold(i item) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	job := i.fire.Job
	if e.runs[job] == 0 || i.turn.act == expire || !i.fire.Terms.Overlap.Forbids() {
		return false
	}
	e.held[job] = append(e.held[job], i)
	return true
}

// end gives what was kept back, once the last outcome is committed.
func (e *ending) end(job string) []item {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.runs[job]--; e.runs[job] > 0 {
		return nil
	}
	held := e.held[job]
	delete(e.runs, job)
	delete(e.held, job)
	return held
}
