package mongolog

import (
	"context"
	"errors"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"carillon/internal/common"
	"carillon/internal/runlog/entry"
)

// usageDoc holds the samples of a run; its id is the run's. The collection needs no step of the schema, so that an
// older version continues to work beside it.
type usageDoc struct {
	ID   string `bson:"_id"`
	At   int64  `bson:"at"` // of the last sample, Unix nanoseconds
	Data []byte `bson:"data"`
}

// writeUsage stores samples, unless later ones of the same run are stored: then the filter does not match, and the
// document that would be inserted in its place has the id of the stored one.
func (s *Store) writeUsage(ctx context.Context, all []common.Usage) error {
	if len(all) == 0 {
		return nil
	}
	models := make([]mongo.WriteModel, len(all))
	for i := range all {
		u := &all[i]
		doc := usageDoc{ID: u.Run, At: entry.Nanos(u.Until()), Data: entry.EncodeUsage(u)}
		earlier := bson.D{{Key: "_id", Value: doc.ID}, {Key: "at", Value: bson.D{{Key: "$lt", Value: doc.At}}}}
		models[i] = mongo.NewReplaceOneModel().SetFilter(earlier).SetReplacement(doc).SetUpsert(true)
	}
	_, err := s.usage.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	bulk, ok := errors.AsType[mongo.BulkWriteException](err)
	if !ok || bulk.WriteConcernError != nil {
		return err
	}
	for _, e := range bulk.WriteErrors {
		if e.Code != duplicate {
			return err
		}
	}
	return nil
}

// Usage returns the samples of a run.
func (s *Store) Usage(ctx context.Context, run string) (common.Usage, error) {
	if err := s.ready(ctx); err != nil {
		return common.Usage{}, err
	}
	if !utf8.ValidString(run) {
		return common.Usage{Run: run}, nil
	}
	var doc usageDoc
	err := s.usage.FindOne(ctx, bson.D{{Key: "_id", Value: run}}).Decode(&doc)
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		return common.Usage{Run: run}, nil
	case err != nil:
		return common.Usage{}, s.failed(ctx, "read samples", err)
	}
	return entry.DecodeUsage(run, doc.Data)
}
