package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/joblock"
	"carillon/internal/platform/bootclock"
)

// cycleRows are the numbers of clients that use etcd at a time, and by how much they are to be faster than a lease for
// each run.
var cycleRows = [...]struct {
	clients int
	goal    float64
}{{1, 11}, {16, 9.5}, {64, 8}}

// cycles counts how many runs per second can be locked and unlocked: each with a lease of its own, the common
// pattern, and claimed and finished by the product's own transactions, in batches of the size that its worker
// uses. No command is executed.
func cycles(ctx context.Context, b *bench) error {
	server, url, err := b.newEtcd(ctx, filepath.Join(b.dir, "cycles"))
	if err != nil {
		return err
	}
	defer server.Kill()
	client, err := dial(url)
	if err != nil {
		return err
	}
	defer client.Close()
	length := min(b.length(4*time.Second), 10*time.Second)
	for _, row := range cycleRows {
		n := row.clients
		began, seen := time.Now(), look(server)
		old, err := perSecond(ctx, n, length, func(ctx context.Context, i int) (int, error) {
			return 1, classic(ctx, client, fmt.Sprintf("/classic/job-%d", i))
		})
		if err != nil {
			return err
		}
		runners, end, err := newRunners(ctx, client, n)
		if err != nil {
			return err
		}
		ours, err := perSecond(ctx, n, length, func(ctx context.Context, i int) (int, error) {
			return runners[i].cycle(ctx)
		})
		end()
		if err != nil {
			return err
		}
		b.sheet.took("cycles", seen, time.Since(began), server)
		b.sheet.add("cycles", fmt.Sprintf("claim + finish in hundreds, clients: %d", n),
			fmt.Sprintf("%.0f/s; a lease for each run: %.0f/s; × %.1f", ours, old, ours/old),
			fmt.Sprintf("≥ × %g", row.goal), reached(ours >= row.goal*old))
	}
	return nil
}

// perSecond runs n clients for a while and adds up their operations.
func perSecond(ctx context.Context, n int, length time.Duration, work func(context.Context, int) (int, error)) (float64,
	error) {
	began := time.Now()
	var done atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		group.Go(func() {
			for time.Since(began) < length && errs[i] == nil {
				var k int
				k, errs[i] = work(ctx, i)
				done.Add(int64(k))
			}
		})
	}
	group.Wait()
	return float64(done.Load()) / time.Since(began).Seconds(), errors.Join(errs...)
}

// runner claims and finishes the fires of a hundred jobs of its own.
type runner struct {
	claimer  *joblock.Claimer
	finisher *joblock.Finisher
	life     common.Life
	jobs     []common.JobState
}

// newRunners returns runners that share a session, like those of one worker. The jobs must be new: end
// deletes them.
func newRunners(ctx context.Context, client *clientv3.Client, n int) (runners []*runner, end func(), err error) {
	life := common.Life{Worker: common.NewID(), Name: "bench", Life: common.NewID()}
	ignore := func(error) {}
	session := joblock.NewSession(client, joblock.DefaultTTL, bootclock.Now, slog.New(slog.DiscardHandler), func() {})
	sessionCtx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { _ = session.Run(sessionCtx) }) // it ends only with its context
	end = func() {
		cancel()
		group.Wait()
	}
	now := time.Now().UTC()
	for i := range n {
		r := &runner{
			claimer:  joblock.NewClaimer(client, session, life.Worker, ignore, nil),
			finisher: joblock.NewFinisher(client, life.Worker, ignore),
			life:     life,
		}
		var jobs []common.Job
		for k := range joblock.MaxBatch {
			jobs = append(jobs, common.Job{
				Name:     fmt.Sprintf("c%d-%02d-%02d", n, i, k),
				CronExpr: everySecond,
				Timezone: "UTC",
				Command:  "true",
			})
		}
		if r.jobs, err = made(ctx, client, jobs, now); err != nil {
			end()
			return nil, nil, err
		}
		runners = append(runners, r)
	}
	return runners, end, nil
}

// made writes jobs with their cursors, and returns them as a worker would receive them.
func made(ctx context.Context, client *clientv3.Client, jobs []common.Job, now time.Time) (states []common.JobState,
	err error) {
	for len(jobs) > 0 {
		part := jobs[:min(50, len(jobs))]
		jobs = jobs[len(part):]
		if err := put(ctx, client, part, now); err != nil {
			return nil, err
		}
		for _, j := range part {
			resp, err := client.Get(ctx, common.JobKey(j.Name))
			if err != nil {
				return nil, err
			}
			stored, err := common.Decode[common.StoredJob](resp.Kvs[0].Value)
			if err != nil {
				return nil, err
			}
			states = append(states, common.JobState{StoredJob: stored, Version: resp.Kvs[0].ModRevision, Cursor: now})
		}
	}
	return states, nil
}

// cycle claims the next fire of each job, and finishes it.
func (r *runner) cycle(ctx context.Context) (int, error) {
	claims := make([]common.Claim, len(r.jobs))
	for i := range r.jobs {
		claims[i] = r.claim(&r.jobs[i])
	}
	results := r.claimer.Claim(ctx, claims)
	outcomes := make([]common.Outcome, len(results))
	for i := range results {
		if results[i].Verdict != common.Claimed {
			return 0, fmt.Errorf("the claim of %s came to verdict %d: %w", claims[i].Job, results[i].Verdict,
				results[i].Err)
		}
		outcomes[i] = common.Outcome{Run: claims[i].Record.AsRun(common.StatusSucceeded), Token: results[i].Fence}
		r.jobs[i].Cursor = claims[i].To
	}
	return len(outcomes), errors.Join(r.finisher.Finish(ctx, outcomes)...)
}

func (r *runner) claim(j *common.JobState) common.Claim {
	at := j.Cursor.Truncate(time.Second).Add(time.Second)
	fire := common.PlannedFire(j.UID, at)
	record := common.Record{
		Run:        common.RunID(fire, 1),
		Fire:       fire,
		Job:        j.Name,
		JobUID:     j.UID,
		JobVersion: j.Version,
		PlannedAt:  at,
		ClaimedAt:  at,
		Attempt:    1,
		Cause:      common.CauseCron,
		Owner:      r.life,
		Nonce:      common.NewID(),
		Policy:     j.Terms().Policy,
		TTL:        joblock.DefaultTTL,
	}
	skipped := record.AsRun(common.StatusSkipped)
	skipped.ID, skipped.Attempt = common.RunID(fire, 0), 0
	return common.Claim{Job: j.Name, Version: j.Version, From: j.Cursor, To: at, Record: record, Skipped: skipped}
}
