package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"carillon/internal/common"
	"carillon/internal/platform/netguard"
	"carillon/internal/platform/virtualtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world implements the ports of the notifier in memory.
type world struct {
	senders   map[Kind]Sender
	tested    []string // by whom
	mu        sync.Mutex
	revision  int64
	compacted int64
	outcomes  []Outcome
	news      chan struct{} // closed when there is more
	place     Place
	waits     map[string]Wait // approvals, by key
	asked     chan struct{}   // closed when they have changed
	states    map[string]State
	waiting   map[string]Notice
	done      map[string]Notice
	channels  map[string]Channel
	jobs      map[string]common.JobState
	runs      map[string]common.Run
	late      []common.Run
	replicas  []common.Run
	sent      []Message
	answer    func(c Channel, m Message) Result
	moves     int
	unknown   bool // the jobs have not been read yet
	// unpausable: a pause of a job is refused.
	unpausable bool
	stale      bool // a job is known by its version before, unless a later one is required
	reads      int
	pauses     int   // requests to pause a job
	refused    int   // commits that were too large
	broken     error // of commits
	deaf       error // of the watch
	away       bool  // of the history, for every second page
	pages      int   // pages of the history that were read
	mute       bool  // runs print nothing
	missing    int   // reads of output that find none yet
	acks       map[string]Ack
	allowed    []string // steps that may fail
}

func newWorld() *world {
	w := &world{
		senders:  map[Kind]Sender{},
		news:     make(chan struct{}),
		waits:    map[string]Wait{},
		asked:    make(chan struct{}),
		states:   map[string]State{},
		waiting:  map[string]Notice{},
		done:     map[string]Notice{},
		channels: map[string]Channel{},
		jobs:     map[string]common.JobState{},
		runs:     map[string]common.Run{},
		answer:   func(Channel, Message) Result { return Result{} },
	}
	w.senders[KindWebhook] = w
	for _, name := range []string{"hook", "post"} {
		w.channels[name] = Channel{Name: name, Kind: KindWebhook, Version: 1}
	}
	return w
}

func (w *world) job(name string, on ...common.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.revision++
	job := common.JobState{Version: w.revision}
	job.Name, job.UID, job.Notify = name, "uid-"+name, &common.Notify{On: on, To: []string{"hook", "post", "hook"}}
	w.jobs[name] = job
}

// ended puts the outcome of an attempt into the outboxes.
func (w *world) ended(job string, status common.Status, attempt int, planned time.Time) common.Run {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.revision++
	fire := common.PlannedFire("uid-"+job, planned)
	run := common.Run{
		ID:          common.RunID(fire, attempt),
		Job:         job,
		JobUID:      "uid-" + common.BackfilledJob(job),
		JobVersion:  w.jobs[job].Version,
		Fire:        fire,
		PlannedAt:   planned,
		Attempt:     attempt,
		Status:      status,
		EndedAt:     new(time.Now().UTC()),
		OutputBytes: 10,
	}
	if w.mute {
		run.OutputBytes = 0
	}
	if status == common.StatusSkipped {
		run.Reason, run.OutputBytes = &common.Reason{Code: common.ReasonOverlap}, 0
	}
	w.runs[run.ID] = run
	w.outcomes = append(w.outcomes, Outcome{Run: run, Revision: w.revision})
	close(w.news)
	w.news = make(chan struct{})
	return run
}

func (w *world) Place(context.Context) (Place, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.place, nil
}

func (w *world) Move(_ context.Context, p Place) (Place, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.Version != w.place.Version {
		return w.place, nil
	}
	w.revision++
	w.moves++
	p.Version = w.revision
	w.place = p
	return p, nil
}

func (w *world) Now(context.Context) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.revision, nil
}

func (w *world) Follow(ctx context.Context, from int64, take func(context.Context, []Outcome, int64) error) error {
	w.mu.Lock()
	compacted := from <= w.compacted
	w.mu.Unlock()
	if compacted {
		return ErrGap
	}
	for {
		w.mu.Lock()
		var part []Outcome
		upTo := w.revision
		for _, o := range w.outcomes {
			if o.Revision >= from {
				part = append(part, o)
			}
		}
		news, deaf := w.news, w.deaf
		w.mu.Unlock()
		if deaf != nil {
			return deaf
		}
		if err := take(ctx, part, upTo); err != nil {
			return err
		}
		from = max(from, upTo+1)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-news:
		case <-time.After(10 * time.Second):
		}
	}
}

func (w *world) States(context.Context) ([]State, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Values(w.states)), nil
}

func (w *world) State(_ context.Context, job string) (State, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.states[job], nil
}

