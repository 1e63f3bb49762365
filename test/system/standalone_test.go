package system

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"carillon/internal/executor/proctree"
)

// standalone starts one in a folder, with further flags, and waits until it is ready.
func standalone(t testing.TB, dir string, flags ...string) (*process, *api) {
	t.Helper()
	address := freePort(t)
	p := start(t, "carillon-standalone", append([]string{"--data-dir", dir, "--listen", address}, flags...)...)
	return p, entered(t, p, dir, address)
}

// entered waits until a standalone is ready, and takes the admin token from its folder.
func entered(t testing.TB, p *process, dir, address string) *api {
	t.Helper()
	a := &api{t: t, base: "http://" + address}
	eventually(t, "the standalone is ready", func() bool { return a.ready() || !p.Alive() })
	if !p.Alive() {
		t.Fatalf("the standalone ended with %d", p.exit())
	}
	// Ready means that the token works.
	token, err := os.ReadFile(filepath.Join(dir, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	a.token = strings.TrimSpace(string(token))
	a.do(http.StatusOK, http.MethodGet, "/api/v1/auth/me", nil, nil)
	return a
}

func TestStandalone_FirstStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, a := standalone(t, dir)
	info, err := os.Stat(filepath.Join(dir, "admin.token"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("admin.token: %v, %v", info.Mode(), err)
	}
	eventually(t, "the welcome is printed", func() bool { return strings.Contains(p.Text(), "admin.token") })
	link := regexp.MustCompile(regexp.QuoteMeta(a.base) + `/#login=([a-z0-9]+)`).FindStringSubmatch(p.Text())
	if link == nil {
		t.Fatalf("no login link in %q", p.Text())
	}
	login := func() int {
		status, err := (&api{t: t, base: a.base}).try(http.MethodPost, "/api/v1/auth/login",
			map[string]string{"code": link[1]}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return status
	}
	if first, second := login(), login(); first != http.StatusOK || second != http.StatusUnauthorized {
		t.Fatalf("the link answers %d, then %d; want 200, then 401", first, second)
	}
	var none string
	(&api{t: t, base: a.base}).do(http.StatusUnauthorized, http.MethodGet, "/api/v1/jobs", nil, &none)
	if !strings.Contains(none, `"code":"unauthenticated"`) {
		t.Fatalf("without a token: %s", none)
	}
	second := start(t, "carillon-standalone", "--data-dir", dir, "--listen", freePort(t))
	if code := second.exit(); code != 4 || !strings.Contains(second.Text(), "in use") {
		t.Fatalf("a second one on the same folder ended with %d: %s", code, second.Text())
	}
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Fatalf("stopped with %d", code)
	}
	again, b := standalone(t, dir)
	if b.token != a.token || strings.Contains(again.Text(), "#login=") {
		t.Fatalf("the second start made a token or a link again: %s", again.Text())
	}
}

// killAll kills a guardian and its worker at once, as nothing but a machine's end should.
func (p *process) killAll() {
	p.t.Helper()
	worker := proctree.Below(p.PID())[0]
	// The worker goes first: one that sees its guardian go stops its runs. Whether the guardian, which is stopped
	// before, still sees the worker go makes no difference: it writes no outcomes.
	stopped := syscall.Kill(p.PID(), syscall.SIGSTOP)
	killed := worker.Kill()
	p.Signal(syscall.SIGKILL)
	if err := errors.Join(stopped, killed); err != nil {
		p.t.Fatal(err)
	}
	p.exit()
}

// When the guardian is killed, its worker ends the run, and leaves the next attempt to the next life.
func TestGuardianKilledOneAttempt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, a := standalone(t, dir)
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": "long",
		"command": "if [ $CARILLON_ATTEMPT = 1 ]; then exec sleep 600; fi"}, nil)
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/long/run", map[string]any{}, nil)
	eventually(t, "it runs", func() bool { return a.count("job=long&status=running", status("running")) == 1 })
	p.Signal(syscall.SIGKILL)
	p.exit()
	_, a = standalone(t, dir) // it waits for the worker, which ends as well
	eventually(t, "the job was run again", func() bool { return a.count("job=long", status("succeeded")) == 1 })
	runs := a.runs("job=long")
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.Attempt, b.Attempt) })
	if len(runs) != 2 || runs[0].Status != "lost" || runs[1].Status != "succeeded" || runs[1].Attempt != 2 ||
		runs[1].Cause != "rerun" {
		t.Fatalf("runs %+v, want one that is lost and its next attempt", runs)
	}
}

