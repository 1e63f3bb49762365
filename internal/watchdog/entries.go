package watchdog

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

const (
	// Limits of the passed spans that wait for a check, and of those checked per round. Spans beyond the limit
	// are not checked.
	mostStretches  = 40
	stretchesALook = 4
	// A span is checked this long after it was passed, and again after the same time if an entry is missing.
	lookAfter  = time.Minute
	looksAtAll = 3
	// Runs are kept for at least an hour: entries younger than this must exist.
	youngest = 30 * time.Minute
	// mostFires limits the checked fires of a span, and the pages of entries that are read.
	mostFires = 100
	mostPages = 20
	// tellFor is how long a fire without an entry is reported.
	tellFor = 24 * time.Hour
)

// stretch is the span of fires after from, up to and including to, that a cursor has passed.
type stretch struct {
	job      planned
	from, to time.Time
	next     time.Time // time of the next check
	looks    int       // checks that found a missing entry
}

// entries are the spans that wait for a check, ordered by its time.
type entries struct {
	waiting []stretch
	suspect []stretch // checked spans with missing entries
}

// passed records that a cursor has moved.
func (e *entries) passed(job planned, from, to, now time.Time) {
	if !to.After(from) || job.state.Paused || len(e.waiting) >= mostStretches {
		return
	}
	if r := job.state.Retention; r != nil && r.Runs > 0 {
		return // the entries may be deleted already
	}
	e.waiting = append(e.waiting, stretch{job: job, from: from, to: to, next: now.Add(lookAfter)})
}

// due removes and returns a few spans whose check is due, those with missing entries first.
func (e *entries) due(now time.Time) (due []stretch) {
	for _, queue := range []*[]stretch{&e.suspect, &e.waiting} {
		for len(*queue) > 0 && len(due) < stretchesALook && !now.Before((*queue)[0].next) {
			due, *queue = append(due, (*queue)[0]), (*queue)[1:]
		}
	}
	return due
}

// fires returns the fires of a span that must have entries. Fires that are too old are left out; if there are
// too many, the span ends early.
func (s *stretch) fires(now time.Time) (all []time.Time) {
	at, ok, err := s.job.timetable.Upcoming(s.from, common.Later(s.from, now.Add(-youngest)))
	for err == nil && ok && !at.After(s.to) && len(all) < mostFires {
		all = append(all, at)
		at, ok, err = s.job.timetable.Next(at)
	}
	return all
}

// without returns the fires without an entry.
func without(uid string, fires []time.Time, found []common.Fire) (missing []time.Time) {
	known := make(map[string]bool, len(found))
	for i := range found {
		known[found[i].ID] = true
	}
	for _, at := range fires {
		covered := known[common.PlannedFire(uid, at)]
		for i := 0; !covered && i < len(found); i++ {
			f := &found[i]
			covered = f.JobUID == uid && f.Gap != nil && at.After(f.Gap.From) && !at.After(f.Gap.To)
		}
		if !covered {
			missing = append(missing, at)
		}
	}
	return missing
}

// checkEntries checks a few spans that are due.
func (a *Watchdog) checkEntries(ctx context.Context, now time.Time) error {
	if !a.cfg.Alike() {
		a.entries = entries{}
		return nil
	}
	if a.cfg.Away() {
		return nil // waiting spans keep waiting
	}
	for _, s := range a.entries.due(now) {
		fires := s.fires(now)
		if len(fires) == 0 || a.changed(&s) {
			continue
		}
		found, whole, err := a.list(ctx, &s, fires, now)
		if err != nil {
			return err
		}
		gone := without(s.job.state.UID, fires, found)
		if !whole || len(gone) == 0 || a.changed(&s) {
			continue
		}
		if s.looks++; s.looks < looksAtAll {
			s.next = now.Add(lookAfter)
			a.entries.suspect = append(a.entries.suspect, s)
			continue
		}
		a.miss(s.job.state, gone)
	}
	return nil
}

// changed reports whether the job has changed.
func (a *Watchdog) changed(s *stretch) bool {
	job, exists := a.cfg.Catalog.Job(s.job.state.Name)
	return !exists || job.UID != s.job.state.UID || job.Version != s.job.state.Version
}

// list reads the entries of a span; whole is false if not all could be read.
func (a *Watchdog) list(ctx context.Context, s *stretch, fires []time.Time, now time.Time) (found []common.Fire,
	whole bool, err error) {
	// An entry for several fires has the time of the last one, which the cursor has passed too.
	q := runlog.FireQuery{
		Job:     s.job.state.Name,
		From:    fires[0],
		To:      s.to.Add(1),
		Now:     now,
		Settled: true,
		Limit:   mostFires,
	}
	for range mostPages {
		page, err := a.cfg.Ledger.Fires(ctx, q)
		if err != nil || page.Partial {
			return nil, false, err
		}
		found = append(found, page.Fires...)
		if page.Next == nil {
			return found, true, nil
		}
		q.Before = &page.Next.Position
	}
	return nil, false, nil
}

// missing holds the fires found without an entry.
type missing struct {
	last  common.Words // arguments of its text
	found []finding    // oldest first
}

// finding is a group of fires found without an entry at about the same time.
type finding struct {
	at    time.Time
	fires int
}

// together is the time within which findings are merged, so that there are few per day.
const together = 10 * time.Minute

// miss records fires of a job without an entry, at least one.
func (a *Watchdog) miss(job *common.JobState, fires []time.Time) {
	first, last, now := fires[0].UTC(), fires[len(fires)-1].UTC(), time.Now()
	a.cfg.Log.Error("fire_without_entry", "job", job.Name, "uid", job.UID, "planned_at", first, "fire",
		common.PlannedFire(job.UID,
			first),
		"fires", len(fires), "last_planned_at", last)
	a.cfg.Observer.NoEntry(len(fires))
	a.mu.Lock()
	defer a.mu.Unlock()
	m := &a.missing
	m.last = common.Words{"job": job.Name, "plannedAt": last.Format(time.RFC3339)}
	if n := len(m.found); n > 0 && now.Sub(m.found[n-1].at) < together {
		m.found[n-1].fires += len(fires)
		return
	}
	m.found = append(m.found, finding{now, len(fires)})
}

// conditions returns the conditions of the last day's findings.
func (m *missing) conditions(now time.Time) []common.Condition {
	for len(m.found) > 0 && now.Sub(m.found[0].at) > tellFor {
		m.found = m.found[1:]
	}
	if len(m.found) == 0 {
		return nil
	}
	count := 0
	for _, f := range m.found {
		count += f.fires
	}
	data := common.Words{"job": m.last["job"], "plannedAt": m.last["plannedAt"], "count": strconv.Itoa(count)}
	return []common.Condition{{Code: common.ConditionNoEntry, From: m.found[0].at.UTC(), Data: data,
		Text: fmt.Sprintf("fires without an entry in the ledger: %d; the last one that was found is %s of job %s",
			count, data["plannedAt"], data["job"])}}
}
