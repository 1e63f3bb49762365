package httpapi

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/runlog"
	"carillon/internal/runlog/rollup"
	"carillon/internal/runlog/tail"
	"carillon/internal/scheduler/placement"
)

// fakes stands behind all ports, in memory.
type fakes struct {
	lost   map[string]bool // jobs of which the answer to a change is lost
	behind bool            // lists show other versions

	mu       sync.Mutex
	jobs     map[string]common.JobState
	version  int64
	runs     []common.Run
	chunks   map[string][]common.Chunk
	asked    []int64 // offsets that output was asked for
	workers  []common.Member
	ledger   []common.Fire
	asking   []runlog.FireQuery
	triggers []common.TriggerRequest
	settings map[string]common.WorkerSettings
	sessions map[string]access.Identity
	codes    map[string]access.Identity
	killed   []string
	notes    []string
	actors   []common.Actor
	fail     error // what every job call fails with
	unready  bool  // etcd is away
	storeOff bool  // the log store is away
	lasting  []common.Condition
	panics   bool
	changes  []common.Change
	overdue  []common.Overdue
	blind    bool // it is not known which jobs there are
	queries  []common.JobQuery
	created  []string // keys of idempotency that jobs were created with

	onTrigger func(run string)     // called under the lock, with the run that will be
	keys      map[string]string    // of idempotency, and what they were used for
	rollups   []runlog.RollupQuery // that were asked for
	totals    [][]string           // jobs, likewise
	lastOf    [][]string
}

// The tokens of the fake are "<role>-token".
func (f *fakes) Authenticate(_ context.Context, c access.Credential) (access.Identity, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if role, ok := strings.CutSuffix(c.Token, "-token"); ok && access.Role(role).Valid() {
		return access.Identity{Name: "the " + role, Role: access.Role(role), Token: role}, nil
	}
	if who, ok := f.sessions[c.Session]; ok && c.Session != "" {
		return who, nil
	}
	return access.Identity{}, common.Errorf(common.CodeUnauthenticated, "the token or session is not valid")
}

func (f *fakes) KnownNetwork(context.Context, string, string) bool { return false }

func (f *fakes) Login(ctx context.Context, l access.Login) (access.Session, error) {
	var who access.Identity
	if l.Code != "" {
		f.mu.Lock()
		found, ok := f.codes[l.Code]
		delete(f.codes, l.Code)
		f.mu.Unlock()
		if !ok {
			return access.Session{}, common.Errorf(common.CodeUnauthenticated, "the code is not valid")
		}
		who = found
	} else {
		var err error
		if who, err = f.Authenticate(ctx, access.Credential{Token: l.Token}); err != nil {
			return access.Session{}, err
		}
	}
	who.Session = true
	secret := access.NewSecret()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sessions[secret] = who
	return access.Session{Secret: secret, Identity: who, ExpiresAt: time.Now().Add(access.SessionAbsolute)}, nil
}

func (f *fakes) Logout(_ context.Context, _ common.Actor, session string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sessions, session)
	return nil
}

func (f *fakes) List(_ context.Context, q common.JobQuery) (jobs []common.JobState, next string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.panics {
		panic("a secret thing")
	}
	selector, err := placement.ParseSelector(q.Selector)
	if err != nil {
		return nil, "", err
	}
	f.queries = append(f.queries, q)
	for _, j := range f.jobs {
		if f.behind {
			j.Version += 100
		}
		if selector.Matches(j.Labels) && strings.Contains(j.Name, q.Q) && (q.Group == "" || q.Group == j.Group) &&
			j.Name > q.After {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b common.JobState) int { return cmp.Compare(a.Name, b.Name) })
	if len(jobs) > q.Limit {
		jobs = jobs[:q.Limit]
		next = jobs[len(jobs)-1].Name
	}
	return jobs, next, f.fail
}

func (f *fakes) Get(_ context.Context, name string) (common.JobState, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return common.JobState{}, f.fail
	}
	if j, ok := f.jobs[name]; ok {
		return j, nil
	}
	return common.JobState{}, common.Errorf(common.CodeNotFound, "there is no job %q", name)
}