// A worker that is killed leaves nothing running, loses no fire, and blocks no job.
func TestStandaloneKilled_LosesNoFire(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, a := standalone(t, dir)
	marker := fmt.Sprintf("31%d.25", os.Getpid())
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":     "tick",
		"cronExpr": "* * * * * * *",
		"command":  "echo tick $CARILLON_RUN_ID",
	}, nil)
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":     "long",
		"cronExpr": "* * * * * * *",
		"command":  "echo begun; (setsid sleep " + marker + " &) ; sleep " + marker,
	}, nil)
	eventually(t, "both have run", func() bool {
		return a.count("job=tick&status=succeeded", status("succeeded")) >= 3 &&
			len(processes(t, "^sleep "+marker)) == 2
	})
	long := a.runs("job=long&status=running")[0].ID
	eventually(t, "the output of the running run is there", func() bool {
		var text string
		a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+long+"/output", nil, &text)
		return text == "begun\n"
	})
	p.killAll()
	before := processes(t, "^sleep "+marker)

	p, a = standalone(t, dir)
	var lost run
	a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+long, nil, &lost)
	if lost.Status != "lost" || lost.Reason.Code != "worker_died" {
		t.Fatalf("the run of the killed worker is %s (%s), want lost", lost.Status, lost.Reason.Code)
	}
	var text string
	a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+long+"/output", nil, &text)
	if text != "begun\n" {
		t.Fatalf("its output is %q", text)
	}
	eventually(t, "the job runs again", func() bool {
		return a.count("job=long&status=running", status("running")) == 1
	})
	eventually(t, "what was left running is gone", func() bool {
		for _, pid := range before {
			if _, err := os.Stat("/proc/" + pid); err == nil {
				return false
			}
		}
		return true
	})
	again := a.runs("job=long&status=running")[0].ID
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/runs/"+again+"/kill", map[string]string{"note": "enough"}, nil)
	var killed run
	eventually(t, "the run is killed", func() bool {
		a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+again, nil, &killed)
		return killed.Status == "killed"
	})
	if killed.Reason.Code != "killed_by_user" {
		t.Fatalf("killed because %s", killed.Reason.Code)
	}
	a.do(http.StatusNoContent, http.MethodDelete, "/api/v1/jobs/long?kill=true", nil, nil)
	a.do(http.StatusNoContent, http.MethodDelete, "/api/v1/jobs/tick", nil, nil)
	eventually(t, "nothing of the job runs", func() bool { return len(processes(t, "^sleep "+marker)) == 0 })
	everyFireOnce(t, a.runs("job=tick"))
	everyFireOnce(t, a.runs("job=long"))
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Fatalf("stopped with %d", code)
	}
}

// A full disk ends neither a standalone nor what it runs: it says so, claims and saves nothing, and goes on when there
// is room again.
func TestStandalone_DiskFull_GoesOn(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=300m,mode=0700"); errors.Is(err, syscall.EPERM) {
		t.Skip("needs root to mount a small disk")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	p, a := standalone(t, filepath.Join(disk, "data"))
	for name, job := range map[string]map[string]any{
		"tick": {"cronExpr": "* * * * * * *", "command": "echo tick $CARILLON_RUN_ID", "overlap": "allow"},
		"long": {"command": "cat " + filepath.Join(disk, "go")},
	} {
		job["name"] = name
		a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", job, nil)
	}
	if err := syscall.Mkfifo(filepath.Join(disk, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/long/run", map[string]any{}, nil)
	succeeded := func() int { return a.count("job=tick&status=succeeded", status("succeeded")) }
	eventually(t, "both run", func() bool {
		return succeeded() >= 3 && a.count("job=long&status=running", status("running")) == 1
	})
	filler := filepath.Join(disk, "filler")
	fillDisk(t, filler)
	isFull := func() bool {
		var workers string
		a.do(http.StatusOK, http.MethodGet, "/api/v1/workers", nil, &workers)
		return strings.Contains(workers, `"disk_full"`)
	}
	eventually(t, "it says that the disk is full", isFull)
	var refused string
	a.do(http.StatusServiceUnavailable, http.MethodPost, "/api/v1/jobs",
		map[string]any{"name": "more", "command": "true"}, &refused)
	if !strings.Contains(refused, `"disk_full"`) {
		t.Errorf("a job is refused with %s", refused)
	}
	eventually(t, "fires are late while the disk is full", func() bool {
		var page struct{ Items []struct{ Status string } }
		a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/tick/fires?limit=1", nil, &page)
		return page.Items[0].Status == "waiting"
	})
	fillDisk(t, filler+"-2") // others take what has become free
	for range 50 {
		if err := os.WriteFile(filler+"-3", []byte("x"), 0o600); err == nil {
			fillDisk(t, filler+"-3")
		}
		a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs", nil, nil)
	}
	if !p.Alive() {
		t.Fatalf("it ended with %d", p.exit())
	}
	for _, name := range []string{filler, filler + "-2", filler + "-3"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	eventually(t, "there is room again", func() bool { return !isFull() })
	before := succeeded()
	eventually(t, "the job runs again", func() bool { return succeeded() > before })
	if err := os.WriteFile(filepath.Join(disk, "go"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the run has gone on through all of it", func() bool {
		return a.count("job=long&status=succeeded", status("succeeded")) == 1
	})
	a.do(http.StatusOK, http.MethodPut, "/api/v1/jobs/tick", map[string]any{"name": "tick", "command": "true"}, nil)
	a.everyFireOnce("tick")
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Fatalf("stopped with %d", code)
	}
}

// fillDisk writes to a file until nothing more fits on its disk.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		if errors.Is(err, syscall.ENOSPC) {
			return
		}
		t.Fatal(err)
	}
	defer file.Close()
	for chunk := make([]byte, 1<<20); len(chunk) > 0; {
		if _, err := file.Write(chunk); err != nil {
			chunk = chunk[:len(chunk)/2]
		}
	}
}

