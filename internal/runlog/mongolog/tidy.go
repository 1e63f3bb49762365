package mongolog

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
	"carillon/internal/runlog/rollup"
)

// Bounds of the work of one Tidy.
const (
	marksAtOnce  = 5000   // marks of one round
	hoursAtOnce  = 2000   // hours of jobs, about
	jobsAtOnce   = 100    // jobs whose hour is counted at once
	runsPerCall  = 20_000 // runs read before it reports more
	chunksAtOnce = 2000   // chunks read
)

// upkeep is the state that one process keeps of its upkeep. Its loss does no harm: unfinished work is done
// again.
type upkeep struct {
	sync.Mutex
	old     map[string]bool // versions of roll-ups that are no longer the highest
	indexed bool
	round   *round
	walk    walk
	rests   map[jobHour]rest
	output  string // id of the last chunk read by the search for strays
	usage   string // and of the last samples
}

// round is a set of hours to be counted and then summed up.
type round struct {
	marks  []string                  // that requested it
	later  []jobHour                 // hours that they requested, left for later
	todo   map[int64]map[string]bool // jobs by hour
	done   map[int64]map[string]bool
	repair bool // not requested by a mark
	more   bool // another round is likely
}

func newRound() *round {
	return &round{todo: map[int64]map[string]bool{}, done: map[int64]map[string]bool{}}
}

func (r *round) add(hour int64, job string) {
	if r.todo[hour] == nil {
		r.todo[hour] = map[string]bool{}
	}
	r.todo[hour][job] = true
}

// Tidy counts the hours that marks request, searches for hours with wrong counts (writes of an older version
// have no mark), deletes expired data and output without a run, and finishes interrupted deletions. MongoDB
// reuses free space by itself. Roll-ups of hours are kept for all of the day of t.Hours, so that its sum can
// still be computed.
// all of the day in which t.Hours lies, so that its sum can still be made.
func (s *Store) Tidy(ctx context.Context, t runlog.Tidy) (done runlog.Tidied, err error) {
	if err := s.ready(ctx); err != nil {
		return done, err
	}
	s.upkeep.Lock()
	defer s.upkeep.Unlock()
	if err := s.tidy(ctx, &t, &done); err != nil {
		return done, s.failed(ctx, "tidy the run log", err)
	}
	return done, nil
}

func (s *Store) tidy(ctx context.Context, t *runlog.Tidy, done *runlog.Tidied) error {
	if !s.upkeep.indexed {
		if err := additions(ctx, s.schema.db); err != nil {
			return err
		}
		s.upkeep.indexed = true
	}
	old := slices.Collect(maps.Keys(s.upkeep.old))
	if _, err := deleteIDs(ctx, s.rollups, old); err != nil {
		return err
	}
	s.upkeep.old = map[string]bool{}
	begun, err := find[goneDoc](ctx, s.gone, bson.D{}, options.Find().SetLimit(10))
	if err != nil {
		return err
	}
	for i := range begun {
		if err := s.finish(ctx, &begun[i], &runlog.Expired{}); err != nil {
			return err
		}
	}
	if err := s.advance(ctx, t, done); err != nil {
		return err
	}
	if err := s.forget(ctx, t, done); err != nil {
		return err
	}
	if err := s.strays(ctx, t, done); err != nil {
		return err
	}
	return s.strayUsage(ctx, t, done)
}

// advance continues the round or begins one for marks and, when those are done, one for errors found.
func (s *Store) advance(ctx context.Context, t *runlog.Tidy, done *runlog.Tidied) error {
	for _, begin := range []func(context.Context, *runlog.Tidy) (*round, error){s.marked, s.search} {
		if s.upkeep.round == nil {
			r, err := begin(ctx, t)
			if err != nil {
				return err
			}
			s.upkeep.round = r
		}
		if r := s.upkeep.round; r != nil {
			if err := s.work(ctx, t, r, done); err != nil {
				return err
			}
			if done.More = r.more || len(r.todo) > 0; len(r.todo) > 0 {
				return nil
			}
			if err := s.sumUp(ctx, t, r, done); err != nil {
				return err
			}
			if err := s.unmark(ctx, r); err != nil {
				return err
			}
			s.upkeep.round = nil
		}
		if done.More {
			return nil
		}
	}
	return nil
}