func (f *fakes) Whose(name string) (uid, group string, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.jobs[name].UID, f.jobs[name].Group, !f.blind
}

func (f *fakes) Create(ctx context.Context, actor common.Actor, job common.Job) (common.JobState, error) {
	if _, err := f.Get(ctx, job.Name); err == nil {
		return common.JobState{}, common.Errorf(common.CodeExists, "there is a job %q already", job.Name)
	}
	state, _, err := f.Put(ctx, actor, job, common.Precondition{})
	return state, err
}

func (f *fakes) Put(_ context.Context, actor common.Actor, job common.Job, pre common.Precondition) (common.JobState,
	bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if faults := job.Faults(); len(faults) > 0 {
		return common.JobState{}, false, common.Invalid("the job is not valid", faults...)
	}
	old, exists := f.jobs[job.Name]
	if exists && pre.May != nil {
		if err := pre.May(old.Group); err != nil {
			return common.JobState{}, false, err
		}
	}
	if pre.Absent && exists || pre.Version != 0 && pre.Version != old.Version {
		return common.JobState{}, false, common.Errorf(common.CodeStale, "somebody else has changed the job")
	}
	f.version++
	f.actors = append(f.actors, actor)
	if job.Timezone == "" {
		job.Timezone = "UTC"
	}
	state := common.JobState{
		Version: f.version,
		StoredJob: common.StoredJob{Job: job, UID: common.NewID(), UpdatedBy: actor.Name,
			CreatedAt: time.Now(), UpdatedAt: time.Now()},
	}
	f.jobs[job.Name] = state
	return state, !exists, nil
}

func (f *fakes) Delete(ctx context.Context, _ common.Actor, name string, pre common.Precondition, kill bool) error {
	old, err := f.Get(ctx, name)
	if err != nil {
		return err
	}
	if pre.May != nil {
		if err := pre.May(old.Group); err != nil {
			return err
		}
	}
	if pre.Version != 0 && pre.Version != old.Version {
		return common.Errorf(common.CodeStale, "somebody else has changed the job")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.jobs, name)
	if kill {
		f.killed = append(f.killed, name)
	}
	return nil
}

func (f *fakes) Validate(_ context.Context, job common.Job) (common.Job, []common.Fault, error) {
	return job, job.Faults(), nil
}