func (w *world) Commit(_ context.Context, states []State, notices []Notice) ([]State, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil {
		return nil, false, w.broken
	}
	if len(states)+len(notices) > 126 {
		w.refused++
		return nil, false, errors.New("too many operations in txn request")
	}
	for _, s := range states {
		if w.states[s.Job].Version != s.Version {
			return nil, false, nil
		}
	}
	w.revision++
	written := slices.Clone(states)
	for i := range written {
		written[i].Version = w.revision
		w.states[written[i].Job] = written[i]
	}
	for _, n := range notices {
		_, waits := w.waiting[n.ID]
		if _, done := w.done[n.ID]; !waits && !done {
			n.Version = w.revision
			w.waiting[n.ID] = n
		}
	}
	return written, true, nil
}

func (w *world) Drop(_ context.Context, states []State) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range states {
		delete(w.states, s.Job)
	}
	return nil
}

func (w *world) Waiting(context.Context) ([]Notice, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	return slices.SortedFunc(maps.Values(w.waiting), func(a, b Notice) int { return cmp.Compare(a.ID, b.ID) }), nil
}

func (w *world) Put(_ context.Context, n Notice) (Notice, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting[n.ID].Version != n.Version {
		return n, false, nil
	}
	w.revision++
	n.Version = w.revision
	if n.Status == Waiting {
		w.waiting[n.ID] = n
	} else {
		delete(w.waiting, n.ID)
		w.done[n.ID] = n
	}
	return n, true, nil
}

func (w *world) Requeue(_ context.Context, _ common.Actor, id string) (Notice, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, failed := w.done[id]
	if !failed {
		n = w.waiting[id]
	}
	again, due, err := n.Again(time.Now())
	if err != nil || !due {
		return n, err
	}
	w.revision++
	again.Version = w.revision
	delete(w.done, id)
	w.waiting[id] = again
	return again, nil
}

func (w *world) Prune(context.Context, time.Time, int) error { return nil }

func (w *world) Channel(_ context.Context, name string) (Channel, Target, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.channels[name], Target{}, nil
}

func (w *world) NoteTest(_ context.Context, actor common.Actor, _ string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tested = append(w.tested, actor.Name)
	return nil
}

func (w *world) Disable(_ context.Context, c Channel, why string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.Disabled, c.Why = true, why
	w.channels[c.Name] = c
	return nil
}

func (w *world) Notifying() ([]common.JobState, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unknown {
		return nil, false
	}
	return slices.Collect(maps.Values(w.jobs)), true
}

func (w *world) AtLeast(_ context.Context, name string, version int64) (common.JobState, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	job, found := w.jobs[name]
	if w.stale && version <= job.Version-1 {
		job.Version--
	}
	return job, found, nil
}

func (w *world) Pause(_ context.Context, name string, version int64, note string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	job := w.jobs[name]
	if w.pauses++; w.unpausable {
		return common.Errorf(common.CodeConflict, "job %q was saved by a newer version", name)
	}
	if job.Version != version {
		return common.Errorf(common.CodeStale, "job %q has changed", name)
	}
	w.revision++
	job.Paused, job.PauseNote, job.Version = true, note, w.revision
	w.jobs[name] = job
	return nil
}

func (w *world) Exists(_ context.Context, run string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, found := w.runs[run]
	return found, nil
}

func (w *world) Since(_ context.Context, job string, since time.Time, after Mark) (page []common.Run, next Mark,
	err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pages++; w.away && w.pages%2 == 0 {
		return nil, after, errors.New("the history is away")
	}
	for _, r := range w.runs {
		at := cmp.Or(r.PlannedAt.Compare(after.PlannedAt), cmp.Compare(r.ID, after.Run))
		if r.Job == job && !r.PlannedAt.Before(since) && at > 0 {
			page = append(page, r)
		}
	}
	slices.SortFunc(page, func(a, b common.Run) int {
		return cmp.Or(a.PlannedAt.Compare(b.PlannedAt), cmp.Compare(a.ID, b.ID))
	})
	if len(page) <= 2 {
		return page, Mark{}, nil
	}
	return page[:2], Mark{PlannedAt: page[1].PlannedAt, Run: page[1].ID}, nil
}

func (w *world) Tail(context.Context, string, int64, int) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.missing > 0 {
		w.missing--
		return "", nil
	}
	return "the end", nil
}

func (w *world) Acknowledged(_ context.Context, since time.Time) (map[string]Ack, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away {
		return nil, common.Errorf(common.CodeUnavailable, "the log store is away")
	}
	found := map[string]Ack{}
	for job, ack := range w.acks {
		if !ack.At.Before(since) {
			found[job] = ack
		}
	}
	return found, nil
}

func (w *world) Late(context.Context, []common.JobState, time.Time) ([]common.Run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.late, nil
}

func (w *world) Replicas(context.Context, string, string) ([]common.Run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.replicas), nil
}

func (w *world) Send(ctx context.Context, c Channel, _ Target, m Message) Result {
	if ctx.Err() != nil {
		return Result{Err: ctx.Err()}
	}
	w.mu.Lock()
	m.Data.Event = Subject(string(m.Data.Event) + "@" + c.Name)
	w.sent = append(w.sent, m)
	answer := w.answer
	w.mu.Unlock()
	return answer(c, m)
}

