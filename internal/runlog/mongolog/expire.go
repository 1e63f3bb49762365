package mongolog

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
	"carillon/internal/runlog/rollup"
)

const (
	atOnce       = 1000 // documents of one deletion
	goneAtOnce   = 500  // runs that one document deletes
	rangesAtOnce = 25   // runs whose output is read at once
	usualLimit   = 1000 // if the caller sets none
)

// goneDoc records a deletion of runs in progress. It is written before the deletion begins, and deleted when
// all is done: if its writer dies in between, the next Expire or Tidy continues.
//
//  1. The roll-ups of their hours add the counts of the runs to their bases, and note the document.
//  2. The runs are deleted, then their output and late ends: no reader finds a run without its output.
//  3. The document is deleted.
//
// Each step may be repeated, and be done by two processes at once.
type goneDoc struct {
	ID    string   `bson:"_id"`
	Job   string   `bson:"job"`
	Runs  []string `bson:"runs"`  // in order
	Hours []int64  `bson:"hours"` // Unix seconds
}

func (g *goneDoc) has(run string) bool {
	_, found := slices.BinarySearch(g.Runs, run)
	return found
}

// Kept lists the jobs that have runs, in order of their names.
func (s *Store) Kept(ctx context.Context, after string, limit int) ([]runlog.Kept, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = usualLimit
	}
	var all []runlog.Kept
	for len(all) < limit {
		kept, err := s.keptAfter(ctx, after)
		switch {
		case errors.Is(err, mongo.ErrNoDocuments):
			return all, nil
		case err != nil:
			return nil, s.failed(ctx, "list jobs with runs", err)
		}
		after = kept.Job
		if kept.Runs > 0 { // otherwise they were deleted meanwhile
			all = append(all, kept)
		}
	}
	return all, nil
}

// keptAfter returns the next job of the index by job.
func (s *Store) keptAfter(ctx context.Context, after string) (kept runlog.Kept, err error) {
	var next, oldest runDoc
	only := bson.D{{Key: "job", Value: 1}, {Key: "planned", Value: 1}}
	if err := s.runs.FindOne(ctx, bson.D{{Key: "job", Value: bson.D{{Key: "$gt", Value: after}}}},
		options.FindOne().SetSort(bson.D{{Key: "job", Value: 1}}).SetProjection(only)).Decode(&next); err != nil {
		return kept, err
	}
	kept.Job = next.Job
	if flow, _, isStep := strings.Cut(next.Job, ":"); isStep {
		kept.Job = common.StepJob(flow, "\uffff") // the other steps of the flow are skipped with this one
		return kept, nil
	}
	job := append(bson.D{{Key: "job", Value: next.Job}}, topLevel()...)
	if kept.Runs, err = s.runs.CountDocuments(ctx, job); err != nil {
		return kept, err
	}
	err = s.runs.FindOne(ctx, job, options.FindOne().SetSort(oldestFirst()).SetProjection(only)).Decode(&oldest)
	if errors.Is(err, mongo.ErrNoDocuments) {
		kept.Runs, err = 0, nil
	}
	kept.Oldest = entry.Time(oldest.Planned)
	return kept, err
}

// Expire deletes runs with their output, the oldest first.
func (s *Store) Expire(ctx context.Context, e runlog.Expiry) (gone runlog.Expired, err error) {
	if err := s.ready(ctx); err != nil {
		return gone, err
	}
	if !storable(e.Job) {
		return gone, nil
	}
	if e.Limit <= 0 {
		e.Limit = usualLimit
	}
	s.upkeep.Lock()
	defer s.upkeep.Unlock()
	if err := s.expire(ctx, &e, &gone); err != nil {
		return gone, s.failed(ctx, "delete old runs", err)
	}
	return gone, nil
}

