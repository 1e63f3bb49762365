package apitest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
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
	"carillon/internal/health"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/jobs"
	"carillon/internal/httpapi/stats"
	"carillon/internal/httpapi/system"
	"carillon/internal/jobmgr/forecast"
	"carillon/internal/runlog"
	"carillon/internal/runlog/rollup"
	"carillon/internal/runlog/tail"
	"carillon/internal/scheduler/placement"
)

// Fakes stands behind all ports, in memory.
type Fakes struct {
	Lost   map[string]bool // jobs of which the answer to a change is lost
	Behind bool            // lists show other versions

	Mu          sync.Mutex
	Jobs        map[string]common.JobState
	version     int64
	RunList     []common.Run
	Chunks      map[string][]common.Chunk
	asked       []int64 // offsets that output was asked for
	WorkerList  []common.Member
	Ledger      []common.Fire
	Asking      []runlog.FireQuery
	Triggers    []common.TriggerRequest
	Settings    map[string]common.WorkerSettings
	Sessions    map[string]access.Identity
	Codes       map[string]access.Identity
	Killed      []string
	Notes       []string
	Actors      []common.Actor
	Fail        error // what every job call fails with
	Unready     bool  // etcd is away
	StoreOff    bool  // the log store is away
	Lasting     []common.Condition
	Panics      bool
	Changes     []common.Change
	OverdueList []common.Overdue
	blind       bool // it is not known which jobs there are
	Queries     []common.JobQuery
	Created     []string // keys of idempotency that jobs were created with

	OnTrigger     func(run string)     // called under the lock, with the run that will be
	keys          map[string]string    // of idempotency, and what they were used for
	RollupQueries []runlog.RollupQuery // that were asked for
	TotalsOf      [][]string           // jobs, likewise
	LastOf        [][]string
}

// The tokens of the fake are "<role>-token".
func (f *Fakes) Authenticate(_ context.Context, c access.Credential) (access.Identity, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if role, ok := strings.CutSuffix(c.Token, "-token"); ok && access.Role(role).Valid() {
		return access.Identity{Name: "the " + role, Role: access.Role(role), Token: role}, nil
	}
	if who, ok := f.Sessions[c.Session]; ok && c.Session != "" {
		return who, nil
	}
	return access.Identity{}, common.Errorf(common.CodeUnauthenticated, "the token or session is not valid")
}

func (f *Fakes) KnownNetwork(context.Context, string, string) bool { return false }

func (f *Fakes) Login(ctx context.Context, l access.Login) (access.Session, error) {
	var who access.Identity
	if l.Code != "" {
		f.Mu.Lock()
		found, ok := f.Codes[l.Code]
		delete(f.Codes, l.Code)
		f.Mu.Unlock()
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
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Sessions[secret] = who
	return access.Session{Secret: secret, Identity: who, ExpiresAt: time.Now().Add(access.SessionAbsolute)}, nil
}

func (f *Fakes) Logout(_ context.Context, _ common.Actor, session string) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	delete(f.Sessions, session)
	return nil
}