func (w *world) NoticeSent(string)         {}
func (w *world) NoticeFailed(string, bool) {}
func (w *world) NoticesWaiting(int)        {}

// told returns what was sent, in order.
func (w *world) told() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, m := range w.sent {
		all = append(all, m.Data.Job+":"+string(m.Data.Event))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func (w *world) notifier() *Notifier {
	return New(Config{
		Store:     w,
		Channels:  w,
		Jobs:      w,
		History:   w,
		Senders:   w.senders,
		PublicURL: "https://carillon.example.com/",
		Now:       time.Now,
		Log:       slog.New(slog.DiscardHandler),
		Metrics:   w,
	})
}

// elected runs a notifier until stop is called, which waits for it.
func (w *world) elected(t *testing.T) (stop func()) {
	t.Helper()
	_, stop = w.electedNotifier(t)
	return stop
}

func (w *world) electedNotifier(t *testing.T) (n *Notifier, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	n = w.notifier()
	go func() { done <- n.Run(ctx) }()
	virtualtime.Wait()
	time.Sleep(3 * time.Second) // it has a place
	return n, func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("ended with %v", err)
		}
	}
}

// after advances virtual time.
// state returns the state of a job while a notifier runs.
func (w *world) state(job string) State {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.states[job]
}

func after(d time.Duration) { time.Sleep(d); virtualtime.Wait() }

var everything = []common.Event{"failed", "missed", "lost", "late", "recovered"}

func TestNotifier_TroubleNotifiedOnce(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		stop := w.elected(t)
		at := time.Now()
		w.ended("a", "failed", 1, at)
		after(time.Minute)
		w.ended("a", "failed", 1, at.Add(time.Minute))
		after(time.Minute)
		w.ended("a", "succeeded", 1, at.Add(2*time.Minute))
		after(time.Minute)
		stop()
		if got, want := w.told(), "a:failed@hook a:failed@post a:recovered@hook a:recovered@post"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
		m := w.sent[0]
		if m.Data.Output != "the end" || m.Data.URL != "https://carillon.example.com/runs/"+m.Data.Run ||
			m.Data.Count != 1 {
			t.Errorf("sent %+v", m.Data)
		}
		if last := w.sent[3].Data; last.Count != 2 || !last.FirstAt.Equal(at.UTC()) &&
			last.FirstAt.Sub(at) > time.Minute {
			t.Errorf("recovered with %+v", last)
		}
		if len(w.waiting) != 0 || len(w.done) != 4 {
			t.Errorf("%d wait, %d are done", len(w.waiting), len(w.done))
		}
	})
}

// An attempt that is followed by another is not notified.
func TestFailureBeforeARetry_IsNotNotified(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		stop := w.elected(t)
		at := time.Now()
		next := common.RunID(common.PlannedFire("uid-a", at), 2)
		w.runs[next] = common.Run{ID: next, Job: "a"}
		w.ended("a", "failed", 1, at)
		after(time.Minute)
		if w.told() != "" {
			t.Errorf("told %s before the last attempt", w.told())
		}
		w.ended("a", "lost", 2, at)
		after(time.Minute)
		stop()
		if got, want := w.told(), "a:lost@hook a:lost@post"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

// Elections in sequence and two masters at a time notify nothing twice.
func TestNotifier_ReElection_NothingTwice(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		w.elected(t)() // creates a place to begin from
		at := time.Now()
		w.ended("a", "failed", 1, at) // while no master is elected
		one, two := w.elected(t), w.elected(t)
		w.ended("a", "failed", 1, at.Add(time.Second))
		after(10 * time.Second)
		one()
		w.ended("a", "succeeded", 1, at.Add(2*time.Second))
		after(200 * time.Millisecond)
		two() // decided, but not sent
		if got, want := w.told(), "a:failed@hook a:failed@post"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
		three := w.elected(t)
		after(2 * time.Minute)
		three()
		if got, want := w.told(), "a:failed@hook a:failed@post a:recovered@hook a:recovered@post"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

// A master dies during a try: the outcome is unknown, so it is sent again with the same id.
func TestNotifier_MasterDiesDuringTry_SentAgain(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		now := time.Now().UTC()
		w.waiting["1"] = Notice{
			ID:        "1",
			Channel:   "hook",
			Subject:   "failed",
			Status:    Waiting,
			Attempts:  1,
			CreatedAt: now,
			TriedAt:   now,
			NextAt:    now.Add(claimFor),
			Version:   1,
			Data:      Data{Event: "failed", Job: "a"},
		}
		stop := w.elected(t)
		after(50 * time.Second)
		if w.told() != "" {
			t.Errorf("told %s while another master tries", w.told())
		}
		after(30 * time.Second)
		stop()
		if len(w.sent) != 1 || w.sent[0].ID != "msg_1" || w.done["1"].Attempts != 2 || w.done["1"].Status != Sent {
			t.Errorf("sent %+v; done %+v", w.sent, w.done)
		}
	})
}

