package mongolog

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"carillon/internal/common"
	"carillon/internal/runlog/entry"
)

// outputBatch is how many chunks the server sends at a time: at most 2 MiB, of which a reader with a small
// limit discards the rest.
const outputBatch = 32

// Run returns the run with the id.
func (s *Store) Run(ctx context.Context, id string) (common.Run, error) {
	if err := s.ready(ctx); err != nil {
		return common.Run{}, err
	}
	var doc runDoc
	err := s.runs.FindOne(ctx, bson.D{{Key: "_id", Value: id}}).Decode(&doc)
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		return common.Run{}, common.Errorf(common.CodeNotFound, "no run %q in the run log", common.Shorten(id))
	case err != nil:
		return common.Run{}, s.failed(ctx, "read a run", err)
	}
	run, err := entry.DecodeRun(doc.Doc)
	if err != nil {
		return common.Run{}, err
	}
	runs := []common.Run{run}
	if err := s.orphans(ctx, runs); err != nil {
		return common.Run{}, s.failed(ctx, "read the late end of a run", err)
	}
	return runs[0], nil
}

// orphans adds the late ends to lost runs.
func (s *Store) orphans(ctx context.Context, runs []common.Run) error {
	return entry.Orphans(runs, func(ids []string) ([]string, error) {
		docs, err := find[lateDoc](ctx, s.late, bson.D{{
			Key:   "_id",
			Value: bson.D{{Key: "$in", Value: ids}},
		}}, options.Find())
		if err != nil {
			return nil, err
		}
		return convert(docs, func(d lateDoc) (string, error) { return d.Doc, nil })
	})
}

// Output returns the chunks of a run that end after offset, in order of offset.
func (s *Store) Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	chunks, err := s.output(ctx, run, max(offset, -1), limit)
	if err != nil {
		return nil, s.failed(ctx, "read output", err)
	}
	return chunks, nil
}

func (s *Store) output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error) {
	// A chunk with data spans the offset only if it begins less than MaxChunk before it. The upper bounds are
	// the marks' next characters.
	from := max(0, offset-common.MaxChunk+1)
	between := func(low, high string) bson.D {
		return bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: low}, {Key: "$lt", Value: high}}}}
	}
	filter := bson.D{
		{Key: "run", Value: run},
		{Key: "ends", Value: bson.D{{Key: "$gt", Value: offset}}},
		{Key: "$or", Value: bson.A{
			between(run+missingMark, run+string(missingMark[0]+1)),
			between(chunkPlace(run, dataMark, from), run+string(dataMark[0]+1)),
		}},
	}
	cursor, err := s.chunks.Find(ctx, filter,
		options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetBatchSize(outputBatch))
	if err != nil {
		return nil, err
	}
	defer func() { _ = cursor.Close(context.WithoutCancel(ctx)) }() // the server closes it by itself as well

	answer := answer{budget: entry.Budget{Limit: limit}}
	for cursor.Next(ctx) {
		var d chunkDoc
		if err := cursor.Decode(&d); err != nil {
			return nil, err
		}
		c := common.Chunk{Run: d.Run, Offset: d.Offset, Stream: common.Stream(d.Stream), At: entry.Time(d.At),
			Data: entry.Side(d.Data), Missing: d.Missing}
		if !answer.next(c) {
			return answer.chunks, nil
		}
	}
	if err := cursor.Err(); err != nil {
		return nil, err
	}
	answer.rest()
	return answer.chunks, nil
}

// answer merges missing bytes, which the server sends first, with the data in order.
type answer struct {
	chunks  []common.Chunk
	missing []common.Chunk // not in chunks yet
	budget  entry.Budget
}

// next adds the next chunk from the server; false means that the answer is full.
func (a *answer) next(c common.Chunk) bool {
	if c.Missing > 0 {
		a.missing = append(a.missing, c)
		return true
	}
	for len(a.missing) > 0 && (a.missing[0].Offset < c.Offset ||
		a.missing[0].Offset == c.Offset && a.missing[0].Stream <= c.Stream) {
		a.add(a.missing[0])
		a.missing = a.missing[1:]
	}
	return a.add(c)
}

func (a *answer) add(c common.Chunk) bool {
	if !a.budget.Take(&c) {
		return false
	}
	a.chunks = append(a.chunks, c)
	return true
}

func (a *answer) rest() {
	for _, c := range a.missing {
		a.add(c)
	}
}

func find[T any](ctx context.Context, in *mongo.Collection, filter bson.D,
	opts *options.FindOptionsBuilder) ([]T, error) {
	cursor, err := in.Find(ctx, filter, opts)
	if err != nil {
		return nil, err
	}
	var docs []T
	if err := cursor.All(ctx, &docs); err != nil { // All closes the cursor
		return nil, err
	}
	return docs, nil
}

func convert[D, T any](docs []D, read func(D) (T, error)) ([]T, error) {
	var all []T
	for _, d := range docs {
		one, err := read(d)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}
