package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"carillon/bench/check"
	"carillon/internal/common"
	"carillon/test/harness"
)

// flowLimit bounds the wait for the end of flow runs.
const flowLimit = 5 * time.Minute

// short is the command of all steps.
func short() []string { return []string{"/bin/true"} }

// ran holds the fields of a run that the rows about flows read.
type ran struct {
	ID, JobUID, Status            string
	PlannedAt, StartedAt, EndedAt time.Time
	Nodes                         struct{ Total, Succeeded int }
}

// save creates a job or a flow.
func (a *api) save(ctx context.Context, j *common.Job) error {
	return a.Want(ctx, http.StatusCreated, http.MethodPost, "/api/v1/jobs", j, nil)
}

// trigger runs a job, and returns the id of the run.
func (a *api) trigger(ctx context.Context, name string) (string, error) {
	var accepted struct{ Run string }
	_, err := a.Ask(ctx, http.MethodPost, "/api/v1/jobs/"+name+"/run", struct{}{}, &accepted)
	return accepted.Run, err
}

// ended waits until a run has ended.
func (a *api) ended(ctx context.Context, id string) (r ran, err error) {
	var last error
	limit := harness.Until(ctx, flowLimit, "run "+id+" has ended", func() bool {
		r = ran{}
		last = a.Want(ctx, http.StatusOK, http.MethodGet, "/api/v1/runs/"+id, nil, &r)
		return last == nil && !r.EndedAt.IsZero()
	})
	if limit != nil && last != nil {
		limit = fmt.Errorf("%w: %w", limit, last)
	}
	return r, limit
}

// succeeded runs a flow to its end, and returns an error unless all of its nodes succeeded.
func (a *api) succeeded(ctx context.Context, name string, nodes int) (ran, error) {
	id, err := a.trigger(ctx, name)
	if err != nil {
		return ran{}, err
	}
	r, err := a.ended(ctx, id)
	if err == nil && (r.Status != string(common.StatusSucceeded) || r.Nodes.Succeeded != nodes) {
		err = fmt.Errorf("flow run %s: %s, %d of %d nodes succeeded", r.ID, r.Status, r.Nodes.Succeeded, nodes)
	}
	return r, err
}

// node returns the run of a node of a flow run that has ended.
func (a *api) node(ctx context.Context, of *ran, node string) (ran, error) {
	return a.ended(ctx, common.RunID(common.NodeFire(of.JobUID, of.ID, node), 1))
}

// together calls a function n times, from several goroutines, and stops at the first error.
func together(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	next := make(chan int)
	for range loaders {
		group.Go(func() {
			for i := range next {
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range n {
		next <- i
		if ctx.Err() != nil {
			break
		}
	}
	close(next)
	group.Wait()
	return context.Cause(ctx)
}

// flowChain measures the time from the end of a step to the start of the one after it.
func flowChain(ctx context.Context, b *bench) error {
	s, err := b.newStandalone(ctx, filepath.Join(b.dir, "flow-chain"))
	if err != nil {
		return err
	}
	defer s.Kill()
	plain, err := b.loneOn(ctx, s, b.length(10*time.Second))
	if err != nil {
		return err
	}
	if err := s.Want(ctx, http.StatusNoContent, http.MethodDelete, "/api/v1/jobs/lone", nil, nil); err != nil {
		return err
	}
	const steps = 100
	chain := &common.Job{Name: "chain"}
	for i := range steps {
		step := common.Step{Name: fmt.Sprintf("s%02d", i), Args: short()}
		if i > 0 {
			step.After = []common.Edge{{Step: chain.Steps[i-1].Name}}
		}
		chain.Steps = append(chain.Steps, step)
	}
	if err := s.save(ctx, chain); err != nil {
		return err
	}
	rounds := 5
	if b.quick {
		rounds = 1
	}
	began, seen := time.Now(), look(s.Process)
	var gaps, whole []time.Duration
	for range rounds {
		r, err := s.succeeded(ctx, chain.Name, steps)
		if err != nil {
			return err
		}
		whole = append(whole, r.EndedAt.Sub(r.StartedAt))
		var last time.Time
		for i := range chain.Steps {
			n, err := s.node(ctx, &r, chain.Steps[i].Name)
			if err != nil {
				return err
			}
			if i > 0 {
				gaps = append(gaps, n.StartedAt.Sub(last))
			}
			last = n.EndedAt
		}
	}
	b.sheet.took("flow-chain", seen, time.Since(began), s.Process)
	v := check.SpreadOf(gaps)
	b.sheet.add("flow-chain", fmt.Sprintf("end of a step to the start of the next one, %d steps in a chain", steps),
		fmt.Sprintf("p50 %s, p99 %s, max %s; a flow run: p50 %s; lateness of a plain job: p50 %s, p99 %s", ms(v.P50),
			ms(v.P99), ms(v.Max), ms(check.SpreadOf(whole).P50), ms(plain.Late.P50), ms(plain.Late.P99)),
		"p50 ≤ 10 ms, p99 ≤ 30 ms",
		reached(v.P50 <= 10*time.Millisecond && v.P99 <= 30*time.Millisecond))
	return nil
}