// A try claimed by one master is not tried by the other one meanwhile.
func TestNotifier_TwoMasters_OneTries(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		w.answer = func(Channel, Message) Result { time.Sleep(25 * time.Second); return Result{} }
		one, two := w.elected(t), w.elected(t)
		w.ended("a", "failed", 1, time.Now())
		after(2 * time.Minute)
		one()
		two()
		if got, want := w.told(), "a:failed@hook a:failed@post"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

func TestNotifier_FailedTry_Retried(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		began := time.Now()
		w.answer = func(c Channel, m Message) Result {
			if c.Name == "hook" && time.Since(began) < 20*time.Minute {
				return Result{Err: errors.New("away"), Answer: 503}
			}
			return Result{}
		}
		stop := w.elected(t)
		w.ended("a", "failed", 1, began)
		w.job("b", everything...)
		after(16 * time.Minute)
		waiting, _ := w.Waiting(t.Context())
		if len(waiting) != 1 || waiting[0].Code != CodeTrouble || waiting[0].Answer != 503 ||
			!slices.Equal(Failing(waiting, time.Now()), []string{"hook"}) {
			t.Errorf("waiting: %+v", waiting)
		}
		after(2 * time.Hour)
		stop()
		ids := map[string]int{}
		for _, m := range w.sent {
			ids[m.ID]++
		}
		if len(ids) != 2 || len(w.waiting) != 0 || len(w.sent) < 5 || len(w.sent) > 8 {
			t.Errorf("tried %v", ids)
		}
	})
}

// A rejected notification does not mark a channel as failing while it accepts the others.
func TestFailing_RejectedNotification_ChannelNotFailing(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", "failed")
		w.job("b", "failed")
		w.answer = func(_ Channel, m Message) Result {
			if m.Data.Job == "a" {
				return Result{Err: errors.New("too large"), Answer: 413}
			}
			return Result{}
		}
		failing := func() []string {
			w.mu.Lock()
			defer w.mu.Unlock()
			return Failing(slices.Concat(slices.Collect(maps.Values(w.waiting)), slices.Collect(maps.Values(w.done))),
				time.Now())
		}
		stop := w.elected(t)
		w.ended("a", "failed", 1, time.Now())
		after(30 * time.Minute)
		if got := failing(); !slices.Equal(got, []string{"hook", "post"}) {
			t.Errorf("%v fail", got)
		}
		w.ended("b", "failed", 1, time.Now())
		after(30 * time.Minute)
		stop()
		if got := failing(); len(got) > 0 || len(w.waiting) != 2 {
			t.Errorf("%v fail, of which %d wait", got, len(w.waiting))
		}
	})
}

func TestNotifier_DayOfFailures_GivenUp(t *testing.T) {
	for _, c := range []struct {
		name   string
		result Result
		code   string
		tries  int
	}{
		{"for a day", Result{Err: errors.New("away")}, CodeGaveUp, len(backoff) + 1},
		{"an address that must not be called", Result{Err: netguard.ErrAddress, Final: true}, CodeRefused, 1},
		{"gone", Result{Err: errors.New("410"), Gone: true, Answer: 410}, CodeGone, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtualtime.Test(t, func(t *testing.T) {
				w := newWorld()
				w.job("a", "failed")
				w.answer = func(Channel, Message) Result { return c.result }
				stop := w.elected(t)
				w.ended("a", "failed", 1, time.Now())
				after(40 * time.Hour)
				stop()
				for _, n := range w.done {
					if n.Status != Failed || n.Code != c.code || n.Attempts != c.tries || n.Error == "" {
						t.Errorf("%+v", n)
					}
				}
				if len(w.done) != 2 || w.channels["hook"].Disabled != c.result.Gone {
					t.Errorf("done %d, channel %+v", len(w.done), w.channels["hook"])
				}
			})
		})
	}
}

func TestNotifier_GivenUpDelivery_RetriedOnRequest(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", "failed")
		w.answer = func(Channel, Message) Result { return Result{Err: errors.New("away")} }
		n, stop := w.electedNotifier(t)
		w.ended("a", "failed", 1, time.Now())
		after(40 * time.Hour)
		ids := slices.Sorted(maps.Keys(w.done))
		if len(ids) != 2 {
			t.Fatalf("given up: %v", ids)
		}
		// The first try of the new series fails as well, and is followed by others.
		if again, err := n.Retry(t.Context(), common.Actor{Name: "ann"}, ids[0]); err != nil ||
			again.Status != Waiting || again.Attempts != 0 {
			t.Fatalf("%+v, %v", again, err)
		}
		after(time.Second)
		w.mu.Lock()
		waits := w.waiting[ids[0]]
		w.answer = func(Channel, Message) Result { return Result{} }
		w.mu.Unlock()
		if waits.Status != Waiting || waits.Attempts != 1 || waits.Code != CodeTrouble {
			t.Fatalf("after a try: %+v", waits)
		}
		after(time.Minute)
		stop()
		if got := w.done[ids[0]]; got.Status != Sent || got.Attempts != 2 {
			t.Errorf("%+v", got)
		}
		if _, err := n.Retry(t.Context(), common.Actor{}, ids[0]); common.CodeOf(err) != common.CodeConflict {
			t.Errorf("a sent one: %v", err)
		}
	})
}

func TestNotice_Again(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		notice Notice
		due    bool
		fails  bool
	}{
		{"sent", Notice{Status: Sent}, false, true},
		{"failed", Notice{Status: Failed, Attempts: 11, DoneAt: now}, true, false},
		{"waits for hours", Notice{Status: Waiting, Attempts: 9, NextAt: now.Add(time.Hour)}, true, false},
		{"claimed by a try", Notice{Status: Waiting, Attempts: 9, NextAt: now.Add(claimFor)}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			again, due, err := c.notice.Again(now)
			if due != c.due || (err != nil) != c.fails {
				t.Fatalf("%+v, %t, %v", again, due, err)
			}
			if due && (again.Status != Waiting || !again.NextAt.Equal(now) || !again.DoneAt.IsZero() ||
				!again.since().Equal(now)) {
				t.Errorf("%+v", again)
			}
		})
	}
}

func TestNotifier_MissingOrDisabledChannel_Fails(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", "failed")
		delete(w.channels, "hook")
		w.channels["post"] = Channel{Name: "post", Kind: KindMail, Version: 1} // for which there is no sender
		stop := w.elected(t)
		w.ended("a", "failed", 1, time.Now())
		after(time.Minute)
		stop()
		for _, n := range w.done {
			if n.Channel != "hook" || n.Code != CodeUnknown || n.Status != Failed {
				t.Errorf("%+v", n)
			}
		}
		for _, n := range w.waiting {
			if n.Channel != "post" || n.Code != CodeKind {
				t.Errorf("%+v", n)
			}
		}
		if len(w.done) != 1 || len(w.waiting) != 1 || len(w.sent) != 0 {
			t.Errorf("%d done, %d wait", len(w.done), len(w.waiting))
		}
	})
}

// A channel of a kind that the elected master does not know waits for one that does, which does not wait for the time
// of the next try.
func TestNotifier_UnknownKind_WaitsForMasterThatKnowsIt(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", "failed")
		w.channels["post"] = Channel{Name: "post", Kind: KindSlack, Version: 1}
		stop := w.elected(t)
		w.ended("a", "failed", 1, time.Now())
		after(5 * time.Hour) // between the tries after about 3.7 and 7.7 hours
		stop()
		if len(w.sent) != 1 || len(w.waiting) != 1 {
			t.Fatalf("without the kind: %d sent, %d wait", len(w.sent), len(w.waiting))
		}
		var next time.Duration
		for _, n := range w.waiting {
			if next = time.Until(n.NextAt); n.Code != CodeKind {
				t.Errorf("waits for %s", n.Code)
			}
		}
		w.senders[KindSlack] = w
		stop = w.elected(t)
		after(nextLook)
		stop()
		if len(w.sent) != 2 || len(w.waiting) != 0 || next < 10*time.Minute {
			t.Errorf("with the kind: %d sent, %d wait, next try in %v", len(w.sent), len(w.waiting), next)
		}
	})
}

// A cluster in trouble does not flood the receivers.
func TestManyFailingJobs_AreSummarized(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		const jobs = 250
		for i := range jobs {
			w.job(fmt.Sprintf("job-%03d", i), everything...)
		}
		stop := w.elected(t)
		at := time.Now()
		for i := range jobs {
			w.ended(fmt.Sprintf("job-%03d", i), "failed", 1, at)
		}
		after(5 * time.Minute)
		count := func(subject Subject) (n int, named int64) {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, m := range w.sent {
				if m.Data.Event == subject+"@hook" {
					n, named = n+1, named+m.Data.Count
				}
			}
			return n, named
		}
		one, _ := count("failed")
		summaries, named := count(SubjectSummary)
		if one != EventsPerMinute || summaries != 1 || named != jobs-EventsPerMinute {
			t.Errorf("%d one by one, %d summaries of %d", one, summaries, named)
		}
		for i := range jobs {
			w.ended(fmt.Sprintf("job-%03d", i), "succeeded", 1, at.Add(time.Minute))
		}
		after(5 * time.Minute)
		stop()
		one, _ = count("recovered")
		summaries, named = count(SubjectRecovered)
		if one != EventsPerMinute || summaries != 1 || named != jobs-EventsPerMinute {
			t.Errorf("recovered: %d one by one, %d summaries of %d", one, summaries, named)
		}
		if len(w.waiting) != 0 {
			t.Errorf("%d wait", len(w.waiting))
		}
	})
}

