package mongolog_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/conformance"
	"carillon/internal/runlog/mongolog"
	"carillon/internal/runlog/mongotest"
	"carillon/internal/runlog/rollup"
)

var noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

func run(id string, planned time.Time) common.Run {
	started, ended := planned.Add(time.Second), planned.Add(3*time.Second)
	return common.Run{
		ID:        id,
		Job:       "report",
		JobUID:    "u1",
		Fire:      id,
		PlannedAt: planned,
		Cause:     common.CauseCron,
		Attempt:   1,
		Status:    common.StatusFailed,
		Worker:    "w1",
		StartedAt: &started,
		EndedAt:   &ended,
		ExitCode:  new(3),
		Group:     "ops",
		Note:      "the disk is full",
	}
}

func tidy(ctx context.Context, s *mongolog.Store) (all runlog.Tidied, err error) {
	for more := true; more && err == nil; {
		var done runlog.Tidied
		done, err = s.Tidy(ctx, runlog.Tidy{Now: noon.AddDate(0, 0, 5)})
		all.Counted += done.Counted
		all.Repaired += done.Repaired
		more = done.More
	}
	return all, err
}

// counted returns how many runs the roll-ups of all kinds count; they must agree.
func counted(t *testing.T, s *mongolog.Store) int64 {
	t.Helper()
	var counts [4]int64
	for i, q := range []runlog.RollupQuery{{Job: "report"}, {Job: "report", Days: true, Workers: true}, {},
		{Days: true}} {
		q.From, q.To = noon.AddDate(0, 0, -2), noon.AddDate(0, 0, 2)
		rows, err := s.Rollups(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			counts[i] += row.Cell.Total()
		}
	}
	if counts[1] != counts[0] || counts[2] != counts[0] || counts[3] != counts[0] {
		t.Fatalf("hours, days, hours of all and days of all count %d runs", counts)
	}
	return counts[0]
}

// Whichever write of the upkeep is its last, with or without effect, the next process finishes it: nothing is
// counted twice or missed, and nothing is left of deleted runs.
func TestUpkeep_BrokenOffAnywhere_IsContinued(t *testing.T) {
	t.Parallel()
	server := mongotest.Start(t)
	// One run of the test tries half of them, since the double is slow.
	first := rand.N(2)
	for n := 1; ; n++ {
		if applied := n%2 == first; !brokenOff(t, server.URI, n, applied) {
			if n < 15 {
				t.Errorf("it takes %d writes only", n-1)
			}
			return
		}
	}
}

