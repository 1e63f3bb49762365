package daemon

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
)

// conditions gathers what is not as it should be from those who know. It says once in
// the log when a condition begins and when it ends, and knows since when each lasts.
// It is safe for concurrent use.
type conditions struct {
	who     string // the name of this worker or master
	log     *slog.Logger
	gauge   func(code string, lasts bool)
	sources []func() []common.Condition // asked often; they look at memory only

	mu      sync.Mutex
	lasting map[conditionKey]common.Condition // guarded by mu
}

// conditionKey tells two conditions apart: of one code there may be one about each worker, and about each loop.
type conditionKey struct{ code, who, worker, loop string }

func newConditions(who string, log *slog.Logger, gauge func(code string, lasts bool), sources ...func() []common.Condition) *conditions {
	return &conditions{who: who, log: log, gauge: gauge, sources: sources, lasting: map[conditionKey]common.Condition{}}
}

// now gives what lasts just now: what keeps the worker from claiming first, then the oldest first.
func (c *conditions) now() []common.Condition {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []common.Condition
	for _, source := range c.sources {
		found = append(found, source()...)
	}
	now := make(map[conditionKey]common.Condition, len(found))
	for _, f := range found {
		f.Who = cmp.Or(f.Who, c.who)
		key := conditionKey{f.Code, f.Who, f.Data["worker"], f.Data["loop"]}
		before, known := c.lasting[key]
		switch {
		case known:
			f.From = before.From
		case f.From.IsZero():
			f.From = WallClock().UTC()
		}
		now[key] = f
		if !known {
			c.log.Warn("condition_began", "code", f.Code, "text", f.Text, "since", f.From, "stops_claims", f.StopsClaims)
		}
	}
	for key, before := range c.lasting {
		if _, lasts := now[key]; !lasts {
			c.log.Info("condition_ended", "code", key.code, "text", before.Text, "since", before.From)
		}
	}
	c.tell(now)
	c.lasting = now
	list := make([]common.Condition, 0, len(now))
	for _, f := range now {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b common.Condition) int {
		if a.StopsClaims != b.StopsClaims {
			if a.StopsClaims {
				return -1
			}
			return 1
		}
		return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Data["worker"], b.Data["worker"]),
			cmp.Compare(a.Data["loop"], b.Data["loop"]))
	})
	return list
}

// tell sets the gauges of codes that came or went.
func (c *conditions) tell(now map[conditionKey]common.Condition) {
	change := map[string]bool{}
	for key := range c.lasting {
		change[key.code] = false
	}
	for key := range now {
		change[key.code] = true
	}
	for code, lasts := range change {
		c.gauge(code, lasts)
	}
}

// trouble is why this worker claims nothing, if it does not.
func (c *conditions) trouble() string {
	if all := c.now(); len(all) > 0 && all[0].StopsClaims {
		return all[0].Text
	}
	return ""
}

// watch looks every second, so that what nobody asks about is told of as well.
func (c *conditions) watch(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		c.now()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Conditions tells that our clock is not the cluster's, or that nobody can tell whether it is.
func (c *cluster) Conditions() []common.Condition { return clockConditions(c.clock()) }
