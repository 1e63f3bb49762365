package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

func jobFaults() []fault {
	heads := []resource{theHeads}
	return []fault{
		{
			name:     "save-race",
			about:    "two masters save the same job at the same time, with other timetables, 15 times",
			takes:    25 * time.Second,
			needs:    heads,
			unharmed: true,
			run:      saveRace,
		},
		{
			name:     "undecodable",
			about:    "a job that cannot be read lies in etcd for 15s, and a worker is restarted meanwhile",
			takes:    60 * time.Second,
			needs:    []resource{theHeads, aWorker},
			unharmed: true,
			run:      undecodable,
		},
		{
			name:     "edit-running",
			about:    "a job is paused, resumed, deleted and made again while it runs",
			takes:    50 * time.Second,
			needs:    heads,
			unharmed: true,
			run:      editRunning,
		},
		{
			name:     "kill-ended",
			about:    "runs are killed when they have just ended",
			takes:    30 * time.Second,
			needs:    heads,
			unharmed: true,
			run:      killEnded,
		},
	}
}

// slack is what a change may take until all processes obey it, or clocks differ.
const slack = time.Second

// ownJob is a job that a fault makes for itself.
type ownJob struct {
	*strike
	job  check.Job
	body map[string]any
}

// newJob makes a job that fires each so many seconds and runs for a time.
func (s *strike) newJob(ctx context.Context, name string, every int, length time.Duration) (*ownJob, error) {
	o := &ownJob{
		strike: s,
		job:    check.Job{Name: name, Overlap: check.Skip, OnLost: check.Rerun, LostAfter: 20 * time.Second},
	}
	run := strconv.FormatInt(length.Milliseconds(), 10)
	o.body = map[string]any{
		"name":      name,
		"endAt":     s.until,
		"overlap":   o.job.Overlap,
		"onLost":    o.job.OnLost,
		"lostAfter": "20s",
		"killGrace": "2s",
		"args": []string{filepath.Join(s.h.bin, "ledger"), "-file", s.ledger, "-locks",
			filepath.Join(s.stack.dir, "locks"), "-ms", run, run, "-every", "200", "80"},
	}
	return o, o.make(ctx, every)
}

func (o *ownJob) make(ctx context.Context, every int) error {
	var made struct{ Meta struct{ UID string } }
	o.body["cronExpr"] = line(every)
	from := time.Now()
	if err := o.do(ctx, http.MethodPost, "/api/v1/jobs", o.body, &made); err != nil {
		return err
	}
	o.job.UID = made.Meta.UID
	o.job.Spells = []check.Spell{o.spell(every, from, time.Now())}
	return nil
}

// line fires each so many seconds of a minute, or never.
func line(every int) string {
	if every == 0 {
		return ""
	}
	return fmt.Sprintf("*/%d * * * * * *", every)
}

// spell begins with a request.
func (o *ownJob) spell(every int, before, after time.Time) check.Spell {
	return check.Spell{
		Anchor:    time.Unix(0, 0),
		Every:     time.Duration(every) * time.Second,
		From:      before.Add(-slack),
		FromLate:  after.Add(slack),
		Until:     o.until,
		UntilLate: o.until,
	}
}

// closed ends the last spell with a request.
func (o *ownJob) closed(before, after time.Time) {
	last := &o.job.Spells[len(o.job.Spells)-1]
	last.Until, last.UntilLate = before.Add(-slack), after.Add(slack)
}

// done hands the job to the checker.
func (o *ownJob) done() { o.plan(o.job) }

