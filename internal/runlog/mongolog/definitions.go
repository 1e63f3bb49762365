package mongolog

import (
	"context"
	"errors"
	"slices"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"carillon/internal/runlog"
)

// definitionDoc is the body of a flow; its id is the digest. The largest body has 8 MiB in 33 parts. The collection
// needs no step of the schema, so that an older version continues to work beside it.
type definitionDoc struct {
	ID    string   `bson:"_id"`
	Parts [][]byte `bson:"parts"`
}

// definedAtOnce is the number of digests in one query.
const definedAtOnce = 1000

// Define stores the parts of the body of a flow.
func (s *Store) Define(ctx context.Context, digest string, parts [][]byte) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	_, err := s.definitions.InsertOne(ctx, definitionDoc{ID: digest, Parts: parts})
	if err != nil && !mongo.IsDuplicateKeyError(err) {
		return s.failed(ctx, "store a definition", err)
	}
	return nil
}

// Definition returns the parts of the body of a flow.
func (s *Store) Definition(ctx context.Context, digest string) ([][]byte, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	if !utf8.ValidString(digest) {
		return nil, runlog.NoDefinition(digest)
	}
	var doc definitionDoc
	err := s.definitions.FindOne(ctx, bson.D{{Key: "_id", Value: digest}}).Decode(&doc)
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		return nil, runlog.NoDefinition(digest)
	case err != nil:
		return nil, s.failed(ctx, "read a definition", err)
	}
	return doc.Parts, nil
}

// Defined returns which of the digests have a stored body.
func (s *Store) Defined(ctx context.Context, digests []string) (map[string]bool, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for part := range slices.Chunk(digests, definedAtOnce) {
		docs, err := find[definitionDoc](ctx, s.definitions, bson.D{{
			Key:   "_id",
			Value: bson.D{{Key: "$in", Value: part}},
		}}, options.Find().SetProjection(bson.D{{Key: "_id", Value: 1}}))
		if err != nil {
			return nil, s.failed(ctx, "look up definitions", err)
		}
		for _, doc := range docs {
			found[doc.ID] = true
		}
	}
	return found, nil
}
