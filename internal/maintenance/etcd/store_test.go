package etcd_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/maintenance"
	maintenanceetcd "carillon/internal/maintenance/etcd"
)

var shared etcdtest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

var ann = common.Actor{Name: "ann"}

func anyone(_, _ *maintenance.Window) error { return nil }

// TestStore shows that a window is created, changed and deleted, with an audit entry each time, and what is refused.
func TestStore(t *testing.T) {
	t.Parallel()
	ctx, client, now := t.Context(), shared.Start(t), time.Now().UTC()
	changes := 0
	s := maintenanceetcd.New(client, func() time.Time { return now }, func() { changes++ })
	save := func(d maintenance.WindowDefinition, pre common.Precondition) (maintenance.Window, bool, error) {
		return s.Save(ctx, ann, "upgrade", d, pre, anyone)
	}
	code := func(what string, err error, want common.Code) {
		t.Helper()
		if err == nil || common.CodeOf(err) != want {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}
	wanted := maintenance.WindowDefinition{To: new(now.Add(time.Hour)), Everything: true, Note: "database"}
	w, created, err := save(wanted, common.Precondition{Absent: true})
	if err != nil || !created || w.Version == 0 || !w.From.Equal(now) || w.Policy != maintenance.Hold ||
		w.UpdatedBy != "ann" || changes != 1 {
		t.Fatalf("%+v, created %v, %d changes: %v", w, created, changes, err)
	}
	now = now.Add(10 * time.Minute)
	if same, created, err := save(wanted, common.Precondition{}); err != nil || created || same.Version != w.Version {
		t.Errorf("the same again: %+v, created %v: %v", same, created, err)
	}
	_, _, err = save(wanted, common.Precondition{Absent: true})
	code("create it again", err, common.CodeStale)
	wanted.To = new(now.Add(time.Minute))
	if shorter, _, err := save(wanted, common.Precondition{Version: w.Version}); err != nil ||
		!shorter.From.Equal(*w.From) || !shorter.To.Equal(*wanted.To) {
		t.Errorf("shortened: %+v: %v", shorter, err)
	}
	wanted.From = new(now.Add(-time.Hour))
	_, _, err = save(wanted, common.Precondition{})
	code("a beginning in the past", err, common.CodeInvalid)
	_, _, err = s.Save(ctx, ann, "no/name", wanted, common.Precondition{}, anyone)
	code("a wrong name", err, common.CodeInvalid)

	refused := errors.New("not for you")
	refuse := func(before, after *maintenance.Window) error {
		if before == nil || before.Note != "database" {
			t.Errorf("asked about %+v, %+v", before, after)
		}
		return refused
	}
	wanted.From = nil
	if _, _, err := s.Save(ctx, ann, "upgrade", wanted, common.Precondition{}, refuse); !errors.Is(err, refused) {
		t.Errorf("save without permission: %v", err)
	}
	if err := s.Delete(ctx, ann, "upgrade", common.Precondition{}, refuse); !errors.Is(err, refused) {
		t.Errorf("delete without permission: %v", err)
	}
	if err := s.Delete(ctx, ann, "upgrade", common.Precondition{}, anyone); err != nil {
		t.Error(err)
	}
	_, err = s.Find(ctx, "upgrade")
	code("find a deleted one", err, common.CodeNotFound)
	code("delete it again", s.Delete(ctx, ann, "upgrade", common.Precondition{}, anyone), common.CodeNotFound)
	if changes != 3 {
		t.Errorf("%d changes for a creation, a change and a deletion", changes)
	}
}

// TestStore_Save_DeletesWhatEndedLongAgo shows that old windows make room.
func TestStore_Save_DeletesWhatEndedLongAgo(t *testing.T) {
	t.Parallel()
	ctx, client, now := t.Context(), shared.Start(t), time.Now().UTC()
	s := maintenanceetcd.New(client, func() time.Time { return now }, func() {})
	for _, name := range []string{"old", "recent"} {
		d := maintenance.WindowDefinition{To: new(now.Add(time.Hour)), Everything: true}
		if _, _, err := s.Save(ctx, ann, name, d, common.Precondition{}, anyone); err != nil {
			t.Fatal(err)
		}
		now = now.Add(maintenance.Kept)
	}
	now = now.Add(2 * time.Hour)
	d := maintenance.WindowDefinition{CronExpr: "@daily", Duration: "1h", Everything: true}
	if _, _, err := s.Save(ctx, ann, "new", d, common.Precondition{}, anyone); err != nil {
		t.Fatal(err)
	}
	all, err := s.Windows(ctx)
	if err != nil || len(all) != 1 || all[0].Name != "new" {
		t.Errorf("%+v: %v", all, err)
	}
}

// TestTable shows that a table receives each change.
func TestTable(t *testing.T) {
	t.Parallel()
	ctx, client := t.Context(), shared.Start(t)
	s := maintenanceetcd.New(client, time.Now, func() {})
	table := maintenanceetcd.NewTable(client)
	following, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- table.Follow(following, func(error) {}) }()
	defer func() { stop(); <-done }()
	open := func(want bool) {
		t.Helper()
		limit := time.Now().Add(time.Minute)
		for {
			_, is := table.Windows().Open(maintenance.Job{Group: "shop"}, time.Now().Add(time.Minute))
			if is == want {
				return
			}
			if time.Now().After(limit) {
				t.Fatalf("the table does not know that the window is open: %v", want)
			}
			<-time.After(5 * time.Millisecond)
		}
	}
	open(false)
	d := maintenance.WindowDefinition{To: new(time.Now().Add(time.Hour)), Groups: []string{"shop"}}
	if _, _, err := s.Save(ctx, ann, "a", d, common.Precondition{}, anyone); err != nil {
		t.Fatal(err)
	}
	open(true)
	if err := s.Delete(ctx, ann, "a", common.Precondition{}, anyone); err != nil {
		t.Fatal(err)
	}
	open(false)
}
