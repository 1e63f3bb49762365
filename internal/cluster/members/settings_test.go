package members_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/cluster/members"
	"carillon/internal/common"
)

var operator = common.Actor{Name: "olga", Remote: "192.0.2.1"}

type settingsStory struct {
	testing.TB
	client   *clientv3.Client
	settings *members.Settings
	told     int
}

func newSettings(t testing.TB) *settingsStory {
	s := &settingsStory{TB: t, client: shared.Start(t)}
	s.settings = members.NewSettings(s.client, func() time.Time { return noon }, func() { s.told++ })
	return s
}

func (s *settingsStory) update(worker string, change func(*common.WorkerSettings)) common.WorkerSettings {
	s.Helper()
	got, err := s.settings.UpdateWorker(s.Context(), operator, worker, func(w *common.WorkerSettings) error {
		change(w)
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
	return got
}

// changes reads the undelivered changes.
func (s *settingsStory) changes() []common.Change {
	s.Helper()
	resp, err := s.client.Get(s.Context(), common.ChangesPrefix, clientv3.WithPrefix())
	if err != nil {
		s.Fatal(err)
	}
	var all []common.Change
	for _, kv := range resp.Kvs {
		change, err := common.Decode[common.Change](kv.Value)
		if err != nil || common.ChangeKey(change.ID) != string(kv.Key) {
			s.Fatalf("%s: %v", kv.Value, err)
		}
		all = append(all, change)
	}
	return all
}

func TestUpdateSettings_ByAnother_KeepsWhoDrained(t *testing.T) {
	s := newSettings(t)
	put(t, s.client, common.WorkerKey("w"), registration("w", "1", noon))
	s.update("w", func(w *common.WorkerSettings) { w.Drain = true })
	paul := common.Actor{Name: "paul"}
	got, err := s.settings.UpdateWorker(t.Context(), paul, "w", func(w *common.WorkerSettings) error {
		w.Weight = new(7)
		return nil
	})
	if err != nil || got.UpdatedBy != "paul" || got.DrainedBy != "olga" || !got.DrainedAt.Equal(noon) {
		t.Fatalf("%v, %+v", err, got)
	}
}

func TestUpdateSettings(t *testing.T) {
	s := newSettings(t)
	put(t, s.client, common.WorkerKey("w"), registration("w", "1", noon))
	if got, err := s.settings.Get(t.Context(), "w"); err != nil || got.Drain || !got.UpdatedAt.IsZero() {
		t.Fatalf("%v, %+v", err, got)
	}
	got := s.update("w", func(w *common.WorkerSettings) {
		w.Drain, w.DrainNote, w.Slots = true, "disk swap\n明天", new(0)
	})
	if !got.Drain || !got.UpdatedAt.Equal(noon) || got.UpdatedBy != "olga" {
		t.Fatalf("%+v", got)
	}
	got = s.update("name-w", func(w *common.WorkerSettings) {
		w.Labels = map[string]string{"rack": "7"}
		w.Weight = new(1000)
	})
	if !got.Drain || *got.Slots != 0 || got.Labels["rack"] != "7" {
		t.Fatalf("the second change lost the first: %+v", got)
	}
	if read, err := s.settings.Get(t.Context(), "name-w"); err != nil || encode(t, read) != encode(t, got) {
		t.Fatalf("%v, %+v", err, read)
	}
	s.update("w", func(w *common.WorkerSettings) { w.Labels["rack"] = "7" })
	changes := s.changes()
	if len(changes) != 2 || s.told != 2 {
		t.Fatalf("%d changes, %d notifications", len(changes), s.told)
	}
	for _, c := range changes {
		if c.Kind != "worker" || c.Verb != "replace" || c.Name != "w" || c.Actor != operator || !c.At.Equal(noon) {
			t.Errorf("%+v", c)
		}
	}
	first := changes[0]
	if first.Before != nil {
		first = changes[1] // both have the same time
	}
	if first.Before != nil || !strings.Contains(string(first.After), `"disk swap\n明天"`) {
		t.Fatalf("%s → %s", first.Before, first.After)
	}

	// They outlive their worker, and are removed when they are empty.
	remove(t, s.client, common.WorkerKey("w"))
	got = s.update("w", func(w *common.WorkerSettings) { w.Drain = false })
	if got.DrainedBy != "" || !got.DrainedAt.IsZero() {
		t.Fatalf("undrained: %+v", got)
	}
	got = s.update("w", func(w *common.WorkerSettings) { *w = common.WorkerSettings{} })
	if !got.UpdatedAt.IsZero() {
		t.Fatalf("%+v", got)
	}
	resp, err := s.client.Get(t.Context(), common.WorkerSettingsPrefix, clientv3.WithPrefix())
	if err != nil || len(resp.Kvs) != 0 {
		t.Fatalf("%v, %v", err, resp)
	}
	if n := len(s.changes()); n != 4 {
		t.Fatalf("%d changes", n)
	}
	if _, err := s.settings.Get(t.Context(), "w"); common.CodeOf(err) != common.CodeNotFound {
		t.Fatalf("without a registration and settings: %v", err)
	}
}

func TestUpdateSettings_FindsWorkersByIdOrName(t *testing.T) {
	s := newSettings(t)
	named := func(id, name string) common.Registration {
		reg := registration(id, "1", noon)
		reg.Name = name
		return reg
	}
	put(t, s.client, common.WorkerKey("id1"), named("id1", "twin"))
	put(t, s.client, common.WorkerKey("id2"), named("id2", "twin"))
	put(t, s.client, common.WorkerKey("id3"), named("id3", "id1")) // named like another's id
	put(t, s.client, common.WorkerKey("broken"), "{")
	for worker, want := range map[string]common.Code{
		"id1":     "",
		"id2":     "",
		"id3":     "",
		"broken":  "",
		"twin":    common.CodeConflict,
		"unknown": common.CodeNotFound,
		"":        common.CodeNotFound,
		"id":      common.CodeNotFound,
		"id1/":    common.CodeNotFound,
	} {
		_, err := s.settings.UpdateWorker(t.Context(), operator, worker, func(w *common.WorkerSettings) error {
			w.DrainNote = worker
			return nil
		})
		if err == nil && want != "" || err != nil && common.CodeOf(err) != want {
			t.Errorf("%q: %v, want %q", worker, err, want)
		}
	}
	put(t, s.client, common.WorkerSettingsKey("damaged"), "{")
	all, err := s.settings.Workers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range all {
		got = append(got, fmt.Sprintf("%s:%s:%s", m.Worker, m.Name, m.Settings.DrainNote))
	}
	if want := "id1:twin:id1 id2:twin:id2 id3:id1:id3 broken::broken"; strings.Join(got, " ") != want {
		t.Fatalf("%v, want %s", got, want)
	}
}

// An older master that changes the settings of a worker keeps the fields of a newer one.
func TestUnknownSettingsAreKept(t *testing.T) {
	s := newSettings(t)
	key := common.WorkerSettingsKey("w")
	if _, err := s.client.Put(t.Context(), key,
		`{"drain":true,"zone":{"rack":[1]},"updatedAt":"2026-03-01T12:00:00Z"}`); err != nil {
		t.Fatal(err)
	}
	held := func() string {
		t.Helper()
		resp, err := s.client.Get(t.Context(), key)
		if err != nil || len(resp.Kvs) != 1 {
			t.Fatal(err, resp)
		}
		return string(resp.Kvs[0].Value)
	}
	s.update("w", func(w *common.WorkerSettings) { w.DrainNote = "soon" })
	if got := held(); !strings.Contains(got, `"zone":{"rack":[1]}`) || !strings.Contains(got, `"drainNote":"soon"`) {
		t.Errorf("drained with a note: %s", got)
	}
	s.update("w", func(w *common.WorkerSettings) { w.Drain, w.DrainNote = false, "" })
	if got := held(); !strings.Contains(got, `"zone":{"rack":[1]}`) || strings.Contains(got, "drain") {
		t.Errorf("with no other settings: %s", got)
	}
}

func TestSettingsFaults(t *testing.T) {
	s := newSettings(t)
	put(t, s.client, common.WorkerKey("w"), registration("w", "1", noon))
	for _, c := range []struct {
		location string
		change   func(*common.WorkerSettings)
	}{
		{"slots", func(w *common.WorkerSettings) { w.Slots = new(-1) }},
		{"slots", func(w *common.WorkerSettings) { w.Slots = new(members.MaxSlots + 1) }},
		{"weight", func(w *common.WorkerSettings) { w.Weight = new(-1) }},
		{"weight", func(w *common.WorkerSettings) { w.Weight = new(members.MaxWeight + 1) }},
		{"labels", func(w *common.WorkerSettings) { w.Labels = map[string]string{"": "x"} }},
		{"labels.a", func(w *common.WorkerSettings) { w.Labels = map[string]string{"a": "b c"} }},
		{"drainNote", func(w *common.WorkerSettings) { w.DrainNote = strings.Repeat("é", members.MaxNote+1) }},
		{"drainNote", func(w *common.WorkerSettings) { w.DrainNote = "\x1b[2J" }},
		{"drainNote", func(w *common.WorkerSettings) { w.DrainNote = "\xff" }},
	} {
		_, err := s.settings.UpdateWorker(t.Context(), operator, "w", func(w *common.WorkerSettings) error {
			c.change(w)
			return nil
		})
		fault, ok := errors.AsType[*common.Error](err)
		if !ok || fault.Code != common.CodeInvalid || len(fault.Faults) != 1 || fault.Faults[0].Location != c.location {
			t.Errorf("%s: %v", c.location, err)
		}
	}
	refusal := common.Errorf(common.CodeStale, "no")
	if _, err := s.settings.UpdateWorker(t.Context(), operator, "w", func(*common.WorkerSettings) error {
		return refusal
	}); !errors.Is(err, refusal) {
		t.Errorf("%v", err)
	}
	if n := len(s.changes()); n != 0 || s.told != 0 {
		t.Errorf("%d changes of refused settings, %d notifications", n, s.told)
	}
	s.update("w", func(w *common.WorkerSettings) {
		w.Slots, w.Weight, w.DrainNote = new(members.MaxSlots), new(0), strings.Repeat("é", members.MaxNote)
	})
}

// Damaged settings are reported, and repaired by setting them again.
func TestDamagedSettings(t *testing.T) {
	s := newSettings(t)
	put(t, s.client, common.WorkerSettingsKey("w"), "{")
	if _, err := s.settings.Get(t.Context(), "w"); common.CodeOf(err) != common.CodeInternal {
		t.Fatalf("%v", err)
	}
	s.update("w", func(w *common.WorkerSettings) {})
	if _, err := s.settings.Get(t.Context(), "w"); common.CodeOf(err) != common.CodeNotFound {
		t.Fatalf("empty settings remain: %v", err)
	}
}

// Operators who change the settings at the same time lose none of each other's changes.
func TestSettingsChangedAtTheSameTime(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	put(t, client, common.WorkerKey("w"), registration("w", "1", noon))
	settings := members.NewSettings(client, func() time.Time { return noon }, func() {})
	var all sync.WaitGroup
	const operators = 6
	for i := range operators {
		all.Go(func() {
			for {
				_, err := settings.UpdateWorker(t.Context(), operator, "w", func(w *common.WorkerSettings) error {
					if w.Labels == nil {
						w.Labels = map[string]string{}
					}
					w.Labels[fmt.Sprintf("l%d", i)] = "x"
					return nil
				})
				if common.CodeOf(err) != common.CodeConflict || err == nil {
					if err != nil {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	all.Wait()
	if got, err := settings.Get(t.Context(), "w"); err != nil || len(got.Labels) != operators {
		t.Fatalf("%v, %+v", err, got)
	}
}

func TestSettingsWithoutEtcd(t *testing.T) {
	s := newSettings(t)
	_ = s.client.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.settings.Workers(ctx); err == nil {
		t.Error("listed")
	}
	if _, err := s.settings.Get(ctx, "w"); err == nil {
		t.Error("read")
	}
	keep := func(*common.WorkerSettings) error { return nil }
	if _, err := s.settings.UpdateWorker(ctx, operator, "w", keep); err == nil {
		t.Error("written")
	}
}

func TestDeleteSettings_OnlyOfWorkersThatAreGone(t *testing.T) {
	s := newSettings(t)
	reg := registration("w", "1", noon)
	put(t, s.client, common.WorkerKey("w"), reg)
	put(t, s.client, common.WorkerSettingsKey("w"), common.WorkerSettings{Drain: true})
	put(t, s.client, common.WorkerSettingsKey("damaged"), "{")
	fails := func(worker string, code common.Code) {
		t.Helper()
		if err := s.settings.DeleteSettings(t.Context(), operator, worker); common.CodeOf(err) != code {
			t.Errorf("delete the settings of %s: %v, want %s", worker, err, code)
		}
	}
	fails("w", common.CodeConflict)
	fails("name-w", common.CodeConflict)
	fails("unknown", common.CodeNotFound)
	if len(s.changes()) != 0 || s.told != 0 {
		t.Error("a refused deletion was recorded")
	}
	remove(t, s.client, common.WorkerKey("w"))
	for _, worker := range []string{"w", "damaged"} {
		if err := s.settings.DeleteSettings(t.Context(), operator, worker); err != nil {
			t.Error(err)
		}
		fails(worker, common.CodeNotFound)
	}
	changes := s.changes()
	if len(changes) != 2 || s.told != 2 {
		t.Fatalf("%d changes, %d notifications", len(changes), s.told)
	}
	for _, c := range changes {
		if c.Kind != "worker" || c.Verb != "delete" || c.After != nil || (c.Before == nil) != (c.Name == "damaged") {
			t.Errorf("%+v", c)
		}
	}
}
