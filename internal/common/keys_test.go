package common

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSplitKey(t *testing.T) {
	for _, c := range []struct {
		prefix, key, a, b string
		fails             bool
	}{
		{prefix: RunsPrefix, key: RecordKey("job", "run"), a: "job", b: "run"},
		{prefix: JobsPrefix, key: JobKey("job"), a: "job"},
		{prefix: RunsPrefix, key: RecordsOf("job"), a: "job"},
		{prefix: RunsPrefix, key: JobKey("job"), fails: true},
		{prefix: RunsPrefix, key: RunsPrefix, fails: true},
		{prefix: RunsPrefix, key: RunsPrefix + "/run", fails: true},
		{prefix: RunsPrefix, key: RecordKey("job", "run") + "/more", fails: true},
		{prefix: RunsPrefix, key: "", fails: true},
	} {
		a, b, err := SplitKey(c.prefix, c.key)
		if a != c.a || b != c.b || (err != nil) != c.fails {
			t.Errorf("%s under %s: %q, %q, %v", c.key, c.prefix, a, b, err)
		}
	}
}

// No prefix contains keys of another kind, or those of a job whose name begins alike.
func TestPrefixes_DoNotOverlap(t *testing.T) {
	prefixes := []string{JobsPrefix, CursorPrefix, LockPrefix, RunsPrefix, OutboxPrefix, TriggersPrefix, KillerPrefix,
		WorkersPrefix, ChangesPrefix, AuthPrefix, FlowsPrefix, FlowRunsPrefix, FlowNodesPrefix, FlowWaitsPrefix,
		AttemptsPrefix, AfterPrefix, SucceededPrefix}
	for i, p := range prefixes {
		for j, q := range prefixes {
			if i != j && strings.HasPrefix(p, q) {
				t.Errorf("%s lies under %s", p, q)
			}
		}
		if !strings.HasPrefix(p, Root) || !strings.HasSuffix(p, "/") {
			t.Errorf("%s is not a folder under %s", p, Root)
		}
	}
	name := rapid.StringMatching(NamePattern).Filter(ValidName)
	rapid.Check(t, func(t *rapid.T) {
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		run := name.Draw(t, "run")
		for _, of := range []struct {
			prefix func(string) string
			key    func(string, string) string
			root   string
		}{{LocksOf, LockKey, LockPrefix}, {RecordsOf, RecordKey, RunsPrefix}, {OutboxOf, OutboxKey, OutboxPrefix},
			{TriggersOf, TriggerKey, TriggersPrefix}, {KillsOf, KillKey, KillerPrefix}} {
			key := of.key(a, run)
			if under := strings.HasPrefix(key, of.prefix(b)); under != (a == b) {
				t.Fatalf("%s under %s: %v", key, of.prefix(b), under)
			}
			if first, second, err := SplitKey(of.root, key); err != nil || first != a || second != run {
				t.Fatalf("%s is read as %q, %q, %v", key, first, second, err)
			}
		}
	})
}

// FuzzSplitKey checks that the parts that SplitKey returns form the key again, and that nothing panics.
func FuzzSplitKey(f *testing.F) {
	f.Add(RunsPrefix, "/cron/runs/a/b")
	f.Add(RunsPrefix, "/cron/runs/a/b/c")
	f.Add("", "a/")
	f.Add(JobsPrefix, "\xff\x00")
	f.Fuzz(func(t *testing.T, prefix, key string) {
		a, b, err := SplitKey(prefix, key)
		if err != nil {
			if strings.ContainsFunc(err.Error(), func(r rune) bool {
				return r < ' '
			}) && !strings.ContainsFunc(prefix, func(r rune) bool { return r < ' ' }) {
				t.Fatalf("the error forges lines: %q", err)
			}
			return
		}
		if back := prefix + a + "/" + b; back != key && prefix+a != key {
			t.Fatalf("%q is read as %q, %q", key, a, b)
		}
		if a == "" || strings.Contains(a+b, "/") {
			t.Fatalf("%q is read as %q, %q", key, a, b)
		}
	})
}