func (s *Store) expire(ctx context.Context, e *runlog.Expiry, gone *runlog.Expired) error {
	begun, err := find[goneDoc](ctx, s.gone, bson.D{{Key: "job", Value: e.Job}}, options.Find())
	if err != nil {
		return err
	}
	for i := range begun {
		if err := s.finish(ctx, &begun[i], gone); err != nil {
			return err
		}
	}
	until, err := e.Boundary(func(n int) (*runlog.Position, error) {
		return s.place(ctx, append(bson.D{{Key: "job", Value: e.Job}}, expirable(e)...), newestFirst(), n)
	})
	if err != nil || until == nil {
		return err
	}
	only := bson.D{{Key: "planned", Value: 1}}
	if !e.Ended.IsZero() {
		only = append(only, bson.E{Key: "doc", Value: 1})
	}
	for after := (runDoc{Planned: math.MinInt64}); ; {
		filter := bson.D{{Key: "job", Value: e.Job},
			{
				Key:   "planned",
				Value: bson.D{{Key: "$gte", Value: after.Planned}, {Key: "$lte", Value: entry.Nanos(until.PlannedAt)}},
			},
			{Key: "$and", Value: bson.A{older(*until), newer(after)}}}
		filter = append(filter, expirable(e)...)
		docs, err := find[runDoc](ctx, s.runs, filter,
			options.Find().SetSort(oldestFirst()).SetLimit(goneAtOnce).SetProjection(only))
		if err != nil || len(docs) == 0 {
			return err
		}
		after = docs[len(docs)-1]
		all := len(docs) < goneAtOnce
		docs = slices.DeleteFunc(docs, func(d runDoc) bool { return d.spared(e) })
		if err := s.expireNodes(ctx, docs, e.Limit, gone); err != nil || gone.More {
			return err
		}
		if err := s.delete(ctx, e.Job, docs, e.Limit, gone); err != nil || gone.More || all {
			return err
		}
	}
}

// expirable matches the runs that are counted and deleted.
func expirable(e *runlog.Expiry) bson.D {
	if e.Apart == "" {
		return topLevel()
	}
	return append(topLevel(), bson.E{Key: "flow", Value: bson.D{{Key: "$ne", Value: e.Apart}}})
}

// delete deletes runs of a job, as long as the limit allows.
func (s *Store) delete(ctx context.Context, job string, docs []runDoc, limit int, gone *runlog.Expired) error {
	g := goneDoc{ID: common.NewID(), Job: job}
	for i := range docs {
		if gone.Runs+len(g.Runs) >= limit {
			gone.More = true
			break
		}
		g.Runs = append(g.Runs, docs[i].ID)
		if hour := rollup.HourOf(entry.Time(docs[i].Planned)).Unix(); !slices.Contains(g.Hours, hour) {
			g.Hours = append(g.Hours, hour)
		}
	}
	if len(g.Runs) == 0 {
		return nil
	}
	slices.Sort(g.Runs)
	if _, err := s.gone.InsertOne(ctx, g); err != nil {
		return err
	}
	return s.finish(ctx, &g, gone)
}

// expireNodes deletes the runs of the nodes of flow runs that are about to be deleted, those of nested flow runs first.
// Runs without nodes cost one look-up.
func (s *Store) expireNodes(ctx context.Context, of []runDoc, limit int, gone *runlog.Expired) error {
	if len(of) == 0 {
		return nil
	}
	ids := make([]string, len(of))
	for i := range of {
		ids[i] = of[i].ID
	}
	filter := bson.D{{Key: "flow", Value: bson.D{{Key: "$in", Value: ids}}}, {Key: "node", Value: true}}
	for !gone.More {
		nodes, err := find[runDoc](ctx, s.runs, filter, options.Find().SetLimit(goneAtOnce).
			SetProjection(bson.D{{Key: "planned", Value: 1}, {Key: "job", Value: 1}}))
		if err != nil || len(nodes) == 0 {
			return err
		}
		if err := s.expireNodes(ctx, nodes, limit, gone); err != nil {
			return err
		}
		byJob := map[string][]runDoc{}
		for _, n := range nodes {
			byJob[n.Job] = append(byJob[n.Job], n)
		}
		for _, job := range slices.Sorted(maps.Keys(byJob)) {
			if gone.More {
				break
			}
			if err := s.delete(ctx, job, byJob[job], limit, gone); err != nil {
				return err
			}
		}
	}
	return nil
}

// newer matches the runs that come after one in the order of oldestFirst, among those not planned before it.
func newer(than runDoc) bson.D {
	return bson.D{{Key: "$or", Value: bson.A{
		bson.D{{Key: "planned", Value: bson.D{{Key: "$gt", Value: than.Planned}}}},
		bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: than.ID}}}},
	}}}
}

// spared reports whether a run has ended too recently to be deleted. An unreadable one has not.
func (d *runDoc) spared(e *runlog.Expiry) bool {
	if e.Ended.IsZero() {
		return false
	}
	run, err := entry.DecodeRun(d.Doc)
	return err == nil && e.Spares(&run)
}

