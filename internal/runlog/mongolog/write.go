package mongolog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
	"carillon/internal/runlog/rollup"
)

// runDoc is a run: the complete run as JSON, and the fields to find it by.
type runDoc struct {
	ID      string `bson:"_id"`
	Planned int64  `bson:"planned"` // Unix nanoseconds
	Job     string `bson:"job"`
	JobUID  string `bson:"jobUid"`
	Group   string `bson:"group"`
	Status  string `bson:"status"`
	Worker  string `bson:"worker"`
	Cause   string `bson:"cause"`
	Exit    string `bson:"exit"` // as returned by exitOf; absent in runs of an older version
	// Cell is the run as roll-ups count it, encoded, so that counting needs no more. Absent in runs of an
	// older version.
	Cell []byte `bson:"cell"`
	// Flow is the flow run that the run belongs to. Node is set for the run of a node, so that the others are listed
	// by an index; most runs have neither.
	Flow string `bson:"flow,omitempty"`
	Node bool   `bson:"node,omitempty"`
	Doc  string `bson:"doc"`
}

// cellOf counts one run.
func cellOf(r *common.Run) *rollup.Cell {
	var cell rollup.Cell
	cell.Add(r)
	return &cell
}

// exitOf returns an exit code as it is stored; a run without one has a dash.
func exitOf(code *int) string {
	if code == nil {
		return "-"
	}
	return strconv.Itoa(*code)
}

// chunkDoc is a chunk of output.
type chunkDoc struct {
	ID      string `bson:"_id"`
	Run     string `bson:"run"`
	Offset  int64  `bson:"offset"`
	Stream  string `bson:"stream"`
	Ends    int64  `bson:"ends"` // the offset after the chunk
	At      int64  `bson:"at"`   // Unix nanoseconds
	Missing int64  `bson:"missing"`
	Data    []byte `bson:"data"`
}

// changeDoc is a change: all of it as JSON except for its values before and after.
type changeDoc struct {
	ID     string `bson:"_id"`
	Kind   string `bson:"kind"`
	Name   string `bson:"name"`
	Verb   string `bson:"verb"`  // this and the next two are absent in changes of an older version
	Actor  string `bson:"actor"` // its name
	At     int64  `bson:"at"`    // Unix nanoseconds
	Doc    string `bson:"doc"`
	Before []byte `bson:"before"`
	After  []byte `bson:"after"`
	// The position in the chain, if it is sealed.
	Seq      int64  `bson:"seq,omitempty"`
	Previous string `bson:"previous,omitempty"`
	Hash     string `bson:"hash,omitempty"`
}

// lateDoc is a late end; its id is the run's. The collection needs no step of the schema, so that an older
// version continues to work beside it.
type lateDoc struct {
	ID  string `bson:"_id"`
	Doc string `bson:"doc"`
}

// The id of a chunk is the run's id, one of these marks, position and stream, so that chunks sort by
// position. Chunks for missing bytes have their own mark: they may be of any length, so those that span an
// offset can begin anywhere before it; they are few, and are read at once.
const (
	missingMark = "!"
	dataMark    = "/"
)

func chunkID(c *common.Chunk) string {
	mark := dataMark
	if c.Missing > 0 {
		mark = missingMark
	}
	return chunkPlace(c.Run, mark, c.Offset) + "/" + string(c.Stream)
}

func chunkPlace(run, mark string, offset int64) string {
	return fmt.Sprintf("%s%s%020d", run, mark, offset)
}

