package members_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
)

// troubles collects what is reported.
type troubles struct {
	mu  sync.Mutex
	all []string
}

func (tr *troubles) tell(_ string, err error) {
	if err == nil {
		return
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.all = append(tr.all, err.Error())
}

func (tr *troubles) told(parts ...string) bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return slices.ContainsFunc(tr.all, func(s string) bool {
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(s, part) })
	})
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// follow runs the members until the test ends, with a wall clock that shows noon.
func follow(t testing.TB, client *clientv3.Client) (*members.Members, *troubles) {
	tr := &troubles{}
	m := members.NewMembers(client, func() time.Time { return noon }, tr.tell)
	if s := m.Snapshot(); s == nil || s.Generation != 0 {
		t.Fatalf("before the start: %+v", s)
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context()))
	stopping, ended := errors.New("stopping"), make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	t.Cleanup(func() {
		cancel(stopping)
		if err := <-ended; !errors.Is(err, stopping) {
			t.Errorf("ended with %v", err)
		}
	})
	<-m.Ready()
	return m, tr
}

// until waits for a snapshot that satisfies the condition.
func until(t testing.TB, m *members.Members, what string, holds func(*members.Snapshot) bool) *members.Snapshot {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		changed, s := m.Changed(), m.Snapshot()
		if holds(s) {
			return s
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("not within 30 s: %s; last: %+v", what, s)
		}
	}
}

func put(t testing.TB, client *clientv3.Client, key string, value any) {
	t.Helper()
	text, ok := value.(string)
	if !ok {
		text = encode(t, value)
	}
	if _, err := client.Put(t.Context(), key, text); err != nil {
		t.Fatal(err)
	}
}

func remove(t testing.TB, client *clientv3.Client, key string) {
	t.Helper()
	if _, err := client.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
}

func registration(id, life string, clock time.Time) common.Registration {
	return common.Registration{
		Life:   common.Life{Worker: id, Name: "name-" + id, Life: life},
		Slots:  4,
		Labels: map[string]string{"own": "yes"},
		Clock:  clock,
	}
}

func ids(s *members.Snapshot) string {
	var all []string
	for _, m := range s.Members {
		all = append(all, m.Worker)
	}
	return strings.Join(all, " ")
}

func TestMembers_FollowRegistrations(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	put(t, client, common.WorkerKey("b"), registration("b", "b1", noon.Add(-3*time.Second)))
	put(t, client, common.MasterKey("m"), common.MasterPresence{ID: "m", Clock: noon})
	m, tr := follow(t, client)
	first := m.Snapshot()
	if ids(first) != "b" || first.Generation != 1 || !first.At.Equal(noon) || first.Listed.IsZero() ||
		len(first.Masters) != 1 {
		t.Fatalf("%+v", first)
	}
	if b := first.Members[0]; !b.Heard.IsZero() || b.Ahead != 0 {
		t.Fatalf("a worker that was only listed has a sample of its clock: %+v", b)
	}
	if !first.Masters[0].Heard.IsZero() {
		t.Fatal("a master that was only listed has a sample of its clock")
	}

	put(t, client, common.WorkerKey("a"), registration("a", "a1", noon.Add(7*time.Second)))
	put(t, client, common.WorkerKey("b"), registration("b", "b1", noon.Add(-time.Second)))
	put(t, client, common.MasterKey("m"), common.MasterPresence{ID: "m", Clock: noon.Add(time.Second)})
	s := until(t, m, "both are there and fresh", func(s *members.Snapshot) bool {
		return ids(s) == "a b" && !s.Members[1].Heard.IsZero() && !s.Masters[0].Heard.IsZero()
	})
	if a, b := s.Members[0], s.Members[1]; a.Ahead != 7*time.Second || b.Ahead != -time.Second || a.Name != "name-a" {
		t.Fatalf("%+v", s.Members)
	}
	if ids(first) != "b" || first.Members[0].Clock.Equal(noon.Add(-time.Second)) {
		t.Fatalf("an earlier snapshot changed: %+v", first)
	}
	if a, found := s.Member("a"); !found || a.Worker != "a" {
		t.Fatalf("%+v, %v", a, found)
	}
	if _, found := s.Member("aa"); found {
		t.Fatal("found a worker that is not there")
	}

	remove(t, client, common.WorkerKey("a"))
	put(t, client, common.WorkerKey("b"), registration("b", "b2", noon))
	remove(t, client, common.MasterKey("m"))
	now := until(t, m, "a and the master are gone, b has another life", func(s *members.Snapshot) bool {
		return ids(s) == "b" && s.Members[0].Life.Life == "b2" && len(s.Masters) == 0
	})
	var gone []string
	for _, reg := range now.Gone(s) {
		gone = append(gone, reg.Life.Life)
	}
	if !slices.Equal(gone, []string{"a1", "b1"}) || len(now.Gone(now)) != 0 {
		t.Fatalf("gone are %v", gone)
	}
	if now.Generation <= s.Generation {
		t.Fatalf("generation %d after %d", now.Generation, s.Generation)
	}
	if len(tr.all) != 0 {
		t.Fatalf("reported %v", tr.all)
	}
}

