package apitest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/rollup"
)

func (f *Fakes) Trigger(ctx context.Context, _ common.Actor, r common.TriggerRequest) (common.Trigger, error) {
	j, err := f.Get(ctx, r.Job)
	if err != nil {
		return common.Trigger{}, err
	}
	if err := r.Pre.Check(r.Job, j.Version); err != nil {
		return common.Trigger{}, err
	}
	if r.JobUID != "" && r.JobUID != j.UID {
		return common.Trigger{}, common.JobReplaced(r.Job)
	}
	r.Pre = common.Precondition{} // checked
	_, dropped := j.WithoutRemoved(r.Params, r.Inherited)
	if r.Dropped != nil && (r.Again == nil || r.Again.Flow == nil) {
		if err := r.Dropped(dropped); err != nil {
			return common.Trigger{}, err
		}
	}
	trigger := common.Trigger{Job: r.Job, Group: j.Group, Fire: common.TriggeredFire(j.UID, common.NewID()), Attempt: 1}
	if r.Again != nil {
		last, err := r.Again.Last(ctx)
		if err != nil {
			return common.Trigger{}, err
		}
		trigger.Fire, trigger.Attempt = last.Fire, last.Attempt+1
		if again := r.Again.Flow; again != nil {
			digest, err := again.Definition.Digest(&j.StoredJob, &last)
			if err == nil {
				_, trigger.Params, err = again.Keep(ctx, &last, digest)
			}
			if err != nil {
				return common.Trigger{}, err
			}
		}
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Triggers = append(f.Triggers, r)
	if f.OnTrigger != nil {
		f.OnTrigger(trigger.RunID())
	}
	return trigger, nil
}

func (f *Fakes) Kill(ctx context.Context, _ common.Actor, run string, k common.KillRequest) error {
	r, err := f.Run(ctx, run)
	if err != nil {
		return err
	}
	if r.Status.Terminal() {
		return common.Errorf(common.CodeConflict, "the run has ended")
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Killed, f.Notes = append(f.Killed, run), append(f.Notes, strings.TrimSpace(string(k.Signal)+" "+k.Note))
	return nil
}

func (f *Fakes) Run(_ context.Context, id string) (common.Run, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	for _, r := range f.RunList {
		if r.ID == id {
			return r, nil
		}
	}
	return common.Run{}, common.Errorf(common.CodeNotFound, "there is no run %q", id)
}

// Usage returns what the test has put there.
func (f *Fakes) Usage(_ context.Context, run string) (common.Usage, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.Used[run], nil
}

func (f *Fakes) Runs(_ context.Context, q runlog.Query) (page runlog.RunPage, err error) {
	f.Mu.Lock()
	runs := slices.Clone(f.RunList)
	page.Partial = f.StoreOff
	f.Mu.Unlock()
	if q.Oldest {
		slices.SortFunc(runs, q.CompareRuns)
	}
	for _, r := range runs {
		if q.Matches(&r) && len(page.Runs) < q.Limit {
			page.Runs = append(page.Runs, r)
		}
	}
	return page, nil
}

func (f *Fakes) Last(_ context.Context, jobs []string, n int) (last map[string][]common.Run, partial bool, err error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.LastOf = append(f.LastOf, jobs)
	last = map[string][]common.Run{}
	for _, r := range f.RunList {
		if slices.Contains(jobs, r.Job) && len(last[r.Job]) < n && !(f.StoreOff && r.Status.Terminal()) {
			last[r.Job] = append(last[r.Job], r)
		}
	}
	return last, f.StoreOff, f.Fail
}

// Rollups counts what the test has put there.
func (f *Fakes) Rollups(_ context.Context, q runlog.RollupQuery) (rows []rollup.Row, err error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.RollupQueries = append(f.RollupQueries, q)
	if f.StoreOff {
		return nil, ErrStoreOff
	}
	for i := range f.RunList {
		r := &f.RunList[i]
		at := rollup.HourOf(r.PlannedAt)
		if q.Days {
			at = rollup.DayOf(at)
		}
		if !r.Status.Terminal() || q.Job != "" && q.Job != r.Job || at.Before(q.From) || !at.Before(q.To) {
			continue
		}
		row := rollup.Row{At: at, Job: q.Job}
		if q.Workers {
			row.Worker = r.Worker
		}
		n := slices.IndexFunc(rows, func(o rollup.Row) bool { return o.At.Equal(row.At) && o.Worker == row.Worker })
		if n < 0 {
			n, rows = len(rows), append(rows, row)
		}
		rows[n].Cell.Add(r)
	}
	slices.SortStableFunc(rows, func(a, b rollup.Row) int { return a.At.Compare(b.At) })
	return rows, nil
}

func (f *Fakes) Totals(_ context.Context, jobs []string, from, to time.Time) (map[string]rollup.Cell, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.TotalsOf = append(f.TotalsOf, jobs)
	if f.StoreOff {
		return nil, ErrStoreOff
	}
	cells := map[string]rollup.Cell{}
	for i := range f.RunList {
		r := &f.RunList[i]
		if at := rollup.HourOf(r.PlannedAt); r.Status.Terminal() && slices.Contains(jobs, r.Job) && !at.Before(from) &&
			at.Before(to) {
			cell := cells[r.Job]
			cell.Add(r)
			cells[r.Job] = cell
		}
	}
	return cells, nil
}

func (f *Fakes) Overdue(context.Context) ([]common.Overdue, error) { return f.OverdueList, nil }

var ErrStoreOff = common.Errorf(common.CodeUnavailable, "the log store does not answer")

// Of lists what the test has put there, the newest first.
func (f *Fakes) Of(_ context.Context, kind, name string, verbs []string, before string,
	limit int) (found []common.Change, partial bool, err error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	for _, c := range slices.Backward(f.Changes) {
		if c.Kind == kind && c.Name == name && slices.Contains(verbs, c.Verb) && (before == "" || c.ID < before) &&
			len(found) < limit {
			found = append(found, c)
		}
	}
	return found, f.StoreOff, f.Fail
}

func (f *Fakes) Output(_ context.Context, run string, offset int64, limit int) (chunks []common.Chunk, err error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.asked = append(f.asked, offset)
	size := 0
	for _, c := range f.Chunks[run] {
		if c.End() > offset && (size == 0 || size+len(c.Data) <= limit) {
			chunks, size = append(chunks, c), size+max(1, len(c.Data))
		}
	}
	return chunks, nil
}

// Fires pages like the ledger, over what the test has put there.
func (f *Fakes) Fires(_ context.Context, q runlog.FireQuery) (page runlog.FirePage, err error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Asking = append(f.Asking, q)
	page.Partial = f.StoreOff
	for _, fire := range f.Ledger {
		at := runlog.Position{PlannedAt: fire.PlannedAt, ID: fire.ID}
		if q.Before != nil && q.Before.Compare(at) >= 0 || q.Job != "" && q.Job != fire.Job {
			continue
		}
		if len(page.Fires) == q.Limit {
			last := page.Fires[q.Limit-1]
			page.Next = &runlog.FireCursor{
				Position: runlog.Position{PlannedAt: last.PlannedAt, ID: last.ID},
				Now:      q.Now,
				Settled:  true,
			}
			break
		}
		page.Fires = append(page.Fires, fire)
	}
	return page, f.Fail
}

// Waiting counts the waiting fires that the test has put there.
func (f *Fakes) Waiting(context.Context, time.Time) (count runlog.WaitingFires, err error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.Unready {
		return count, common.Errorf(common.CodeUnavailable, "etcd does not respond")
	}
	return f.WaitCounts, nil
}

func (f *Fakes) OpenRuns(context.Context) (open []common.Run, err error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	for _, r := range f.RunList {
		if !r.Status.Terminal() {
			open = append(open, r)
		}
	}
	return open, f.Fail
}

// Replicas returns the open runs of a job that are replicas, and Moving.
func (f *Fakes) Replicas(_ context.Context, job, uid string) (found []common.Run, move *common.Move, err error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	for _, r := range f.RunList {
		if r.Job == job && r.JobUID == uid && r.Replica() != "" && !r.Status.Terminal() {
			found = append(found, r)
		}
	}
	return found, f.Moving, f.Fail
}

// Acknowledge keeps the state, or forgets it.
func (f *Fakes) Acknowledge(_ context.Context, actor common.Actor, fire string, state runlog.AckState,
	undo bool) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.Acked == nil {
		f.Acked = map[string]runlog.AckState{}
	}
	f.Actors = append(f.Actors, actor)
	if f.Acked[fire] = state; undo {
		delete(f.Acked, fire)
	}
	return f.Fail
}

// Mark sets what Acknowledge has kept.
func (f *Fakes) Mark(_ context.Context, fires []common.Fire) (partial bool, err error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	for i := range fires {
		if state, is := f.Acked[fires[i].ID]; is && state.Run == runlog.LastAttempt(&fires[i]) {
			fires[i].Acknowledged = &common.Acknowledgement{By: "ann", At: Midnight, Note: state.Note}
		}
	}
	return f.StoreOff, nil
}

// Latest returns what Acknowledge has kept.
func (f *Fakes) Latest(context.Context) (map[string]string, bool, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	attempts := map[string]string{}
	for fire, state := range f.Acked {
		attempts[fire] = state.Run
	}
	return attempts, false, nil
}

// Print adds to what a run has printed.
func (f *Fakes) Print(id, text string) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	at := int64(0)
	for _, c := range f.Chunks[id] {
		at = c.End()
	}
	f.Chunks[id] = append(f.Chunks[id], common.Chunk{
		Offset: at,
		Stream: common.Stdout,
		At:     time.Now(),
		Data:   []byte(text),
	})
}

func (f *Fakes) End(id string, status common.Status) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	for i := range f.RunList {
		if f.RunList[i].ID != id {
			continue
		}
		f.RunList[i].Status, f.RunList[i].EndedAt = status, new(time.Now())
		for _, c := range f.Chunks[id] {
			f.RunList[i].OutputBytes = c.End()
		}
	}
}

// Changed leaves a change of job a, as a master does.
func (f *Fakes) Changed(n int, verb, name, command string) {
	c := common.Change{
		ID:       fmt.Sprintf("%020d", n),
		At:       Midnight.Add(time.Duration(n) * time.Minute),
		Actor:    common.Actor{Name: "ann", Remote: "192.0.2.7"},
		Verb:     verb,
		Kind:     "job",
		Name:     name,
		Revision: int64(100 + n),
	}
	if command != "" {
		c.After = []byte(`{"name":"` + name + `","command":"` + command +
			`","uid":"u1","createdAt":"2026-11-01T00:00:00Z","updatedAt":"2026-11-01T00:00:00Z","ofAnewerVersion":1}`)
	}
	f.Changes = append(f.Changes, c)
}