// Write stores chunks, then runs with the mark that requests their count, then changes and late ends.
// Existing entries stay as they are. For an invalid batch it returns common.CodeInvalid and stores nothing;
// after another error a part may be stored.
func (s *Store) Write(ctx context.Context, b runlog.Batch) error {
	if b.Empty() {
		return nil
	}
	docs, err := documents(&b)
	if err != nil {
		return err
	}
	if err := s.ready(ctx); err != nil {
		return err
	}
	for _, part := range []struct {
		into *mongo.Collection
		docs []any
	}{{s.chunks, docs.chunks}, {s.runs, docs.runs}, {s.marks, docs.marks}, {s.changes, docs.changes},
		{s.late, docs.late}} {
		if err := insert(ctx, part.into, part.docs); err != nil {
			return s.failed(ctx, "write to the run log", err)
		}
	}
	if err := s.writeUsage(ctx, b.Usage); err != nil {
		return s.failed(ctx, "write samples to the run log", err)
	}
	return nil
}

// documentsOf holds the documents of a batch.
type documentsOf struct{ chunks, runs, marks, changes, late []any }

func documents(b *runlog.Batch) (docs documentsOf, err error) {
	if err := entry.Check(b); err != nil {
		return docs, err
	}
	for i := range b.Chunks {
		c := &b.Chunks[i]
		docs.chunks = append(docs.chunks, chunkDoc{
			ID:      chunkID(c),
			Run:     c.Run,
			Offset:  c.Offset,
			Stream:  string(c.Stream),
			Ends:    c.End(),
			At:      entry.Nanos(c.At),
			Missing: c.Missing,
			Data:    c.Data,
		})
	}
	for i := range b.Runs {
		r := &b.Runs[i]
		doc, err := entry.EncodeRun(r)
		if err != nil {
			return docs, err
		}
		d := runDoc{ID: r.ID, Planned: entry.Nanos(r.PlannedAt), Job: r.Job, JobUID: r.JobUID,
			Group: r.Group, Status: string(r.Status), Worker: r.Worker, Cause: string(r.Cause),
			Exit: exitOf(r.ExitCode), Node: common.OfNode(r.ID),
			Cell: cellOf(r).Encode(), Doc: doc}
		if r.Flow != nil {
			d.Flow = r.Flow.Run
		}
		docs.runs = append(docs.runs, d)
	}
	if len(b.Runs) > 0 {
		docs.marks = append(docs.marks, markOf(time.Now(), b.Runs))
	}
	for i := range b.Changes {
		c := &b.Changes[i]
		doc, err := entry.EncodeChange(c)
		if err != nil {
			return docs, err
		}
		d := changeDoc{ID: c.ID, Kind: c.Kind, Name: c.Name, Verb: text(c.Verb), Actor: text(c.Actor.Name),
			At: entry.Nanos(c.At), Doc: doc, Before: c.Before, After: c.After}
		if l := c.Link; l != nil {
			d.Seq, d.Previous, d.Hash = l.Seq, l.Previous, l.Hash
		}
		docs.changes = append(docs.changes, d)
	}
	for i := range b.Late {
		doc, err := entry.EncodeLate(&b.Late[i])
		if err != nil {
			return docs, err
		}
		docs.late = append(docs.late, lateDoc{ID: b.Late[i].Run, Doc: doc})
	}
	return docs, nil
}

// text replaces invalid UTF-8, as the encoding of the document does.
func text(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// insert stores documents that do not exist yet.
func insert(ctx context.Context, into *mongo.Collection, docs []any) error {
	if len(docs) == 0 {
		return nil
	}
	_, err := insertNew(ctx, into, docs)
	return err
}

// insertNew stores documents that do not exist yet, and returns which of them existed. It is unordered, so
// that an existing document does not stop those after it.
func insertNew(ctx context.Context, into *mongo.Collection, docs []any) (there map[int]bool, err error) {
	_, err = into.InsertMany(ctx, docs, options.InsertMany().SetOrdered(false))
	bulk, ok := errors.AsType[mongo.BulkWriteException](err)
	if !ok || bulk.WriteConcernError != nil {
		return nil, err
	}
	there = map[int]bool{}
	for _, e := range bulk.WriteErrors {
		if e.Code != duplicate {
			return nil, err
		}
		there[e.Index] = true
	}
	return there, nil
}
