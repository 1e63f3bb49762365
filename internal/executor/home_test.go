package executor

import (
	"errors"
	"os"
	"path/filepath"
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
