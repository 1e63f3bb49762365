package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"carillon/bench/check"
	"carillon/internal/common"
	"carillon/test/harness"
)

// daemonEnd measures the time from the end of a replica's run to the start of its next one: after it has ended by
// itself, in a drain by an operator, and after SIGTERM of its worker.
func daemonEnd(ctx context.Context, b *bench) error {
	const jobs, workers = 10, 3
	d, err := b.newDaemons(ctx, workers)
	if err != nil {
		return err
	}
	defer d.close()
	if _, err := d.start(ctx, jobs, workers, common.NeverRebalance); err != nil {
		return err
	}
	ids, err := d.ids()
	if err != nil {
		return err
	}
	if err := harness.Sleep(ctx, 3*time.Second); err != nil {
		return err
	}
	began := time.Now()
	path := "/api/v1/workers/" + ids[0]
	if err := d.Want(ctx, http.StatusOK, http.MethodPost, path+"/drain", struct{}{}, nil); err != nil {
		return err
	}
	if err := d.elsewhere(ctx, began, jobs); err != nil {
		return err
	}
	if err := d.pauses(ctx, "drained by an operator", began, jobs, 0); err != nil {
		return err
	}
	if err := d.Want(ctx, http.StatusOK, http.MethodPost, path+"/undrain", struct{}{}, nil); err != nil {
		return err
	}
	if err := harness.Sleep(ctx, 5*time.Second); err != nil {
		return err
	}
	placed, err := d.placed(ctx)
	if err != nil {
		return err
	}
	began = time.Now()
	if err := d.leave(ctx, 1); err != nil {
		return err
	}
	if err := d.elsewhere(ctx, began, on(placed, ids[1])); err != nil {
		return err
	}
	if err := d.pauses(ctx, "SIGTERM of the worker", began, on(placed, ids[1]), 0); err != nil {
		return err
	}
	return d.exits(ctx)
}

// exits measures replicas that end by themselves after three seconds.
func (d *daemons) exits(ctx context.Context) error {
	const count, backoff, rounds = 20, time.Second, 3
	began := time.Now()
	if err := d.save(ctx, &common.Job{
		Name:      "exits",
		Args:      d.hold(3 * time.Second),
		LostAfter: "20s",
		KillGrace: "5s",
		Daemon:    &common.Daemon{Count: count, Backoff: "1s", HealthyAfter: "2s"},
	}); err != nil {
		return err
	}
	if err := d.elsewhere(ctx, began, (1+rounds)*count); err != nil {
		return err
	}
	return d.pauses(ctx, "exit, with a backoff of 1 s", began, rounds*count, backoff)
}

// pauses adds a figure: the times from the ends of runs since a time to the next starts of their replicas, which may
// take three seconds more than the backoff.
func (d *daemons) pauses(ctx context.Context, what string, since time.Time, want int, backoff time.Duration) error {
	const goal = 3 * time.Second
	ended, err := d.ends(ctx, since.Add(-time.Hour))
	if err != nil {
		return err
	}
	lines, err := check.ReadLines(d.ledger)
	if err != nil {
		return err
	}
	overlaps := 0
	of := map[string][]check.Line{} // by replica
	for _, l := range lines {
		if l.Job == "overlap" {
			overlaps++
			continue
		}
		fire := l.Run[:strings.LastIndexByte(l.Run, '.')]
		replica := fire[:strings.LastIndexByte(fire, '.')]
		of[replica] = append(of[replica], l)
	}
	var all []time.Duration
	for _, starts := range of {
		slices.SortFunc(starts, func(a, b check.Line) int { return a.Start.Compare(b.Start) })
		for i := range starts[1:] {
			if end, ok := ended[starts[i].Run]; ok && starts[i+1].Start.After(since) {
				all = append(all, starts[i+1].Start.Sub(end.EndedAt))
			}
		}
	}
	v := check.SpreadOf(all)
	limit := "≤ 3 s"
	if backoff > 0 {
		limit += " and the backoff"
	}
	d.b.sheet.add("daemon-end", "end of a run to the next start of its replica: "+what,
		fmt.Sprintf("p50 %s, max %s (%d of %d; two at a time: %d)", ms(v.P50), ms(v.Max), len(all), want, overlaps),
		limit, reached(len(all) >= want && v.Max <= goal+backoff && overlaps == 0))
	return nil
}
