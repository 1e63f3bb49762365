package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/maintenance"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/scheduler"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errStopping, errCutOff = errors.New("stopping"), errors.New("cut off")

// fakeSession is a lease that lives for ever, unless a story says otherwise.
type fakeSession struct {
	mu     sync.Mutex
	proof  *common.Proof
	killBy time.Duration // of the last beat
	beats  int
}

const forEver = 1 << 60

func (s *fakeSession) Proof() common.Proof {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proof == nil {
		return common.Proof{Sent: forEver}
	}
	return *s.proof
}

func (s *fakeSession) set(proof common.Proof) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proof = &proof
}

func (s *fakeSession) beat(killBy time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killBy = killBy
	s.beats++
}

func (s *fakeSession) lastBeat() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.killBy
}

// fakeLocks answers as a story says.
type fakeLocks struct {
	mu      sync.Mutex
	answer  error
	retaken []string        // lease and job
	held    map[string]bool // nil: all
	unseen  error           // why it cannot be asked
	all     func() map[string]bool
	asked   int
}

func (l *fakeLocks) Retake(_ context.Context, lease int64, runs []common.Retake) []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	errs := make([]error, len(runs))
	for i := range runs {
		errs[i] = l.answer
		l.retaken = append(l.retaken, fmt.Sprintf("%d %s %d", lease, runs[i].Record.Job, runs[i].Token))
	}
	return errs
}

func (l *fakeLocks) Held(context.Context, int64) (map[string]bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	if l.unseen != nil {
		return nil, l.unseen
	}
	if l.held == nil {
		return l.all(), nil
	}
	return l.held, nil
}

func (l *fakeLocks) set(change func(l *fakeLocks)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(l)
}

func (l *fakeLocks) taken() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.retaken)
}

// sinceStart is a boot clock that begins an hour before now.
func sinceStart() func() time.Duration {
	start := time.Now().Add(-time.Hour)
	return func() time.Duration { return time.Since(start) }
}

type killed struct{ by string }

func (k killed) Error() string { return "killed by " + k.by }

// fakePlan sends the fires of a test, and records their results.
type fakePlan struct {
	fires chan scheduler.Fire
	slow  time.Duration // that it takes to take an answer

	mu      sync.Mutex
	next    time.Time // fire of the plan; zero: none
	settled []scheduler.Settled
	journal []string
}

func (p *fakePlan) Fires() <-chan scheduler.Fire { return p.fires }

func (p *fakePlan) NextDue() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next
}

func (p *fakePlan) plan(next time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = next
}

func (p *fakePlan) Settle(ctx context.Context, s scheduler.Settled) error {
	select {
	case <-time.After(p.slow):
	case <-ctx.Done():
		return ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settled = append(p.settled, s)
	if s.Run != "" {
		p.journal = append(p.journal, "runs "+s.Fire.Job)
	}
	return nil
}

func (p *fakePlan) Ended(_ context.Context, _, job string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.journal = append(p.journal, "ended "+job)
	return nil
}

// fakeClaimer answers claims as a story says.
type fakeClaimer struct {
	mu      sync.Mutex
	hold    chan struct{} // where set, a claim waits for it
	answer  func(*common.Claim) common.ClaimResult
	batches [][]common.Claim

	cursors map[string]time.Time                    // by job, as looks find them
	found   func(common.FireQuery) common.FireState // where set, what looks find
	looks   []common.FireQuery
	slow    time.Duration // that a look takes
}

func (c *fakeClaimer) ReadFires(ctx context.Context, looks []common.FireQuery) []common.FireState {
	c.mu.Lock()
	slow := c.slow
	c.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks = append(c.looks, looks...)
	found := make([]common.FireState, len(looks))
	for i, l := range looks {
		if c.found != nil {
			found[i] = c.found(l)
		} else if l.Trigger == "" {
			found[i].Cursor = c.cursors[l.Job]
		}
	}
	return found
}

func (c *fakeClaimer) set(change func(c *fakeClaimer)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

// looked is how often it was looked at fires.
func (c *fakeClaimer) looked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.looks)
}

func (c *fakeClaimer) claims() (all []common.Claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, batch := range c.batches {
		all = append(all, batch...)
	}
	return all
}

func (c *fakeClaimer) Claim(ctx context.Context, claims []common.Claim) []common.ClaimResult {
	c.mu.Lock()
	c.batches = append(c.batches, slices.Clone(claims))
	hold, answer := c.hold, c.answer
	c.mu.Unlock()
	results := make([]common.ClaimResult, len(claims))
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			for i := range results {
				results[i].Err = ctx.Err()
			}
			return results
		}
	}
	for i := range claims {
		results[i] = answer(&claims[i])
	}
	return results
}

