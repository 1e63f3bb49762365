package sqlitelog_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/sqlitelog"
)

func TestExamine(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "runs.sqlite"), filepath.Join(dir, "copy.sqlite")
	store, err := sqlitelog.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	newest := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var runs []common.Run
	for i := range 200 {
		at := newest.Add(-time.Duration(i) * time.Minute)
		runs = append(runs, common.Run{
			ID:        common.RunID(common.PlannedFire("abcdefghijklmnop", at), 1),
			Job:       "a",
			JobUID:    "abcdefghijklmnop",
			PlannedAt: at,
			Status:    common.StatusSucceeded,
			Cause:     common.CauseCron,
			Attempt:   1,
		})
	}
	if err := store.Write(t.Context(), runlog.Batch{Runs: runs}); err != nil {
		t.Fatal(err)
	}
	if err := store.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	got, err := sqlitelog.Examine(t.Context(), copied)
	if err != nil || got.Runs != 200 || !got.Newest.Equal(newest) || got.Schema == 0 {
		t.Errorf("%+v, %v", got, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "copy.sqlite-wal" || e.Name() == "copy.sqlite-shm" {
			t.Errorf("looking left %s behind", e.Name())
		}
	}
	for name, damage := range map[string]func(b []byte) []byte{
		"zeros":    func(b []byte) []byte { clear(b[len(b)/2:]); return b },
		"cut":      func(b []byte) []byte { return b[:len(b)/2] },
		"no file":  func([]byte) []byte { return []byte("not a run log at all, whatever it is named") },
		"an empty": func([]byte) []byte { return nil },
	} {
		bad := filepath.Join(dir, "bad.sqlite")
		if err := os.WriteFile(bad, damage(append([]byte(nil), before...)), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := sqlitelog.Examine(t.Context(), bad); err == nil {
			t.Errorf("%s: found %+v", name, got)
		}
	}
	if _, err := sqlitelog.Examine(t.Context(), filepath.Join(dir, "none")); err == nil {
		t.Error("a file that is not there was examined")
	}
}
