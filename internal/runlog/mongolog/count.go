package mongolog

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"carillon/internal/common"
	"carillon/internal/runlog/entry"
	"carillon/internal/runlog/rollup"
)

// markDoc names the hours of jobs to which a Write added runs: they must be counted again. It is written
// after the runs, so that its reader finds them; if the writer dies in between, the repeated write adds it.
// It is deleted when the hours were counted.
type markDoc struct {
	ID    string    `bson:"_id"` // unique, so that no mark is deleted in place of another; sorts by time
	Hours []jobHour `bson:"hours"`
}

// jobHour is an hour of a job.
type jobHour struct {
	Job string `bson:"job"`
	At  int64  `bson:"at"` // Unix seconds
}

func markOf(now time.Time, runs []common.Run) markDoc {
	mark := markDoc{ID: common.TimeKey(now) + "-" + common.NewID()}
	seen := map[jobHour]bool{}
	for i := range runs {
		hour := jobHour{Job: runs[i].Job, At: rollup.HourOf(runs[i].PlannedAt).Unix()}
		if !seen[hour] {
			seen[hour] = true
			mark.Hours = append(mark.Hours, hour)
		}
	}
	return mark
}

// count computes the roll-ups of an hour of some jobs from the existing runs and the bases of deleted ones;
// leaving, if not nil, are runs that are about to be deleted. It records in seen what it read.
func (s *Store) count(at int64, jobs []string, leaving *goneDoc, seen *looked) versions {
	return func(ctx context.Context, current map[string]rollupDoc) (map[string]rollupDoc, error) {
		// The documents of deletions are read before the runs: once such a document is gone, so are its runs.
		going, err := s.going(ctx, current)
		if err != nil {
			return nil, err
		}
		next := make(map[string]rollupDoc, len(jobs))
		base, rest := map[string]cells{}, map[string]cells{}
		for _, job := range jobs {
			was := current[job]
			d := rollupDoc{Gone: slices.DeleteFunc(slices.Clone(was.Gone), func(id string) bool {
				return !going.docs[id]
			})}
			if leaving != nil && !slices.Contains(d.Gone, leaving.ID) {
				d.Gone = append(d.Gone, leaving.ID)
			}
			next[job] = d
			base[job], rest[job] = cells{}, cells{}
			if err := merge(base[job], was.Base); err != nil {
				return nil, err
			}
		}
		add := func(id, job, worker string, cell *rollup.Cell) {
			if leaving != nil && leaving.has(id) {
				base[job].At(worker).Merge(cell)
				return
			}
			rest[job].At(worker).Merge(cell)
			d := next[job]
			d.Runs++
			next[job] = d
		}
		begin := time.Unix(at, 0)
		cursor, err := s.runs.Find(ctx, bson.D{
			{Key: "job", Value: bson.D{{Key: "$in", Value: jobs}}},
			{
				Key: "planned",
				Value: bson.D{{Key: "$gte", Value: entry.Nanos(begin)}, {
					Key:   "$lt",
					Value: entry.Nanos(begin.Add(time.Hour)),
				}},
			},
		}, options.Find().SetProjection(bson.D{{Key: "job", Value: 1}, {Key: "worker", Value: 1},
			{Key: "cause", Value: 1}, {Key: "cell", Value: 1}}))
		if err != nil {
			return nil, err
		}
		defer func() { _ = cursor.Close(context.WithoutCancel(ctx)) }() // the server closes it by itself as well
		var whole []string                                              // runs whose whole document must be read
		for cursor.Next(ctx) {
			var doc runDoc
			if err := cursor.Decode(&doc); err != nil {
				return nil, err
			}
			seen.all++
			if going.runs[doc.ID] {
				continue // in the base already
			}
			var cell rollup.Cell
			// It may be absent, or written by a later version, or by an earlier one that did not count retries.
			if err := cell.AddEncoded(doc.Cell); err != nil || cell.Retries() == 0 && retried(doc.Cause) {
				whole = append(whole, doc.ID)
				continue
			}
			add(doc.ID, doc.Job, doc.Worker, &cell)
		}
		if err := cursor.Err(); err != nil {
			return nil, err
		}
		for ids := range slices.Chunk(whole, atOnce) {
			docs, err := find[runDoc](ctx, s.runs, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}},
				options.Find().SetProjection(bson.D{{Key: "job", Value: 1}, {Key: "worker", Value: 1},
					{Key: "doc", Value: 1}}))
			if err != nil {
				return nil, err
			}
			for _, doc := range docs {
				run, err := entry.DecodeRun(doc.Doc)
				if err != nil {
					return nil, &unreadable{err}
				}
				add(doc.ID, doc.Job, doc.Worker, cellOf(&run))
			}
		}
		for job, d := range next {
			seen.runs[job] = d.Runs
			d.Base = encode(base[job])
			if err := merge(rest[job], d.Base); err != nil {
				return nil, err
			}
			d.Sum, d.Workers = sum(rest[job]), encode(rest[job])
			if len(d.Workers) == 0 {
				delete(next, job) // there never was a run
				continue
			}
			next[job] = d
		}
		return next, nil
	}
}

// retried reports whether a run with this cause followed another attempt.
func retried(cause string) bool { return slices.Contains(causesOfRetries(), cause) }

func causesOfRetries() []string {
	return []string{string(common.CauseRetry), string(common.CauseRerun)}
}

// looked is what a count has read.
type looked struct {
	all  int              // runs
	runs map[string]int64 // existing runs, by job
}

// goings are runs that are about to be deleted, and the documents of those deletions.
type goings struct{ docs, runs map[string]bool }

// going returns the runs that are about to be deleted and that the bases of roll-ups contain already.
func (s *Store) going(ctx context.Context, current map[string]rollupDoc) (g goings, err error) {
	g = goings{docs: map[string]bool{}, runs: map[string]bool{}}
	var asked []string
	for _, d := range current {
		asked = append(asked, d.Gone...)
	}
	for ids := range slices.Chunk(asked, atOnce) {
		docs, err := find[goneDoc](ctx, s.gone, bson.D{{
			Key:   "_id",
			Value: bson.D{{Key: "$in", Value: ids}},
		}}, options.Find())
		if err != nil {
			return g, err
		}
		for _, d := range docs {
			g.docs[d.ID] = true
			for _, run := range d.Runs {
				g.runs[run] = true
			}
		}
	}
	return g, nil
}