func (c *fakeClaimer) jobs() (batches [][]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, claims := range c.batches {
		var jobs []string
		for _, claim := range claims {
			jobs = append(jobs, claim.Job)
		}
		batches = append(batches, jobs)
	}
	return batches
}

func claimed(c *common.Claim) common.ClaimResult {
	if c.Record.Run == "" {
		return wrote(common.ClaimResult{Verdict: common.Passed}, c)
	}
	return wrote(common.ClaimResult{
		Verdict: common.Claimed,
		Fence:   42,
		Created: 7,
		Proof:   common.Proof{Sent: forEver},
		Job:     common.StoredJob{Job: common.Job{Name: c.Job}},
	}, c)
}

// wrote adds to a verdict what etcd writes with it.
func wrote(r common.ClaimResult, c *common.Claim) common.ClaimResult {
	switch r.Verdict {
	case common.Claimed, common.Skipped, common.Queued, common.Passed:
		if c.Gap != nil {
			r.Written = append(r.Written, *c.Gap)
		}
		if r.Verdict == common.Skipped {
			r.Written = append(r.Written, c.Skipped)
		}
	}
	return r
}

// fakeFinisher takes outcomes, or refuses them while a story says so.
type fakeFinisher struct {
	mu      sync.Mutex
	hold    chan struct{}
	refuse  error
	calls   int
	batches [][]common.Outcome
}

func (f *fakeFinisher) Finish(ctx context.Context, outcomes []common.Outcome) []error {
	f.mu.Lock()
	f.calls++
	hold := f.hold
	f.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	errs := make([]error, len(outcomes))
	for i := range errs {
		errs[i] = errors.Join(f.refuse, ctx.Err())
	}
	if errs[0] == nil {
		f.batches = append(f.batches, slices.Clone(outcomes))
	}
	return errs
}

func (f *fakeFinisher) tries() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

func (f *fakeFinisher) all() (lines []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, batch := range f.batches {
		for _, o := range batch {
			lines = append(lines, fmt.Sprintf("%s %s %d %s", o.Run.Job, o.Run.Status, o.Token, o.Run.Note))
		}
	}
	return lines
}

// fakeRunner runs until told to stop, or, for the jobs in long, until released.
type fakeRunner struct {
	mu     sync.Mutex
	tasks  []Task
	long   map[string]chan struct{}
	prints map[string]int64 // bytes of output, by job
	deaf   bool             // to its context: it ends only when it is released, or killed

	starting func() // where set, it is called when a command begins

	refuse func(Task) *common.Reason // where set, why a command cannot be started, if it cannot
}

func (r *fakeRunner) Run(ctx context.Context, t Task) common.Run {
	r.mu.Lock()
	r.tasks = append(r.tasks, t)
	long := r.long[t.Record.Job]
	refuse := r.refuse
	if r.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	r.mu.Unlock()
	run := t.Record.AsRun(common.StatusSucceeded)
	if err := t.MayStart(); err != nil {
		run.Status, run.Note = common.StatusKilled, "not started: "+err.Error()
		return run
	}
	if refuse != nil {
		if why := refuse(t); why != nil {
			run.Status, run.Reason = common.StatusFailed, why
			return run
		}
	}
	run.StartedAt, run.OutputBytes = new(time.Now().UTC()), r.prints[t.Record.Job]
	if r.starting != nil {
		r.starting()
	}
	if long != nil {
		select {
		case <-long:
		case <-ctx.Done():
		case <-t.KillNow:
			run.Status, run.Note = common.StatusKilled, "no grace"
			return run
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		run.Status, run.Note = common.StatusKilled, cause.Error()
	}
	return run
}

func (r *fakeRunner) started() []Task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.tasks)
}

// fakeCluster is who a story says is alive.
type fakeCluster struct {
	mu         sync.Mutex
	members    []common.Member
	generation uint64
	windows    *maintenance.Set
	trouble    string
	full       bool
	load       *scheduler.FlowLoad
	behind     time.Duration // of the cluster's clock behind ours
}

func (c *fakeCluster) Members() ([]common.Member, uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.members, c.generation
}

func (c *fakeCluster) Latest(now time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return now.Add(2*time.Second - c.behind)
}

// fill sets whether the outboxes are full.
func (c *fakeCluster) fill(full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.full, c.trouble = full, ""
	if full {
		c.trouble = "the outboxes are full"
	}
}

