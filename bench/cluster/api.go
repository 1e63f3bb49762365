package main

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"carillon/bench/check"
	"carillon/test/harness"
)

// job holds the fields of a job that the bench sets.
type job struct {
	Name          string   `json:"name"`
	CronExpr      string   `json:"cronExpr"`
	Command       string   `json:"command,omitempty"`
	Args          []string `json:"args,omitempty"`
	StartDeadline string   `json:"startDeadline,omitempty"`
	LostAfter     string   `json:"lostAfter,omitempty"`
	KillGrace     string   `json:"killGrace,omitempty"`
	CatchUp       *catchUp `json:"catchUp,omitempty"`

	StartAt *time.Time `json:"startAt,omitempty"`
	EndAt   *time.Time `json:"endAt,omitempty"`
}

type catchUp struct {
	Policy string `json:"policy"`
}

const everySecond = "* * * * * * *"

// loaders is how many requests are in flight while jobs are loaded.
const loaders = 8

// api is a client of a master.
type api struct{ *harness.API }

func newAPI(base string) *api {
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: loaders}}
	return &api{&harness.API{Base: base, Client: client}}
}

// load creates jobs, a few at a time, and stops at the first error.
func (a *api) load(ctx context.Context, jobs []job) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	next := make(chan job)
	for range loaders {
		group.Go(func() {
			for j := range next {
				if err := a.Want(ctx, http.StatusCreated, http.MethodPost, "/api/v1/jobs", j, nil); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, j := range jobs {
		next <- j
		if ctx.Err() != nil {
			break
		}
	}
	close(next)
	group.Wait()
	return context.Cause(ctx)
}

// entries reads the ledger of a period, page after page.
func (a *api) entries(ctx context.Context, from, to time.Time) ([]check.Entry, error) {
	type item struct {
		Job, Status string
		PlannedAt   time.Time
		Attempt     int
		StartedAt   time.Time
		EndedAt     time.Time
		Reason      struct{ Code string }
		Gap         struct{ From, To time.Time }
	}
	var all []check.Entry
	query := url.Values{
		"limit": {"500"},
		"from":  {from.UTC().Format(time.RFC3339Nano)},
		"to":    {to.UTC().Format(time.RFC3339Nano)},
	}
	for {
		var page struct {
			Items      []item
			NextCursor string
		}
		if err := a.Want(ctx, http.StatusOK, http.MethodGet, "/api/v1/runs?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		for _, r := range page.Items {
			all = append(all, check.Entry{
				Fire:    check.Fire{Job: r.Job, Planned: r.PlannedAt.UTC()},
				Attempt: r.Attempt,
				Status:  r.Status,
				Reason:  r.Reason.Code,
				From:    r.Gap.From,
				To:      r.Gap.To,
				Started: r.StartedAt,
				Ended:   r.EndedAt,
			})
		}
		if page.NextCursor == "" {
			return all, nil
		}
		query.Set("cursor", page.NextCursor)
	}
}

// metrics reads a page of metrics. A sample's name includes its labels, as printed.
func (a *api) metrics(ctx context.Context) (map[string]float64, error) {
	var text string
	if err := a.Want(ctx, http.StatusOK, http.MethodGet, "/metrics", nil, &text); err != nil {
		return nil, err
	}
	samples := map[string]float64{}
	for line := range strings.Lines(text) {
		name, value, found := strings.Cut(strings.TrimSpace(line), " ")
		if v, err := strconv.ParseFloat(value, 64); found && err == nil {
			samples[name] = v
		}
	}
	return samples, nil
}
