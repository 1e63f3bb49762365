package mongolog

import (
	"context"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
)

// changesBatch is how many changes the server sends at a time.
const changesBatch = 200

// Changes lists changes, the newest first.
func (s *Store) Changes(ctx context.Context, q runlog.ChangeQuery) ([]common.Change, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	for _, text := range []string{q.Kind, q.Name, q.Verb, q.Actor, q.Before} {
		if !utf8.ValidString(text) {
			return nil, nil // such a change is never stored
		}
	}
	list, err := s.listChanges(ctx, &q)
	if err != nil {
		return nil, s.failed(ctx, "list changes", err)
	}
	return list, nil
}

func (s *Store) listChanges(ctx context.Context, q *runlog.ChangeQuery) (list []common.Change, err error) {
	opts := options.Find().SetSort(bson.D{{Key: "_id", Value: -1}}).SetBatchSize(changesBatch)
	if q.Verb == "" && q.Actor == "" {
		opts.SetLimit(int64(max(0, q.Limit)))
	}
	cursor, err := s.changes.Find(ctx, filterChanges(q), opts)
	if err != nil {
		return nil, err
	}
	defer func() { _ = cursor.Close(context.WithoutCancel(ctx)) }() // the server closes it by itself as well
	for cursor.Next(ctx) {
		var d changeDoc
		if err := cursor.Decode(&d); err != nil {
			return nil, err
		}
		c, err := d.change()
		if err != nil {
			return nil, &unreadable{err}
		}
		// Changes of an older version, which lack the fields, are filtered here.
		if q.Verb != "" && c.Verb != q.Verb || q.Actor != "" && c.Actor.Name != q.Actor {
			continue
		}
		if list = append(list, c); len(list) == q.Limit {
			break
		}
	}
	return list, cursor.Err()
}

// change decodes the document.
func (d *changeDoc) change() (common.Change, error) {
	return entry.DecodeSealed(d.Doc, d.Before, d.After, d.Seq, d.Previous, d.Hash,
		entry.Filed{ID: d.ID, Kind: d.Kind, Name: d.Name, Verb: d.Verb, Actor: d.Actor, At: d.At})
}

// Sealed lists changes by their position in the chain.
func (s *Store) Sealed(ctx context.Context, after int64, limit int) ([]common.Change, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	var docs []changeDoc
	cursor, err := s.changes.Find(ctx, bson.D{{Key: "seq", Value: bson.D{{Key: "$gt", Value: max(after, 0)}}}},
		options.Find().SetSort(bson.D{{Key: "seq", Value: 1}}).SetLimit(int64(limit)))
	if err == nil {
		err = cursor.All(ctx, &docs)
	}
	if err != nil {
		return nil, s.failed(ctx, "list changes by their position", err)
	}
	list := make([]common.Change, len(docs))
	for i := range docs {
		if list[i], err = docs[i].change(); err != nil {
			return nil, s.failed(ctx, "list changes by their position", &unreadable{err})
		}
	}
	return list, nil
}

func filterChanges(q *runlog.ChangeQuery) bson.D {
	filter := bson.D{}
	if q.Kind != "" {
		filter = append(filter, bson.E{Key: "kind", Value: q.Kind})
	}
	if q.Name != "" {
		filter = append(filter, bson.E{Key: "name", Value: q.Name})
	}
	for _, f := range []struct{ field, value string }{{"verb", q.Verb}, {"actor", q.Actor}} {
		if f.value != "" {
			filter = append(filter, bson.E{Key: f.field, Value: bson.D{{Key: "$in", Value: bson.A{f.value, nil}}}})
		}
	}
	if len(q.Names) > 0 {
		filter = append(filter, bson.E{Key: "name", Value: bson.D{{Key: "$in", Value: q.Names}}})
	}
	low, high := entry.ChangesOf(q)
	var ids bson.D
	if low != "" {
		ids = append(ids, bson.E{Key: "$gte", Value: low})
	}
	if high != "" {
		ids = append(ids, bson.E{Key: "$lt", Value: high})
	}
	if ids != nil {
		filter = append(filter, bson.E{Key: "_id", Value: ids})
	}
	return filter
}
