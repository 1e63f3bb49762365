package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

// trial is one stack, one set of jobs, and a script of faults.
type trial struct {
	*stack
	name string
	seed uint64
	say  func(format string, args ...any)

	outputs     int       // runs whose output is read
	from, until time.Time // of the jobs' fires

	mu       sync.Mutex
	planned  []check.Job   // owned under mu, as is all below
	flows    []planned     // never changed once they are created; no fault chooses them
	daemons  []*daemon     // never changed once they are created
	deaths   time.Duration // the longest time that commands survived a kill
	notMade  []string      // faults that could not be injected
	promises []string      // violations that faults detected themselves
	figures  []string      // their measurements
}

// row is the result of a trial.
type row struct {
	Name      string        `json:"name"`
	Faults    []string      `json:"faults"`
	Seed      uint64        `json:"seed"`
	Again     string        `json:"again"` // the command that repeats it
	At        time.Time     `json:"at"`
	Took      time.Duration `json:"took"`
	Contained bool          `json:"contained"` // each worker in a network of its own
	Deaths    time.Duration `json:"deaths"`    // the longest time that commands survived SIGKILL of their worker
	Rest      time.Duration `json:"rest"`      // from the end of the faults and the fires until all was settled
	Unsettled string        `json:"unsettled,omitempty"`

	Before    map[string]vitals `json:"before"` // by worker, at rest
	After     map[string]vitals `json:"after"`
	Apart     string            `json:"apart,omitempty"` // vitals that did not return to their values
	NotMade   []string          `json:"notMade,omitempty"`
	Errors    []string          `json:"errors,omitempty"`
	Figures   []string          `json:"figures,omitempty"` // what was measured
	Permitted int               `json:"permitted"`         // violations that cannot be excluded
	Kept      string            `json:"kept,omitempty"`

	check.Report
}

// bad reports whether a guarantee was violated, or the trial could not be executed.
func (r *row) bad() bool {
	return len(r.Violations) > 0 || len(r.Errors) > 0 || r.Unsettled != "" || r.idle()
}

// idle reports whether the trial's only fault could not be injected. With others, one may come at a time at
// which another one is in its way.
func (r *row) idle() bool { return len(r.Faults) == 1 && len(r.NotMade) == 1 }

// warm is the time before the first fault, calm is how long fires continue after the last.
const (
	warm = 6 * time.Second
	calm = 8 * time.Second
	// rest is how long it may take until nothing is left to settle: the lease, lostAfter of the jobs, and the
	// re-runs.
	rest = 5 * time.Minute
)

// scheduled is a fault of a script.
type scheduled struct {
	fault
	at     time.Duration // after warm
	worker int
	seed   uint64
}

// try executes a trial of a script.
func (l *lab) try(ctx context.Context, name string, seed uint64, jobs int, script []scheduled) row {
	r := row{Name: name, Seed: seed, At: time.Now().UTC().Truncate(time.Second), Contained: inside()}
	dir, err := os.MkdirTemp(l.dir, "trial-")
	if err != nil {
		r.Errors = []string{err.Error()}
		return r
	}
	for _, s := range script {
		r.Faults = append(r.Faults, s.name)
	}
	if err := l.trial(ctx, dir, jobs, script, &r); err != nil {
		r.Errors = append(r.Errors, err.Error())
	}
	r.Took = time.Since(r.At).Round(time.Second)
	if r.bad() || l.keep {
		r.Kept = dir
	} else if err := os.RemoveAll(dir); err != nil {
		l.say("%v", err)
	}
	return r
}