func TestSettings_OverrideRegistrations(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	put(t, client, common.WorkerKey("w"), registration("w", "l", noon))
	put(t, client, common.WorkerSettingsKey("w"), common.WorkerSettings{Drain: true, Slots: new(9)})
	put(t, client, common.WorkerSettingsKey("away"), common.WorkerSettings{Drain: true})
	m, _ := follow(t, client)
	w := m.Snapshot().Members[0]
	if !w.Settings.Drain || w.EffectiveSlots() != 9 || w.EffectiveLabels()["own"] != "yes" || w.Weight() != 1 {
		t.Fatalf("%+v", w)
	}
	put(t, client, common.WorkerSettingsKey("w"), common.WorkerSettings{Labels: map[string]string{}, Weight: new(3)})
	w = until(t, m, "it is undrained", func(s *members.Snapshot) bool {
		return !s.Members[0].Settings.Drain
	}).Members[0]
	if w.EffectiveSlots() != 4 || w.EffectiveLabels()["own"] != "" || w.Weight() != 3 {
		t.Fatalf("%+v", w)
	}
	remove(t, client, common.WorkerSettingsKey("w"))
	until(t, m, "its registered labels apply again", func(s *members.Snapshot) bool {
		return s.Members[0].EffectiveLabels()["own"] == "yes"
	})
	put(t, client, common.WorkerKey("away"), registration("away", "l", noon))
	until(t, m, "settings apply to a worker that registers later", func(s *members.Snapshot) bool {
		return ids(s) == "away w" && s.Members[0].Settings.Drain && !s.Members[1].Settings.Drain
	})
}

// A value that cannot be read removes its earlier value, and nothing else.
func TestMembers_UnreadableValue_IsRemoved(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	put(t, client, common.WorkerKey("bad"), "{")
	put(t, client, common.WorkerKey("good"), registration("good", "l", noon))
	put(t, client, common.WorkerKey("thief"), registration("good", "l", noon))
	put(t, client, common.WorkerSettingsKey("good"), `{"drain":"perhaps"}`)
	put(t, client, common.MasterKey("m"), common.MasterPresence{ID: "other"})
	m, tr := follow(t, client)
	s := m.Snapshot()
	if ids(s) != "good" || s.Members[0].Settings.Drain || len(s.Masters) != 0 {
		t.Fatalf("%+v", s)
	}
	for _, key := range []string{common.WorkerKey("bad"), common.WorkerKey("thief"), common.WorkerSettingsKey("good"),
		common.MasterKey("m")} {
		if !tr.told(key) {
			t.Errorf("%s was not reported: %v", key, tr.all)
		}
	}
	put(t, client, common.WorkerKey("good"), "[]")
	until(t, m, "the good one is out", func(s *members.Snapshot) bool { return ids(s) == "" })
	put(t, client, common.WorkerKey("good"), registration("good", "l", noon))
	put(t, client, common.WorkerKey("bad"), registration("bad", "l", noon))
	until(t, m, "both are repaired", func(s *members.Snapshot) bool { return ids(s) == "bad good" })
}

// While a follower is disconnected, changes that it has not received are compacted: it takes the complete
// state, including deletions, and keeps the samples of clocks.
func TestMembersAfterACompactedGap(t *testing.T) {
	t.Parallel()
	server := etcdtest.StartServer(t)
	direct := server.Client()
	link, client := etcdtest.NewLink(t, server)
	put(t, direct, common.WorkerSettingsKey("stays"), common.WorkerSettings{Drain: true})
	m, tr := follow(t, client)
	for _, id := range []string{"stays", "goes", "writes"} {
		put(t, direct, common.WorkerKey(id), registration(id, "1", noon.Add(time.Second)))
	}
	put(t, direct, common.MasterKey("m"), common.MasterPresence{ID: "m", Clock: noon})
	before := until(t, m, "all are there", func(s *members.Snapshot) bool {
		return ids(s) == "goes stays writes" && len(s.Masters) == 1
	})

	link.Cut()
	remove(t, direct, common.WorkerKey("goes"))
	remove(t, direct, common.WorkerSettingsKey("stays"))
	put(t, direct, common.WorkerKey("writes"), registration("writes", "1", noon.Add(5*time.Second)))
	put(t, direct, common.WorkerKey("comes"), registration("comes", "1", noon))
	resp, err := direct.Get(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := direct.Compact(t.Context(), resp.Header.Revision); err != nil {
		t.Fatal(err)
	}
	link.Join()
	s := until(t, m, "the gap is closed", func(s *members.Snapshot) bool {
		return ids(s) == "comes stays writes" && !s.Members[1].Settings.Drain &&
			s.Members[2].Clock.Equal(noon.Add(5*time.Second))
	})
	if !tr.told("compacted") {
		t.Fatalf("no watch was interrupted by compaction: %v", tr.all)
	}
	comes, stays, writes := s.Members[0], s.Members[1], s.Members[2]
	if !comes.Heard.IsZero() || !writes.Heard.IsZero() {
		t.Fatalf("clocks that were only listed have samples: %+v, %+v", comes, writes)
	}
	if stays.Ahead != time.Second || stays.Heard.IsZero() || s.Masters[0].Heard.IsZero() {
		t.Fatalf("samples of clocks were lost: %+v, %+v", stays, s.Masters)
	}
	if gone := s.Gone(before); len(gone) != 1 || gone[0].Worker != "goes" {
		t.Fatalf("gone are %+v", gone)
	}
	put(t, direct, common.WorkerKey("after"), registration("after", "1", noon))
	until(t, m, "it follows again", func(s *members.Snapshot) bool { return strings.HasPrefix(ids(s), "after ") })
}

// Many changes make few snapshots, the last of which contains them all.
func TestMembersGatherChanges(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	m, _ := follow(t, client)
	const n = 300
	for i := range n {
		id := fmt.Sprintf("w%03d", i)
		put(t, client, common.WorkerKey(id), registration(id, "1", noon))
	}
	s := until(t, m, "all are there", func(s *members.Snapshot) bool { return len(s.Members) == n })
	if s.Generation > n {
		t.Fatalf("%d snapshots of %d changes", s.Generation, n)
	}
}
