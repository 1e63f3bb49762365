package apitest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/flow"
	"carillon/internal/jobmgr/forecast"
	"carillon/internal/runlog"
	"carillon/internal/scheduler/placement"
)

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
			j.Name > q.After && (q.Pick == nil || q.Pick.Only == nil || q.Pick.Only(factsOf(&j))) {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b common.JobState) int {
		if q.Pick != nil && q.Pick.Rank != nil {
			return cmp.Or(cmp.Compare(q.Pick.Rank(factsOf(&a)), q.Pick.Rank(factsOf(&b))), cmp.Compare(a.Name, b.Name))
		}
		return cmp.Compare(a.Name, b.Name)
	})
	if q.Descending {
		slices.Reverse(jobs)
	}
	if len(jobs) > q.Limit {
		jobs = jobs[:q.Limit]
		next = jobs[len(jobs)-1].Name
	}
	return jobs, next, f.Fail
}

func factsOf(j *common.JobState) *common.JobFacts {
	facts := &common.JobFacts{Name: j.Name, UID: j.UID}
	if j.Notify.Wants(common.EventFailed) {
		facts.FailureTo = j.Notify.To
	}
	return facts
}

// Snapshot returns the records of the runs that the test has put there.
func (f *Fakes) Snapshot(context.Context) (func(job, uid string) *runlog.LastFires, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.StoreOff {
		return nil, ErrStoreOff
	}
	records := map[string]*runlog.LastFires{}
	for i := range f.RunList {
		r := &f.RunList[i]
		if records[r.Job] == nil {
			records[r.Job] = &runlog.LastFires{}
		}
		reason := ""
		if r.Reason != nil {
			reason = r.Reason.Code
		}
		records[r.Job].Add(r.JobUID, r.Fire, r.Attempt, r.Status, reason, r.PlannedAt)
	}
	return func(job, _ string) *runlog.LastFires { return records[job] }, nil
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

func (f *Fakes) UIDAndGroup(name string) (uid, group string, known bool) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.Jobs[name].UID, f.Jobs[name].Group, !f.blind
}

// Complete does nothing: its jobs have their steps.
func (f *Fakes) Complete(context.Context, *common.StoredJob) error { return nil }

// Graph returns the current definition of a flow.
func (f *Fakes) Graph(_ context.Context, job *common.StoredJob, digest string) (*flow.Graph, error) {
	if digest != "" {
		return nil, common.Errorf(common.CodeNotFound, "job %q has no definition %s", job.Name, digest)
	}
	return flow.Compile(&job.Job)
}

func (f *Fakes) Title(name string) string {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.Jobs[name].Title
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
	if faults := flow.Faults(&job); len(faults) > 0 {
		return common.JobState{}, false, common.Invalid("the job is not valid", faults...)
	}
	old, exists := f.Jobs[job.Name]
	if err := pre.Check(job.Name, old.Version); err != nil {
		return common.JobState{}, false, err
	}
	f.version++
	f.Actors = append(f.Actors, actor)
	job.DefaultTimezone("UTC")
	state := common.JobState{
		Version: f.version,
		StoredJob: common.StoredJob{Job: job, UID: common.NewID(), UpdatedBy: actor.Name,
			CreatedAt: time.Now(), UpdatedAt: time.Now(), Number: old.Number + 1},
	}
	f.Jobs[job.Name] = state
	return state, !exists, nil
}

func (f *Fakes) Delete(ctx context.Context, _ common.Actor, name string, pre common.Precondition,
	r common.DeleteRequest) error {
	old, err := f.Get(ctx, name)
	if err != nil {
		return err
	}
	if err := pre.Check(name, old.Version); err != nil {
		return err
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if children := f.children(name); len(children) > 0 && !r.Force {
		return common.Errorf(common.CodeConflict, "other jobs run after job %q", name).WithReason("named_in_after")
	}
	if run, wait := f.inSteps(name); len(run)+len(wait) > 0 && !r.Force {
		return common.Errorf(common.CodeConflict, "steps of flows run job %q", name).WithReason("used_in_steps")
	}
	delete(f.Jobs, name)
	if r.Kill {
		f.Killed = append(f.Killed, name)
	}
	return nil
}

// children returns the names of jobs that name a job in after; the caller holds Mu.
func (f *Fakes) children(name string) (names []string) {
	for child, state := range f.Jobs {
		if slices.Contains(state.After, name) {
			names = append(names, child)
		}
	}
	slices.Sort(names)
	return names
}

// inSteps returns the flows whose steps run a job, or wait for it; the caller holds Mu.
func (f *Fakes) inSteps(job string) (run, wait []string) {
	for _, name := range slices.Sorted(maps.Keys(f.Jobs)) {
		runs, waits := false, false
		for _, s := range f.Jobs[name].Steps {
			runs, waits = runs || s.Job == job, waits || s.Wait != nil && s.Wait.Job == job && name != job
		}
		if runs {
			run = append(run, name)
		}
		if waits {
			wait = append(wait, name)
		}
	}
	return run, wait
}

// InSteps returns the stored flows whose steps run a job, or wait for it.
func (f *Fakes) InSteps(_ context.Context, job string, _ int) (run, wait []string) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.inSteps(job)
}

