// Package mongolog keeps the run log in MongoDB.
//
// It promises what the ports of package runlog promise. It only ever inserts and, where
// upkeep says so, deletes; nothing is updated. Ids follow from what is stored, so that a
// write can be repeated: a duplicate id means "stored already". Writes are acknowledged by a majority and
// its journals. Times are kept as Unix nanoseconds, because BSON's have
// milliseconds only, and lists are sorted by them.
//
// Statistics are counted by Tidy from the runs themselves, a job's hour at a time; which
// hours are to be counted, marks say, which each Write leaves behind its runs. What Tidy
// has counted is a new version of the hour's roll-up under an id of its own: who inserts a
// version first wins, the highest one counts, and those before it go later. Hence two
// processes that do the upkeep at once, which the election of masters makes rare, cannot
// spoil anything. See versions.go and count.go, and
// expire.go for how runs go.
//
// Any number of goroutines and processes may use the same database. The driver
// keeps goroutines of its own until Close. What is stored in one document is
// bounded by what runs, chunks and changes may hold, far below MongoDB's 16 MiB.
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
} = (*Store)(nil)

// What an operation may take, where neither the URI (serverSelectionTimeoutMS,
// connectTimeoutMS, timeoutMS) nor the caller's context says so.
const (
	selectTimeout  = 5 * time.Second
	connectTimeout = 5 * time.Second
	timeout        = 30 * time.Second
	closeTimeout   = 5 * time.Second
)

// DefaultDatabase is used where the configuration names none.
const DefaultDatabase = "carillon"

// Config says where the run log is.
type Config struct {
	URI      string // mongodb:// or mongodb+srv://; it may carry a password, which no error repeats
	Database string // DefaultDatabase if empty
	// Secure hears how TLS is spoken, and may change it; nil for nobody.
	Secure func(*tls.Config)
}

// Store is a run log in MongoDB.
type Store struct {
	client  *mongo.Client
	runs    *mongo.Collection
	chunks  *mongo.Collection
	changes *mongo.Collection
	late    *mongo.Collection
	marks   *mongo.Collection
	rollups *mongo.Collection
	gone    *mongo.Collection
	schema  schema
	scan    scan
	upkeep  upkeep
	secrets *strings.Replacer // takes the password out of error texts
}

// Open makes a store. It does not wait for the server: one that is away makes
// Ping, Write and the reads answer common.CodeUnavailable until it is back, and
// the first of them that reaches it brings the schema up to date. Only a URI that
// can never work is an error, with common.CodeInvalid.
func Open(_ context.Context, cfg Config) (*Store, error) {
	name := cfg.Database
	if name == "" {
		name = DefaultDatabase
	}
	// Later calls win: the URI may change the limits above, but not what is durable.
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
		client:  client,
		runs:    db.Collection("runs"),
		chunks:  db.Collection("chunks"),
		changes: db.Collection("changes"),
		late:    db.Collection("late"),
		marks:   db.Collection("marks"),
		rollups: db.Collection("rollups"),
		gone:    db.Collection("gone"),
		scan:    scan{entries: 10_000, texts: 2_000},
		upkeep:  upkeep{old: map[string]bool{}, rests: map[jobHour]rest{}},
		schema:  schema{db: db, turn: make(chan struct{}, 1)},
		secrets: secretsOf(cfg.URI),
	}, nil
}

// Ping tells whether the server answers and the schema is one that this program
// knows: common.CodeUnavailable, or common.CodeConflict for a newer schema.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	if err := s.client.Ping(ctx, readpref.Primary()); err != nil {
		return s.failed(ctx, "ask the run log", err)
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

// ready brings the schema up to date, once.
func (s *Store) ready(ctx context.Context) error {
	if err := s.schema.ensure(ctx); err != nil {
		return s.failed(ctx, "prepare the run log", err)
	}
	return nil
}

func (s *Store) failed(ctx context.Context, doing string, err error) error {
	return fmt.Errorf("%s: %w", doing, s.failure(ctx, err))
}

// badURI explains a URI that cannot be used. The driver's own words may quote any
// part of it, so they are left out where it carries a password.
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
