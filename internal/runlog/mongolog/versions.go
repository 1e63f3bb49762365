package mongolog

import (
	"context"
	"fmt"

	"carillon/internal/common"
)

// tries is how often a roll-up is counted before it is left to whoever else counts it.
const tries = 5

// versions are new contents of roll-ups, by job, made of the highest versions that are there.
type versions func(ctx context.Context, current map[string]rollupDoc) (map[string]rollupDoc, error)

// publish makes the next version of roll-ups of one kind and time, of those jobs where there
// is something new to say, and gives those jobs. What compute reads it reads after the
// versions that it is given, so that a version that was made of less never comes after one
// that was made of more.
func (s *Store) publish(ctx context.Context, kind string, at int64, jobs []string, compute versions) (changed []string, err error) {
	for range tries {
		current, err := s.current(ctx, kind, at, jobs)
		if err != nil {
			return changed, err
		}
		next, err := compute(ctx, current)
		if err != nil {
			return changed, err
		}
		var docs []any
		var written []rollupDoc
		for _, job := range jobs {
			d, counted := next[job]
			was, known := current[job]
			if !counted || known && d.says(&was) {
				continue
			}
			d.Kind, d.Job, d.At, d.Version = kind, job, at, was.Version+1
			d.ID = rollupID(&d)
			docs, written = append(docs, d), append(written, d)
		}
		if len(docs) == 0 {
			return changed, nil
		}
		taken, err := insertNew(ctx, s.rollups, docs)
		if err != nil {
			return changed, err
		}
		// One that was inserted late, below a version that others made meanwhile and with
		// which they took away the one in its place, counts for nothing.
		now, err := s.current(ctx, kind, at, jobs)
		if err != nil {
			return changed, err
		}
		jobs = nil
		for i, d := range written {
			if highest := now[d.Job]; taken[i] || highest.Version != d.Version {
				jobs = append(jobs, d.Job)
			} else {
				changed = append(changed, d.Job)
			}
		}
		if len(jobs) == 0 {
			return changed, nil
		}
	}
	return changed, common.Errorf(common.CodeConflict, "roll-ups were counted by another process at the same time, again and again")
}

// current are the highest versions of roll-ups; those below them are to be deleted some time.
func (s *Store) current(ctx context.Context, kind string, at int64, jobs []string) (map[string]rollupDoc, error) {
	docs, err := s.findRollups(ctx, kind, jobs, at, at+1)
	if err != nil {
		return nil, err
	}
	highest, old := newest(docs)
	for _, id := range old {
		s.upkeep.old[id] = true
	}
	current := make(map[string]rollupDoc, len(highest))
	for place, d := range highest {
		current[place.job] = d
	}
	return current, nil
}

// total makes roll-ups of all jobs, or of days, out of smaller ones: the cells of those of
// kind within [from, to), by job where jobs are asked for, else all together.
func (s *Store) total(kind string, jobs []string, from, to int64) versions {
	return func(ctx context.Context, _ map[string]rollupDoc) (map[string]rollupDoc, error) {
		docs, err := s.findRollups(ctx, kind, jobs, from, to, "sum", "base", "gone")
		if err != nil {
			return nil, err
		}
		highest, _ := newest(docs)
		by := map[string]cells{}
		for place, d := range highest {
			job := ""
			if jobs != nil {
				job = place.job
			}
			if by[job] == nil {
				by[job] = cells{}
			}
			if err := by[job].merge(d.Workers); err != nil {
				return nil, fmt.Errorf("read roll-up %q: %w", d.ID, err)
			}
		}
		next := make(map[string]rollupDoc, len(by))
		for job, c := range by {
			next[job] = rollupDoc{Sum: c.sum(), Workers: c.encode()}
		}
		return next, nil
	}
}