func (f *Fakes) List(_ context.Context, q common.JobQuery) (jobs []common.JobState, next string, err error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.Panics {
		panic("a secret thing")
	}
	selector, err := placement.ParseSelector(q.Selector)
	if err != nil {
		return nil, "", err
	}
	f.Queries = append(f.Queries, q)
	for _, j := range f.Jobs {
		if f.Behind {
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
	return jobs, next, f.Fail
}

func (f *Fakes) Get(_ context.Context, name string) (common.JobState, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.Fail != nil {
		return common.JobState{}, f.Fail
	}
	if j, ok := f.Jobs[name]; ok {
		return j, nil
	}
	return common.JobState{}, common.Errorf(common.CodeNotFound, "there is no job %q", name)
}

func (f *Fakes) Whose(name string) (uid, group string, known bool) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.Jobs[name].UID, f.Jobs[name].Group, !f.blind
}

func (f *Fakes) Create(ctx context.Context, actor common.Actor, job common.Job) (common.JobState, error) {
	if _, err := f.Get(ctx, job.Name); err == nil {
		return common.JobState{}, common.Errorf(common.CodeExists, "there is a job %q already", job.Name)
	}
	state, _, err := f.Put(ctx, actor, job, common.Precondition{})
	return state, err
}

func (f *Fakes) Put(_ context.Context, actor common.Actor, job common.Job, pre common.Precondition) (common.JobState,
	bool, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if faults := job.Faults(); len(faults) > 0 {
		return common.JobState{}, false, common.Invalid("the job is not valid", faults...)
	}
	old, exists := f.Jobs[job.Name]
	if err := pre.Check(job.Name, old.Version); err != nil {
		return common.JobState{}, false, err
	}
	f.version++
	f.Actors = append(f.Actors, actor)
	if job.Timezone == "" {
		job.Timezone = "UTC"
	}
	state := common.JobState{
		Version: f.version,
		StoredJob: common.StoredJob{Job: job, UID: common.NewID(), UpdatedBy: actor.Name,
			CreatedAt: time.Now(), UpdatedAt: time.Now()},
	}
	f.Jobs[job.Name] = state
	return state, !exists, nil
}

func (f *Fakes) Delete(ctx context.Context, _ common.Actor, name string, pre common.Precondition, kill bool) error {
	old, err := f.Get(ctx, name)
	if err != nil {
		return err
	}
	if err := pre.Check(name, old.Version); err != nil {
		return err
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	delete(f.Jobs, name)
	if kill {
		f.Killed = append(f.Killed, name)
	}
	return nil
}

func (f *Fakes) Validate(_ context.Context, job common.Job) (common.Job, []common.Fault, error) {
	return job, job.Faults(), nil
}

func (f *Fakes) Trigger(ctx context.Context, _ common.Actor, r common.TriggerRequest) (common.Trigger, error) {
	j, err := f.Get(ctx, r.Job)
	if err != nil {
		return common.Trigger{}, err
	}
	if err := r.Pre.Check(r.Job, j.Version); err != nil {
		return common.Trigger{}, err
	}
	r.Pre = common.Precondition{} // checked
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Triggers = append(f.Triggers, r)
	trigger := common.Trigger{Job: r.Job, Group: j.Group, Fire: common.TriggeredFire(j.UID, common.NewID()), Attempt: 1}
	if f.OnTrigger != nil {
		f.OnTrigger(trigger.RunID())
	}
	return trigger, nil
}

func (f *Fakes) Pause(ctx context.Context, actor common.Actor, name string, r common.PauseRequest,
	pre common.Precondition) (common.JobState, error) {
	return f.edit(ctx, actor, name, pre, func(j *common.Job) {
		j.Paused, j.PauseNote, j.PauseUntil = true, r.Note, r.Until
	})
}

func (f *Fakes) Resume(ctx context.Context, actor common.Actor, name string,
	pre common.Precondition) (common.JobState, error) {
	return f.edit(ctx, actor, name, pre, func(j *common.Job) { j.Paused, j.PauseNote, j.PauseUntil = false, "", nil })
}

func (f *Fakes) edit(ctx context.Context, actor common.Actor, name string, pre common.Precondition,
	change func(*common.Job)) (common.JobState, error) {
	if f.Lost[name] {
		return common.JobState{}, errLost
	}
	old, err := f.Get(ctx, name)
	if err != nil {
		return common.JobState{}, err
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if err := pre.Check(name, old.Version); err != nil {
		return common.JobState{}, err
	}
	change(&old.Job)
	f.version++
	f.Actors = append(f.Actors, actor)
	old.Version = f.version
	f.Jobs[name] = old
	return old, nil
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

func (f *Fakes) Workers(context.Context) ([]common.Member, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	all := slices.Clone(f.WorkerList)
	for i := range all {
		all[i].Settings = f.Settings[all[i].Worker]
	}
	return all, nil
}

func (f *Fakes) UpdateWorker(_ context.Context, actor common.Actor, id string,
	change func(*common.WorkerSettings) error) (common.WorkerSettings, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	set := f.Settings[id]
	if err := change(&set); err != nil {
		return common.WorkerSettings{}, err
	}
	set.UpdatedBy, set.UpdatedAt = actor.Name, time.Now()
	f.Settings[id] = set
	return set, nil
}

func (f *Fakes) Placement(context.Context, *common.StoredJob) ([]jobs.Candidate, *common.Reason, error) {
	var all []jobs.Candidate
	for i := range f.WorkerList {
		m := &f.WorkerList[i]
		c := jobs.Candidate{Worker: m.Worker, Name: m.Name, Eligible: !f.Settings[m.Worker].Drain}
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

func (f *Fakes) Ready(context.Context) []system.Check {
	return []system.Check{{Name: "etcd", OK: !f.Unready, Needed: true}, {Name: "log_store", OK: !f.StoreOff}}
}

func (f *Fakes) Count(ctx context.Context, q common.JobQuery) (int, error) {
	q.After, q.Limit = "", 1000
	jobs, _, err := f.List(ctx, q)
	return len(jobs), err
}

func (f *Fakes) Conditions() []common.Condition { return f.Lasting }

func (f *Fakes) Overview(context.Context) (stats.Overview, error) {
	o := stats.Overview{Jobs: stats.JobCounts{Total: len(f.Jobs)}, LogStore: stats.StoreOK, Degraded: f.Lasting}
	if !f.Unready {
		o.Running, o.Waiting = new(int64(3)), new(int64(0))
	}
	if f.StoreOff {
		o.LogStore = stats.StoreAway
	}
	return o, nil
}

func (f *Fakes) Masters(context.Context) ([]system.Master, error) {
	if f.Unready {
		return nil, common.Errorf(common.CodeUnavailable, "not yet")
	}
	return []system.Master{{
		ID:         "m1",
		Host:       "box",
		Address:    "10.0.0.7:7070",
		Version:    "0.1.0",
		StartedAt:  Midnight,
		Clock:      Midnight,
		LeadsSince: new(Midnight),
		Answers:    true,
	},
		{ID: "m2", Host: "older", Version: "0.0.9", Clock: Midnight, SkewMs: -20}}, nil
}

func NewConfig(t *testing.T, f *Fakes) httpapi.Config {
	t.Helper()
	f.Jobs, f.Sessions, f.Settings = map[string]common.JobState{}, map[string]access.Identity{},
		map[string]common.WorkerSettings{}
	return httpapi.Config{
		Jobs:      f,
		Runs:      f,
		Following: tail.New(f, tail.Config{}),
		Workers:   f,
		Masters:   f,
		Channels:  &FakeChannels{},
		Secrets:   &FakeSecrets{},
		Auth:      f,
		Access:    &FakeAccess{},
		Health:    f,
		Stats:     f,
		Ahead:     f,
		Grouping:  f,
		Counted:   f,
		Changes:   f,
		Audit:     &FakeAudit{},
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

// errLost is the error of a change whose outcome is unknown.
var errLost = &common.Error{Code: common.CodeUnavailable, Message: "etcd did not answer", Err: common.ErrUnsure}

func (f *Fakes) Apply(ctx context.Context, actor common.Actor, job common.Job, pre common.Precondition,
	dry bool) (common.Saved, error) {
	if f.Lost[job.Name] {
		return common.Saved{}, errLost
	}
	saved := common.Saved{Effect: common.EffectCreated}
	if old, err := f.Get(ctx, job.Name); err == nil {
		saved.Effect, saved.Before = common.EffectChanged, &old.Job
		before, _ := json.Marshal(old.Job)
		with := job
		if with.Timezone == "" {
			with.Timezone = "UTC"
		}
		if after, _ := json.Marshal(with); bytes.Equal(before, after) {
			saved.Effect, saved.State = common.EffectUnchanged, old
			return saved, nil
		}
	}
	if dry {
		saved.State.Job = job
		if faults := job.Faults(); len(faults) > 0 {
			return common.Saved{}, common.Invalid("the job is not valid", faults...)
		}
		return saved, nil
	}
	var err error
	saved.State, _, err = f.Put(ctx, actor, job, pre)
	return saved, err
}

func (f *Fakes) CreateOnce(ctx context.Context, actor common.Actor, job common.Job,
	key string) (common.JobState, error) {
	f.Mu.Lock()
	f.Created = append(f.Created, key)
	f.Mu.Unlock()
	return f.Create(ctx, actor, job)
}

func (f *Fakes) Change(ctx context.Context, actor common.Actor, verb, name string, pre common.Precondition,
	change func(common.Job) (common.Job, error)) (common.JobState, error) {
	old, err := f.Get(ctx, name)
	if err != nil {
		return common.JobState{}, err
	}
	job, err := change(old.Job)
	if err != nil {
		return common.JobState{}, err
	}
	f.Mu.Lock()
	f.Notes = append(f.Notes, verb)
	f.Mu.Unlock()
	state, _, err := f.Put(ctx, actor, job, pre)
	return state, err
}

func (f *Fakes) Once(_ context.Context, _ common.Actor, key, asks string) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.keys == nil {
		f.keys = map[string]string{}
	}
	if before, used := f.keys[key]; used && before != asks {
		return common.Errorf(common.CodeConflict, "the Idempotency-Key was used before, for another request")
	}
	f.keys[key] = asks
	return nil
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

// Examine finds what is said of degraded modes.
func (f *Fakes) Examine(context.Context) health.Examination {
	e := health.Examination{At: Midnight, Master: "host-m", Version: "1.2"}
	for _, c := range f.Lasting {
		e.Findings = append(e.Findings, health.Finding{
			Check:  c.Code,
			Status: health.FindingWarning,
			Who:    c.Who,
			Text:   c.Text,
			Advice: "do something",
			Data:   c.Data,
		})
	}
	e.Status = health.Worst(e.Findings)
	return e
}

func (f *Fakes) Forecast(ctx context.Context, q common.JobQuery, from, to time.Time) (*forecast.Forecast, int, error) {
	jobs, _, err := f.List(ctx, common.JobQuery{Q: q.Q, Group: q.Group, Selector: q.Selector, Limit: 1000})
	if err != nil {
		return nil, 0, err
	}
	f.Queries[len(f.Queries)-1] = q
	in := schedule.NewInterner()
	var plan []forecast.Job
	for _, j := range jobs {
		timetable, err := in.OfJob(&j.Job)
		if err != nil {
			return nil, 0, err
		}
		plan = append(plan, forecast.Job{
			Name:      j.Name,
			Group:     j.Group,
			Timetable: timetable,
			Cursor:    from.Add(-time.Hour),
		})
	}
	found, err := forecast.Of(ctx, plan, from, to)
	return found, 2, err
}

func (f *Fakes) Groups(context.Context) ([]common.GroupCount, error) {
	return []common.GroupCount{{Jobs: 3}, {Name: "ops", Jobs: 2, Paused: 1}}, f.Fail
}

func (f *Fakes) Labels(_ context.Context, group string, keys, values int) ([]common.LabelCount, bool, error) {
	f.Notes = append(f.Notes, group)
	return []common.LabelCount{{
		Key:      "team",
		Jobs:     keys,
		Distinct: values,
		Values:   []common.ValueCount{{Value: "data", Jobs: 2}},
	}, {Key: "x", Jobs: 1, Values: []common.ValueCount{}, Distinct: 1}}, group == "", f.Fail
}

// Recover answers for one job, or refuses.
func (f *Fakes) Recover(_ context.Context, who common.Actor, r common.RecoverRequest) (common.Recovered, error) {
	if f.Fail != nil {
		return common.Recovered{}, f.Fail
	}
	f.Actors = append(f.Actors, who)
	return common.Recovered{At: Midnight, Restored: r.Restored, DryRun: r.DryRun, Jobs: []common.RecoveredJob{
		{
			Job:      "a",
			Effect:   common.RecoverPassedOver,
			Cursor:   Midnight.Add(-time.Hour),
			To:       Midnight,
			Runs:     []string{"x"},
			Triggers: 1,
		},
		{Job: "b", Effect: common.RecoverUnreadable}}}, nil
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
