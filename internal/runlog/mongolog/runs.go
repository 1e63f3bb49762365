package mongolog

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
)

// scan bounds how many runs a list with a limit reads: entries of its leading index and, for a text search,
// runs.
type scan struct{ entries, texts int }

const (
	lastAtOnce = 8   // jobs whose last runs are read concurrently
	scanBatch  = 500 // runs that the server sends at a time if most may not match
)

// newestFirst is the order of lists of runs. Its indexes also serve oldestFirst.
func newestFirst() bson.D {
	return bson.D{{Key: "planned", Value: -1}, {Key: "_id", Value: -1}}
}

func oldestFirst() bson.D {
	return bson.D{{Key: "planned", Value: 1}, {Key: "_id", Value: 1}}
}

// topLevel matches runs that are not of nodes of flow runs.
func topLevel() bson.D { return bson.D{{Key: "node", Value: nil}} }

func orderOf(q *runlog.Query) bson.D {
	if q.Oldest {
		return oldestFirst()
	}
	return newestFirst()
}

// list is the server request of a query. One filter leads: it has an index in the order of the list, so that
// the server can stop after so many entries of it. The other filters are applied run by run.
type list struct {
	lead, rest bson.D
	exact      *runlog.Query // filters that need the whole run; nil: none
	byText     bool
	short      bool // the lead alone has few entries
}

// listOf returns the list of a query; possible is false if no run can match.
func listOf(q *runlog.Query) (l list, possible bool) {
	statuses, narrowed := entry.Statuses(q)
	if !entry.Keyable(q) || narrowed && len(statuses) == 0 {
		return list{}, false
	}
	is := func(field, value string) bson.D {
		if value == "" {
			return nil
		}
		return bson.D{{Key: field, Value: value}}
	}
	var fire, status, exit bson.D
	if q.Fire != "" {
		low, high := entry.RunsOf(q.Fire)
		fire = bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: low}, {Key: "$lt", Value: high}}}}
	}
	if narrowed {
		status = bson.D{{Key: "status", Value: bson.D{{Key: "$in", Value: statuses}}}}
	}
	if q.ExitCode != nil {
		// Runs of an older version do not have the field: they are filtered one by one.
		exit = bson.D{{Key: "exit", Value: bson.D{{Key: "$in", Value: bson.A{exitOf(q.ExitCode), nil}}}}}
	}
	// The most selective filter leads: most runs succeed, with exit code 0.
	rare := []bson.D{fire, is("flow", q.FlowRun), is("job", q.Job), is("worker", q.Worker)}
	usual := []bson.D{is("group", q.Group)}
	if slices.Contains(statuses, common.StatusSucceeded) {
		usual = append(usual, status)
	} else {
		rare = append(rare, status)
	}
	if q.ExitCode != nil && *q.ExitCode == 0 {
		usual = append(usual, exit)
	} else {
		rare = append(rare, exit)
	}
	for _, filter := range append(rare, usual...) {
		if l.lead == nil {
			l.lead = filter
		} else {
			l.rest = append(l.rest, filter...)
		}
	}
	if top := topLevel(); q.TopLevel() && l.lead == nil {
		l.lead = top
	} else if q.TopLevel() {
		l.rest = append(l.rest, top...)
	}
	l.rest = append(l.rest, is("jobUid", q.JobUID)...)
	l.rest = append(l.rest, is("cause", string(q.Cause))...)
	if l.byText = q.Text != "" || q.Step != ""; l.byText || q.ExitCode != nil {
		l.exact = &runlog.Query{ExitCode: q.ExitCode, Text: q.Text, FoundBy: q.FoundBy, Step: q.Step, Nodes: true}
	}
	l.short = q.Fire != ""
	return l, true
}

// partial reports whether the list reads more entries than it returns.
func (l *list) partial() bool {
	return !l.short && (len(l.rest) > 0 || l.exact != nil)
}

// filter returns the filter of the lead, or of all, between the bounds of the query, up to and including a
// position of the list.
func (l *list) filter(q *runlog.Query, whole bool, end *runlog.Position) bson.D {
	filter := append(bson.D{}, l.lead...) // not nil, which is invalid
	if whole {
		filter = append(filter, l.rest...)
	}
	early, late := end, q.Before // the bounds of the list
	if q.Oldest {
		early, late = late, early
	}
	var planned bson.D
	var exact bson.A
	from := int64(math.MinInt64)
	if !q.From.IsZero() {
		from = entry.Nanos(q.From)
	}
	if early != nil {
		from = max(from, entry.Nanos(early.PlannedAt))
		exact = append(exact, beyond(*early, "$gt", end == early))
	}
	if from > math.MinInt64 {
		planned = append(planned, bson.E{Key: "$gte", Value: from})
	}
	if !q.To.IsZero() {
		planned = append(planned, bson.E{Key: "$lt", Value: entry.Nanos(q.To)})
	}
	if late != nil {
		planned = append(planned, bson.E{Key: "$lte", Value: entry.Nanos(late.PlannedAt)})
		exact = append(exact, beyond(*late, "$lt", end == late))
	}
	if planned != nil {
		filter = append(filter, bson.E{Key: "planned", Value: planned})
	}
	if exact != nil {
		filter = append(filter, bson.E{Key: "$and", Value: exact})
	}
	return filter
}