func (f *fakes) Trigger(ctx context.Context, _ common.Actor, r common.TriggerRequest) (common.Trigger, error) {
	j, err := f.Get(ctx, r.Job)
	if err != nil {
		return common.Trigger{}, err
	}
	if r.May != nil {
		if err := r.May(j.Group); err != nil {
			return common.Trigger{}, err
		}
		r.May = nil // asked
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.triggers = append(f.triggers, r)
	trigger := common.Trigger{Job: r.Job, Fire: common.TriggeredFire(j.UID, common.NewID()), Attempt: 1}
	if f.onTrigger != nil {
		f.onTrigger(trigger.RunID())
	}
	return trigger, nil
}

func (f *fakes) Pause(ctx context.Context, actor common.Actor, name string, r common.PauseRequest,
	pre common.Precondition) (common.JobState, error) {
	return f.edit(ctx, actor, name, pre, func(j *common.Job) {
		j.Paused, j.PauseNote, j.PauseUntil = true, r.Note, r.Until
	})
}

func (f *fakes) Resume(ctx context.Context, actor common.Actor, name string,
	pre common.Precondition) (common.JobState, error) {
	return f.edit(ctx, actor, name, pre, func(j *common.Job) { j.Paused, j.PauseNote, j.PauseUntil = false, "", nil })
}

func (f *fakes) edit(ctx context.Context, actor common.Actor, name string, pre common.Precondition,
	change func(*common.Job)) (common.JobState, error) {
	if f.lost[name] {
		return common.JobState{}, errLost
	}
	old, err := f.Get(ctx, name)
	if err != nil {
		return common.JobState{}, err
	}
	if pre.May != nil {
		if err := pre.May(old.Group); err != nil {
			return common.JobState{}, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if pre.Version != 0 && pre.Version != old.Version {
		return common.JobState{}, common.Errorf(common.CodeStale, "somebody else has changed the job")
	}
	change(&old.Job)
	f.version++
	f.actors = append(f.actors, actor)
	old.Version = f.version
	f.jobs[name] = old
	return old, nil
}

func (f *fakes) Kill(ctx context.Context, _ common.Actor, run string, k common.KillRequest) error {
	r, err := f.Run(ctx, run)
	if err != nil {
		return err
	}
	if r.Status.Terminal() {
		return common.Errorf(common.CodeConflict, "the run has ended")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.killed, f.notes = append(f.killed, run), append(f.notes, strings.TrimSpace(string(k.Signal)+" "+k.Note))
	return nil
}

func (f *fakes) Run(_ context.Context, id string) (common.Run, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.runs {
		if r.ID == id {
			return r, nil
		}
	}
	return common.Run{}, common.Errorf(common.CodeNotFound, "there is no run %q", id)
}

func (f *fakes) Runs(_ context.Context, q runlog.Query) (page runlog.RunPage, err error) {
	f.mu.Lock()
	runs := slices.Clone(f.runs)
	page.Partial = f.storeOff
	f.mu.Unlock()
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

func (f *fakes) Last(_ context.Context, jobs []string, n int) (last map[string][]common.Run, partial bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastOf = append(f.lastOf, jobs)
	last = map[string][]common.Run{}
	for _, r := range f.runs {
		if slices.Contains(jobs, r.Job) && len(last[r.Job]) < n && !(f.storeOff && r.Status.Terminal()) {
			last[r.Job] = append(last[r.Job], r)
		}
	}
	return last, f.storeOff, f.fail
}

// Rollups counts what the test has put there.
func (f *fakes) Rollups(_ context.Context, q runlog.RollupQuery) (rows []rollup.Row, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rollups = append(f.rollups, q)
	if f.storeOff {
		return nil, errStoreOff
	}
	for i := range f.runs {
		r := &f.runs[i]
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

func (f *fakes) Totals(_ context.Context, jobs []string, from, to time.Time) (map[string]rollup.Cell, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.totals = append(f.totals, jobs)
	if f.storeOff {
		return nil, errStoreOff
	}
	cells := map[string]rollup.Cell{}
	for i := range f.runs {
		r := &f.runs[i]
		if at := rollup.HourOf(r.PlannedAt); r.Status.Terminal() && slices.Contains(jobs, r.Job) && !at.Before(from) &&
			at.Before(to) {
			cell := cells[r.Job]
			cell.Add(r)
			cells[r.Job] = cell
		}
	}
	return cells, nil
}

func (f *fakes) Overdue(context.Context) ([]common.Overdue, error) { return f.overdue, nil }

var errStoreOff = common.Errorf(common.CodeUnavailable, "the log store does not answer")

// Of lists what the test has put there, the newest first.
func (f *fakes) Of(_ context.Context, kind, name string, verbs []string, before string,
	limit int) (found []common.Change, partial bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range slices.Backward(f.changes) {
		if c.Kind == kind && c.Name == name && slices.Contains(verbs, c.Verb) && (before == "" || c.ID < before) &&
			len(found) < limit {
			found = append(found, c)
		}
	}
	return found, f.storeOff, f.fail
}

func (f *fakes) Output(_ context.Context, run string, offset int64, limit int) (chunks []common.Chunk, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, offset)
	size := 0
	for _, c := range f.chunks[run] {
		if c.End() > offset && (size == 0 || size+len(c.Data) <= limit) {
			chunks, size = append(chunks, c), size+max(1, len(c.Data))
		}
	}
	return chunks, nil
}

// Fires pages like the ledger, over what the test has put there.
func (f *fakes) Fires(_ context.Context, q runlog.FireQuery) (page runlog.FirePage, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asking = append(f.asking, q)
	page.Partial = f.storeOff
	for _, fire := range f.ledger {
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
	return page, f.fail
}

func (f *fakes) Workers(context.Context) ([]common.Member, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := slices.Clone(f.workers)
	for i := range all {
		all[i].Settings = f.settings[all[i].Worker]
	}
	return all, nil
}

func (f *fakes) UpdateWorker(_ context.Context, actor common.Actor, id string,
	change func(*common.WorkerSettings) error) (common.WorkerSettings, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set := f.settings[id]
	if err := change(&set); err != nil {
		return common.WorkerSettings{}, err
	}
	set.UpdatedBy, set.UpdatedAt = actor.Name, time.Now()
	f.settings[id] = set
	return set, nil
}

func (f *fakes) Placement(context.Context, *common.StoredJob) ([]Candidate, *common.Reason, error) {
	var all []Candidate
	for i := range f.workers {
		m := &f.workers[i]
		c := Candidate{Worker: m.Worker, Name: m.Name, Eligible: !f.settings[m.Worker].Drain}
		if c.Eligible {
			c.Rank = new(len(all))
		} else {
			c.Reason = &common.Reason{Code: "draining", Text: "it is to take no new runs"}
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, &common.Reason{Code: common.ReasonNoWorker, Text: "no worker is alive"}, nil
	}
	return all, nil, nil
}

func (f *fakes) Ready(context.Context) []Check {
	return []Check{{Name: "etcd", OK: !f.unready, Needed: true}, {Name: "log_store", OK: !f.storeOff}}
}

func (f *fakes) Count(ctx context.Context, q common.JobQuery) (int, error) {
	q.After, q.Limit = "", 1000
	jobs, _, err := f.List(ctx, q)
	return len(jobs), err
}

func (f *fakes) Conditions() []common.Condition { return f.lasting }

func (f *fakes) Overview(context.Context) (Overview, error) {
	o := Overview{Jobs: JobCounts{Total: len(f.jobs)}, LogStore: StoreOK, Degraded: f.lasting}
	if !f.unready {
		o.Running, o.Waiting = new(int64(3)), new(int64(0))
	}
	if f.storeOff {
		o.LogStore = StoreAway
	}
	return o, nil
}

func (f *fakes) Masters(context.Context) ([]Master, error) {
	if f.unready {
		return nil, common.Errorf(common.CodeUnavailable, "not yet")
	}
	return []Master{{
		ID:         "m1",
		Host:       "box",
		Address:    "10.0.0.7:7070",
		Version:    "0.1.0",
		StartedAt:  midnight,
		Clock:      midnight,
		LeadsSince: new(midnight),
		Answers:    true,
	},
		{ID: "m2", Host: "older", Version: "0.0.9", Clock: midnight, SkewMs: -20}}, nil
}

func testConfig(t *testing.T, f *fakes) Config {
	t.Helper()
	f.jobs, f.sessions, f.settings = map[string]common.JobState{}, map[string]access.Identity{},
		map[string]common.WorkerSettings{}
	return Config{
		Jobs:      f,
		Runs:      f,
		Following: tail.New(f, tail.Config{}),
		Workers:   f,
		Masters:   f,
		Channels:  &fakeChannels{},
		Secrets:   &fakeSecrets{},
		Auth:      f,
		Access:    &fakeAccess{},
		Health:    f,
		Stats:     f,
		Ahead:     f,
		Grouping:  f,
		Counted:   f,
		Changes:   f,
		Audit:     &fakeAudit{},
		Feed:      noFeed{},
		Findings:  f,
		Doctor:    f,
		Recovery:  f,
		Schedules: schedule.NewInterner(),
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "carillon_up 1\n")
		}),
		Console: fstest.MapFS{"index.html": {Data: []byte("<!doctype html><title>Carillon</title>")},
			"assets/index.js": {Data: []byte("console.log(1)")}},
		Version:  "0.1.0",
		Timezone: "UTC",
		Logger:   slog.New(slog.DiscardHandler),
		Now:      time.Now,
	}
}

// errLost is a change of which nobody knows whether it was made.
var errLost = &common.Error{Code: common.CodeUnavailable, Message: "etcd did not answer", Err: common.ErrUnsure}
