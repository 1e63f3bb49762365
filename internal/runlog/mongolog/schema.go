package mongolog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"carillon/internal/common"
)

// schema migrates the database to the version of this program. Every process tries at its first use: all
// steps may be repeated and may run in several processes at once. A version is a document of its own,
// inserted when its step is done; the highest one counts.
type schema struct {
	db   *mongo.Database
	done atomic.Bool
	turn chan struct{} // a semaphore of one, held during a try

	// Both are owned by the holder of turn.
	failedAt time.Time
	failure  error
}

type schemaDoc struct {
	ID      string `bson:"_id"`
	Version int    `bson:"version"`
}

// How often a migration is tried, and the shortest pause in between; pauses grow and are jittered, so that
// processes do not collide again.
const (
	attempts   = 5
	firstPause = 50 * time.Millisecond
)

// step migrates from one version to the next.
type step func(ctx context.Context, db *mongo.Database) error

// steps returns all of them, oldest first. A released step is never edited.
func steps() []step { return []step{schema1} }

// schema1 creates the indexes. Each ends with (planned, _id), the order of every list. Chunks need none:
// their ids sort by run, position and stream.
func schema1(ctx context.Context, db *mongo.Database) error {
	order := bson.D{{Key: "planned", Value: -1}, {Key: "_id", Value: -1}}
	index := func(name string, keys bson.D) mongo.IndexModel {
		return mongo.IndexModel{Keys: keys, Options: options.Index().SetName(name)}
	}
	by := func(field string) bson.D { return append(bson.D{{Key: field, Value: 1}}, order...) }
	if _, err := db.Collection("runs").Indexes().CreateMany(ctx, []mongo.IndexModel{
		index("by_time", order),
		index("by_job", by("job")),
		index("by_status", by("status")),
		index("by_worker", by("worker")),
	}); err != nil {
		return err
	}
	_, err := db.Collection("changes").Indexes().CreateOne(ctx, index("by_name",
		bson.D{{Key: "kind", Value: 1}, {Key: "name", Value: 1}, {Key: "_id", Value: -1}}))
	return err
}

// additionsTimeout is long: an index over many runs takes minutes, and a shorter limit would interrupt it
// each time.
const additionsTimeout = 15 * time.Minute

// additions creates indexes that are no step of the schema, since older versions can read and write without
// them: all queries work without them, but more slowly. They are created by the upkeep, so that neither a
// worker nor a reader waits for them.
func additions(ctx context.Context, db *mongo.Database) error {
	ctx, cancel := context.WithTimeout(ctx, additionsTimeout)
	defer cancel()
	up := func(field string) bson.E { return bson.E{Key: field, Value: 1} }
	planned, id := bson.E{Key: "planned", Value: -1}, bson.E{Key: "_id", Value: -1}
	for _, index := range []struct {
		of, name string
		keys     bson.D
	}{
		{"rollups", "by_job", bson.D{up("kind"), up("job"), up("at"), up("version")}},
		{"rollups", "by_time", bson.D{up("kind"), up("at"), up("job"), up("version")}},
		{"gone", "by_job", bson.D{up("job")}},
		{"changes", "by_time", bson.D{up("at")}},
		{"changes", "by_seq", bson.D{up("seq")}},
		{"changes", "by_kind", bson.D{up("kind"), id}},
		{"changes", "by_actor", bson.D{up("actor"), id}},
		{"changes", "by_verb", bson.D{up("verb"), id}},
		{"runs", "by_group", bson.D{up("group"), planned, id}},
		{"runs", "by_exit", bson.D{up("exit"), planned, id}},
		{"runs", "by_flow", bson.D{up("flow"), planned, id}},
		{"runs", "by_node", bson.D{up("node"), planned, id}},
	} {
		if err := again(ctx, func(ctx context.Context) error {
			of := db.Collection(index.of).Indexes()
			there, err := of.ListSpecifications(ctx)
			if err != nil || slices.ContainsFunc(there, func(i mongo.IndexSpecification) bool {
				return i.Name == index.name
			}) {
				return err
			}
			_, err = of.CreateOne(ctx, mongo.IndexModel{Keys: index.keys, Options: options.Index().SetName(index.name)})
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// ensure returns nil once the schema is up to date. While the server is unavailable the goroutines that wait
// for the same attempt share its failure, so that none waits for more than one.
func (s *schema) ensure(ctx context.Context) error {
	if s.done.Load() {
		return nil
	}
	began := time.Now()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	switch {
	case s.done.Load():
		return nil
	case s.failedAt.After(began):
		return s.failure
	}
	err := again(ctx, s.migrate)
	switch {
	case err == nil:
		s.done.Store(true)
	case ctx.Err() == nil: // a cancelled caller says nothing about the server
		s.failedAt, s.failure = time.Now(), err
	}
	return err
}

// again executes a step, and repeats it if a connection broke: processes that start together may disturb each
// other's first steps, and each step may be repeated. It does not wait for an unreachable server.
func again(ctx context.Context, step func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		err := step(ctx)
		if err == nil || attempt == attempts || !mongo.IsNetworkError(err) {
			return err
		}
		pause := time.NewTimer(time.Duration(attempt)*firstPause + rand.N(firstPause))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		}
	}
}

func (s *schema) migrate(ctx context.Context) error {
	versions := s.db.Collection("schema")
	var newest schemaDoc
	err := versions.FindOne(ctx, bson.D{}, options.FindOne().SetSort(bson.D{{Key: "_id", Value: -1}})).Decode(&newest)
	if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
		return err
	}
	all := steps()
	if newest.Version > len(all) {
		return &common.Error{
			Code: common.CodeConflict,
			Message: fmt.Sprintf("the run log has schema version %d, this program knows versions up to %d",
				newest.Version, len(all)),
			Hint: "a newer Carillon uses this database; run that version, or restore a backup made before the upgrade",
		}
	}
	for version := newest.Version + 1; version <= len(all); version++ {
		if err := all[version-1](ctx, s.db); err != nil {
			return err
		}
		doc := schemaDoc{ID: fmt.Sprintf("%06d", version), Version: version}
		if _, err := versions.InsertOne(ctx, doc); err != nil && !mongo.IsDuplicateKeyError(err) {
			return err
		}
	}
	return nil
}
