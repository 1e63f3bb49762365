package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/health"
	"carillon/internal/httpapi"
	"carillon/internal/runlog"
)

type unchanged = httpapi.Jobs

// pageBackend is the rest of a master: its jobs, none of which has an active run.
type pageBackend struct {
	unchanged // except for the methods below
	outputBackend
	jobs []common.JobState
	runlog.Live
	runlog.Plan
}

func (d *pageBackend) List(_ context.Context, q common.JobQuery) ([]common.JobState, string, error) {
	return d.jobs[:min(q.Limit, len(d.jobs))], "", nil
}

func (d *pageBackend) KnownNetwork(context.Context, string, string) bool { return true }

func (d *pageBackend) LiveRuns(context.Context, *runlog.LiveQuery) (runlog.Lives, error) {
	return runlog.Lives{}, nil
}

func (d *pageBackend) OpenRuns(context.Context) ([]common.Run, error) { return nil, nil }

func (d *pageBackend) Overdue(context.Context) ([]common.Overdue, error) { return nil, nil }

func (d *pageBackend) Workers(context.Context) ([]common.Member, error) { return nil, nil }

func (d *pageBackend) UpdateWorker(context.Context, common.Actor, string,
	func(*common.WorkerSettings) error) (common.WorkerSettings, error) {
	return common.WorkerSettings{}, nil
}

func (d *pageBackend) DeleteSettings(context.Context, common.Actor, string) error { return nil }

func (d *pageBackend) Overview(context.Context) (health.Overview, error) {
	return health.Overview{}, nil
}

// pages requests the data of the console's first pages from the API, at intervals after which no cache is
// valid.
func pages(ctx context.Context, b *bench) ([]line, error) {
	if _, err := tidied(ctx, b.store, runlog.Tidy{Now: end}); err != nil {
		return nil, err
	}
	now := end
	d := &pageBackend{}
	for n := range jobCount {
		d.jobs = append(d.jobs, common.JobState{
			Version: 1,
			StoredJob: common.StoredJob{
				UID: fmt.Sprint(n),
				Job: common.Job{Name: jobName(n), CronExpr: "*/5 * * * *", Timezone: "Asia/Shanghai", Command: "true"},
			},
		})
	}
	handler, err := httpapi.New(httpapi.Config{
		Jobs:      d,
		Runs:      runlog.NewView(d, d, b.store),
		Workers:   d,
		Auth:      d,
		Stats:     d,
		Counted:   b.store,
		Findings:  d,
		Metrics:   http.NotFoundHandler(),
		Schedules: schedule.NewInterner(),
		Version:   "bench",
		Timezone:  "Asia/Shanghai",
		Logger:    slog.New(slog.DiscardHandler),
		Now:       func() time.Time { return now },
	})
	if err != nil {
		return nil, err
	}
	var lines []line
	for _, l := range []struct {
		what, path string
	}{
		{"10 jobs with 20 last runs, 5 next fires and a week's figures", "/jobs?include=results,next,stats&limit=10"},
		{"50 jobs with the same", "/jobs?include=results,next,stats&limit=50"},
		{"200 jobs with the same", "/jobs?include=results,next,stats&limit=200"},
		{"the overview with its last 24 hours", "/stats/overview"},
		{"all runs by the hour, 10 days, through the API", "/stats/runs?by=hour&from=" + begin.Format(time.RFC3339)},
		{"a job by the day of a zone, 10 days, each worker apart, through the API",
			"/stats/jobs/" + jobName(3) + "?workers=true&by=day&from=" + begin.Format(time.RFC3339)},
	} {
		size := 0
		var before, after runtime.MemStats
		const calls = 100
		runtime.ReadMemStats(&before)
		took, err := measure(calls, func(int) error {
			now = now.Add(2 * time.Minute)
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1"+l.path, nil)
			r.Header.Set("Authorization", "Bearer bench")
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if size = w.Body.Len(); w.Code != http.StatusOK {
				return fmt.Errorf("GET %s: %d %s", l.path, w.Code, w.Body)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		runtime.ReadMemStats(&after)
		now = end
		lines = append(lines, line{what: l.what,
			measured: fmt.Sprintf("%v; %.1f MB allocated for %d KB", took,
				float64(after.TotalAlloc-before.TotalAlloc)/calls/1e6, size/1000)})
	}
	return lines, nil
}
