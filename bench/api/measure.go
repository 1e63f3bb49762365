package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"carillon/test/harness"
)

// clients is the number of concurrent clients.
const clients = 16

// jobText is a job as the bench sends it: one of some teams and groups, at night.
func jobText(i int, command string) []byte {
	data, _ := json.Marshal(map[string]any{ // texts and numbers can always be written
		"name": jobName(i), "title": fmt.Sprintf("Report %d of the evening", i),
		"group":    fmt.Sprintf("group-%02d", i%50),
		"labels":   map[string]string{"team": fmt.Sprintf("team-%d", i%20), "tier": strconv.Itoa(i % 3)},
		"cronExpr": fmt.Sprintf("%d %d * * *", i%60, i/60%4), "timezone": "Asia/Shanghai",
		"command": command, "env": map[string]string{"REPORT": strconv.Itoa(i)}, "timeout": "1h", "paused": i%10 == 0,
	})
	return data
}

// jobName spreads the jobs over the alphabet, like names that people choose.
func jobName(i int) string { return fmt.Sprintf("%04x-job-%d", uint16(i*40503), i) }

// times are the durations of requests.
type times []time.Duration

func (t times) at(quantile float64) time.Duration {
	slices.Sort(t)
	if len(t) == 0 {
		return 0
	}
	return t[min(len(t)-1, int(quantile*float64(len(t))))]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }

// together runs some clients, each over a connection of its own, until one fails.
func (b *bench) together(ctx context.Context, n int, do func(ctx context.Context, c *conn) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			c, err := b.server.dial()
			if err == nil {
				defer c.close()
				err = do(ctx, c)
			}
			if err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return ctx.Err()
}

// register creates all jobs, one request each.
func register(ctx context.Context, b *bench) ([]line, error) {
	const stretch = 1000
	before := b.server.Usage()
	var next atomic.Int64
	ended := make([]time.Time, b.jobs) // in the order of their requests
	took := make(times, b.jobs)
	began := time.Now()
	err := b.together(ctx, clients, func(ctx context.Context, c *conn) error {
		for i := int(next.Add(1)) - 1; i < b.jobs && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			at := time.Now()
			if _, err := c.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs",
				jobText(i, "make report")); err != nil {
				return err
			}
			ended[i] = time.Now()
			took[i] = ended[i].Sub(at)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	after := b.server.Usage()
	slices.SortFunc(ended, time.Time.Compare)
	rate := float64(b.jobs) / ended[b.jobs-1].Sub(began).Seconds()
	first := stretch / ended[stretch-1].Sub(began).Seconds()
	last := stretch / ended[b.jobs-1].Sub(ended[b.jobs-1-stretch]).Seconds()
	// A single second is affected by other load of the machine: so the goal is for the first and the last tenth.
	tenth := b.jobs / 10
	firstTenth := float64(tenth) / ended[tenth-1].Sub(began).Seconds()
	lastTenth := float64(tenth) / ended[b.jobs-1].Sub(ended[b.jobs-1-tenth]).Seconds()
	return []line{
		judged(fmt.Sprintf("%d clients register %d jobs, one by one", clients, b.jobs), "≥ 3,000/s",
			fmt.Sprintf("%.0f/s; each p50 %s, p99 %s", rate, ms(took.at(0.5)), ms(took.at(0.99))), rate >= 3000),
		judged("the last tenth of them against the first", "≥ 80 %",
			fmt.Sprintf("%.0f %% (%.0f/s, %.0f/s)", 100*lastTenth/firstTenth, lastTenth, firstTenth),
			lastTenth >= 0.8*firstTenth),
		{
			what:     "the last thousand of them against the first",
			measured: fmt.Sprintf("%.0f %% (%.0f/s, %.0f/s)", 100*last/first, last, first),
		},
		{
			what: "what all of the standalone takes for each job: etcd, worker, master",
			measured: fmt.Sprintf("%.2f ms of a core, %.1f KiB", (after.CPU-before.CPU).Seconds()*1000/float64(b.jobs),
				float64(after.RSS-before.RSS)/float64(b.jobs)/1024),
		},
	}, nil
}

// lists requests pages of 50, with every filter and order, two at a time.
func lists(ctx context.Context, b *bench) (lines []line, err error) {
	// A list waits for the writes of this master, up to a second; that is no part of its duration.
	settled, err := b.server.dial()
	if err != nil {
		return nil, err
	}
	defer settled.close()
	for at := time.Now(); ; at = time.Now() {
		if _, err := settled.do(http.StatusOK, http.MethodGet, "/api/v1/jobs?limit=1", nil); err != nil {
			return nil, err
		}
		if time.Since(at) < 200*time.Millisecond {
			break
		}
	}
	worst, worstOf := time.Duration(0), ""
	asks := 400
	if b.quick {
		asks = 60
	}
	for _, query := range []string{"", "q=report", "q=42", "q=nowhere", "group=group-07", "selector=team%3Dteam-7",
		"selector=team%3Dnone", "selector=tier!%3D1,team+in+(team-1,team-2)",
		"state=paused", "state=active", "state=done", "sort=nextFire", "sort=-nextFire", "sort=updated",
		"sort=-updated", "sort=group", "sort=-name", "group=group-07&state=active&sort=nextFire&q=7"} {
		var took times
		var mu sync.Mutex
		var left atomic.Int64
		left.Store(int64(asks))
		if err := b.together(ctx, 2, func(ctx context.Context, c *conn) error {
			cursor := ""
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				path := "/api/v1/jobs?limit=50&" + query
				if cursor != "" {
					path += "&cursor=" + cursor
				}
				at := time.Now()
				body, err := c.do(http.StatusOK, http.MethodGet, path, nil)
				if err != nil {
					return err
				}
				mu.Lock()
				took = append(took, time.Since(at))
				mu.Unlock()
				var page struct{ NextCursor string }
				if err := json.Unmarshal(body, &page); err != nil {
					return err
				}
				cursor = page.NextCursor
			}
			return nil
		}); err != nil {
			return lines, err
		}
		p50, p99 := took.at(0.5), took.at(0.99)
		if p99 > worst {
			worst, worstOf = p99, query
		}
		if query == "" {
			query = "none"
		}
		lines = append(lines, line{
			what:     "`GET /jobs`, page of 50, `" + query + "`",
			measured: fmt.Sprintf("p50 %s, p99 %s", ms(p50), ms(p99)),
		})
	}
	return append(lines, judged("`GET /jobs`, any of these", "p99 < 50 ms",
		fmt.Sprintf("p99 %s (`%s`)", ms(worst), worstOf), worst < 50*time.Millisecond)), nil
}

// put changes jobs, so many in a second whether the earlier ones are answered or not. The duration counts
// from the due time.
func put(ctx context.Context, b *bench) ([]line, error) {
	const rate = 500
	n := int(b.seconds().Seconds()) * rate
	before := b.server.Usage()
	took := make(times, n)
	var next atomic.Int64
	began := time.Now().Add(100 * time.Millisecond)
	err := b.together(ctx, 64, func(ctx context.Context, c *conn) error {
		for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			due := began.Add(time.Duration(i) * time.Second / rate)
			_ = harness.SleepUntil(ctx, due) // the next request fails if the context ends
			job := rand.IntN(b.jobs)
			if _, err := c.do(http.StatusOK, http.MethodPut, "/api/v1/jobs/"+jobName(job),
				jobText(job, fmt.Sprint("make report-", i))); err != nil {
				return err
			}
			took[i] = time.Since(due)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p50, p99 := took.at(0.5), took.at(0.99)
	return []line{judged(fmt.Sprintf("`PUT /jobs/{name}`, %d a second for %s", rate, b.seconds()), "p99 ≤ 50 ms",
		fmt.Sprintf("p50 %s, p99 %s", ms(p50), ms(p99)), p99 <= 50*time.Millisecond),
		{
			what:     "what the standalone takes for each",
			measured: fmt.Sprintf("%.2f ms of a core", (b.server.Usage().CPU-before.CPU).Seconds()*1000/float64(n)),
		}}, nil
}

// apply sends many jobs at once: new ones, the same again, and the same with a change.
func apply(ctx context.Context, b *bench) (lines []line, err error) {
	n := 10_000
	c, err := b.server.dial()
	if err != nil {
		return nil, err
	}
	defer c.close()
	for _, part := range []struct{ what, command, query, count string }{
		{"new ones, as a dry run", "make all", "?dryRun=true", "created"},
		{"new ones", "make all", "", "created"},
		{"the same again", "make all", "", "unchanged"},
		{"each changed", "make some", "", "changed"},
	} {
		jobs := make([]json.RawMessage, n)
		for i := range jobs {
			jobs[i] = jobText(1_000_000+i, part.command)
		}
		body, err := json.Marshal(map[string]any{"jobs": jobs})
		if err != nil {
			return nil, err
		}
		at := time.Now()
		text, err := c.do(http.StatusOK, http.MethodPost, "/api/v1/jobs/apply"+part.query, body)
		if err != nil {
			return lines, err
		}
		took := time.Since(at)
		var answer struct{ Counts map[string]int }
		if err := json.Unmarshal(text, &answer); err != nil {
			return nil, err
		}
		if answer.Counts[part.count] != n {
			return nil, fmt.Errorf("apply: %v, want %d %s", answer.Counts, n, part.count)
		}
		lines = append(lines, judged(fmt.Sprintf("`POST /jobs/apply` of %d jobs: %s", n, part.what), "< 15 s",
			fmt.Sprintf("%.1f s", took.Seconds()), took < 15*time.Second))
		if ctx.Err() != nil {
			return lines, ctx.Err()
		}
	}
	return lines, nil
}
