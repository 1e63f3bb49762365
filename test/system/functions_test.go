package system

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// program is a program with functions, of which several processes run beside a master; there is no other worker.
type program struct {
	*cluster
	a      *api
	ledger string
	count  int
}

func newProgram(t *testing.T) *program {
	p := &program{cluster: newCluster(t)}
	p.ledger = filepath.Join(p.dir, "ledger")
	p.a = p.master()
	p.a.token = p.bootstrap()
	eventually(t, "the master is ready", p.a.ready)
	return p
}

// begin starts a process of a build with functions.
func (p *program) begin(build, funcs string, environ ...string) *process {
	p.t.Helper()
	p.count++
	name := fmt.Sprintf("p%d", p.count)
	return launchWith(p.t, append(environ, "BUILD="+build, "NAME="+name, "FUNCS="+funcs, "LEDGER="+p.ledger,
		"ETCD=http://"+p.etcdAt, "STORE=mongodb://"+p.mongoAt, "API="+p.a.base, "TOKEN="+p.a.token,
		"DIR="+filepath.Join(p.dir, name)), name, filepath.Join(bin, "functions"))
}

// call is a line of the ledger.
type call struct {
	what, job, state string
	planned, fence   int64
	pid              int
}

func (p *program) calls() (all []call) {
	p.t.Helper()
	data, err := os.ReadFile(p.ledger)
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var c call
		if _, err := fmt.Sscan(line, &c.what, &c.job, &c.planned, &c.fence, &c.pid, &c.state); err != nil {
			if strings.HasSuffix(line, "\n") {
				p.t.Fatalf("%q: %v", line, err)
			}
			break // it is being written
		}
		all = append(all, c)
	}
	return all
}

// inCall waits until one of the processes is in the middle of a call, and returns it.
func (p *program) inCall(processes []*process) (found *process) {
	p.t.Helper()
	eventually(p.t, "a function is being called", func() bool {
		calls := p.calls()
		if len(calls) == 0 || calls[len(calls)-1].what != "begin" {
			return false
		}
		for _, one := range processes {
			if one.PID() == calls[len(calls)-1].pid {
				found = one
			}
		}
		return found != nil
	})
	return found
}

// succeeded counts the calls of a job that have ended, and whose end was accepted.
func (p *program) succeeded(job string) (n int) {
	for _, c := range p.calls() {
		if c.job == job && c.what == "end" && c.state == "accepted" {
			n++
		}
	}
	return n
}

func (p *program) proceeds(job string, more int) {
	p.t.Helper()
	before := p.succeeded(job)
	eventually(p.t, fmt.Sprintf("%s is called %d times more", job, more), func() bool {
		return p.succeeded(job) >= before+more
	})
}

// check compares the ledger of the program with that of Carillon: each planned call was made at most once, calls of a
// job did not overlap unless the process of the earlier one was stopped or killed, and every run that has succeeded was
// a call that has ended.
func (p *program) check(job string, cut map[int]bool) {
	p.t.Helper()
	began, ended := map[int64]int{}, map[int64]bool{}
	var open *call
	for _, c := range p.calls() {
		switch {
		case c.job != job:
		case c.what == "begin":
			if began[c.planned]++; began[c.planned] > 1 {
				p.t.Errorf("%s: the call planned at %d was made twice", job, c.planned)
			}
			if open != nil && !cut[open.pid] {
				p.t.Errorf("%s: process %d was called while process %d had not returned", job, c.pid, open.pid)
			}
			open = &c
		default:
			if c.state == "late" && !cut[c.pid] {
				p.t.Errorf("%s: process %d, which ran all the time, wrote late", job, c.pid)
			}
			ended[c.planned] = ended[c.planned] || c.state == "accepted"
			if open != nil && open.pid == c.pid && open.fence == c.fence {
				open = nil
			}
		}
	}
	runs := p.a.runs("job=" + job)
	p.a.everyFireOnce(job)
	for _, r := range runs {
		if r.Status == "succeeded" && !ended[r.PlannedAt.Unix()] {
			p.t.Errorf("%s: the run planned at %v has succeeded, and the call has not ended", job, r.PlannedAt)
		}
	}
}

