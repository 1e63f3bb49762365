package system

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"carillon/internal/runlog/sqlitelog"
)

// cronctl calls the program as the admin of a standalone's folder, and gives what it prints.
func cronctl(t *testing.T, a *api, dir string, args ...string) string {
	t.Helper()
	p := launchWith(t, []string{"CARILLON_SERVER=" + a.base,
		"CARILLON_TOKEN_FILE=" + filepath.Join(dir, "admin.token")},
		"cronctl", filepath.Join(bin, "cronctl"), args...)
	if code := p.exit(); code != 0 {
		t.Fatalf("cronctl %s ended with %d: %s", strings.Join(args, " "), code, p.Text())
	}
	return p.Text()
}

// history is all that a server knows of what has ended until a time, as text that can be compared.
func history(t *testing.T, a *api, until time.Time) (all, fires string) {
	t.Helper()
	var b strings.Builder
	for _, r := range a.runs("to=" + until.UTC().Format(time.RFC3339Nano)) {
		var output string
		a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+r.ID+"/output", nil, &output)
		fmt.Fprintf(&b, "%s %s %s %s %q\n", r.ID, r.Job, r.Status, r.PlannedAt, output)
	}
	a.do(http.StatusOK, http.MethodGet, "/api/v1/fires?limit=500&to="+until.UTC().Format(time.RFC3339Nano), nil, &fires)
	return b.String(), fires
}

// holds reports whether a backup has all of the runs. It looks at a copy.
func holds(t *testing.T, file string, runs []run) bool {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "copy.sqlite")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := sqlitelog.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, r := range runs {
		if _, err := store.Run(t.Context(), r.ID); err != nil {
			return false
		}
	}
	return len(runs) > 0
}

// What docs/backup.md says of a standalone: a backup while jobs run, the jobs in a file, and
// a new folder with both has the history, and goes on.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	dir, backups := t.TempDir(), t.TempDir()
	p, a := standalone(t, dir)
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":     "tick",
		"title":    "每秒",
		"cronExpr": "* * * * * * *",
		"command":  "echo \"tick $CARILLON_RUN_ID\"\necho 'to stderr: \"#1\"' >&2\n",
		"env":      map[string]string{"NO": "no"},
	}, nil)
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs",
		map[string]any{"name": "broken", "command": "echo bad; exit 3"}, nil)
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/broken/run", map[string]string{}, nil)
	eventually(t, "there is a history", func() bool {
		return a.count("job=tick", status("succeeded")) >= 3 && a.count("job=broken", status("failed")) == 1
	})
	before := a.runs("status=succeeded")[0].PlannedAt.Add(time.Nanosecond)
	jobs := filepath.Join(backups, "jobs.yaml")
	backup := func(want int, file string) string {
		t.Helper()
		b := start(t, "carillon-standalone", "backup", file, "--data-dir", dir)
		if code := b.exit(); code != want {
			t.Fatalf("backup ended with %d, want %d: %s", code, want, b.Text())
		}
		return b.Text()
	}
	// An outcome is listed from the moment at which it is in etcd; how long it takes to be
	// stored is not the backup's concern.
	online, n := "", 0
	eventually(t, "a backup has all until then", func() bool {
		online = filepath.Join(backups, fmt.Sprintf("online-%d.sqlite", n))
		n++
		if said := backup(0, online); !strings.Contains(said, "runs and fires") ||
			!strings.Contains(said, "cronctl export") {
			t.Errorf("backup says %q", said)
		}
		return holds(t, online, a.runs("to="+before.UTC().Format(time.RFC3339Nano)))
	})
	if info, err := os.Stat(online); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup: %v, %v", info, err)
	}
	kept, err := os.ReadFile(online)
	if err != nil {
		t.Fatal(err)
	}
	if said := backup(1, online); !strings.Contains(said, "overwrites nothing") {
		t.Errorf("a second backup to the same file says %q", said)
	}
	if again, _ := os.ReadFile(online); !bytes.Equal(kept, again) {
		t.Error("a backup was changed")
	}
	cronctl(t, a, dir, "export", "-o", jobs)
	runs, fires := history(t, a, before)
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Fatalf("stopped with %d", code)
	}
	offline := filepath.Join(backups, "offline.sqlite")
	backup(0, offline)
	if entries, err := os.ReadDir(backups); err != nil || len(entries) != n+2 {
		t.Errorf("left among the backups: %v, %v", entries, err)
	}

	for _, file := range []string{online, offline} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			fresh := t.TempDir()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(fresh, "runs.sqlite"), data, 0o600); err != nil {
				t.Fatal(err)
			}
			p, b := standalone(t, fresh)
			cronctl(t, b, fresh, "create", "jobs", "-f", jobs)
			var restored, ledger string
			eventually(t, "the history has the titles of the jobs", func() bool {
				restored, ledger = history(t, b, before)
				return restored == runs && ledger == fires || strings.Contains(ledger, `"jobTitle"`)
			})
			if restored != runs {
				t.Errorf("restored:\n%s\nwant\n%s", restored, runs)
			}
			if ledger != fires {
				t.Errorf("the ledger restored:\n%s\nwant\n%s", ledger, fires)
			}
			exported, err := os.ReadFile(jobs)
			if err != nil {
				t.Fatal(err)
			}
			if again := cronctl(t, b, fresh, "export"); again != string(exported) {
				t.Errorf("exported again:\n%s\nwant\n%s", again, exported)
			}
			had := b.count("job=tick", status("succeeded"))
			eventually(t, "the job goes on", func() bool { return b.count("job=tick", status("succeeded")) > had })
			if code := p.end(syscall.SIGTERM); code != 0 {
				t.Fatalf("stopped with %d", code)
			}
		})
	}
}