// Each of many channels gets its summary, however few jobs it is about.
func TestSummariesToManyChannels(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		const jobs, channels = 30, 120
		for i := range jobs {
			w.job(fmt.Sprintf("job-%03d", i), everything...)
			w.states[fmt.Sprintf("job-%03d", i)] = State{
				Job:     fmt.Sprintf("job-%03d", i),
				UID:     fmt.Sprintf("uid-job-%03d", i),
				Trouble: true,
				Event:   "failed",
				Count:   1,
			}
		}
		for c := range channels {
			name, job := fmt.Sprintf("channel-%02d", c), fmt.Sprintf("job-%03d", c%jobs)
			w.channels[name] = Channel{Name: name, Kind: KindWebhook, Version: 1}
			if c < jobs {
				w.jobs[job].Notify.To = nil
			}
			w.jobs[job].Notify.To = append(w.jobs[job].Notify.To, name)
			state := w.states[job]
			state.Held = append(state.Held, name)
			w.states[job] = state
		}
		stop := w.elected(t)
		after(5 * time.Minute)
		stop()
		heard := map[Subject]int{}
		for _, m := range w.sent {
			heard[m.Data.Event]++
			if m.Type != "cluster.summary" || m.Data.Count != 1 {
				t.Errorf("sent %+v", m)
			}
		}
		if len(heard) != channels || len(w.sent) != channels || w.refused > 0 {
			t.Errorf("%d of %d channels have heard, of %d summaries; %d commits were refused", len(heard), channels,
				len(w.sent), w.refused)
		}
		for _, s := range w.states {
			if len(s.Held) > 0 {
				t.Errorf("still held: %+v", s)
			}
		}
	})
}

// A held trouble that ends before there was room for it is notified in a summary, and so is a held
// reminder.
func TestNotifier_HeldTroubleEnds_InSummary(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("new", everything...)
		w.job("old", everything...)
		w.job("plain", "failed")
		for i := range EventsPerMinute {
			w.job(fmt.Sprintf("other-%03d", i), "failed")
		}
		stop := w.elected(t)
		w.ended("old", "failed", 1, time.Now())
		after(61*time.Minute + time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
		for i := range EventsPerMinute {
			w.ended(fmt.Sprintf("other-%03d", i), "failed", 1, time.Now())
		}
		after(time.Second)
		for i, status := range []common.Status{"failed", "succeeded"} {
			for _, job := range []string{"new", "old", "plain"} {
				w.ended(job, status, 1, time.Now().Add(time.Duration(i)*time.Second))
			}
		}
		after(5 * time.Minute)
		stop()
		heard := map[string][]string{}
		for _, m := range w.sent {
			switch {
			case m.Data.Event == "failed@hook" && !strings.HasPrefix(m.Data.Job, "other"):
				heard[m.Data.Job] = append(heard[m.Data.Job], "failed")
			case m.Data.Event == SubjectRecovered+"@hook":
				for _, job := range m.Data.Jobs {
					heard[job] = append(heard[job], "over")
				}
			case strings.HasPrefix(m.Data.Job, "other"):
			case strings.HasSuffix(string(m.Data.Event), "@hook"):
				t.Errorf("sent %+v", m.Data)
			}
		}
		if got, want := fmt.Sprint(heard), "map[new:[over] old:[failed over] plain:[over]]"; got != want {
			t.Errorf("heard %s, want %s", got, want)
		}
	})
}

// A job that alternated while there was no master causes more notifications than etcd accepts at a
// time: none is lost or sent twice.
func TestManyOutcomesAtOnce(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		w.elected(t)() // creates a place to begin from
		w.jobs["a"].Notify.To = nil
		for i := range common.MaxNotified {
			name := fmt.Sprintf("channel-%02d", i)
			w.channels[name] = Channel{Name: name, Kind: KindWebhook, Version: 1}
			w.jobs["a"].Notify.To = append(w.jobs["a"].Notify.To, name)
		}
		for i := range 9 { // not so often that it is flapping
			w.ended("a", []common.Status{"failed", "succeeded"}[i%2], 1, time.Now())
			time.Sleep(flapWindow/2 + time.Minute)
		}
		stop := w.elected(t)
		after(time.Minute)
		stop()
		heard := map[Subject]int{}
		for _, m := range w.sent {
			heard[m.Data.Event]++
		}
		for name := range w.channels {
			if failed, recovered := heard[Subject("failed@"+name)],
				heard[Subject("recovered@"+name)]; strings.HasPrefix(name, "channel-") &&
				(failed != 5 || recovered != 4) {
				t.Errorf("%s received %d troubles and %d recoveries", name, failed, recovered)
			}
		}
		if state := w.states["a"]; w.refused > 0 || !state.Trouble || state.Count != 1 {
			t.Errorf("%d commits were refused; %+v", w.refused, state)
		}
	})
}

