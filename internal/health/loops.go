package health

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"carillon/internal/common"
)

// DefaultLimit is the time limit of a round. Watches request a progress notification every 10 s and list again
// after 30 s of silence, so that a short gap raises no condition.
const DefaultLimit = 45 * time.Second

// Spec describes a loop.
type Spec struct {
	Name   string        // for programs and translated texts: watch_kills
	Effect string        // for display: the effect while the loop is stuck
	Code   string        // code of the condition; default: watch_stale for watches (watch_…), loop_stuck for others
	Limit  time.Duration // from the start of a round to its success; default: the list's limit
	// OnDemand: between two rounds the loop may rest for any time.
	OnDemand bool
	// Needed: while it is stuck, the process is not ready.
	Needed bool
}

// Loops are the loops of one process, in the order in which they were added. They are safe for concurrent use.
type Loops struct {
	log     *slog.Logger
	limit   time.Duration
	excused func() bool

	mu   sync.Mutex
	all  []*Loop
	away time.Time // guarded by mu; when the loops were excused last
}

// NewLoops creates the loops of specs. limit applies to loops without their own; default DefaultLimit. While excused
// returns true no loop has a condition, because the common cause has a condition of its own; and no loop is late by the
// time until then. excused may be nil.
func NewLoops(log *slog.Logger, limit time.Duration, excused func() bool, specs ...Spec) *Loops {
	l := &Loops{log: log, limit: cmp.Or(limit, DefaultLimit), excused: excused}
	for _, spec := range specs {
		l.Add(spec)
	}
	return l
}

// Add adds a loop. It counts as stuck only after its Begin.
func (l *Loops) Add(spec Spec) *Loop {
	if spec.Code == "" && strings.HasPrefix(spec.Name, watchPrefix) {
		spec.Code = common.ConditionWatchStale
	}
	spec.Code = cmp.Or(spec.Code, common.ConditionLoopStuck)
	spec.Limit = cmp.Or(spec.Limit, l.limit)
	loop := &Loop{spec: spec}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, loop)
	return loop
}

// Loop returns the loop of a name, which must have been added.
func (l *Loops) Loop(name string) *Loop {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.all, func(loop *Loop) bool { return loop.spec.Name == name })
	return l.all[i]
}

// watchPrefix begins the names of loops that watch etcd.
const watchPrefix = "watch_"

// Report takes the error of an interrupted watch, or nil when it works again.
func (l *Loops) Report(watch string, err error) {
	l.Loop(watchPrefix + watch).Done(err)
	if err != nil {
		l.log.Warn("watch_interrupted", "watch", watch, "error", err)
	}
}

// ReportOf returns the report function of one watch.
func (l *Loops) ReportOf(watch string) func(error) { return func(err error) { l.Report(watch, err) } }

// Serving counts loops from the start of a part until its end.
func (l *Loops) Serving(serve func(context.Context) error, names ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, name := range names {
			loop := l.Loop(name)
			loop.Start()
			defer loop.End()
		}
		return serve(ctx)
	}
}

// Specs returns what was added.
func (l *Loops) Specs() []Spec {
	l.mu.Lock()
	defer l.mu.Unlock()
	specs := make([]Spec, len(l.all))
	for i, loop := range l.all {
		specs[i] = loop.spec
	}
	return specs
}

// Conditions returns one condition for each loop that is stuck.
func (l *Loops) Conditions() (all []common.Condition) {
	l.stuck(func(loop *Loop, since time.Duration, err error) {
		text := fmt.Sprintf("%s: no round of %s has succeeded for more than %v", loop.spec.Effect, loop.spec.Name,
			loop.spec.Limit)
		data := common.Words{"loop": loop.spec.Name}
		if err != nil {
			data["error"] = common.Excerpt(err.Error())
			text += ": " + data["error"]
		}
		all = append(all, common.Condition{
			Code: loop.spec.Code,
			Text: text,
			Data: data,
			From: time.Now().Add(-since).UTC(),
		})
	})
	return all
}

// Fault returns why the process is not ready: the first of the needed loops that is stuck.
func (l *Loops) Fault() (fault error) {
	l.stuck(func(loop *Loop, since time.Duration, err error) {
		if fault != nil || !loop.spec.Needed {
			return
		}
		fault = fmt.Errorf("no round of %s has succeeded for %v", loop.spec.Name, since.Round(time.Second))
		if err != nil {
			fault = fmt.Errorf("%w: %w", fault, err)
		}
	})
	return fault
}

func (l *Loops) stuck(each func(loop *Loop, since time.Duration, err error)) {
	excused := l.excused != nil && l.excused()
	l.mu.Lock()
	defer l.mu.Unlock()
	if excused {
		l.away = time.Now()
		return
	}
	for _, loop := range l.all {
		since, err := loop.waiting()
		if !l.away.IsZero() {
			since = min(since, time.Since(l.away))
		}
		if since > loop.spec.Limit {
			each(loop, since, err)
		}
	}
}

// Loop is one loop. A nil Loop ignores all reports. It is safe for concurrent use.
type Loop struct {
	spec Spec

	mu    sync.Mutex
	since time.Time // start of the current round; zero while the loop rests or does not run
	err   error     // error of the last round
}

// Start marks the loop as running. Unless it is on demand, its first round begins.
func (l *Loop) Start() {
	if l != nil && !l.spec.OnDemand {
		l.Begin()
	}
}

// Begin starts a round. A round that is in progress keeps its start time.
func (l *Loop) Begin() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since.IsZero() {
		l.since = time.Now()
	}
}

// Done ends a round. After an error the same round continues: only a success ends it. A loop that is not on
// demand begins the next round at once.
func (l *Loop) Done(err error) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.err = err; {
	case err != nil && l.since.IsZero():
		l.since = time.Now()
	case err != nil:
	case l.spec.OnDemand:
		l.since = time.Time{}
	default:
		l.since = time.Now()
	}
}

// Alive ends a round successfully.
func (l *Loop) Alive() { l.Done(nil) }

// End marks the loop as stopped on purpose.
func (l *Loop) End() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since, l.err = time.Time{}, nil
}

// Lag returns the age of the current round; 0 without one.
func (l *Loop) Lag() time.Duration {
	if l == nil {
		return 0
	}
	since, _ := l.waiting()
	return since
}

func (l *Loop) waiting() (time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since.IsZero() {
		return 0, nil
	}
	return time.Since(l.since), l.err
}