// FuzzTimeKey checks that times are decoded as they were encoded, and sort in byte order.
func FuzzTimeKey(f *testing.F) {
	f.Add(int64(0), int64(1))
	f.Add(int64(-1), int64(1<<63-1))
	f.Add(int64(999_999_999), int64(1_000_000_000))
	f.Fuzz(func(t *testing.T, a, b int64) {
		keyA, keyB := TimeKey(time.Unix(0, a)), TimeKey(time.Unix(0, b))
		a, b = max(a, 0), max(b, 0)
		if got := cmp.Compare(keyA, keyB); got != cmp.Compare(a, b) {
			t.Fatalf("%s and %s are ordered %d", keyA, keyB, got)
		}
		back, err := ParseTimeKey(keyA)
		if err != nil || back.UnixNano() != a || back.Location() != time.UTC || TimeKey(back) != keyA {
			t.Fatalf("%s is read as %v, %v", keyA, back, err)
		}
	})
}

// FuzzParseTimeKey checks that only texts that TimeKey writes are accepted.
func FuzzParseTimeKey(f *testing.F) {
	for _, s := range []string{"", "0", "00000000000000000000", "09223372036854775807", "09223372036854775808",
		"+0000000000000000001",
		"-0000000000000000001", "0000000000_000000001", "0x000000000000000001", "00000000000000000001 ", "٠٠٠٠٠٠٠٠٠٠"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if at, err := ParseTimeKey(s); err == nil && TimeKey(at) != s {
			t.Fatalf("%q is read as %v", s, at)
		}
	})
}

// All processes that plan a fire compute the same run id, and no two fires share one.
func TestRunID_SameFire_SameID(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	uid, other := NewID(), NewID()
	elsewhere := at.In(time.FixedZone("", 3600))
	if PlannedFire(uid, at) != PlannedFire(uid, elsewhere) {
		t.Error("the name of a fire depends on the zone")
	}
	ids := []string{
		RunID(PlannedFire(uid, at), 0), RunID(PlannedFire(uid, at), 1), RunID(PlannedFire(uid, at), 11),
		RunID(PlannedFire(uid, at.Add(1)), 1),
		RunID(PlannedFire(other, at), 1), RunID(TriggeredFire(uid, "x"), 1), RunID(TriggeredFire(uid, TimeKey(at)), 1),
		RunID(TriggeredFire(uid, "x"), 0), GapID(uid, at), GapID(uid, at.Add(1)), GapID(other, at),
	}
	slices.Sort(ids)
	if distinct := slices.Compact(slices.Clone(ids)); len(distinct) != len(ids) {
		t.Errorf("names meet: %v", ids)
	}
	for _, id := range ids {
		if !ValidName(id) {
			t.Errorf("%q does not fit into a key", id)
		}
	}
}

func TestPassedOver(t *testing.T) {
	cursor := time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC)
	job := &JobState{StoredJob: StoredJob{UID: "u", Job: Job{Name: "j", Group: "g"}}, Version: 9, Cursor: cursor}
	last := cursor.Add(time.Hour)
	one := PassedOver(job, last, 1, StatusMissed, Reason{Code: "late"})
	if one.ID != RunID(PlannedFire("u", last), 0) || one.Gap != nil || one.Status != StatusMissed ||
		!one.Status.Terminal() || !one.PlannedAt.Equal(last) ||
		one.Job != "j" || one.Group != "g" || one.JobVersion != 9 || one.Reason.Code != "late" || one.Attempt != 0 {
		t.Errorf("one fire: %+v", one)
	}
	many := PassedOver(job, last, 60, StatusMissed, Reason{Code: "late"})
	if many.ID != GapID("u", cursor) || many.Gap == nil || *many.Gap != (Gap{From: cursor, To: last, Count: 60}) ||
		!many.PlannedAt.Equal(last) {
		t.Errorf("many fires: %+v", many)
	}
}