// A stop waits for what runs.
func TestDrain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, a := standalone(t, dir)
	gate := filepath.Join(t.TempDir(), "gate")
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": "patient",
		"command": "echo waiting; while [ ! -e " + gate + " ]; do sleep 0.05; done; echo done"}, nil)
	var accepted struct{ Run string }
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/patient/run",
		map[string]string{"note": "by hand"}, &accepted)
	eventually(t, "it runs", func() bool { return a.count("status=running", status("running")) == 1 })
	p.Signal(syscall.SIGTERM)
	eventually(t, "it is stopping", func() bool { return strings.Contains(p.Text(), "stopping") })
	if !p.Alive() {
		t.Fatal("it did not wait")
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := p.exit(); code != 0 {
		t.Fatalf("stopped with %d", code)
	}
	_, a = standalone(t, dir)
	var ended run
	a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+accepted.Run, nil, &ended)
	var text string
	a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+accepted.Run+"/output", nil, &text)
	if ended.Status != "succeeded" || text != "waiting\ndone\n" {
		t.Fatalf("the run that was waited for is %s, its output %q", ended.Status, text)
	}
}

func TestInvalidSettings_AreRefused(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"open to all without TLS":    {"carillon-standalone", "--data-dir", t.TempDir(), "--listen", "0.0.0.0:0"},
		"plain http without a proxy": {"carillon-master", "--listen", "0.0.0.0:7070", "--insecure-http"},
		"an unknown flag":            {"carillon-worker", "--no-such-flag"},
		"a metrics port for all": {"carillon-worker", "--data-dir", t.TempDir(), "--metrics-listen",
			"0.0.0.0:7071"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, args[0], args[1:]...)
			if code := p.exit(); code != 78 || strings.TrimSpace(p.Text()) == "" {
				t.Fatalf("ended with %d: %q", code, p.Text())
			}
		})
	}
}

// A copy of a data folder does not start while the original lives, and harms nothing of it.
func TestDataFolder_Copied_DoesNotStart(t *testing.T) {
	t.Parallel()
	dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	p, a := standalone(t, dir)
	gate := filepath.Join(t.TempDir(), "gate")
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": "patient",
		"command": "while [ ! -e " + gate + " ]; do sleep 0.05; done"}, nil)
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/patient/run", map[string]string{}, nil)
	eventually(t, "it runs", func() bool { return a.count("status=running", status("running")) == 1 })
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	second := start(t, "carillon-standalone", "--data-dir", copied, "--listen", freePort(t))
	if code := second.exit(); code != 4 || !strings.Contains(second.Text(), "copy") {
		t.Fatalf("the copy ended with %d: %s", code, second.Text())
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the run of the original succeeds", func() bool {
		return a.count("job=patient", status("succeeded")) == 1
	})
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Fatalf("the original stopped with %d", code)
	}
}