// A flapping job whose next fire is a day away has recovered when it has been well for half an hour, also for a master
// that was elected meanwhile.
func TestFlappingJob_WithoutAnotherFire_Recovers(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		stop := w.elected(t)
		for i := range 6 {
			w.ended("a", []common.Status{"failed", "succeeded"}[i%2], 1, time.Now())
			after(time.Minute)
		}
		stop()
		stop = w.elected(t)
		after(calmFor - 5*time.Minute)
		if state := w.state("a"); !state.Trouble || state.Good == nil {
			t.Errorf("after less than half an hour: %+v", state)
		}
		after(6 * time.Minute)
		stop()
		var heard []string
		for _, m := range w.sent {
			if event, found := strings.CutSuffix(string(m.Data.Event), "@hook"); found {
				heard = append(heard, event)
			}
		}
		if got := strings.Join(heard, " "); got != "failed recovered failed recovered failed recovered" ||
			w.states["a"].Trouble {
			t.Errorf("heard %s; %+v", got, w.states["a"])
		}
		if last := w.sent[len(w.sent)-1].Data; last.Run == "" || last.Status != common.StatusSucceeded ||
			last.Flapping {
			t.Errorf("the recovery: %+v", last)
		}
	})
}

// A failed write does not use up the events per minute.
func TestNotifier_FailedWrite_BudgetUnused(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		w.elected(t)()
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
		n, run := w.notifier(), w.ended("a", "failed", 1, time.Now())
		w.broken = errors.New("etcd is away")
		for range 2 * EventsPerMinute {
			if err := n.settleAll(t.Context(), []Outcome{{Run: run}}); !errors.Is(err, w.broken) {
				t.Fatalf("settled: %v", err)
			}
		}
		w.broken = nil
		if err := n.settleAll(t.Context(), []Outcome{{Run: run}}); err != nil || len(w.waiting) != 2 {
			t.Errorf("%v; %d wait, of %+v", err, len(w.waiting), w.states["a"])
		}
	})
}

// A failing channel does not block the others, and gets the rest in a summary when it is back.
func TestNotifier_FailingChannel_OthersUnaffected(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		var dead bool
		w.answer = func(c Channel, _ Message) Result {
			w.mu.Lock()
			defer w.mu.Unlock()
			if c.Name == "hook" && dead {
				return Result{Err: errors.New("away")}
			}
			return Result{}
		}
		dead = true
		now := time.Now().UTC()
		for i := range MaxWaiting {
			id := fmt.Sprintf("%04d", i)
			w.waiting[id] = Notice{
				ID:        id,
				Channel:   "hook",
				Subject:   "failed",
				Status:    Waiting,
				CreatedAt: now,
				NextAt:    now,
				Version:   1,
				Data:      Data{Event: "failed", Job: id},
			}
		}
		const jobs = 250
		for i := range jobs {
			w.job(fmt.Sprintf("job-%03d", i), everything...)
		}
		stop := w.elected(t)
		for i := range jobs {
			w.ended(fmt.Sprintf("job-%03d", i), "failed", 1, time.Now())
		}
		after(5 * time.Minute)
		count := func(channel string) (one, named int64) {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, m := range w.sent {
				switch m.Data.Event {
				case Subject("failed@" + channel):
					if strings.HasPrefix(m.Data.Job, "job-") {
						one++
					}
				case SubjectSummary + Subject("@"+channel):
					named += m.Data.Count
				}
			}
			return one, named
		}
		if one, named := count("post"); one < alwaysWaiting || one+named != jobs {
			t.Errorf("the other channel received %d individually, %d in summaries", one, named)
		}
		if waiting, _ := w.Waiting(t.Context()); len(waiting) > MaxWaiting {
			t.Errorf("%d wait", len(waiting))
		}
		w.mu.Lock()
		dead = false
		w.mu.Unlock()
		after(3 * time.Hour)
		stop()
		if one, named := count("hook"); one != 0 || named != jobs {
			t.Errorf("after its return it received %d individually, %d in summaries", one, named)
		}
	})
}

