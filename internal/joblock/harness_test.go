package joblock_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/joblock"
	"carillon/internal/platform/bootclock"
)

// shared is the etcd of the tests that neither stop nor compact it.
var shared etcdtest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

// story is a keyspace with a worker in it.
type story struct {
	*testing.T
	server  *etcdtest.Server
	client  *clientv3.Client
	session *joblock.Session
	claimer *joblock.Claimer
	finish  *joblock.Finisher
}

const me = "worker1"

func newStory(t *testing.T) *story { return storyOn(t, shared.Server(t)) }

// ownStory is for tests that count the revisions of etcd.
func ownStory(t *testing.T) *story { return storyOn(t, etcdtest.StartServer(t)) }

// storyOn empties a keyspace that a story before has used.
func storyOn(t *testing.T, server *etcdtest.Server) *story {
	s := &story{T: t, server: server, client: server.Client()}
	if _, err := s.client.Delete(t.Context(), "\x00", clientv3.WithFromKey()); err != nil {
		t.Fatal(err)
	}
	s.session = s.newSession()
	s.claimer = joblock.NewClaimer(s.client, s.session, me, quiet, nil)
	s.finish = joblock.NewFinisher(s.client, me, quiet)
	return s
}

// newSession runs a session until the test ends.
func (s *story) newSession() *joblock.Session {
	session := joblock.NewSession(s.client, 15*time.Second, bootclock.Now, slog.New(slog.DiscardHandler), func() {})
	s.background(session.Run)
	if _, err := session.Lease(s.Context()); err != nil {
		s.Fatal(err)
	}
	return session
}

// background runs a function until the test ends, and waits for it before the client is closed.
func (s *story) background(run func(context.Context) error) {
	ctx, cancel := context.WithCancel(s.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = run(ctx) }()
	s.Cleanup(func() { cancel(); <-done })
}

var (
	t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	t1 = t0.Add(time.Minute)
	t2 = t0.Add(2 * time.Minute)
)

// put writes a job and its cursor, and gives the job's version.
func (s *story) put(name string, cursor time.Time) int64 {
	s.Helper()
	job := common.StoredJob{Job: common.Job{Name: name, Command: "true"}, UID: "uid-" + name}
	resp, err := s.client.Txn(s.Context()).Then(clientv3.OpPut(common.JobKey(name), s.encode(job)),
		clientv3.OpPut(common.CursorKey(name), common.TimeKey(cursor))).Commit()
	if err != nil {
		s.Fatal(err)
	}
	return resp.Header.Revision
}

// changes etcd without a request of the code under test.
func (s *story) etcd(op clientv3.Op) {
	s.Helper()
	if _, err := s.client.Do(s.Context(), op); err != nil {
		s.Fatal(err)
	}
}

func (s *story) encode(v any) string {
	s.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		s.Fatal(err)
	}
	return string(data)
}

// planned is a claim of the fire at to.
func planned(name string, version int64, from, to time.Time) common.Claim {
	fire := common.PlannedFire("uid-"+name, to)
	record := common.Record{
		Run:        common.RunID(fire, 1),
		Fire:       fire,
		Job:        name,
		JobUID:     "uid-" + name,
		JobVersion: version,
		PlannedAt:  to,
		Attempt:    1,
		Cause:      common.CauseCron,
		Owner:      common.Life{Worker: me, Life: "life1"},
		Nonce:      common.NewID(),
		Policy:     common.Policy{Overlap: common.OverlapSkip, LostAfter: time.Minute},
		TTL:        15 * time.Second,
	}
	skipped := record.AsRun(common.StatusSkipped)
	skipped.ID, skipped.Attempt = common.RunID(fire, 0), 0
	return common.Claim{Job: name, Version: version, From: from, To: to, Record: record, Skipped: skipped}
}

func (s *story) claim(claims ...common.Claim) []common.ClaimResult {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 30*time.Second)
	defer cancel()
	return s.claimer.Claim(ctx, claims)
}

// keys lists what is under a prefix.
func (s *story) keys(prefix string) []string {
	s.Helper()
	resp, err := s.client.Get(s.Context(), prefix, clientv3.WithPrefix())
	if err != nil {
		s.Fatal(err)
	}
	keys := make([]string, len(resp.Kvs))
	for i, kv := range resp.Kvs {
		keys[i] = string(kv.Key)
	}
	return keys
}

// outbox reads the outcomes of this worker by id.
func (s *story) outbox() map[string]common.Run {
	s.Helper()
	pending, err := joblock.NewOutbox(s.client, me).Pending(s.Context(), 1000)
	if err != nil {
		s.Fatal(err)
	}
	runs := map[string]common.Run{}
	for _, r := range pending.Batch.Runs {
		runs[r.ID] = r
	}
	return runs
}

func (s *story) cursor(name string) time.Time {
	s.Helper()
	resp, err := s.client.Get(s.Context(), common.CursorKey(name))
	if err != nil || len(resp.Kvs) != 1 {
		s.Fatal("no cursor", err)
	}
	at, err := common.ParseTimeKey(string(resp.Kvs[0].Value))
	if err != nil {
		s.Fatal(err)
	}
	return at
}

func quiet(error) {}