// older matches runs that are older than a position of the list. The additional bound on planned is for the
// index; this one is exact.
func older(than runlog.Position) bson.D { return beyond(than, "$lt", false) }

// beyond matches runs that are newer than a position ($gt) or older ($lt), and the position itself if too is
// set.
func beyond(place runlog.Position, side string, too bool) bson.D {
	at, ids := entry.Nanos(place.PlannedAt), side
	if too {
		ids += "e"
	}
	return bson.D{{Key: "$or", Value: bson.A{
		bson.D{{Key: "planned", Value: bson.D{{Key: side, Value: at}}}},
		bson.D{{Key: "_id", Value: bson.D{{Key: ids, Value: place.ID}}}},
	}}}
}

// Runs lists runs, the newest or the oldest first.
func (s *Store) Runs(ctx context.Context, q runlog.Query) (runlog.Found, error) {
	if err := s.ready(ctx); err != nil {
		return runlog.Found{}, err
	}
	l, possible := listOf(&q)
	if !possible {
		return runlog.Found{}, nil
	}
	found, err := s.list(ctx, &l, &q)
	if err == nil {
		err = s.orphans(ctx, found.Runs)
	}
	if err != nil {
		return runlog.Found{}, s.failed(ctx, "list runs", err)
	}
	return found, nil
}

func (s *Store) list(ctx context.Context, l *list, q *runlog.Query) (found runlog.Found, err error) {
	limit := max(0, q.Limit)
	opts := options.Find().SetSort(orderOf(q))
	if l.exact == nil {
		opts.SetLimit(int64(limit))
	} else if opts.SetBatchSize(scanBatch); limit > 0 && !l.byText {
		opts.SetBatchSize(int32(min(limit, scanBatch))) // nearly all runs that the server finds match
	}
	var end *runlog.Position
	if limit > 0 && l.partial() {
		looked := s.scan.entries
		if l.byText {
			looked = s.scan.texts
		}
		if end, err = s.place(ctx, l.filter(q, false, nil), orderOf(q), looked); err != nil {
			return found, err
		}
	}
	cursor, err := s.runs.Find(ctx, l.filter(q, true, end), opts)
	if err != nil {
		return found, err
	}
	defer func() { _ = cursor.Close(context.WithoutCancel(ctx)) }() // the server closes it by itself as well
	for cursor.Next(ctx) {
		var doc runDoc
		if err := cursor.Decode(&doc); err != nil {
			return found, err
		}
		run, err := entry.DecodeRun(doc.Doc)
		if err != nil {
			return found, &unreadable{err}
		}
		if l.exact != nil && !l.exact.Matches(&run) || run.ID == q.Fire && run.Fire != q.Fire {
			continue // for instance: a fire's own id is that of a gap entry
		}
		if found.Runs = append(found.Runs, run); len(found.Runs) == limit {
			return found, nil
		}
	}
	found.Until = end
	return found, cursor.Err()
}

// place returns the position of the n-th run of a list, counted from one; nil if there are fewer.
func (s *Store) place(ctx context.Context, filter, order bson.D, n int) (*runlog.Position, error) {
	var doc runDoc
	err := s.runs.FindOne(ctx, filter, options.FindOne().SetSort(order).SetSkip(int64(n-1)).
		SetProjection(bson.D{{Key: "planned", Value: 1}})).Decode(&doc)
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &runlog.Position{PlannedAt: entry.Time(doc.Planned), ID: doc.ID}, nil
}

// Last returns the last runs of each job.
func (s *Store) Last(ctx context.Context, jobs []string, n int) (map[string][]common.Run, error) {
	if n <= 0 {
		return nil, nil
	}
	lists, errs := make([][]common.Run, len(jobs)), make([]error, len(jobs))
	places := make(chan struct{}, lastAtOnce)
	var group sync.WaitGroup
	for i, job := range jobs {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			var found runlog.Found
			found, errs[i] = s.Runs(ctx, runlog.Query{Job: job, Limit: n})
			lists[i] = found.Runs
		})
	}
	group.Wait()
	last := make(map[string][]common.Run, len(jobs))
	for i, job := range jobs {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if len(lists[i]) > 0 {
			last[job] = lists[i]
		}
	}
	return last, nil
}
