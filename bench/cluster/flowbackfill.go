package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
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
	past := &common.Job{Name: "past", CronExpr: "0 3 * * *", Timezone: "UTC", Args: short(),
		Overlap: common.OverlapAllow}
	if err := s.save(ctx, past); err != nil {
		return err
	}
	length := b.length(20 * time.Second)
	if _, err := b.besides(ctx, s, "flow-backfill, warm", length/4, nil); err != nil {
		return err
	}
	alone, err := b.besides(ctx, s, "flow-backfill, alone", length, nil)
	if err != nil {
		return err
	}
	var ran backfilled
	ends := make(chan error, 1)
	with, err := b.besides(ctx, s, "flow-backfill, beside", length, func(until time.Time) {
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
			"from":           to.AddDate(0, 0, -1000),
			"to":             to,
			"reprocess":      "all",
			"includeUnknown": true,
			"concurrency":    4,
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

// flowBackfillLong measures the lateness of 100 fires a second without and with a backfill of 10,000 dates, in turn: in
// the rounds without it, it is paused, and in the first one does not exist.
func flowBackfillLong(ctx context.Context, b *bench) error {
	const row, dates = "flow-backfill-long", common.MaxBackfill
	s, err := b.newStandalone(ctx, filepath.Join(b.dir, row))
	if err != nil {
		return err
	}
	defer s.Kill()
	past := &common.Job{Name: "past", CronExpr: "0 * * * *", Timezone: "UTC", Args: short(),
		Overlap: common.OverlapAllow}
	if err := s.save(ctx, past); err != nil {
		return err
	}
	rounds, length := 5, b.length(4*time.Second) // the dates must last
	if b.quick {
		rounds = 1
	}
	if _, err := b.besides(ctx, s, row+", warm", length/2, nil); err != nil {
		return err
	}
	var alone, beside []time.Duration
	var ratios []string
	late, planned, running := 0, 0, time.Duration(0)
	at := "/api/v1/jobs/" + past.Name + "/backfills" // how it is begun, and then resumed
	to := time.Now().UTC().Truncate(time.Hour)
	body := map[string]any{"from": to.Add(-dates * time.Hour), "to": to, "includeUnknown": true,
		"concurrency": 4}
	var made struct{ ID string }
	for round := range rounds {
		without, err := b.besides(ctx, s, fmt.Sprintf("%s, alone %d", row, round), length, nil)
		if err != nil {
			return err
		}
		began := time.Now()
		if round == 0 {
			err = s.Want(ctx, http.StatusAccepted, http.MethodPost, at, body, &made)
			at = "/api/v1/backfills/" + made.ID
		} else {
			err = s.Want(ctx, http.StatusOK, http.MethodPost, at+"/resume", nil, nil)
		}
		if err != nil {
			return err
		}
		with, err := b.besides(ctx, s, fmt.Sprintf("%s, beside %d", row, round), length, nil)
		if err != nil {
			return err
		}
		if err := s.Want(ctx, http.StatusOK, http.MethodPost, at+"/pause", nil, nil); err != nil {
			return fmt.Errorf("pause the backfill in round %d, which may have ended: %w", round, err)
		}
		running += time.Since(began)
		alone, beside = append(alone, without.Late.P99), append(beside, with.Late.P99)
		ratios = append(ratios, fmt.Sprintf("%.2f", float64(with.Late.P99)/float64(without.Late.P99)))
		late, planned = late+with.Missed, planned+with.Planned
	}
	p99 := func(all []time.Duration) time.Duration { return check.SpreadOf(all).P50 }
	times := float64(p99(beside)) / float64(p99(alone))
	b.sheet.add(row, fmt.Sprintf("100 fires a second beside it: p99 lateness, median of %d rounds", rounds),
		fmt.Sprintf("%s; without it %s: × %.2f (by round × %s)", ms(p99(beside)), ms(p99(alone)), times,
			strings.Join(ratios, ", ")), "≤ × 1.2", reached(times <= 1.2))
	b.sheet.add(row, "of these fires: missed or skipped", fmt.Sprintf("%d of %d", late, planned), "0",
		reached(late == 0))
	began := time.Now()
	if err := s.Want(ctx, http.StatusOK, http.MethodPost, at+"/resume", nil, nil); err != nil {
		return err
	}
	var ran backfilled
	if err := s.endOf(ctx, made.ID, &ran); err != nil {
		return err
	}
	running += time.Since(began)
	b.sheet.add(row, "a backfill of 10,000 dates, concurrency 4", fmt.Sprintf(
		"%d of %d in %.0f s without pauses: %.0f/s", ran.succeeded, ran.total, running.Seconds(),
		float64(ran.total)/running.Seconds()), "all succeed",
		reached(ran.succeeded == dates))
	return nil
}

// besides lets 100 jobs fire each second of a period, and calls a function when it begins.
func (b *bench) besides(ctx context.Context, s *standalone, name string, length time.Duration,
	begin func(until time.Time)) (check.Started, error) {
	const each = 100
	from, to := window(each, length)
	prefix := strings.NewReplacer(", ", "-", " ", "-").Replace(name)
	jobs, names := many(prefix, each, job{Args: b.helper(s.ledger)}.during(from, to))
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
	b.sheet.took(name, seen, time.Since(began), s.Process)
	if _, err := settled(ctx, s.api, plan, 10*time.Second); err != nil {
		return check.Started{}, err
	}
	lines, err := check.ReadLines(s.ledger)
	return plan.Compare(lines, nil), err
}