// Compacted outcomes are read from the history.
func TestGap_IsReadFromTheHistory(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		w.job("b", everything...)
		stop := w.elected(t)
		at := time.Now()
		w.ended("a", "failed", 1, at)
		after(10 * time.Second)
		stop()
		w.ended("a", "succeeded", 1, at.Add(time.Minute))
		w.ended("b", "missed", 0, at.Add(time.Minute))
		w.compacted, w.outcomes = w.revision, nil
		stop = w.elected(t)
		after(time.Minute)
		w.ended("b", "succeeded", 1, at.Add(2*time.Minute))
		after(time.Minute)
		stop()
		want := "a:failed@hook a:failed@post a:recovered@hook a:recovered@post b:missed@hook b:missed@post " +
			"b:recovered@hook b:recovered@post"
		if got := w.told(); got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

func TestLateRuns_AreNotifiedOnce(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		stop := w.elected(t)
		at := time.Now()
		fire := common.PlannedFire("uid-a", at)
		w.mu.Lock()
		w.late = []common.Run{{
			ID:        common.RunID(fire, 1),
			Job:       "a",
			JobUID:    "uid-a",
			Fire:      fire,
			PlannedAt: at,
			Attempt:   1,
			Status:    "running",
		}}
		w.mu.Unlock()
		after(10 * time.Minute)
		w.mu.Lock()
		w.late = nil
		w.mu.Unlock()
		w.ended("a", "succeeded", 1, at)
		after(time.Minute)
		stop()
		if got, want := w.told(), "a:late@hook a:late@post a:recovered@hook a:recovered@post"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

// Without jobs that have notifications, no watch is open and little is written.
func TestNotifier_NoSubscribers_Idle(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		stop := w.elected(t)
		for i := range 100 {
			w.ended("a", "failed", 1, time.Now().Add(time.Duration(i)))
		}
		after(time.Hour)
		if w.moves > 130 || len(w.states) > 0 {
			t.Errorf("moved %d times, %d states", w.moves, len(w.states))
		}
		w.job("a", everything...)
		w.ended("a", "failed", 1, time.Now())
		after(time.Minute)
		stop()
		if got, want := w.told(), "a:failed@hook a:failed@post"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

// A new job of the same name begins without trouble, and states of deleted jobs are deleted.
func TestNotifier_JobRecreated_NewState(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		stop := w.elected(t)
		w.ended("a", "failed", 1, time.Now())
		after(time.Minute)
		w.mu.Lock()
		delete(w.jobs, "a")
		w.mu.Unlock()
		after(15 * time.Minute)
		stop()
		if len(w.states) != 0 {
			t.Errorf("states: %+v", w.states)
		}
	})
}

// Before the jobs are known, no state is deleted.
func TestNotifier_JobsUnknown_StatesKept(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		stop := w.elected(t)
		at := time.Now()
		w.ended("a", "failed", 1, at)
		after(time.Minute)
		stop()
		w.unknown = true
		stop = w.elected(t)
		w.ended("a", "succeeded", 1, at.Add(time.Minute))
		after(time.Hour)
		w.mu.Lock()
		w.unknown = false
		w.mu.Unlock()
		after(time.Minute)
		stop()
		if got, want := w.told(), "a:failed@hook a:failed@post a:recovered@hook a:recovered@post"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

// After a restore of etcd to an earlier revision, later outcomes count.
func TestEtcdRestored_LaterOutcomesCount(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		w.revision = 1000
		stop := w.elected(t)
		at := time.Now()
		w.ended("a", "failed", 1, at)
		after(time.Minute)
		stop()
		w.revision, w.outcomes = 500, nil
		stop = w.elected(t)
		w.ended("a", "succeeded", 1, at.Add(time.Minute))
		after(time.Minute)
		stop()
		if got, want := w.told(), "a:failed@hook a:failed@post a:recovered@hook a:recovered@post"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

// A long backlog is not read again for each notification.
func TestNotifier_LongBacklog_ReadOnce(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		now := time.Now().UTC()
		for i := range 1000 {
			id := fmt.Sprintf("%04d", i)
			w.waiting[id] = Notice{
				ID:        id,
				Channel:   "hook",
				Subject:   "failed",
				Status:    Waiting,
				CreatedAt: now,
				NextAt:    now,
				Version:   1,
				Data:      Data{Event: "failed", Job: id},
			}
		}
		stop := w.elected(t)
		after(time.Minute)
		stop()
		if len(w.done) != 1000 || w.reads > 10 {
			t.Errorf("%d done, read %d times", len(w.done), w.reads)
		}
		if !slices.IsSortedFunc(w.sent, func(a, b Message) int { return cmp.Compare(a.ID, b.ID) }) {
			t.Error("they are not in order")
		}
	})
}

func TestNotifier_Test(t *testing.T) {
	w, ann := newWorld(), common.Actor{Name: "ann"}
	n, err := w.notifier().Test(t.Context(), ann, "hook")
	if err != nil || n.Status != Sent || len(w.sent) != 1 || w.sent[0].Type != "channel.test" || len(w.done) != 1 {
		t.Errorf("%+v, %v; sent %+v", n, err, w.sent)
	}
	w.answer = func(Channel, Message) Result { return Result{Err: errors.New("no"), Answer: 500} }
	if n, err = w.notifier().Test(t.Context(), ann, "hook"); err != nil || n.Status != Failed || n.Answer != 500 ||
		len(w.waiting) != 0 {
		t.Errorf("%+v, %v", n, err)
	}
	if _, err := w.notifier().Test(t.Context(), ann, "none"); common.CodeOf(err) != common.CodeNotFound {
		t.Errorf("%v", err)
	}
	if !slices.Equal(w.tested, []string{"ann", "ann", "ann"}) {
		t.Errorf("recorded in the audit: %q", w.tested)
	}
}
