package system

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"carillon/test/harness"
)

// bin is the folder of the programs.
var bin string

// beside is how many of the tests that mostly wait do so at a time: they need no processor for it.
const beside = 10

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(beside)); err != nil {
		panic(err)
	}
	var err error
	if bin, err = harness.Programs(); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// process is a program that was started. It is killed when the test ends.
type process struct {
	*harness.Process
	t testing.TB
}

func start(t testing.TB, name string, args ...string) *process {
	t.Helper()
	return launch(t, name, built(t, name), args...)
}

// built returns the path of a program of the tests.
func built(t testing.TB, name string) string {
	t.Helper()
	path, err := harness.Program(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// launch starts any program, under a name for messages.
func launch(t testing.TB, name, path string, args ...string) *process {
	t.Helper()
	return launchWith(t, nil, name, path, args...)
}

// launchWith adds to the environment, which is nearly empty.
func launchWith(t testing.TB, environ []string, name, path string, args ...string) *process {
	t.Helper()
	started, err := harness.Start(harness.Command{
		Name: name,
		Path: path,
		Log:  filepath.Join(t.TempDir(), "log"),
		Args: args,
		Env:  environ,
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Process: started, t: t}
	t.Cleanup(func() {
		if p.Alive() {
			p.Kill() // with the worker of a guardian, which would write to its folder a moment longer
		}
		if t.Failed() {
			t.Logf("--- %s %s\n%s", name, strings.Join(args, " "), p.Text())
		}
	})
	return p
}

// end sends a signal and waits for the exit code; -1 for a signal's death.
func (p *process) end(s syscall.Signal) int {
	p.t.Helper()
	p.Signal(s)
	return p.exit()
}

func (p *process) exit() int {
	p.t.Helper()
	select {
	case <-p.Done:
		return p.ProcessState.ExitCode()
	case <-time.After(patience):
		p.t.Fatalf("%s has not ended within %v", p.Name, patience)
		return 0
	}
}

// patience is for what happens at once on an idle machine. It is long, since a busy one may need a minute for a start
// or a password, and it costs only those who fail.
const patience = 4 * time.Minute

// eventually waits for a condition of the processes under test.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// given are the addresses that freePort gave: tests that run beside each other get none twice.
var given sync.Map

// freePort returns an unused address.
func freePort(t testing.TB) string {
	t.Helper()
	for {
		address, err := harness.FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		if _, taken := given.LoadOrStore(address, true); !taken {
			return address
		}
	}
}

// api speaks to a master.
type api struct {
	t     testing.TB
	base  string
	token string
	// client is the default one, unless the server is known by a certificate of its own.
	client *http.Client
}

type run struct {
	ID, Job, Status, Cause, WorkerName, Signal string
	PlannedAt                                  time.Time
	Attempt                                    int
	OutputBytes                                int64
	Reason                                     struct{ Code string }
}

// try makes a request and decodes what is answered into out, if that is not nil.
func (a *api) try(method, path string, body, out any) (int, error) {
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	remote := harness.API{Base: a.base, Token: a.token, Client: cmp.Or(a.client, http.DefaultClient)}
	status, err := remote.Ask(ctx, method, path, body, out)
	if status >= 300 {
		return status, nil
	}
	return status, err
}

// do makes a request that must be answered as wanted.
func (a *api) do(want int, method, path string, body, out any) {
	a.t.Helper()
	status, err := a.try(method, path, body, out)
	if err != nil || status != want {
		a.t.Fatalf("%s %s: %d, %v; want %d", method, path, status, err, want)
	}
}

func (a *api) ready() bool {
	status, err := a.try(http.MethodGet, "/readyz", nil, nil)
	return err == nil && status == http.StatusOK
}

// runs lists all runs that a query finds, page after page.
func (a *api) runs(query string) []run {
	a.t.Helper()
	var all []run
	cursor := ""
	for {
		var page struct {
			Items      []run
			NextCursor string
		}
		path := "/api/v1/runs?limit=100&" + query
		if cursor != "" {
			path += "&cursor=" + cursor
		}
		a.do(http.StatusOK, http.MethodGet, path, nil, &page)
		all = append(all, page.Items...)
		if cursor = page.NextCursor; cursor == "" {
			return all
		}
	}
}

// count counts the runs of a query that satisfy a condition.
func (a *api) count(query string, condition func(run) bool) int {
	a.t.Helper()
	n := 0
	for _, r := range a.runs(query) {
		if condition(r) {
			n++
		}
	}
	return n
}

func status(s string) func(run) bool { return func(r run) bool { return r.Status == s } }

// everyFireOnce checks the ledger of a job: of all its fires between the first and
// the last, a second apart, each has exactly one outcome.
func everyFireOnce(t *testing.T, runs []run) {
	t.Helper()
	eachOnce(t, runs, nil)
}

// gap is a series of fires that were missed together: those after From, until To. Its entry among the runs is that of
// the last one.
type gap struct{ From, To time.Time }

// everyFireOnce checks the ledger of a job in which fires were missed together.
func (a *api) everyFireOnce(job string) {
	a.t.Helper()
	var page struct {
		Items []struct{ Gap *gap }
	}
	a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/"+job+"/fires?status=missed&limit=500", nil, &page)
	var gaps []gap
	for _, f := range page.Items {
		if f.Gap != nil {
			gaps = append(gaps, *f.Gap)
		}
	}
	eachOnce(a.t, a.runs("job="+job), gaps)
}

func eachOnce(t testing.TB, runs []run, gaps []gap) {
	t.Helper()
	seen := map[time.Time]int{}
	for _, g := range gaps {
		for at := g.From.Add(time.Second); at.Before(g.To); at = at.Add(time.Second) {
			seen[at]++
		}
	}
	var first, last time.Time
	for _, r := range runs {
		if r.Cause != "cron" && r.Cause != "catchup" {
			continue
		}
		seen[r.PlannedAt]++
		if first.IsZero() || r.PlannedAt.Before(first) {
			first = r.PlannedAt
		}
		if r.PlannedAt.After(last) {
			last = r.PlannedAt
		}
	}
	if len(seen) == 0 {
		t.Error("no fire has an outcome")
		return
	}
	for at := first; !at.After(last); at = at.Add(time.Second) {
		if seen[at] != 1 {
			t.Errorf("the fire at %s has %d outcomes, want 1", at.Format(time.TimeOnly), seen[at])
		}
	}
}

// processes lists the commands on this machine that a text occurs in.
func processes(t *testing.T, text string) []string {
	t.Helper()
	out, err := exec.Command("pgrep", "-f", text).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}