// close opens a maintenance window.
func (c *fakeCluster) close(d maintenance.WindowDefinition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.windows = maintenance.NewSet([]maintenance.Window{{Name: "upgrade", WindowDefinition: d}})
}

func (c *fakeCluster) Windows() *maintenance.Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.windows
}

func (c *fakeCluster) FlowsFull(nodes int) bool { return c.load.Full(nodes, time.Now()) }

func (c *fakeCluster) Full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.full
}

func (c *fakeCluster) Trouble() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trouble
}

// alive says who is.
func (c *fakeCluster) alive(members ...common.Member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members = members
	c.generation++
}

// member is a worker with slots and no more.
func member(id string, change ...func(*common.Member)) common.Member {
	m := common.Member{Registration: common.Registration{Life: common.Life{Worker: id, Name: "name-" + id}, Slots: 100}}
	for _, c := range change {
		c(&m)
	}
	return m
}

// fakeMetrics counts outcomes, and has the start delay of the last one.
type fakeMetrics struct {
	mu       sync.Mutex
	outcomes map[common.Status]int
	delay    time.Duration
}

func (m *fakeMetrics) Outcome(s common.Status, delay time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outcomes[s]++
	m.delay = delay
}
func (m *fakeMetrics) ClaimBatch(int, time.Duration, bool) {}
func (m *fakeMetrics) Running(int)                         {}
func (m *fakeMetrics) QueueDepth(string, int)              {}

func (m *fakeMetrics) count(s common.Status) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.outcomes[s]
}

// rig is a dispatcher that runs in a bubble between fakes.
type rig struct {
	*testing.T
	d        *Dispatcher
	plan     *fakePlan
	claimer  *fakeClaimer
	finisher *fakeFinisher
	runner   *fakeRunner
	metrics  *fakeMetrics
	cluster  *fakeCluster
	ranking  *scheduler.Ranking // the scheduler's
	session  *fakeSession
	locks    *fakeLocks
	boot     func() time.Duration
	slots    atomic.Int64
	written  []string     // arguments of Written; guarded by plan.mu
	unsure   atomic.Int64 // how often Unsure was called
	stop     context.CancelFunc
	done     chan struct{} // closed when Run has returned
	timeline schedule.Schedule
}

const (
	drain = 30 * time.Second
	halt  = 10 * time.Second
)

