package mongolog

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
	"carillon/internal/runlog/rollup"
)

// walkEvery is how often all past hours are checked again; less often if there are very many.
const walkEvery = 24 * time.Hour

// walk is the progress of the search for hours with wrong counts.
type walk struct {
	begun time.Time
	hour  time.Time // the last full hour, checked after its end
	at    time.Time // hours before it are not checked yet; zero: all are
}

// search checks the last full hour, once, and otherwise the next hour of its walk into the past, and returns
// a round for the errors found; nil if there are none.
func (s *Store) search(ctx context.Context, t *runlog.Tidy) (*round, error) {
	w := &s.upkeep.walk
	now := rollup.HourOf(t.Now)
	switch over := w.at.IsZero(); {
	case w.begun.IsZero() || t.Now.Before(w.begun):
		*w = walk{begun: t.Now, hour: now, at: now}
	case over && t.Now.Sub(w.begun) >= walkEvery:
		w.begun, w.at = t.Now, now
	}
	if w.hour.Before(now) {
		r, err := s.check(ctx, t, w.hour)
		if err == nil {
			w.hour = w.hour.Add(time.Hour)
		}
		return r, err
	}
	if w.at.IsZero() {
		return nil, nil
	}
	var newest runDoc
	err := s.runs.FindOne(ctx, bson.D{{Key: "planned", Value: bson.D{{Key: "$lt", Value: entry.Nanos(w.at)}}}},
		options.FindOne().SetSort(newestFirst()).SetProjection(bson.D{{Key: "planned", Value: 1}})).Decode(&newest)
	hour := rollup.HourOf(entry.Time(newest.Planned))
	switch none := errors.Is(err, mongo.ErrNoDocuments); {
	case none || err == nil && hour.Before(rollup.DayOf(t.Hours)):
		w.at = time.Time{}
		return nil, nil
	case err != nil:
		return nil, err
	}
	r, err := s.check(ctx, t, hour)
	if err == nil {
		w.at = hour
	}
	return r, err
}

// runsByJob counts the runs of an hour that a filter matches.
func (s *Store) runsByJob(ctx context.Context, hour time.Time, filter ...bson.E) (map[string]int64, error) {
	match := append(bson.D{{Key: "planned", Value: bson.D{{Key: "$gte", Value: entry.Nanos(hour)},
		{Key: "$lt", Value: entry.Nanos(hour.Add(time.Hour))}}}}, filter...)
	cursor, err := s.runs.Aggregate(ctx, mongo.Pipeline{
		{{Key: "$match", Value: match}},
		{{
			Key:   "$group",
			Value: bson.D{{Key: "_id", Value: "$job"}, {Key: "runs", Value: bson.D{{Key: "$sum", Value: 1}}}},
		}},
	})
	if err != nil {
		return nil, err
	}
	var found []struct {
		Job  string `bson:"_id"`
		Runs int64  `bson:"runs"`
	}
	if err := cursor.All(ctx, &found); err != nil {
		return nil, err
	}
	by := make(map[string]int64, len(found))
	for _, f := range found {
		by[f.Job] = f.Runs
	}
	return by, nil
}

// check compares the number of runs of each job in an hour with the number counted, and that of its retries,
// which an older version did not count. Runs do not change: if the numbers agree, so does everything else.
func (s *Store) check(ctx context.Context, t *runlog.Tidy, hour time.Time) (*round, error) {
	runs, err := s.runsByJob(ctx, hour)
	if err != nil {
		return nil, err
	}
	retries, err := s.runsByJob(ctx, hour,
		bson.E{Key: "cause", Value: bson.D{{Key: "$in", Value: causesOfRetries()}}})
	if err != nil {
		return nil, err
	}
	docs, err := s.findRollups(ctx, hourOfJob, nil, hour.Unix(), hour.Unix()+1, "workers", "base")
	if err != nil {
		return nil, err
	}
	counted, _ := newest(docs)
	r := newRound()
	for job, n := range runs {
		place := jobHour{Job: job, At: hour.Unix()}
		d := counted[rollupPlace{place.Job, place.At}]
		switch {
		case d.Runs >= n && d.retries() >= retries[job]:
		case s.upkeep.resting(t.Now, place):
			r.later = append(r.later, place)
		default:
			r.add(place.At, place.Job)
		}
	}
	if len(r.todo) == 0 && len(r.later) == 0 {
		return nil, nil
	}
	r.repair, r.more = true, len(r.todo) > 0 // one error suggests more
	return r, nil
}

// strays deletes output that has no run and is as old as the oldest hours: it was written after its run was
// deleted, or the run was never written. Each call reads a part of all output, in rotation.
func (s *Store) strays(ctx context.Context, t *runlog.Tidy, done *runlog.Tidied) error {
	if t.Hours.IsZero() {
		return nil
	}
	chunks, err := find[chunkDoc](ctx, s.chunks, bson.D{{
		Key:   "_id",
		Value: bson.D{{Key: "$gt", Value: s.upkeep.output}},
	}},
		options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(chunksAtOnce).
			SetProjection(bson.D{{Key: "run", Value: 1}, {Key: "at", Value: 1}}))
	if err != nil {
		return err
	}
	runs := map[string]bool{} // and whether they exist
	for _, c := range chunks {
		if c.At < entry.Nanos(t.Hours) {
			runs[c.Run] = false
		}
	}
	if err := s.findRuns(ctx, runs); err != nil {
		return err
	}
	var strays []string
	for _, c := range chunks {
		if there, old := runs[c.Run]; old && !there && c.At < entry.Nanos(t.Hours) {
			strays = append(strays, c.ID)
		}
	}
	n, err := deleteIDs(ctx, s.chunks, strays)
	done.Expired += n
	if err != nil {
		return err
	}
	s.upkeep.output = ""
	if len(chunks) == chunksAtOnce {
		s.upkeep.output = chunks[len(chunks)-1].ID
	}
	return nil
}

// findRuns sets which of the runs exist.
func (s *Store) findRuns(ctx context.Context, runs map[string]bool) error {
	for ids := range slices.Chunk(slices.Collect(maps.Keys(runs)), atOnce) {
		there, err := find[runDoc](ctx, s.runs, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}},
			options.Find().SetProjection(bson.D{{Key: "_id", Value: 1}}))
		if err != nil {
			return err
		}
		for _, r := range there {
			runs[r.ID] = true
		}
	}
	return nil
}

// strayUsage deletes samples without a run, as strays deletes output: they were written after their run was deleted,
// or an older version, which does not know them, deleted it.
func (s *Store) strayUsage(ctx context.Context, t *runlog.Tidy, done *runlog.Tidied) error {
	if t.Hours.IsZero() {
		return nil
	}
	docs, err := find[usageDoc](ctx, s.usage, bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: s.upkeep.usage}}}},
		options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(chunksAtOnce).
			SetProjection(bson.D{{Key: "data", Value: 0}}))
	if err != nil {
		return err
	}
	runs := map[string]bool{} // and whether they exist
	for _, d := range docs {
		if d.At < entry.Nanos(t.Hours) {
			runs[d.ID] = false
		}
	}
	if err := s.findRuns(ctx, runs); err != nil {
		return err
	}
	maps.DeleteFunc(runs, func(_ string, there bool) bool { return there })
	n, err := deleteIDs(ctx, s.usage, slices.Sorted(maps.Keys(runs)))
	done.Expired += n
	if err != nil {
		return err
	}
	s.upkeep.usage = ""
	if len(docs) == chunksAtOnce {
		s.upkeep.usage = docs[len(docs)-1].ID
	}
	return nil
}
