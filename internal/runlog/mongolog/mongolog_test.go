package mongolog_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/conformance"
	"carillon/internal/runlog/mongolog"
	"carillon/internal/runlog/mongotest"
)

// impatient shortens the time until an unavailable server is detected.
const impatient = "?serverSelectionTimeoutMS=400&connectTimeoutMS=400"

func open(t *testing.T, uri, database string) *mongolog.Store {
	t.Helper()
	s, err := mongolog.Open(t.Context(), mongolog.Config{URI: uri, Database: database})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestConformanceOnTheDouble(t *testing.T) {
	t.Parallel()
	server := mongotest.Start(t)
	var count atomic.Int32
	conformance.Run(t, func(t *testing.T) conformance.Store {
		return open(t, server.URI, fmt.Sprintf("conformance%d", count.Add(1))).Narrow(60, 40)
	}, conformance.Modest)
}

// The server for measurements answers as the double does, and keeps acknowledged writes.
func TestConformanceOnTheFastDouble(t *testing.T) {
	t.Parallel()
	server := mongotest.StartFast(t)
	var count atomic.Int32
	conformance.Run(t, func(t *testing.T) conformance.Store {
		return open(t, server.URI, fmt.Sprintf("conformance%d", count.Add(1))).Narrow(60, 40)
	}, conformance.Modest)
	conformance.Outage(t, open(t, server.URI+impatient, ""), server.Stop, server.Start)
}

func TestConformanceOnMongoDB(t *testing.T) {
	uri := os.Getenv("CARILLON_TEST_MONGODB_URI")
	if uri == "" {
		t.Skip("SKIPPED: set CARILLON_TEST_MONGODB_URI to test on a MongoDB; databases carillon_conformance… are " +
			"made and dropped")
	}
	var count atomic.Int32
	conformance.Run(t, func(t *testing.T) conformance.Store {
		name := fmt.Sprintf("carillon_conformance_%d_%d", os.Getpid(), count.Add(1))
		client := connect(t, uri)
		t.Cleanup(func() {
			if err := client.Database(name).Drop(t.Context()); err != nil {
				t.Logf("drop %s: %v", name, err)
			}
		})
		return open(t, uri, name)
	}, conformance.Full)
}

func connect(t *testing.T, uri string) *mongo.Client {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(t.Context()) })
	return client
}

func TestOutage(t *testing.T) {
	t.Parallel()
	server := mongotest.Start(t)
	conformance.Outage(t, open(t, server.URI+impatient, ""), server.Stop, server.Start)
}

func TestOpenWhileTheServerIsAway(t *testing.T) {
	t.Parallel()
	server := mongotest.Start(t)
	server.Stop()
	const secret = "p4ss/w:rd"
	withPassword := strings.Replace(server.URI, "mongodb://", "mongodb://carillon:p4ss%2Fw%3Ard@", 1) + impatient
	away := open(t, withPassword, "")
	err := away.Ping(t.Context())
	if common.CodeOf(err) != common.CodeUnavailable {
		t.Fatalf("ping: %v", err)
	}
	if text := err.Error(); strings.Contains(text, secret) || strings.Contains(text, "p4ss") {
		t.Errorf("the error tells the password: %s", text)
	}

	s := open(t, server.URI+impatient, "")
	conformance.Away(t, s)
	server.Start()
	conformance.Back(t, s)
	// Many first uses at once, by several processes.
	var group sync.WaitGroup
	for range 4 {
		other := open(t, server.URI, "another")
		for range 4 {
			group.Go(func() {
				if err := other.Ping(t.Context()); err != nil {
					t.Errorf("ping: %v", err)
				}
			})
		}
	}
	group.Wait()
}

func TestBadURI(t *testing.T) {
	for _, uri := range []string{
		"", "localhost:27017", "http://u:hunter2@h", "mongodb://u:hun/ter2@h:1/", "mongodb://u:hunter2%zz@h/",
		"mongodb://u:hunter2@h:port/", "mongodb://u:hunter2@h/?w=majority&w=x&tls=perhaps", "mongodb://u:hunter2@/",
	} {
		s, err := mongolog.Open(t.Context(), mongolog.Config{URI: uri})
		if err == nil {
			_ = s.Close()
			t.Errorf("%s: opened", uri)
			continue
		}
		if common.CodeOf(err) != common.CodeInvalid {
			t.Errorf("%s: %v has code %s", uri, err, common.CodeOf(err))
		}
		if text := err.Error(); strings.Contains(text, "hun") {
			t.Errorf("%s: the error tells the password: %s", uri, text)
		}
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	server := mongotest.Start(t)
	versions := connect(t, server.URI).Database("newer").Collection("schema")
	if _, err := versions.InsertOne(t.Context(),
		bson.D{{Key: "_id", Value: "000999"}, {Key: "version", Value: 999}}); err != nil {
		t.Fatal(err)
	}
	s := open(t, server.URI, "newer")
	if err := s.Ping(t.Context()); common.CodeOf(err) != common.CodeConflict || !strings.Contains(err.Error(), "999") {
		t.Errorf("ping: %v", err)
	}
	if _, err := s.Run(t.Context(), "u1.1"); common.CodeOf(err) != common.CodeConflict {
		t.Errorf("run: %v", err)
	}
}

func TestIndexesAreMade(t *testing.T) {
	server := mongotest.Start(t)
	if _, err := open(t, server.URI, "indexed").Tidy(t.Context(), runlog.Tidy{Now: noon}); err != nil {
		t.Fatal(err)
	}
	db := connect(t, server.URI).Database("indexed")
	for collection, want := range map[string][]string{
		"runs":    {"by_job", "by_status", "by_time", "by_worker", "by_group", "by_exit"},
		"changes": {"by_actor", "by_kind", "by_name", "by_seq", "by_time", "by_verb"},
		"rollups": {"by_job", "by_time"},
		"gone":    {"by_job"},
	} {
		specs, err := db.Collection(collection).Indexes().ListSpecifications(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, spec := range specs {
			names[spec.Name] = true
		}
		for _, name := range want {
			if !names[name] {
				t.Errorf("%s has no index %s", collection, name)
			}
		}
	}
}