// unmark deletes the marks of a finished round. Its remaining hours become one new mark, so that there are
// few, however many are written meanwhile.
func (s *Store) unmark(ctx context.Context, r *round) error {
	if len(r.later) > 0 {
		mark := markDoc{ID: common.TimeKey(time.Now()) + "-" + common.NewID(), Hours: r.later}
		if _, err := insertNew(ctx, s.marks, []any{mark}); err != nil {
			return err
		}
	}
	_, err := deleteIDs(ctx, s.marks, r.marks)
	return err
}

// A job's hour with many runs is counted less often than others, since all of it is read for each new run:
// after a minute for each so many runs, or after longest.
const (
	restPerRuns = 1000
	longestRest = 10 * time.Minute
)

// rest is the period in which a job's hour is not counted again.
type rest struct{ from, until time.Time }

// counted starts the rest of a job's hour, if it has so many runs.
func (u *upkeep) counted(now time.Time, hour jobHour, runs int64) {
	if minutes := runs / restPerRuns; minutes > 0 {
		u.rests[hour] = rest{from: now, until: now.Add(min(longestRest, time.Duration(minutes)*time.Minute))}
	}
}

// resting reports whether a job's hour is not to be counted yet. A clock that was set back ends all rests.
func (u *upkeep) resting(now time.Time, hour jobHour) bool {
	rest, rests := u.rests[hour]
	return rests && !now.Before(rest.from) && now.Before(rest.until)
}

// marked returns a round for the marks; nil if there are none, or only one whose hours all rest: it stays.
func (s *Store) marked(ctx context.Context, t *runlog.Tidy) (*round, error) {
	maps.DeleteFunc(s.upkeep.rests, func(hour jobHour, _ rest) bool { return !s.upkeep.resting(t.Now, hour) })
	cursor, err := s.marks.Find(ctx, bson.D{},
		options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(marksAtOnce))
	if err != nil {
		return nil, err
	}
	defer func() { _ = cursor.Close(context.WithoutCancel(ctx)) }() // the server closes it by itself as well
	r := newRound()
	hours := 0
	later := map[jobHour]bool{}
	for cursor.Next(ctx) && hours < hoursAtOnce {
		var mark markDoc
		if err := cursor.Decode(&mark); err != nil {
			return nil, err
		}
		r.marks = append(r.marks, mark.ID)
		for _, h := range mark.Hours {
			switch {
			case s.upkeep.resting(t.Now, h):
				later[h] = true
			case !r.todo[h.At][h.Job]:
				hours++
				r.add(h.At, h.Job)
			}
		}
	}
	if err := cursor.Err(); err != nil || len(r.marks) == 0 || len(r.marks) == 1 && len(r.todo) == 0 {
		return nil, err
	}
	r.later = slices.Collect(maps.Keys(later))
	r.more = hours >= hoursAtOnce || len(r.marks) == marksAtOnce
	return r, nil
}