// finish completes the deletion of a document.
func (s *Store) finish(ctx context.Context, g *goneDoc, gone *runlog.Expired) error {
	for _, hour := range g.Hours {
		if err := s.settle(ctx, g, hour); err != nil {
			return err
		}
	}
	byID := func(ids []string) bson.D { return bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}} }
	for ids := range slices.Chunk(g.Runs, atOnce) {
		deleted, err := s.runs.DeleteMany(ctx, byID(ids))
		if err != nil {
			return err
		}
		gone.Runs += int(deleted.DeletedCount)
	}
	for ids := range slices.Chunk(g.Runs, rangesAtOnce) {
		if err := s.deleteOutput(ctx, ids, gone); err != nil {
			return err
		}
	}
	for ids := range slices.Chunk(g.Runs, atOnce) {
		for _, in := range [...]*mongo.Collection{s.late, s.usage} {
			if _, err := in.DeleteMany(ctx, byID(ids)); err != nil {
				return err
			}
		}
	}
	_, err := s.gone.DeleteOne(ctx, bson.D{{Key: "_id", Value: g.ID}})
	return err
}

// settle adds the counts of runs that are about to be deleted to the base of their hour's roll-up. If that
// was not up to date, a mark requests its sums again.
func (s *Store) settle(ctx context.Context, g *goneDoc, hour int64) error {
	jobs := []string{g.Job}
	mark := markDoc{ID: common.TimeKey(time.Now()) + "-" + common.NewID(), Hours: []jobHour{{Job: g.Job, At: hour}}}
	count := s.count(hour, jobs, g, &looked{runs: map[string]int64{}})
	_, err := s.publish(ctx, hourOfJob, hour, jobs,
		func(ctx context.Context, current map[string]rollupDoc) (map[string]rollupDoc, error) {
			was := current[g.Job]
			if slices.Contains(was.Gone, g.ID) {
				return nil, nil // that is done
			}
			next, err := count(ctx, current)
			if now := next[g.Job]; err == nil && !bytes.Equal(now.Sum, was.Sum) {
				_, err = insertNew(ctx, s.marks, []any{mark})
			}
			return next, err
		})
	return err
}

// deleteOutput deletes the chunks of runs.
func (s *Store) deleteOutput(ctx context.Context, runs []string, gone *runlog.Expired) error {
	var places bson.A
	for _, run := range runs {
		for _, mark := range []string{missingMark, dataMark} {
			places = append(places, bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: run + mark},
				{Key: "$lt", Value: run + string(mark[0]+1)}}}})
		}
	}
	filter := bson.D{{Key: "$or", Value: places}, {Key: "run", Value: bson.D{{Key: "$in", Value: runs}}}}
	opts := options.Find().SetLimit(atOnce).SetProjection(bson.D{{Key: "data", Value: 0}})
	for {
		chunks, err := find[chunkDoc](ctx, s.chunks, filter, opts)
		if err != nil || len(chunks) == 0 {
			return err
		}
		ids := make([]string, len(chunks))
		var size int64
		for i, c := range chunks {
			ids[i] = c.ID
			if c.Missing == 0 {
				size += c.Ends - c.Offset
			}
		}
		deleted, err := s.chunks.DeleteMany(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}})
		if err != nil {
			return err
		}
		gone.Chunks += int(deleted.DeletedCount)
		gone.Bytes += size
		if len(chunks) < atOnce {
			return nil
		}
	}
}

// deleteFound deletes documents that a filter matches, at most so many, and reports whether there may be
// more.
func deleteFound(ctx context.Context, in *mongo.Collection, filter bson.D) (deleted int, more bool, err error) {
	docs, err := find[struct {
		ID string `bson:"_id"`
	}](ctx, in, filter, options.Find().SetLimit(atOnce).SetProjection(bson.D{{Key: "_id", Value: 1}}))
	if err != nil || len(docs) == 0 {
		return 0, false, err
	}
	ids := make([]string, len(docs))
	for i, d := range docs {
		ids[i] = d.ID
	}
	n, err := deleteIDs(ctx, in, ids)
	return n, len(docs) == atOnce, err
}

// deleteIDs deletes documents by their ids, in parts.
func deleteIDs(ctx context.Context, in *mongo.Collection, ids []string) (n int, err error) {
	for part := range slices.Chunk(ids, atOnce) {
		deleted, err := in.DeleteMany(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: part}}}})
		if err != nil {
			return n, err
		}
		n += int(deleted.DeletedCount)
	}
	return n, nil
}