func (f *Fakes) IsParent(name string) bool {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return len(f.children(name)) > 0
}

func (f *Fakes) Parents(_ context.Context, job *common.JobState) (states []common.ParentState, err error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	for _, parent := range job.After {
		_, exists := f.Jobs[parent]
		success := f.Successes[parent]
		states = append(states, common.ParentState{Job: parent, Missing: !exists, Waiting: success.Run == "",
			Run: success.Run, PlannedAt: success.PlannedAt, SucceededAt: success.EndedAt})
	}
	return states, nil
}

func (f *Fakes) Validate(_ context.Context, job common.Job) (common.StoredJob, []common.Fault, error) {
	return common.StoredJob{Job: job}, flow.Faults(&job), nil
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

// Restart changes the version of a daemon job.
func (f *Fakes) Restart(ctx context.Context, actor common.Actor, name string,
	pre common.Precondition) (common.JobState, error) {
	if state, err := f.Get(ctx, name); err == nil && state.Daemon == nil {
		return state, common.Errorf(common.CodeConflict, "job %q is not a daemon", name).WithReason("no_daemon")
	}
	return f.edit(ctx, actor, name, pre, func(*common.Job) {})
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
	old.Version, old.Number = f.version, old.Number+1
	f.Jobs[name] = old
	return old, nil
}

func (f *Fakes) Count(ctx context.Context, q common.JobQuery) (int, error) {
	q.After, q.Limit = "", 1000
	jobs, _, err := f.List(ctx, q)
	return len(jobs), err
}

// errLost is the error of a change whose outcome is unknown.
var errLost = &common.Error{Code: common.CodeUnavailable, Message: "etcd did not answer", Err: common.ErrUnsure}

func (f *Fakes) Apply(ctx context.Context, actor common.Actor, job common.Job, pre common.Precondition,
	dry bool) (common.Saved, error) {
	if f.Lost[job.Name] {
		return common.Saved{}, errLost
	}
	for i, parent := range job.After {
		if _, err := f.Get(ctx, parent); err != nil {
			return common.Saved{}, common.Invalid("the job cannot be saved",
				common.NewFault(fmt.Sprintf("after[%d]", i), "unknown_job", parent, "there is no job %q", parent))
		}
	}
	saved := common.Saved{Effect: common.EffectCreated}
	if old, err := f.Get(ctx, job.Name); err == nil {
		saved.Effect, saved.Before = common.EffectChanged, &old.Job
		before, _ := json.Marshal(old.Job)
		with := job
		with.DefaultTimezone("UTC")
		if after, _ := json.Marshal(with); bytes.Equal(before, after) {
			saved.Effect, saved.State = common.EffectUnchanged, old
			return saved, nil
		}
	}
	if dry {
		saved.State.Job = job
		if faults := flow.Faults(&job); len(faults) > 0 {
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

func (f *Fakes) Preview(ctx context.Context, name string, pre common.Precondition,
	change func(common.Job) (common.Job, error)) (common.Saved, error) {
	old, err := f.Get(ctx, name)
	if err == nil {
		err = pre.Check(name, old.Version)
	}
	if err != nil {
		return common.Saved{}, err
	}
	job, err := change(old.Job)
	if err != nil {
		return common.Saved{}, err
	}
	if faults := flow.Faults(&job); len(faults) > 0 {
		return common.Saved{}, common.Invalid("the job cannot be saved", faults...)
	}
	job.DefaultTimezone("UTC")
	saved := common.Saved{Effect: common.EffectUnchanged, Before: &old.Job, State: old}
	if !common.Same(&job, &old.Job) {
		saved.Effect, saved.State.Job = common.EffectChanged, job
	}
	return saved, nil
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

func (f *Fakes) Forecast(ctx context.Context, q common.JobQuery, from, to time.Time, slots int) (*forecast.Forecast,
	int, error) {
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
			Slots:     j.Slots,
			Cursor:    from.Add(-time.Hour),
		})
	}
	found, err := forecast.Of(ctx, plan, from, to, slots)
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

// References counts the stored jobs that refer to each channel or secret.
func (f *Fakes) References(_ context.Context, kind common.Referent) map[string]int {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	counts := map[string]int{}
	for name := range f.Jobs {
		for _, object := range f.refers(name, kind) {
			counts[object]++
		}
	}
	return counts
}

// Referring returns the stored jobs that refer to a channel, a secret or another job.
func (f *Fakes) Referring(_ context.Context, kind common.Referent, object string, most int) (jobs []string) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(f.Jobs)) {
		if slices.Contains(f.refers(name, kind), object) && len(jobs) < most {
			jobs = append(jobs, name)
		}
	}
	return jobs
}

func (f *Fakes) refers(name string, kind common.Referent) []string {
	job := f.Jobs[name]
	switch {
	case kind == common.ReferentSecret:
		return slices.Collect(maps.Values(job.SecretRefs()))
	case kind == common.ReferentJob:
		return job.After
	case job.Notify == nil:
		return nil
	}
	return job.Notify.To
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
