package housekeeping

import (
	"context"
	"fmt"
	"time"

	"carillon/internal/runlog"
)

const (
	// leap is how far on the clock may have gone since it was believed last. One that is further on may
	// be wrong, and a clock that is alone has nobody who could say so: it is believed
	// when it has gone on from there for probation.
	leap      = 24 * time.Hour
	probation = time.Hour
	// steady is how much a clock may be set meanwhile, and noteEvery how much later it is noted again.
	steady    = time.Hour
	noteEvery = 10 * time.Minute
)

// Diary holds up to which time the clock was believed, for whoever is elected next.
type Diary interface {
	Read(ctx context.Context) (time.Time, error) // zero where nothing was noted
	Write(ctx context.Context, at time.Time) error
}

// trust is what is known of the clock. It is owned by Run.
type trust struct {
	read  bool      // noted is as of the diary
	noted time.Time // zero where nothing is noted

	since time.Time // since when the clock is in doubt, by the monotonic clock; zero: it is not
	from  time.Time // what it showed then
}

// believes tells whether nothing goes too early by this time. Where a clock has gone
// on for too far, as after a month without power, or with a wrong year, it takes an hour.
func (k *Keeper) believes(ctx context.Context, now time.Time) (bool, error) {
	t := &k.trust
	if !t.read {
		noted, err := k.cfg.Diary.Read(ctx)
		if err != nil {
			return false, err
		}
		t.noted, t.read = noted, true
	}
	doubtful := now.Sub(t.noted) > leap
	if t.noted.IsZero() && t.since.IsZero() { // then all there is to tell by is the history
		oldest, err := k.oldest(ctx)
		if err != nil {
			return false, err
		}
		doubtful = !oldest.IsZero() && now.Sub(oldest) > leap
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
	if err := k.cfg.Diary.Write(ctx, now); err != nil {
		return false, err
	}
	t.noted = now
	return true, nil
}

// oldest is the time of the oldest run; zero where there is none.
func (k *Keeper) oldest(ctx context.Context) (at time.Time, err error) {
	_, err = k.each(ctx, func(kept *runlog.Kept) error {
		if at.IsZero() || kept.Oldest.Before(at) {
			at = kept.Oldest
		}
		return nil
	})
	return at, err
}

// doubt remembers what to tell of the clock.
func (k *Keeper) doubt(noted, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.doubted = ""; now.IsZero() {
		return
	}
	k.doubted = fmt.Sprintf("the clock shows %s, ", now.UTC().Format(time.RFC3339))
	if noted.IsZero() {
		k.doubted += "the history is older than a day, and nobody has told the time before"
	} else {
		k.doubted += fmt.Sprintf("and showed %s when it was last believed", noted.UTC().Format(time.RFC3339))
	}
	k.doubted += fmt.Sprintf("; where it goes on from there it is believed after %v", probation)
}
