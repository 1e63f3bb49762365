package housekeeping

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

const (
	// leap is how far the clock may have advanced since it was last trusted. A clock further ahead may be
	// wrong, and without another clock to compare, it is trusted again once it has advanced steadily for
	// probation.
	leap      = 24 * time.Hour
	probation = time.Hour
	// steady is how much a clock may be adjusted in that time, and noteEvery the interval at which the trusted
	// time is stored.
	steady    = time.Hour
	noteEvery = 10 * time.Minute
	// pageOfRuns and mostSearched bound the search for a run that ended long ago: a page, and all runs that are read.
	pageOfRuns   = 500
	mostSearched = 50_000
)

// TrustedTime stores the time up to which the clock was trusted, for the next elected master.
type TrustedTime interface {
	Read(ctx context.Context) (Trusted, error) // zero if nothing is stored
	Write(ctx context.Context, t Trusted) error
}

// Trusted is the time up to which the clock was trusted.
type Trusted struct {
	Until time.Time `json:"until"`
}

// trust is the state of the trust in the clock. It is owned by Run.
type trust struct {
	read  bool      // noted has been read
	noted time.Time // zero if nothing is stored

	since time.Time // start of the suspicion, by the monotonic clock; zero: the clock is trusted
	from  time.Time // wall clock at that time
}

// trusts reports whether the clock is trusted for deletions. A clock that has advanced too far, as after a
// month without power or with a wrong year, is trusted after an hour.
func (k *Keeper) trusts(ctx context.Context, now time.Time) (bool, error) {
	t := &k.trust
	if !t.read {
		noted, err := k.cfg.TrustedTime.Read(ctx)
		if err != nil {
			return false, err
		}
		t.noted, t.read = noted.Until, true
	}
	doubtful := now.Sub(t.noted) > leap
	if t.noted.IsZero() && t.since.IsZero() { // then only the history can be compared
		var err error
		if doubtful, err = k.endedBefore(ctx, now.Add(-leap)); err != nil {
			return false, err
		}
	}
	if doubtful {
		passed := time.Since(t.since)
		if t.since.IsZero() || now.Sub(t.from.Add(passed)).Abs() > steady {
			t.since, t.from = time.Now(), now
			k.cfg.Log.Warn("clock_suspect", "now", now.UTC(), "trusted_until", t.noted.UTC(), "for", probation)
		}
		if time.Since(t.since) < probation {
			k.doubt(t.noted, now)
			return false, nil
		}
		k.cfg.Log.Warn("clock_ok", "now", now.UTC())
	}
	t.since = time.Time{}
	k.doubt(t.noted, time.Time{}) // no doubt
	if now.Sub(t.noted).Abs() < noteEvery {
		return true, nil
	}
	if err := k.cfg.TrustedTime.Write(ctx, Trusted{Until: now.UTC()}); err != nil {
		return false, err
	}
	t.noted = now
	return true, nil
}

// errFound ends a search.
var errFound = errors.New("found")

// endedBefore reports whether a run ended before a time. Planned times do not count: a backfill has runs of past dates
// on the first day.
func (k *Keeper) endedBefore(ctx context.Context, at time.Time) (bool, error) {
	read := 0
	_, err := k.each(ctx, func(kept *runlog.Kept) error {
		if !kept.Oldest.Before(at) { // its runs have ended later still
			return nil
		}
		return k.search(ctx, kept.Job, at, &read)
	})
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

// search returns errFound if a run of a job ended before a time, or if too many runs would have to be read.
func (k *Keeper) search(ctx context.Context, job string, at time.Time, read *int) error {
	q := runlog.Query{Job: job, To: at, Oldest: true, Limit: pageOfRuns}
	for {
		var found runlog.Found
		err := k.pace.piece(ctx, func(ctx context.Context) (err error) {
			found, err = k.cfg.Store.Runs(ctx, q)
			return err
		})
		if err != nil {
			return fmt.Errorf("list runs of job %q: %w", job, err)
		}
		for i := range found.Runs {
			if endOf(&found.Runs[i]).Before(at) {
				return errFound
			}
		}
		if *read += len(found.Runs); *read > mostSearched {
			return errFound // it may have ended before
		}
		switch {
		case found.Until != nil:
			q.Before = found.Until
		case len(found.Runs) < pageOfRuns:
			return nil
		default:
			q.Before = new(runlog.PositionOf(&found.Runs[len(found.Runs)-1]))
		}
	}
}

// endOf returns when a run ended; for one without an end, when it could start.
func endOf(r *common.Run) time.Time {
	switch {
	case r.EndedAt != nil:
		return *r.EndedAt
	case r.ReadyAt != nil:
		return *r.ReadyAt
	}
	return r.PlannedAt
}

// doubt stores the text of the condition for a suspect clock.
func (k *Keeper) doubt(noted, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.doubted = ""; now.IsZero() {
		return
	}
	k.doubted = fmt.Sprintf("the clock shows %s, ", now.UTC().Format(time.RFC3339))
	if noted.IsZero() {
		k.doubted += "the history is older than a day, and no trusted time is stored"
	} else {
		k.doubted += fmt.Sprintf("and showed %s when it was last trusted", noted.UTC().Format(time.RFC3339))
	}
	k.doubted += fmt.Sprintf("; if it advances steadily it is trusted after %v", probation)
}
