package health

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
)

// Conditions collects the active conditions of all sources. It logs the start and end of each once, and records
// its start time. It is safe for concurrent use.
type Conditions struct {
	who     string // name of this worker or master
	log     *slog.Logger
	now     func() time.Time
	gauge   func(code string, lasts bool)
	sources []func() []common.Condition // called often; they only read memory

	mu      sync.Mutex
	lasting map[conditionKey]common.Condition // guarded by mu
}

// conditionKey identifies a condition: one code may be active for several workers and loops.
type conditionKey struct{ code, who, worker, loop string }

// NewConditions returns the conditions of sources; gauge is called with each code that begins or ends.
func NewConditions(who string, log *slog.Logger, now func() time.Time, gauge func(code string, lasts bool),
	sources ...func() []common.Condition) *Conditions {
	return &Conditions{
		who:     who,
		log:     log,
		now:     now,
		gauge:   gauge,
		sources: sources,
		lasting: map[conditionKey]common.Condition{},
	}
}

// Active returns the active conditions: those that stop claims first, then oldest first.
func (c *Conditions) Active() []common.Condition {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []common.Condition
	for _, source := range c.sources {
		found = append(found, source()...)
	}
	active := make(map[conditionKey]common.Condition, len(found))
	for _, f := range found {
		f.Who = cmp.Or(f.Who, c.who)
		key := conditionKey{f.Code, f.Who, f.Data["worker"], f.Data["loop"]}
		before, known := c.lasting[key]
		switch {
		case known:
			f.From = before.From
		case f.From.IsZero():
			f.From = c.now().UTC()
		}
		active[key] = f
		if !known {
			c.log.Warn("condition_began", "code", f.Code, "text", f.Text, "since", f.From, "stops_claims",
				f.StopsClaims)
		}
	}
	for key, before := range c.lasting {
		if _, lasts := active[key]; !lasts {
			c.log.Info("condition_ended", "code", key.code, "text", before.Text, "since", before.From)
		}
	}
	c.setGauges(active)
	c.lasting = active
	list := make([]common.Condition, 0, len(active))
	for _, f := range active {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b common.Condition) int {
		if a.StopsClaims != b.StopsClaims {
			if a.StopsClaims {
				return -1
			}
			return 1
		}
		return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Code,
			b.Code), cmp.Compare(a.Data["worker"], b.Data["worker"]),
			cmp.Compare(a.Data["loop"], b.Data["loop"]))
	})
	return list
}

// setGauges sets the gauges of codes that began or ended.
func (c *Conditions) setGauges(active map[conditionKey]common.Condition) {
	change := map[string]bool{}
	for key := range c.lasting {
		change[key.code] = false
	}
	for key := range active {
		change[key.code] = true
	}
	for code, lasts := range change {
		c.gauge(code, lasts)
	}
}

// Trouble returns why this worker claims nothing; empty if it claims.
func (c *Conditions) Trouble() string {
	if all := c.Active(); len(all) > 0 && all[0].StopsClaims {
		return all[0].Text
	}
	return ""
}

// Watch evaluates the conditions every second, so that changes are logged even without requests.
func (c *Conditions) Watch(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		c.Active()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Unless suppresses conditions that follow from one that is active already, and for some time after its end: what
// follows from it may end a little later.
func Unless(raised func() bool, source func() []common.Condition) func() []common.Condition {
	var mu sync.Mutex
	var quiet time.Time // until when
	return func() []common.Condition {
		is := raised()
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if is {
			quiet = now.Add(DefaultLimit)
		}
		if now.Before(quiet) {
			return nil
		}
		return source()
	}
}