// brokenOff interrupts the upkeep of a database of its own at the n-th write, and reports whether there was
// one.
func brokenOff(t *testing.T, uri string, n int, applied bool) bool {
	t.Helper()
	database := fmt.Sprintf("broken%d", n)
	healthy := open(t, uri, database)
	var b runlog.Batch
	for i := range 6 {
		r := run(fmt.Sprintf("u1.%d", i), noon.Add(time.Duration(i/2)*time.Hour+time.Duration(i)))
		b.Runs = append(b.Runs, r)
		b.Chunks = append(b.Chunks, common.Chunk{Run: r.ID, Stream: common.Stdout, At: noon, Data: []byte("printed")})
		b.Late = append(b.Late, common.LateEnd{Run: r.ID, Status: common.StatusFailed})
	}
	if err := healthy.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	proxy := breakAfter(t, uri, int64(n), applied)
	failing := open(t, proxy.uri+"?serverSelectionTimeoutMS=50&connectTimeoutMS=400", database)
	upkeep := func(s *mongolog.Store) error {
		_, err := s.Expire(t.Context(), runlog.Expiry{Job: "report", Keep: 1, Limit: 100})
		if err == nil {
			_, err = tidy(t.Context(), s)
		}
		return err
	}
	broken := upkeep(failing)
	proxy.stop()
	if broken != nil && common.CodeOf(broken) != common.CodeUnavailable {
		t.Fatalf("broken off at write %d: %v", n, broken)
	}
	list, err := healthy.Runs(t.Context(), runlog.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list.Runs {
		if chunks, err := healthy.Output(t.Context(), r.ID, 0, 100); err != nil || len(chunks) != 1 {
			t.Errorf("broken off at write %d (applied: %v): run %s is there without its output, %v", n,
				applied, r.ID, err)
		}
	}
	if err := upkeep(healthy); err != nil {
		t.Fatalf("after write %d: %v", n, err)
	}
	if got := counted(t, healthy); got != 6 {
		t.Errorf("broken off at write %d (applied: %v): %d of 6 runs are counted", n, applied, got)
	}
	db := connect(t, uri).Database(database)
	for collection, want := range map[string]int64{"runs": 1, "chunks": 1, "late": 1, "gone": 0, "marks": 0} {
		if got, err := db.Collection(collection).CountDocuments(t.Context(), bson.D{}); err != nil || got != want {
			t.Errorf("broken off at write %d (applied: %v): %d %s, %v, want %d", n, applied, got, collection, err, want)
		}
	}
	return broken != nil
}

// breaker interrupts a store's connection to its server after so many write commands.
type breaker struct {
	uri    string
	stop   func()
	server string
	left   atomic.Int64
	apply  bool // the last one reaches the server, but its response is lost
}

func breakAfter(t *testing.T, server string, writes int64, apply bool) *breaker {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimSuffix(strings.TrimPrefix(server, "mongodb://"), "/")
	b := &breaker{uri: strings.Replace(server, host, listener.Addr().String(), 1), server: host, apply: apply}
	b.left.Store(writes)
	var group sync.WaitGroup
	group.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() { b.carry(client) })
		}
	})
	b.stop = sync.OnceFunc(func() {
		b.left.Store(0)
		_ = listener.Close()
	})
	t.Cleanup(func() {
		b.stop()
		group.Wait()
	})
	return b
}

func (b *breaker) carry(client net.Conn) {
	defer func() { _ = client.Close() }()
	if b.left.Load() <= 0 {
		return
	}
	server, err := net.Dial("tcp", b.server)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var answers sync.WaitGroup
	defer answers.Wait()
	mute := &atomic.Bool{}
	answers.Go(func() {
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			if err != nil || mute.Load() {
				_ = client.Close()
				return
			}
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
	})
	defer func() { _ = server.Close() }()
	for {
		message, err := nextMessage(client)
		if err != nil || b.left.Load() <= 0 {
			return
		}
		last := writes(message) && b.left.Add(-1) == 0
		if last && !b.apply {
			return
		}
		if last {
			mute.Store(true)
		}
		if _, err := server.Write(message); err != nil {
			return
		}
		if last {
			answers.Wait()
			return
		}
	}
}

func nextMessage(from io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(length[:])
	if size < 16 || size > 48<<20 {
		return nil, errors.New("no message")
	}
	message := append(length[:], make([]byte, size-4)...)
	_, err := io.ReadFull(from, message[4:])
	return message, err
}

// writes reports whether a message is a command that inserts or deletes: its name follows the
// header, the flags, the section's kind, the document's length and the element's type.
func writes(message []byte) bool {
	const at = 16 + 4 + 1 + 4 + 1
	return len(message) > at && (bytes.HasPrefix(message[at:], []byte("insert\x00")) ||
		bytes.HasPrefix(message[at:], []byte("delete\x00")))
}