func (l *lab) trial(ctx context.Context, dir string, jobs int, script []scheduled, r *row) error {
	var length time.Duration
	for _, s := range script {
		length = max(length, s.at+s.takes)
	}
	// No wait is unbounded, whatever hangs.
	settling := rest
	for _, s := range script {
		settling = max(settling, rest+s.rest)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*startLimit+warm+length+calm+2*settling+converging+2*reading)
	defer cancel()
	if err := os.MkdirAll(filepath.Join(dir, "locks"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "ledger"), nil, 0o600); err != nil {
		return err
	}
	env, clear, err := furnish(dir, script)
	defer func() { _ = clear() }() // the rest ends with our namespace
	if err != nil {
		return err
	}
	passwords := slices.ContainsFunc(script, func(s scheduled) bool { return s.passwords })
	s, err := newStack(ctx, l.host, dir, env, passwords)
	if err != nil {
		return fmt.Errorf("start the stack: %w", err)
	}
	defer s.close()
	l.say("%s: all processes are up after %v", r.Name, time.Since(r.At).Round(100*time.Millisecond))
	t := &trial{stack: s, name: r.Name, seed: r.Seed, say: l.say, outputs: l.outputs}
	t.from = time.Now().Add(2 * time.Second).Truncate(time.Second)
	t.until = t.from.Add(warm + length + calm).Truncate(time.Second)
	like := likeShort
	for _, s := range script {
		like = max(like, s.jobs)
	}
	if jobs >= manyJobs {
		like = likeSoak
	}
	set := jobSet(r.Seed, jobs, like, filepath.Join(l.host.bin, "ledger"), dir, t.from, t.until)
	if err := t.create(ctx, set); err != nil {
		return err
	}
	if !slices.ContainsFunc(script, func(s scheduled) bool { return s.forgets }) {
		t.flows = flowSet(filepath.Join(l.host.bin, "ledger"), dir, t.from, t.until)
		if err := t.create(ctx, t.flows); err != nil {
			return err
		}
	}
	before, err := t.allVitals(ctx)
	if err != nil {
		return err
	}
	if len(t.flows) > 0 { // etcd forgets nothing
		if err := t.startDaemons(ctx, like); err != nil {
			return err
		}
	}
	operated := t.beginOperating(ctx)
	defer operated()
	if err := t.play(ctx, script); err != nil {
		return err
	}
	if err := harness.SleepUntil(ctx, t.until.Add(time.Second)); err != nil {
		return err
	}
	quiet := time.Now()
	if err := t.endDaemons(ctx, settling); err != nil {
		t.promises = append(t.promises, err.Error())
	}
	r.Unsettled = t.settle(ctx, settling)
	operated()
	r.Rest = time.Since(quiet).Round(100 * time.Millisecond)
	r.Before = before
	if r.After, r.Apart = t.converged(ctx, before); r.Apart != "" {
		t.promises = append(t.promises, r.Apart)
	}
	r.Figures = t.figures
	r.NotMade, r.Errors, r.Deaths = t.notMade, append(r.Errors, t.promises...), t.deaths.Round(time.Millisecond)
	return t.judge(ctx, script, r)
}

// create creates jobs, and plans them.
func (t *trial) create(ctx context.Context, set []planned) error {
	for i := range set {
		var made struct{ Meta struct{ UID string } }
		if err := t.do(ctx, http.MethodPost, "/api/v1/jobs", set[i].Body, &made); err != nil {
			return err
		}
		set[i].Job.UID = made.Meta.UID
		if sure, s := time.Now().Add(slack), &set[i].Job.Spells[0]; sure.After(s.From) {
			s.FromLate = sure
		}
		if set[i].Flow == nil {
			t.plan(set[i].Job)
		}
	}
	return nil
}

// plan passes a job, or its change, to the checker.
func (t *trial) plan(j check.Job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := slices.IndexFunc(t.planned, func(old check.Job) bool { return old.UID == j.UID }); at >= 0 {
		t.planned[at] = j
		return
	}
	t.planned = append(t.planned, j)
}

// figure records a measurement.
func (t *trial) figure(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.figures = append(t.figures, fmt.Sprintf(format, args...))
}

// gone records how long commands survived the kill of their worker.
func (t *trial) gone(_ whom, after time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deaths = max(t.deaths, after)
}

// play injects the faults of a script, each at its time.
func (t *trial) play(ctx context.Context, script []scheduled) error {
	var group sync.WaitGroup
	defer group.Wait()
	begin := t.from.Add(warm)
	for _, s := range script {
		if err := harness.SleepUntil(ctx, begin.Add(s.at)); err != nil {
			return err
		}
		hit := &strike{trial: t, rng: rand.New(rand.NewPCG(s.seed, 2)), fault: s.fault}
		if slices.Contains(s.needs, aWorker) {
			hit.w = t.workers[s.worker%len(t.workers)]
		}
		group.Go(func() {
			hit.say("%s", s.about)
			err := s.run(ctx, hit)
			if err == nil {
				hit.say("over")
				return
			}
			hit.say("%v", err)
			t.mu.Lock()
			defer t.mu.Unlock()
			if errors.Is(err, errPromise) {
				t.promises = append(t.promises, fmt.Sprintf("%s: %v", s.name, err))
			} else {
				t.notMade = append(t.notMade, fmt.Sprintf("%s: %v", s.name, err))
			}
		})
	}
	return nil
}

