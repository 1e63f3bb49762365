package mongolog

import (
	"context"
	"fmt"

	"carillon/internal/common"
)

// tries bounds how often a roll-up is counted before it is left to the competing process.
const tries = 5

// versions computes new contents of roll-ups, by job, from the highest existing versions.
type versions func(ctx context.Context, current map[string]rollupDoc) (map[string]rollupDoc, error)

// publish inserts the next version of roll-ups of one kind and time, for the jobs whose contents changed, and
// returns those jobs. compute reads its data after the versions that it receives, so that a version computed
// from less data never follows one computed from more.
func (s *Store) publish(ctx context.Context, kind string, at int64, jobs []string, compute versions) (changed []string,
	err error) {
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
		// A version that was inserted late, below one that others inserted meanwhile and after they deleted
		// the one in its place, does not count.
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
	return changed, common.Errorf(common.CodeConflict, "another process counted the same roll-ups at each try")
}

// current returns the highest versions of roll-ups; lower ones are recorded for deletion.
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

// total computes roll-ups of all jobs, or of days, from smaller ones: the cells of a kind within [from, to),
// by job if jobs are given, otherwise all together.
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
			if err := merge(by[job], d.Workers); err != nil {
				return nil, fmt.Errorf("read roll-up %q: %w", d.ID, err)
			}
		}
		next := make(map[string]rollupDoc, len(by))
		for job, c := range by {
			next[job] = rollupDoc{Sum: sum(c), Workers: encode(c)}
		}
		return next, nil
	}
}
