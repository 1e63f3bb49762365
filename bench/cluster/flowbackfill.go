package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"carillon/bench/check"
	"carillon/internal/common"
	"carillon/test/harness"
)

// flowBackfill measures the lateness of 100 fires a second without and with backfills of 1,000 dates beside them, one
// after another.
func flowBackfill(ctx context.Context, b *bench) error {
	s, err := b.newStandalone(ctx, filepath.Join(b.dir, "flow-backfill"))
	if err != nil {
		return err
	}
	defer s.Kill()
	past := &common.Job{Name: "past", CronExpr: "0 3 * * *", Timezone: "UTC", Args: short()}
	if err := s.save(ctx, past); err != nil {
		return err
	}
	length := b.length(20 * time.Second)
	if _, err := b.besides(ctx, s, "warm", length/4, nil); err != nil {
		return err
	}
	alone, err := b.besides(ctx, s, "alone", length, nil)
	if err != nil {
		return err
	}
	var ran backfilled
	ends := make(chan error, 1)
	with, err := b.besides(ctx, s, "beside", length, func(until time.Time) {
		go func() { ends <- s.backfills(ctx, past.Name, until, &ran) }()
	})
	if err != nil {
		return err
	}
	if err := <-ends; err != nil {
		return err
	}
	b.sheet.add("flow-backfill", "backfills of 1,000 dates, concurrency 4", fmt.Sprintf("%d of %d in %.1f s: %.0f/s",
		ran.succeeded, ran.total, ran.took.Seconds(), float64(ran.total)/ran.took.Seconds()), "all succeed",
		reached(ran.succeeded == ran.total))
	times := float64(with.Late.P99) / float64(alone.Late.P99)
	b.sheet.add("flow-backfill", "100 fires a second beside them: lateness", fmt.Sprintf(
		"p50 %s, p99 %s; without them p50 %s, p99 %s: × %.2f", ms(with.Late.P50), ms(with.Late.P99), ms(alone.Late.P50),
		ms(alone.Late.P99), times), "p99 ≤ × 1.25", reached(times <= 1.25))
	b.sheet.add("flow-backfill", "of these fires: missed or skipped", fmt.Sprintf("%d of %d; without them %d of %d",
		with.Missed, with.Planned, alone.Missed, alone.Planned), "0", reached(with.Missed == 0))
	return nil
}

// backfilled counts the fires of backfills.
type backfilled struct {
	total, succeeded int
	took             time.Duration
}

// backfills runs the last 1,000 days of a daily job again and again, until a time.
func (s *standalone) backfills(ctx context.Context, job string, until time.Time, ran *backfilled) error {
	began := time.Now()
	to := began.UTC().Truncate(24 * time.Hour)
	for time.Now().Before(until) {
		var made struct{ ID string }
		if _, err := s.Ask(ctx, http.MethodPost, "/api/v1/jobs/"+job+"/backfills", map[string]any{
			"from":        to.AddDate(0, 0, -1000),
			"to":          to,
			"reprocess":   "all",
			"concurrency": 4,
		}, &made); err != nil {
			return err
		}
		if err := s.endOf(ctx, made.ID, ran); err != nil {
			return err
		}
	}
	ran.took = time.Since(began)
	return nil
}

// lookEvery is how often the progress of a backfill is read. Each answer contains all of its fires: reading them more
// often would be a load of its own.
const lookEvery = 500 * time.Millisecond

// endOf waits for the end of a backfill, and counts its fires.
func (s *standalone) endOf(ctx context.Context, id string, ran *backfilled) error {
	var now struct {
		EndedAt time.Time
		Counts  struct{ Total, Succeeded int }
	}
	for deadline := time.Now().Add(flowLimit); now.EndedAt.IsZero(); {
		if time.Now().After(deadline) {
			return fmt.Errorf("backfill %s has not ended within %v", id, flowLimit)
		}
		if err := harness.Sleep(ctx, lookEvery); err != nil {
			return err
		}
		if err := s.Want(ctx, http.StatusOK, http.MethodGet, "/api/v1/backfills/"+id, nil, &now); err != nil {
			return err
		}
	}
	ran.total, ran.succeeded = ran.total+now.Counts.Total, ran.succeeded+now.Counts.Succeeded
	return nil
}

// besides lets 100 jobs fire each second of a period, and calls a function when it begins.
func (b *bench) besides(ctx context.Context, s *standalone, name string, length time.Duration,
	begin func(until time.Time)) (check.Started, error) {
	const each = 100
	from, to := window(each, length)
	jobs, names := many(name, each, job{Args: b.helper(s.ledger)}.during(from, to))
	if err := s.loadBefore(ctx, jobs, from); err != nil {
		return check.Started{}, err
	}
	plan := check.Plan{Jobs: names, From: from, To: to}
	if err := harness.SleepUntil(ctx, from); err != nil {
		return check.Started{}, err
	}
	began, seen := time.Now(), look(s.Process)
	if begin != nil {
		begin(to)
	}
	if err := harness.SleepUntil(ctx, to.Add(time.Second)); err != nil {
		return check.Started{}, err
	}
	b.sheet.took("flow-backfill, "+name, seen, time.Since(began), s.Process)
	if _, err := settled(ctx, s.api, plan, 10*time.Second); err != nil {
		return check.Started{}, err
	}
	lines, err := check.ReadLines(s.ledger)
	return plan.Compare(lines, nil), err
}