// settle waits until all processes are back and nothing is left to settle; otherwise it returns what is.
func (t *trial) settle(ctx context.Context, limit time.Duration) (left string) {
	err := t.wait(ctx, limit, "all has come to rest", func() bool {
		keys, err := t.unsettled(ctx)
		due := ""
		if err == nil && len(keys) == 0 { // a fire that is requested meanwhile is among the keys then
			if due = t.due(ctx); due == "" {
				keys, err = t.unsettled(ctx)
			}
		}
		switch {
		case err != nil:
			left = err.Error()
		case len(keys) > 0:
			left = fmt.Sprint(keys)
		case !t.registered(ctx):
			left = "not all workers are there"
		case due != "":
			left = "the parents of " + due + " have succeeded"
		default:
			left = ""
		}
		return left == "" || harness.Sleep(ctx, 200*time.Millisecond) != nil
	})
	if err != nil && left == "" {
		return err.Error()
	}
	return left
}

// due returns a job after others that is to fire, since all of its parents have succeeded; empty if there is none.
func (t *trial) due(ctx context.Context) string {
	for i := range t.flows {
		name := t.flows[i].Job.Name
		if len(t.flows[i].Job.After) == 0 {
			continue
		}
		var job struct {
			Meta struct{ Parents []struct{ Waiting bool } }
		}
		if err := t.do(ctx, http.MethodGet, "/api/v1/jobs/"+name, nil, &job); err != nil {
			return name
		}
		if !slices.ContainsFunc(job.Meta.Parents, func(p struct{ Waiting bool }) bool { return p.Waiting }) {
			return name
		}
	}
	return ""
}

// judge compares the events with the expectations.
func (t *trial) judge(ctx context.Context, script []scheduled, r *row) error {
	h := check.History{Jobs: slices.Clone(t.planned), Until: t.until, Journal: t.all()}
	for i := range t.flows {
		h.Jobs = append(h.Jobs, t.flows[i].Job)
		if f := t.flows[i].Flow; len(f.Steps) > 0 {
			h.Flows = append(h.Flows, *f)
		}
	}
	if err := t.collect(ctx, &h); err != nil {
		return err
	}
	if data, err := json.Marshal(h); err != nil {
		return err
	} else if err := os.WriteFile(filepath.Join(t.dir, "history.json"), data, 0o600); err != nil {
		return err
	}
	read, enough := t.sample(&h), time.Now().Add(reading)
	h.Output = func(run string) (io.ReadCloser, error) {
		if !read[run] || time.Now().After(enough) {
			return nil, nil
		}
		return t.output(ctx, run)
	}
	r.Report = check.Check(h)
	if r.FlowRuns > 0 {
		r.Figures = append(r.Figures, fmt.Sprintf("%d flow runs with %d nodes", r.FlowRuns, r.FlowNodes))
	}
	if r.Replicas > 0 {
		r.Figures = append(r.Figures, fmt.Sprintf("%d starts of replicas; without a run: %d times, p50 %v, at most %v",
			r.Replicas, r.Replaced.N, brief(r.Replaced.P50), brief(r.Replaced.Max)))
	}
	var permitted []check.Rule
	harmless := true
	for _, s := range script {
		permitted = append(permitted, s.permitted...)
		harmless = harmless && s.unharmed
	}
	if died := lostAlive(&h); harmless && len(died) > 0 {
		r.Errors = append(r.Errors, fmt.Sprintf("%d commands died, and none may: %s", len(died),
			strings.Join(died, " ")))
	}
	before := len(r.Violations)
	r.Violations = slices.DeleteFunc(r.Violations, func(v check.Violation) bool {
		return slices.Contains(permitted, v.Rule)
	})
	r.Permitted = before - len(r.Violations)
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.dir, "report.json"), data, 0o600)
}