// settle pauses a job and waits until none of its runs is left.
func (p *program) settle(job string) {
	p.t.Helper()
	p.a.do(http.StatusOK, http.MethodPost, "/api/v1/jobs/"+job+"/pause", map[string]any{"note": "the test ends"}, nil)
	eventually(p.t, "no run of "+job+" is left", func() bool {
		return p.a.count("job="+job, func(r run) bool {
			return r.Status == "running" || r.Status == "waiting" || r.Status == "ending"
		}) == 0
	})
}

// Three processes share the calls of a function. One is killed in a call, another is stopped for longer than its fence:
// the others take over, and what the stopped one writes when it continues is late.
func TestFunctions_KilledAndStoppedProcesses(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	var all []*process
	for range 3 {
		all = append(all, p.begin("1", "tick"))
	}
	p.proceeds("billing.tick", 3)
	cut := map[int]bool{}
	killed := p.inCall(all)
	cut[killed.PID()] = true
	killed.Signal(syscall.SIGKILL)
	<-killed.Done
	p.proceeds("billing.tick", 2)

	var left []*process
	for _, one := range all {
		if one != killed {
			left = append(left, one)
		}
	}
	stopped := p.inCall(left)
	cut[stopped.PID()] = true
	stopped.Signal(syscall.SIGSTOP)
	p.proceeds("billing.tick", 2)
	stopped.Signal(syscall.SIGCONT)
	p.proceeds("billing.tick", 2)
	p.settle("billing.tick")
	for _, one := range left {
		if code := one.end(syscall.SIGTERM); code != 0 {
			t.Errorf("%s ended with %d", one.Name, code)
		}
	}
	p.check("billing.tick", cut)
}

// Without etcd, a strict process ends before another one may take over the call that does not return.
func TestFunctions_StrictProcess_EndsBeforeItsFence(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	strict := p.begin("1", "stuck", "STRICT=1")
	p.inCall([]*process{strict})
	p.etcd.Signal(syscall.SIGSTOP)
	if code := strict.exit(); code != 70 {
		t.Errorf("it ended with %d, not 70", code)
	}
	p.etcd.Signal(syscall.SIGCONT)
	if !strict.Said("function_outlived_its_run") {
		t.Error("it does not say why it ended")
	}
	p.begin("1", "stuck")
	eventually(t, "another process takes over", func() bool {
		calls := p.calls()
		return calls[len(calls)-1].pid != strict.PID()
	})
	p.check("billing.stuck", map[int]bool{strict.PID(): true})
}

// A rolling deployment adds, changes and drops a function while both builds run.
func TestFunctions_RollingDeployment(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	title := func(job string) string {
		var got struct{ Title string }
		p.a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/"+job, nil, &got)
		return got.Title
	}
	var old []*process
	for range 3 {
		old = append(old, p.begin("1", "tick,dropped"))
	}
	p.proceeds("billing.tick", 2)
	p.proceeds("billing.dropped", 2)
	fresh := []*process{p.begin("2", "tick,added")}
	p.proceeds("billing.added", 2) // only one process has it
	p.proceeds("billing.dropped", 2)
	if got := title("billing.tick"); got != "build 2" {
		t.Errorf("the job is that of %s", got)
	}
	late := p.begin("1", "tick,dropped") // an older build that starts later changes nothing
	eventually(t, "the older build has applied its definitions", func() bool { return late.Said("job_defined") })
	if got := title("billing.tick"); got != "build 2" {
		t.Errorf("an older build has changed the job: %s", got)
	}
	fresh = append(fresh, p.begin("2", "tick,added"), p.begin("2", "tick,added"))
	for _, one := range append(old, late) {
		if code := one.end(syscall.SIGTERM); code != 0 {
			t.Errorf("%s ended with %d", one.Name, code)
		}
	}
	p.proceeds("billing.tick", 2)
	p.proceeds("billing.added", 2)
	for _, job := range []string{"billing.tick", "billing.added"} {
		p.settle(job)
		p.check(job, nil)
	}
	p.check("billing.dropped", nil)
	var verdicts struct {
		Items []struct {
			Reason struct{ Code string }
		}
	}
	p.a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/billing.dropped/placement", nil, &verdicts)
	for _, v := range verdicts.Items {
		if v.Reason.Code != "needs_feature" {
			t.Errorf("a process is eligible for the dropped function, or not for want of it: %q", v.Reason.Code)
		}
	}
	for _, one := range fresh {
		if code := one.end(syscall.SIGTERM); code != 0 {
			t.Errorf("%s ended with %d", one.Name, code)
		}
	}
}