// bubble tells a story of a dispatcher, and then sees that it ends with nothing left running.
func bubble(t *testing.T, set func(*Config), story func(r *rig)) {
	t.Helper()
	minutely, err := schedule.NewInterner().Parse(schedule.Spec{Expr: "* * * * *", Zone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	virtualtime.Test(t, func(t *testing.T) {
		r := &rig{
			T:        t,
			plan:     &fakePlan{fires: make(chan scheduler.Fire)},
			claimer:  &fakeClaimer{answer: claimed, cursors: map[string]time.Time{}},
			finisher: &fakeFinisher{},
			runner:   &fakeRunner{long: map[string]chan struct{}{}},
			metrics:  &fakeMetrics{outcomes: map[common.Status]int{}},
			cluster:  &fakeCluster{},
			session:  &fakeSession{},
			locks:    &fakeLocks{},
			boot:     sinceStart(),
			done:     make(chan struct{}),
			timeline: minutely,
		}
		r.locks.all = func() map[string]bool {
			all := map[string]bool{}
			for _, task := range r.runner.started() {
				all[common.LockKey(task.Record.Job, task.Record.Run)] = true
			}
			return all
		}
		r.slots.Store(100)
		// A second worker that claims nothing, so that this one is not alone.
		r.cluster.alive(member("w"), member("ill", func(m *common.Member) { m.Trouble = "ill" }))
		cfg := Config{Plan: r.plan, Claimer: r.claimer, Finisher: r.finisher, Runner: r.runner, Cluster: r.cluster,
			Causes: Causes{
				Killed:   func(k common.Kill) error { return killed{k.By} },
				Stopping: errStopping,
				CutOff:   errCutOff,
			},
			Session: r.session, Locks: r.locks, Boot: r.boot, Beat: r.session.beat,
			Written: r.note, Unsure: func() { r.unsure.Add(1) },
			Life: common.Life{Worker: "w", Name: "worker", Life: "l"}, TTL: func() time.Duration {
				return 15 * time.Second
			},
			Slots: func() int {
				return int(r.slots.Load())
			}, MaxBatch: 10, Drain: drain, Stop: halt, Now: func() time.Time { return time.Now().UTC().Round(0) },
			Log: slog.New(slog.DiscardHandler), Metrics: r.metrics}
		if set != nil {
			set(&cfg)
		}
		r.d, r.ranking = New(cfg), scheduler.NewRanking(cfg.Life, cfg.Cluster, r.d.Replicas)
		ctx, cancel := context.WithCancel(t.Context())
		r.stop = cancel
		go func() {
			defer close(r.done)
			if err := r.d.Run(ctx); err != nil {
				t.Error(err)
			}
		}()
		defer func() {
			cancel()
			<-r.done
		}()
		story(r)
	})
}

// note takes down the outcomes that were written.
func (r *rig) note(runs []common.Run) {
	r.plan.mu.Lock()
	defer r.plan.mu.Unlock()
	for _, run := range runs {
		r.written = append(r.written, fmt.Sprintf("%s %s", run.Job, run.Status))
	}
}

func (r *rig) told() []string {
	r.plan.mu.Lock()
	defer r.plan.mu.Unlock()
	return slices.Clone(r.written)
}

// terms are the defaults, changed.
func terms(change ...func(*common.Terms)) *common.Terms {
	t := (&common.Job{}).Terms()
	for _, c := range change {
		c(&t)
	}
	return &t
}

// fire makes a fire of the plan that falls due now.
func (r *rig) fire(job string, change ...func(*common.Terms)) scheduler.Fire {
	now := time.Now().UTC().Truncate(time.Minute)
	return scheduler.Fire{
		Job:      job,
		UID:      "uid-" + job,
		Version:  3,
		Cursor:   now.Add(-time.Minute),
		At:       now,
		Due:      now,
		Since:    now,
		Schedule: r.timeline,
		Terms:    terms(change...),
	}
}

// shot makes the fire of a trigger.
func (r *rig) shot(job, id string, change ...func(*common.Terms)) scheduler.Fire {
	f := r.fire(job, change...)
	f.Cursor = time.Time{}
	f.Trigger = &scheduler.Trigger{Revision: 7, Trigger: common.Trigger{ID: id, Job: job, JobUID: f.UID,
		Fire: common.TriggeredFire(f.UID, id), PlannedAt: f.At, Attempt: 1, Cause: common.CauseManual, By: "me"}}
	return f
}

// hand sends fires as the scheduler does, and waits until they are processed. Those that must be held count as settled
// with the time until which they are held.
func (r *rig) hand(fires ...scheduler.Fire) {
	r.Helper()
	for _, f := range fires {
		if f.Action = r.ranking.Action(&f, r.d.cfg.Now()); !f.Action.HoldUntil.IsZero() {
			_ = r.plan.Settle(r.Context(), scheduler.Settled{Fire: f, RetryAt: f.Action.HoldUntil})
			continue
		}
		if f.Trigger == nil {
			r.claimer.set(func(c *fakeClaimer) {
				if c.cursors[f.Job].Before(f.Cursor) {
					c.cursors[f.Job] = f.Cursor
				}
			})
		}
		select {
		case r.plan.fires <- f:
		case <-time.After(time.Hour):
			r.Fatalf("the fire of %s is not taken", f.Job)
		}
	}
	virtualtime.Wait()
}

func (r *rig) long(jobs ...string) {
	r.runner.mu.Lock()
	defer r.runner.mu.Unlock()
	for _, job := range jobs {
		r.runner.long[job] = make(chan struct{})
	}
}

func (r *rig) release(job string) {
	r.runner.mu.Lock()
	close(r.runner.long[job])
	delete(r.runner.long, job)
	r.runner.mu.Unlock()
	virtualtime.Wait()
}

func (r *rig) settled() []scheduler.Settled {
	r.plan.mu.Lock()
	defer r.plan.mu.Unlock()
	return slices.Clone(r.plan.settled)
}

func (r *rig) journal() []string {
	r.plan.mu.Lock()
	defer r.plan.mu.Unlock()
	return slices.Clone(r.plan.journal)
}

func (r *rig) expectBatches(want ...[]string) {
	r.Helper()
	if got := r.claimer.jobs(); !slices.EqualFunc(got, want, slices.Equal) {
		r.Fatalf("claimed %v, want %v", got, want)
	}
}

func (r *rig) expectOutcomes(want ...string) {
	r.Helper()
	if got := r.finisher.all(); !slices.Equal(got, want) {
		r.Fatalf("outcomes %q, want %q", got, want)
	}
}

// returned sees that Run returns within a time, and tells after how long.
func (r *rig) returned(limit time.Duration) time.Duration {
	r.Helper()
	began := time.Now()
	select {
	case <-r.done:
		return time.Since(began)
	case <-time.After(limit + time.Nanosecond):
		r.Fatalf("still working after %v", limit)
		return 0
	}
}
