package executor

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// The id is created once, by the first caller, and stays.
func TestWorkerID(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "worker")
	id, err := WorkerID(dir)
	if err != nil || !idPattern.MatchString(id) {
		t.Fatalf("%q, %v", id, err)
	}
	home, err := OpenHome(dir, "east")
	if err != nil {
		t.Fatal(err)
	}
	defer home.Close()
	if home.Life.Worker != id {
		t.Errorf("it was to be %s, and is %s", id, home.Life.Worker)
	}
	if again, err := WorkerID(dir); again != id || err != nil {
		t.Errorf("while the worker lives: %q, %v", again, err)
	}
	// One that has just begun has the lock, and not yet the id.
	if err := os.Remove(filepath.Join(dir, "worker.id")); err != nil {
		t.Fatal(err)
	}
	if other, err := WorkerID(dir); !errors.Is(err, ErrHomeInUse) {
		t.Errorf("beside a worker that makes its own: %q, %v", other, err)
	}
}

func TestWorkerIDOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if id, err := WorkerID(dir); err == nil {
		t.Errorf("root made %s in a folder of another, who could not write it", id)
	}
	if found, err := os.ReadDir(dir); err != nil || len(found) > 0 {
		t.Errorf("and left %v, %v", found, err)
	}
}

// A worker whose guardian was killed ends within seconds. The next one takes over its data folder.
func TestBeginLife_FolderInUse_WaitsForIt(t *testing.T) {
	dir := t.TempDir()
	earlier, err := OpenHome(dir, "east")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenHome(dir, "east"); !errors.Is(err, ErrHomeInUse) {
		t.Fatalf("a second one at once: %v", err)
	}
	var waits atomic.Bool
	log := slog.New(slog.NewTextHandler(writer(func(line []byte) {
		if strings.Contains(string(line), "data_folder_in_use") && !waits.Swap(true) {
			if err := earlier.Close(); err != nil {
				t.Error(err)
			}
		}
	}), nil))
	next, err := BeginLife(t.Context(), dir, "east", log)
	if err != nil || !waits.Load() {
		t.Fatalf("%v; waited: %t", err, waits.Load())
	}
	defer next.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := BeginLife(ctx, dir, "east", log); !errors.Is(err, ErrHomeInUse) {
		t.Errorf("while the next one lives: %v", err)
	}
}

// writer receives what is logged.
type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }
