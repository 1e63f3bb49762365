package dispatch

// ending holds the runs of this worker whose commands have ended and whose outcomes are not committed yet. The next
// fire of a job that forbids overlap waits for that; otherwise it would be skipped although no command runs.
type ending struct {
	runs map[string]int    // by job
	held map[string][]item // by job: waiting fires
}

func newEnding() *ending { return &ending{runs: map[string]int{}, held: map[string][]item{}} }

func (e *ending) begin(job string) { e.runs[job]++ }

// hold keeps a fire while an outcome of its job is being committed, and reports whether it does.
func (e *ending) hold(i item) bool {
	job := i.fire.Job
	if e.runs[job] == 0 || i.action.kind == expire || !i.fire.Terms.Overlap.Forbids() {
		return false
	}
	e.held[job] = append(e.held[job], i)
	return true
}

// end returns the waiting fires once the last outcome is committed.
func (e *ending) end(job string) []item {
	if e.runs[job]--; e.runs[job] > 0 {
		return nil
	}
	held := e.held[job]
	delete(e.runs, job)
	delete(e.held, job)
	return held
}
