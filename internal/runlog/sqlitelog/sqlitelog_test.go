package sqlitelog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/conformance"
	"carillon/internal/runlog/sqlitelog"
)

func open(t testing.TB, path string) *sqlitelog.Store {
	t.Helper()
	s, err := sqlitelog.Open(t.Context(), path)
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

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T) conformance.Store {
		return open(t, filepath.Join(t.TempDir(), "runs.db"))
	}, conformance.Full)
}

func ended(id string) common.Run { return common.Run{ID: id, Status: common.StatusSucceeded} }

func TestOpen_Again_KeepsAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c%20d#e&_pragma=x.db")
	s := open(t, path)
	if err := s.Write(t.Context(), runlog.Batch{Runs: []common.Run{ended("one")}}); err != nil {
		t.Fatal(err)
	}
	// A second process may have the file open.
	other := open(t, path)
	if err := other.Write(t.Context(), runlog.Batch{Runs: []common.Run{ended("two")}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has mode %v", name, mode)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	conformance.Away(t, s)
	for _, id := range []string{"one", "two"} {
		if _, err := other.Run(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	again := open(t, path)
	if runs, err := again.Runs(t.Context(), runlog.Query{}); err != nil || len(runs.Runs) != 2 {
		t.Errorf("%d runs, %v", len(runs.Runs), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, code := range map[string]common.Code{
		dir:                                  common.CodeUnavailable,
		filepath.Join(dir, "none", "run.db"): common.CodeUnavailable,
	} {
		if _, err := sqlitelog.Open(t.Context(), name); common.CodeOf(err) != code ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlitelog.Open(t.Context(), text); err == nil || !strings.Contains(err.Error(), "not a database") {
		t.Errorf("a text file: %v", err)
	}
}