// Two concurrent upkeeps, and a concurrent writer, corrupt nothing.
func TestTidy_TwoAtOnce_CountOnce(t *testing.T) {
	t.Parallel()
	server := mongotest.Start(t)
	const batches, each = 12, 10
	writer := open(t, server.URI, "two")
	if err := writer.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	var ends atomic.Bool
	var group sync.WaitGroup
	for range 2 {
		s := open(t, server.URI, "two")
		group.Go(func() {
			for round := 0; ; round++ {
				last := ends.Load()
				_, err := s.Expire(t.Context(), runlog.Expiry{Job: "report", Keep: 15, Limit: 7 + round%5})
				if err == nil {
					_, err = tidy(t.Context(), s)
				}
				if err != nil && common.CodeOf(err) != common.CodeConflict {
					t.Error(err)
				}
				if last {
					return
				}
			}
		})
	}
	for i := range batches {
		var b runlog.Batch
		for j := range each {
			b.Runs = append(b.Runs, run(fmt.Sprintf("u1.%d.%d", i, j),
				noon.Add(time.Duration(j%3)*time.Hour+time.Duration(i*each+j))))
		}
		if err := writer.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	ends.Store(true)
	group.Wait()
	for {
		gone, err := writer.Expire(t.Context(), runlog.Expiry{Job: "report", Keep: 15, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		if !gone.More {
			break
		}
	}
	if _, err := tidy(t.Context(), writer); err != nil {
		t.Fatal(err)
	}
	if got := counted(t, writer); got != batches*each {
		t.Errorf("%d runs are counted, want %d", got, batches*each)
	}
	kept, err := writer.Kept(t.Context(), "", 10)
	if err != nil || len(kept) != 1 || kept[0].Runs != 15 {
		t.Errorf("kept: %+v, %v", kept, err)
	}
}

// A list reads a bounded number of entries of its leading filter, and returns where it stopped.
func TestRuns_RareMatches_EndEarly(t *testing.T) {
	t.Parallel()
	server := mongotest.Start(t)
	s := open(t, server.URI, "early").Narrow(10, 4)
	var b runlog.Batch
	for i := range 30 {
		r := run(fmt.Sprintf("u1.%02d", i), noon.Add(time.Duration(i)))
		if i%2 == 0 {
			r.Worker = "w2"
		}
		b.Runs = append(b.Runs, r)
	}
	if err := s.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q     runlog.Query
		until int // of the runs, or none
	}{
		{runlog.Query{Cause: common.CauseManual, Limit: 5}, 20},               // by time
		{runlog.Query{Worker: "w1", Cause: common.CauseManual, Limit: 5}, 11}, // by worker
		{runlog.Query{Worker: "w1", Text: "needle", Limit: 5}, 23},
		{runlog.Query{ExitCode: new(3), Text: "needle", Limit: 5}, 26},
		{runlog.Query{Worker: "w1", Limit: 5}, -1},
		{runlog.Query{Text: "disk", Limit: 4}, -1},
		{runlog.Query{Text: "needle", Limit: 5, From: noon.Add(27)}, -1},
		{runlog.Query{Text: "needle", Limit: 5, Fire: "u1"}, -1},
		{runlog.Query{Text: "needle"}, -1},
	} {
		found, err := s.Runs(t.Context(), c.q)
		if err != nil || (found.Until != nil) != (c.until >= 0) || found.Until != nil &&
			*found.Until != runlog.PositionOf(&b.Runs[c.until]) {
			t.Errorf("%+v: %d runs, until %v, %v", c.q, len(found.Runs), found.Until, err)
		}
	}
}

// Entries of an older version, including those that it writes concurrently, are found, counted and expired
// like all others.
func TestDocumentsOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	server := mongotest.Start(t)
	s := open(t, server.URI, "older")
	var runs []common.Run
	var changes []common.Change
	for i := range 6 {
		runs = append(runs, run(fmt.Sprintf("u1.%d", i), noon.Add(time.Duration(i/3)*time.Hour+time.Duration(i))))
		at := noon.Add(time.Duration(i) * time.Hour)
		changes = append(changes, common.Change{
			ID:    common.TimeKey(at) + "-x",
			At:    at,
			Verb:  "create",
			Kind:  "job",
			Name:  "report",
			Actor: common.Actor{Name: "me"},
		})
	}
	if err := s.Write(t.Context(), runlog.Batch{Runs: runs, Changes: changes}); err != nil {
		t.Fatal(err)
	}
	if _, err := tidy(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	// Half of them lose the fields that that version did not write, including the marks.
	db := connect(t, server.URI).Database("older")
	for collection, fields := range map[string][]string{"runs": {"exit", "cell"}, "changes": {"verb", "actor", "at"}} {
		cursor, err := db.Collection(collection).Find(t.Context(), bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		var docs []bson.M
		if err := cursor.All(t.Context(), &docs); err != nil {
			t.Fatal(err)
		}
		for i, d := range docs {
			for _, field := range fields {
				delete(d, field)
			}
			if collection == "runs" {
				d["_id"] = fmt.Sprintf("old.%d", i)
				d["doc"] = strings.Replace(d["doc"].(string), `"id":"u1.`, `"id":"old.`, 1)
			} else {
				d["_id"] = d["_id"].(string) + "-old"
				d["doc"] = strings.Replace(d["doc"].(string), `-x"`, `-x-old"`, 1)
			}
			if _, err := db.Collection(collection).InsertOne(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
	}

	for _, q := range []runlog.Query{{ExitCode: new(3)}, {ExitCode: new(3), Limit: 20},
		{ExitCode: new(3), Group: "ops", Limit: 20}, {Text: "DISK", Limit: 20}} {
		if found, err := s.Runs(t.Context(), q); err != nil || len(found.Runs) != 12 {
			t.Errorf("%+v: %d of 12 runs, %v", q, len(found.Runs), err)
		}
	}
	if found, err := s.Runs(t.Context(), runlog.Query{ExitCode: new(4), Limit: 20}); err != nil ||
		len(found.Runs) != 0 {
		t.Errorf("exit code 4: %d runs, %v", len(found.Runs), err)
	}
	for _, q := range []runlog.ChangeQuery{{Verb: "create"}, {Actor: "me"}, {From: noon, To: noon.Add(6 * time.Hour)}} {
		if list, err := s.Changes(t.Context(), q); err != nil || len(list) != 12 {
			t.Errorf("%+v: %d of 12 changes, %v", q, len(list), err)
		}
	}
	if list, err := s.Changes(t.Context(), runlog.ChangeQuery{Verb: "delete"}); err != nil || len(list) != 0 {
		t.Errorf("verb delete: %d changes, %v", len(list), err)
	}

	if got := counted(t, s); got != 6 {
		t.Errorf("%d runs are counted, want 6", got)
	}
	later := open(t, server.URI, "older") // another master
	done, err := tidy(t.Context(), later)
	if err != nil || done.Repaired != 2 {
		t.Errorf("repaired: %+v, %v", done, err)
	}
	if got := counted(t, s); got != 12 {
		t.Errorf("%d runs are counted, want 12", got)
	}
	if _, err := s.Tidy(t.Context(), runlog.Tidy{Now: noon, Changes: noon.Add(2 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Changes(t.Context(), runlog.ChangeQuery{}); err != nil || len(list) != 8 {
		t.Errorf("%d of 8 changes are left, %v", len(list), err)
	}
}

// An hour into which an older version writes is checked after its end, even if the search of the past has
// passed it.
func TestTidy_LastHour_IsChecked(t *testing.T) {
	t.Parallel()
	server := mongotest.Start(t)
	s := open(t, server.URI, "hour")
	at := func(now time.Time) runlog.Tidied {
		done, err := s.Tidy(t.Context(), runlog.Tidy{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	at(noon.Add(time.Minute))
	r := run("u1.1", noon.Add(30*time.Minute))
	if err := s.Write(t.Context(), runlog.Batch{Runs: []common.Run{r}}); err != nil {
		t.Fatal(err)
	}
	if _, err := connect(t, server.URI).Database("hour").Collection("marks").DeleteMany(t.Context(),
		bson.D{}); err != nil {
		t.Fatal(err)
	}
	if at(noon.Add(40 * time.Minute)); counted(t, s) != 0 {
		t.Error("counted without a mark before the hour is over")
	}
	if done := at(rollup.HourOf(noon.Add(time.Hour)).Add(time.Minute)); done.Repaired != 1 || counted(t, s) != 1 {
		t.Errorf("when the hour is over: %+v", done)
	}
}

// Runs that are deleted before they were counted, which is possible for those of an older version, are
// counted during the deletion, in all roll-ups.
func TestExpire_UncountedRuns_AreCounted(t *testing.T) {
	t.Parallel()
	server := mongotest.Start(t)
	s := open(t, server.URI, "uncounted")
	runs := []common.Run{run("u1.1", noon), run("u1.2", noon.Add(time.Minute)), run("u1.3", noon.Add(time.Hour))}
	if err := s.Write(t.Context(), runlog.Batch{Runs: runs}); err != nil {
		t.Fatal(err)
	}
	if _, err := connect(t, server.URI).Database("uncounted").Collection("marks").DeleteMany(t.Context(),
		bson.D{}); err != nil {
		t.Fatal(err)
	}
	if gone, err := s.Expire(t.Context(), runlog.Expiry{Job: "report", Keep: 2, Limit: 10}); err != nil ||
		gone.Runs != 1 {
		t.Fatalf("went: %+v, %v", gone, err)
	}
	if gone, err := s.Expire(t.Context(), runlog.Expiry{
		Job:    "report",
		Before: noon.Add(2 * time.Hour),
		Limit:  10,
	}); err != nil || gone.Runs != 2 {
		t.Fatalf("went: %+v, %v", gone, err)
	}
	if _, err := tidy(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if got := counted(t, s); got != 3 {
		t.Errorf("%d of 3 runs are counted", got)
	}
}

// The counts of a run are stored beside its document, which is not read for roll-ups.
func TestDocumentsAreNotReadToCount(t *testing.T) {
	t.Parallel()
	server := mongotest.Start(t)
	s := open(t, server.URI, "cells")
	succeeded := run("u1.2", noon.Add(time.Minute))
	succeeded.Status, succeeded.ExitCode, succeeded.Worker = common.StatusSucceeded, new(0), "w2"
	if err := s.Write(t.Context(), runlog.Batch{Runs: []common.Run{run("u1.1", noon), succeeded}}); err != nil {
		t.Fatal(err)
	}
	runs := connect(t, server.URI).Database("cells").Collection("runs")
	cursor, err := runs.Find(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	var docs []bson.M
	if err := cursor.All(t.Context(), &docs); err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		if _, err := runs.DeleteOne(t.Context(), bson.D{{Key: "_id", Value: d["_id"]}}); err != nil {
			t.Fatal(err)
		}
		d["doc"] = "cannot be read"
		if _, err := runs.InsertOne(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tidy(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if got := counted(t, s); got != 2 {
		t.Errorf("%d of 2 runs are counted", got)
	}
	totals, err := s.Totals(t.Context(), []string{"report"}, noon, noon.Add(time.Hour))
	total := totals["report"]
	if err != nil || total.Of(common.StatusFailed) != 1 || total.Of(common.StatusSucceeded) != 1 ||
		total.Duration.Count != 1 || total.Duration.Sum != 2*time.Second || total.Delay.Count != 2 ||
		total.Delay.Max != time.Second {
		t.Errorf("%+v, %v", total, err)
	}
}

// An hour of a job with many runs is not counted again for each new run: it rests for a while, and is exact
// after that. A resting hour is no work left to do at once, and stays marked.
func TestTidy_BusyHours_AreCountedSeldom(t *testing.T) {
	t.Parallel()
	server := mongotest.Start(t)
	s := open(t, server.URI, "busy")
	marks := connect(t, server.URI).Database("busy").Collection("marks")
	written, others := 0, 0
	add := func(n int) {
		t.Helper()
		other := run(fmt.Sprintf("u2.%d", others), noon.Add(time.Duration(others)))
		other.Job = "other"
		others++
		b := runlog.Batch{Runs: []common.Run{other}}
		for range n {
			b.Runs = append(b.Runs, run(fmt.Sprintf("u1.%d", written), noon.Add(time.Duration(written))))
			written++
		}
		if err := s.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	check := func(s *mongolog.Store, now time.Time, want, left int) {
		t.Helper()
		for range 20 {
			done, err := s.Tidy(t.Context(), runlog.Tidy{Now: now})
			if err != nil || done.Repaired > 0 {
				t.Fatalf("%+v, %v", done, err)
			}
			if done.More {
				continue
			}
			totals, err := s.Totals(t.Context(), []string{"report", "other"}, noon, noon.Add(time.Hour))
			busy, other := totals["report"], totals["other"]
			if err != nil || busy.Total() != int64(want) || other.Total() != int64(others) {
				t.Errorf("%v: %d of the busy job and %d of the other are counted, want %d and %d, %v", now,
					busy.Total(), other.Total(), want, others, err)
			}
			if n, err := marks.CountDocuments(t.Context(), bson.D{}); err != nil || n != int64(left) {
				t.Errorf("%v: %d marks are left, want %d, %v", now, n, left, err)
			}
			return
		}
		t.Fatalf("%v: there is always more", now)
	}
	start := noon.Add(57 * time.Minute)
	add(2500)
	check(s, start, 2500, 0)
	add(1)
	add(1)
	check(s, start, 2500, 1)
	check(s, start.Add(time.Second), 2500, 1)
	add(1)
	check(s, start.Add(119*time.Second), 2500, 1)
	check(s, start.Add(2*time.Minute), written, 0)
	add(1)
	check(s, start.Add(3*time.Minute), written-1, 2) // the hour is over and checked, which leaves a mark, too
	check(s, start.Add(3*time.Minute), written-1, 1)
	check(open(t, server.URI, "busy"), start.Add(3*time.Minute), written, 0)
	add(1)
	check(s, start.Add(3*time.Minute+time.Second), written-1, 1)
	check(s, start.Add(time.Minute), written, 0) // the clock was set back
	for _, q := range []runlog.RollupQuery{{Job: "report"}, {Job: "report", Days: true, Workers: true}, {},
		{Days: true}} {
		want := written
		if q.Job == "" {
			want += others
		}
		q.From, q.To = noon.AddDate(0, 0, -1), noon.AddDate(0, 0, 1)
		if rows, err := s.Rollups(t.Context(), q); err != nil || len(rows) != 1 || rows[0].Cell.Total() != int64(want) {
			t.Errorf("%+v: %+v, %v, want %d", q, rows, err, want)
		}
	}
}

// Roll-ups and runs of an older version do not contain retries: they are counted again.
func TestTidy_RollupsWithoutRetries_GetThem(t *testing.T) {
	t.Parallel()
	server := mongotest.Start(t)
	s := open(t, server.URI, "retries")
	h := conformance.NewHistory(noon)
	// That version has no backfills.
	h.Ended = slices.DeleteFunc(h.Ended, func(r common.Run) bool { return r.Cause == common.CauseBackfill })
	if err := s.Write(t.Context(), runlog.Batch{Runs: h.Ended}); err != nil {
		t.Fatal(err)
	}
	tidyAll := func(s *mongolog.Store) {
		for range 50 {
			if done, err := s.Tidy(t.Context(), runlog.Tidy{Now: noon}); err != nil {
				t.Fatal(err)
			} else if !done.More {
				return
			}
		}
	}
	retries := func() (n int64) {
		rows, err := s.Rollups(t.Context(), runlog.RollupQuery{From: noon.AddDate(0, 0, -9), To: noon, Days: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			n += rows[i].Cell.Retries()
		}
		return n
	}
	tidyAll(s)
	want := retries()
	db := connect(t, server.URI).Database("retries")
	older := func(v any) any {
		var cell rollup.Cell
		if err := cell.AddEncoded(v.(bson.Binary).Data); err != nil {
			t.Fatal(err)
		}
		cell.Retried = rollup.Cell{}.Retried
		return cell.Encode()
	}
	for _, collection := range []string{"runs", "rollups"} {
		cursor, err := db.Collection(collection).Find(t.Context(), bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		var docs []bson.M
		if err := cursor.All(t.Context(), &docs); err != nil {
			t.Fatal(err)
		}
		for _, d := range docs {
			for _, field := range []string{"cell", "sum"} {
				if d[field] != nil {
					d[field] = older(d[field])
				}
			}
			if workers, found := d["workers"].(bson.A); found {
				for i := range workers {
					w := workers[i].(bson.D)
					workers[i] = bson.D{w[0], {Key: "cell", Value: older(w[1].Value)}}
				}
			}
			id := bson.D{{Key: "_id", Value: d["_id"]}}
			if _, err := db.Collection(collection).DeleteOne(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Collection(collection).InsertOne(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
	}
	if is := retries(); is != 0 || want == 0 {
		t.Fatalf("%d retries, want 0; %d were counted", is, want)
	}
	tidyAll(open(t, server.URI, "retries")) // another master
	if is := retries(); is != want {
		t.Errorf("%d retries after the repair, want %d", is, want)
	}
}