func saveRace(ctx context.Context, s *strike) (err error) {
	o, err := s.newJob(ctx, "saved-by-two", 2, 300*time.Millisecond)
	if err != nil {
		return err
	}
	defer o.done()
	for round := range 15 {
		var now struct{ Meta struct{ Version int64 } }
		if err := s.get(ctx, "/api/v1/jobs/"+o.job.Name, &now); err != nil {
			return err
		}
		every := [2]int{1 + s.rng.IntN(3), 4 + s.rng.IntN(2)}
		var status [2]int
		var group sync.WaitGroup
		before := time.Now()
		for i, base := range s.bases[:2] {
			body := map[string]any{}
			maps.Copy(body, o.body)
			body["cronExpr"], body["description"] = line(every[i]), fmt.Sprintf("round %d of master %d", round, i+1)
			group.Go(func() {
				status[i], _ = s.one(base).Ask(ctx, http.MethodPut, "/api/v1/jobs/"+o.job.Name, body, nil, "If-Match",
					fmt.Sprintf(`"%d"`, now.Meta.Version))
			})
		}
		group.Wait()
		after := time.Now()
		won := -1
		for i := range status {
			switch {
			case status[i] == http.StatusOK && won >= 0:
				return fmt.Errorf("%w: round %d: both masters saved version %d", errPromise, round, now.Meta.Version)
			case status[i] == http.StatusOK:
				won = i
			case status[i] != http.StatusPreconditionFailed:
				return fmt.Errorf("round %d: master %d answered %d", round, i+1, status[i])
			}
		}
		if won < 0 {
			return fmt.Errorf("%w: round %d: neither master saved", errPromise, round)
		}
		o.closed(before, after)
		o.job.Spells = append(o.job.Spells, o.spell(every[won], before, after))
		if err := harness.Sleep(ctx, time.Duration(500+s.rng.IntN(1500))*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func undecodable(ctx context.Context, s *strike) error {
	keys := map[string]string{
		"/cron/jobs/planted-torn":   `{"name":"planted-torn","cronExpr":"* * *`,
		"/cron/jobs/planted-number": "42",
		"/cron/jobs/planted-bytes":  "\x00\xff\xfe",
	}
	for key, value := range keys {
		if _, err := s.client.Put(ctx, key, value); err != nil {
			return err
		}
	}
	err := s.reborn(ctx, 0) // it has to list them too
	if err == nil {
		err = harness.Sleep(ctx, 10*time.Second)
	}
	var page struct{ Items []struct{ Name string } }
	if listed := s.get(ctx, "/api/v1/jobs?limit=500", &page); listed != nil || len(page.Items) == 0 {
		err = errors.Join(err, fmt.Errorf("%w: jobs cannot be listed beside one that cannot be read: %w",
			errPromise, listed))
	}
	for key := range keys {
		_, undone := s.client.Delete(context.WithoutCancel(ctx), key)
		err = errors.Join(err, undone)
	}
	return err
}

func editRunning(ctx context.Context, s *strike) error {
	const every = 3
	o, err := s.newJob(ctx, "edited", every, 4*time.Second)
	if err != nil {
		return err
	}
	defer o.done()
	path := "/api/v1/jobs/" + o.job.Name
	note := map[string]any{"note": "chaos"}
	post := func(what string, body any) func() error {
		return func() error { return s.do(ctx, http.MethodPost, path+what, body, nil) }
	}
	again := func(query string) func() error {
		return func() error {
			before := time.Now()
			end := func() {}
			if query != "" {
				end = s.begin(check.Event{Kind: check.RunKilled, Job: o.job.Name})
			}
			if err := s.do(ctx, http.MethodDelete, path+query, nil, nil); err != nil {
				return err
			}
			end()
			o.closed(before, time.Now())
			o.done()
			return o.make(ctx, every)
		}
	}
	for i, step := range []func() error{post("/pause", note), post("/resume", map[string]any{}), again(""), again(""),
		post("/pause", note), again("?kill=true"), again(""), post("/pause", note), post("/resume", map[string]any{})} {
		if err := harness.Sleep(ctx, time.Duration(1500+s.rng.IntN(2500))*time.Millisecond); err != nil {
			return err
		}
		if err := step(); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}

// killEnded asks for the end of runs just before, when, and just after they end by
// themselves, and of such that have ended long ago.
func killEnded(ctx context.Context, s *strike) error {
	ctx, cancel := context.WithTimeout(ctx, s.fault.takes-2*time.Second)
	defer cancel()
	kill := func(run string) (int, error) {
		defer s.begin(check.Event{Kind: check.RunKilled, Run: run})()
		return s.one(s.bases[0]).Ask(ctx, http.MethodPost, "/api/v1/runs/"+url.PathEscape(run)+"/kill",
			map[string]any{"note": "chaos"}, nil)
	}
	answers := map[int]int{}
	var ended []string
	for range 12 {
		var last entry
		if err := follow(ctx, s.ledger, func(e entry) bool {
			last = e
			return e.what == "start" && e.length < 2*time.Second
		}); err != nil {
			return err
		}
		end := last.at.Add(last.length + time.Duration(s.rng.Int64N(int64(20*time.Millisecond))) - 12*time.Millisecond)
		if err := harness.Sleep(ctx, end.Sub(check.Now())); err != nil {
			return err
		}
		status, err := kill(last.run)
		if status == 0 {
			return err
		}
		answers[status]++
		ended = append(ended, last.run)
	}
	s.say("kills at the end of runs were answered %v", answers)
	if err := harness.Sleep(ctx, 3*time.Second); err != nil {
		return err
	}
	for _, run := range ended[:3] {
		if status, err := kill(run); status != http.StatusConflict && status != http.StatusNotFound {
			return fmt.Errorf("%w: the kill of a run that has ended was answered %d: %w", errPromise, status, err)
		}
	}
	return nil
}