// work counts hours of the round, until all are done or it has read many runs.
func (s *Store) work(ctx context.Context, t *runlog.Tidy, r *round, done *runlog.Tidied) error {
	seen := looked{runs: map[string]int64{}}
	for _, hour := range slices.Sorted(maps.Keys(r.todo)) {
		if time.Unix(hour, 0).Before(rollup.DayOf(t.Hours)) {
			delete(r.todo, hour) // its roll-ups were deleted, and their counts are in those of its day
			continue
		}
		for jobs := range slices.Chunk(slices.Sorted(maps.Keys(r.todo[hour])), jobsAtOnce) {
			if seen.all >= runsPerCall {
				return nil
			}
			changed, err := s.publish(ctx, hourOfJob, hour, jobs, s.count(hour, jobs, nil, &seen))
			done.Counted += len(changed)
			if r.repair {
				done.Repaired += len(changed)
			}
			if err != nil {
				return err
			}
			if r.done[hour] == nil {
				r.done[hour] = map[string]bool{}
			}
			for _, job := range jobs {
				r.done[hour][job] = true
				s.upkeep.counted(t.Now, jobHour{Job: job, At: hour}, seen.runs[job])
				delete(r.todo[hour], job)
			}
		}
		delete(r.todo, hour)
	}
	return nil
}

// sumUp computes the roll-ups of all jobs and of days again, even if the hours did not change: the process
// that counted them may have ended before this step.
func (s *Store) sumUp(ctx context.Context, t *runlog.Tidy, r *round, done *runlog.Tidied) error {
	days := map[int64]map[string]bool{}
	publish := func(kind string, at int64, jobs []string, total versions) error {
		changed, err := s.publish(ctx, kind, at, jobs, total)
		done.Counted += len(changed)
		return err
	}
	all := []string{""}
	for _, hour := range slices.Sorted(maps.Keys(r.done)) {
		if err := publish(hourOfAll, hour, all, s.total(hourOfJob, nil, hour, hour+hourLong)); err != nil {
			return err
		}
		if day := roundDown(hour, dayLong); !time.Unix(day, 0).Before(t.Days) {
			if days[day] == nil {
				days[day] = map[string]bool{}
			}
			maps.Copy(days[day], r.done[hour])
		}
	}
	for _, day := range slices.Sorted(maps.Keys(days)) {
		for jobs := range slices.Chunk(slices.Sorted(maps.Keys(days[day])), jobsAtOnce) {
			if err := publish(dayOfJob, day, jobs, s.total(hourOfJob, jobs, day, day+dayLong)); err != nil {
				return err
			}
		}
		if err := publish(dayOfAll, day, all, s.total(hourOfAll, nil, day, day+dayLong)); err != nil {
			return err
		}
	}
	return nil
}

// forget deletes expired roll-ups and changes, some of each.
func (s *Store) forget(ctx context.Context, t *runlog.Tidy, done *runlog.Tidied) error {
	before := func(limit time.Time, kinds ...string) bson.D {
		return bson.D{{
			Key:   "kind",
			Value: bson.D{{Key: "$in", Value: kinds}},
		}, {Key: "at", Value: bson.D{{Key: "$lt", Value: seconds(limit)}}}}
	}
	loose := bson.E{Key: "seq", Value: nil} // without a position in the chain
	for _, f := range []struct {
		some   bool
		in     *mongo.Collection
		filter bson.D
	}{
		{!t.Hours.IsZero(), s.rollups, before(rollup.DayOf(t.Hours), hourOfJob, hourOfAll)},
		{!t.Days.IsZero(), s.rollups, before(t.Days, dayOfJob, dayOfAll)},
		{!t.Changes.IsZero(), s.changes, bson.D{{
			Key:   "at",
			Value: bson.D{{Key: "$lt", Value: entry.Nanos(t.Changes)}},
		}, loose}},
		// Changes of an older version have their time in their ids only.
		{!t.Changes.IsZero(), s.changes, bson.D{{Key: "at", Value: nil}, {
			Key:   "_id",
			Value: bson.D{{Key: "$lt", Value: common.TimeKey(t.Changes)}},
		}, loose}},
		{t.Sealed > 0, s.changes, bson.D{{Key: "seq", Value: bson.D{{Key: "$lte", Value: t.Sealed}}}}},
	} {
		if !f.some {
			continue
		}
		n, more, err := deleteFound(ctx, f.in, f.filter)
		if err != nil {
			return err
		}
		done.Expired += n
		done.More = done.More || more
	}
	return nil
}
