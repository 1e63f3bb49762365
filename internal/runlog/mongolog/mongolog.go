// Package mongolog keeps the run log in MongoDB.
//
// It promises what the ports of package runlog promise. It only inserts and, for retention and upkeep,
// deletes; nothing is updated but the samples of a run, which later ones replace. Ids are derived from the stored
// data, so that a write can be repeated: a duplicate id means "stored already". Writes are acknowledged by a
// majority and its journals. Times are kept as Unix nanoseconds, because BSON's have milliseconds only, and lists
// are sorted by them.
//
// Statistics are counted by Tidy from the runs themselves, one hour of a job at a time; marks, which each
// Write adds after its runs, name the hours to be counted. The result of Tidy is a new version of the hour's
// roll-up under its own id: the first process to insert a version wins, the highest version counts, and
// earlier ones are deleted later. Therefore two processes that do the upkeep at the same time, which the
// election of masters makes rare, cannot corrupt anything. See versions.go and count.go, and expire.go for
// the deletion of runs.
//
// Any number of goroutines and processes may use the same database. The driver keeps goroutines of its own
// until Close. The size of a document is bounded by the limits of runs, chunks, changes and definitions, and
// below MongoDB's 16 MiB.
package mongolog

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

var _ interface {
	runlog.Writer
	runlog.Reader
	runlog.Statistics
	runlog.Upkeep
	runlog.Usages
} = (*Store)(nil)

// Time limits of an operation, unless the URI (serverSelectionTimeoutMS, connectTimeoutMS, timeoutMS) or the
// caller's context sets them.
const (
	selectTimeout  = 5 * time.Second
	connectTimeout = 5 * time.Second
	timeout        = 30 * time.Second
	closeTimeout   = 5 * time.Second
)

// DefaultDatabase is used if the configuration names none.
const DefaultDatabase = "carillon"

// Config holds the address of the run log.
type Config struct {
	URI      string // mongodb:// or mongodb+srv://; it may carry a password, which no error repeats
	Database string // DefaultDatabase if empty
	// Secure is called with the TLS config of the client, and may change it; may be nil.
	Secure func(*tls.Config)
}

// Store is a run log in MongoDB.
type Store struct {
	client      *mongo.Client
	runs        *mongo.Collection
	chunks      *mongo.Collection
	changes     *mongo.Collection
	late        *mongo.Collection
	usage       *mongo.Collection
	definitions *mongo.Collection
	marks       *mongo.Collection
	rollups     *mongo.Collection
	gone        *mongo.Collection
	schema      schema
	scan        scan
	upkeep      upkeep
	secrets     *strings.Replacer // removes the password from error texts
}

// Open returns a store. It does not wait for the server: while the server is unavailable, Ping, Write and the
// reads return common.CodeUnavailable, and the first of them that reaches it migrates the schema. Only a URI
// that can never work is an error, with common.CodeInvalid.
func Open(_ context.Context, cfg Config) (*Store, error) {
	name := cfg.Database
	if name == "" {
		name = DefaultDatabase
	}
	// Later calls win: the URI may change the limits above, but not the durability.
	opts := options.Client().
		SetAppName("carillon").
		SetServerSelectionTimeout(selectTimeout).
		SetConnectTimeout(connectTimeout).
		SetTimeout(timeout).
		ApplyURI(cfg.URI).
		SetReadPreference(readpref.Primary()).
		SetWriteConcern(&writeconcern.WriteConcern{W: "majority", Journal: new(true)})
	if cfg.Secure != nil && opts.TLSConfig != nil {
		cfg.Secure(opts.TLSConfig)
	}
	client, err := mongo.Connect(opts)
	if err != nil {
		return nil, badURI(cfg.URI, err)
	}
	db := client.Database(name)
	return &Store{
		client:      client,
		runs:        db.Collection("runs"),
		chunks:      db.Collection("chunks"),
		changes:     db.Collection("changes"),
		late:        db.Collection("late"),
		usage:       db.Collection("usage"),
		definitions: db.Collection("definitions"),
		marks:       db.Collection("marks"),
		rollups:     db.Collection("rollups"),
		gone:        db.Collection("gone"),
		scan:        scan{entries: 10_000, texts: 2_000},
		upkeep:      upkeep{old: map[string]bool{}, rests: map[jobHour]rest{}},
		schema:      schema{db: db, turn: make(chan struct{}, 1)},
		secrets:     secretsOf(cfg.URI),
	}, nil
}

// Ping reports whether the server answers with a known schema: it returns common.CodeUnavailable, or
// common.CodeConflict for a newer schema.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	if err := s.client.Ping(ctx, readpref.Primary()); err != nil {
		return s.failed(ctx, "ping the run log", err)
	}
	return nil
}

// Close ends the store's connections.
func (s *Store) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := s.client.Disconnect(ctx); err != nil {
		return fmt.Errorf("close the run log: %w", s.failure(ctx, err))
	}
	return nil
}

// ready migrates the schema, once.
func (s *Store) ready(ctx context.Context) error {
	if err := s.schema.ensure(ctx); err != nil {
		return s.failed(ctx, "prepare the run log", err)
	}
	return nil
}

func (s *Store) failed(ctx context.Context, doing string, err error) error {
	return fmt.Errorf("%s: %w", doing, s.failure(ctx, err))
}

// badURI explains an invalid URI. The text of the driver's error may quote any part of the URI, so it is left
// out if the URI has a password.
func badURI(uri string, err error) error {
	e := &common.Error{
		Code:    common.CodeInvalid,
		Message: "the MongoDB URI cannot be used",
		Hint: "write mongodb://user:password@host:27017/?replicaSet=name; characters such as : / ? # [ ] @ % " +
			"in the password are written as % and two hexadecimal digits",
	}
	if !strings.Contains(uri, "@") {
		e.Err = err
	}
	return e
}
