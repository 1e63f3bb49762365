package system

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// machineRounds is the number of flow runs that are ended in each of the five ways, and quickRounds that of a short
// test.
const (
	machineRounds = 20
	quickRounds   = 3
)

// A flow run creates a machine and works; a clean-up step removes it. Flow runs are ended by a kill, by their timeout,
// by failFast and by a later fire, and the worker that keeps them dies in each phase. Each machine that was created is
// removed by a clean-up step that succeeds, after all other steps have ended, and each node has one outcome.
func TestFlow_EndedInAnyWay_MachineIsRemoved(t *testing.T) {
	t.Parallel() // it mostly waits
	rounds := machineRounds
	if testing.Short() {
		rounds = quickRounds
	}
	calm, dying := newFleet(t), newFleet(t)
	marks := map[*fleet]*markLog{calm: watchMarks(t, calm.client), dying: watchMarks(t, dying.client)}
	var done sync.Map // number of rounds by way
	t.Run("by", func(t *testing.T) {
		for _, way := range []struct {
			name  string
			fleet *fleet
			more  map[string]any
			play  func(*machines, int)
		}{
			{"kill", calm, nil, (*machines).playKills},
			{"timeout", calm, map[string]any{"timeout": "2s"}, (*machines).playTimeouts},
			{"fail-fast", calm, map[string]any{"failFast": true}, (*machines).playFailures},
			{"replace", calm, map[string]any{"overlap": "replace", "cronExpr": "*/3 * * * * * *", "paused": true},
				(*machines).playReplacements},
			{"keeper", dying, nil, (*machines).playDeaths},
		} {
			t.Run(way.name, func(t *testing.T) {
				t.Parallel()
				f, c := *way.fleet, *way.fleet.cluster
				c.t, f.cluster = t, &c
				f.a = &api{t: t, base: f.a.base, token: f.a.token}
				m := &machines{fleet: &f, t: t, way: way.name, marks: marks[way.fleet]}
				m.ledger = filepath.Join(m.dir, "lines-"+way.name)
				m.save(way.more)
				began := time.Now()
				way.play(m, rounds)
				m.checkFires()
				done.Store(way.name, len(m.rounds))
				t.Logf("%d machines were created, and all were removed, in %d flow runs within %v", m.created,
					len(m.rounds), time.Since(began).Round(time.Second))
			})
		}
	})
	total := 0
	done.Range(func(_, n any) bool { total += n.(int); return true })
	t.Logf("%d flow runs were ended", total)
}

// machines is a flow that is ended in one way, again and again.
type machines struct {
	*fleet
	t       *testing.T
	way     string // the name of the flow
	marks   *markLog
	rounds  []machineRound
	created int
}

// machineRound is a flow run that was ended.
type machineRound struct {
	run  string
	want common.Status
	// steps are the expected ends of steps, as far as the moment decides them: statuses, and the code of a reason.
	steps  map[string][]string
	victim string // the worker that was killed; empty if none was
}

// Ends of steps.
const (
	didSucceed = "succeeded"
	wasKilled  = "killed"
	wasLost    = "lost"
	hasFailed  = "failed"
	wasStopped = "skipped flow_stopped"
)

// hold returns the file as long as which a step waits.
func (m *machines) hold(step string) string { return filepath.Join(m.dir, "hold-"+m.way+"-"+step) }

// save creates the flow. Its steps write to the ledger when they begin, and when they have done their work; then they
// wait as long as they are held.
func (m *machines) save(more map[string]any) {
	m.t.Helper()
	script := func(step, work string) string {
		line := func(what string) string {
			return fmt.Sprintf(`echo "%s $CARILLON_STEP $CARILLON_FLOW_RUN $CARILLON_RUN_ID ${ID:--}" >>%s`, what,
				common.ShellWord(m.ledger))
		}
		return strings.Join([]string{line("begin"), work, line("work"),
			"while [ -e " + common.ShellWord(m.hold(step)) + " ]; do sleep 0.02; done", line("end")}, "\n")
	}
	steps := []map[string]any{
		{"name": "create", "command": script("create", `printf %s "m-$CARILLON_FLOW_RUN" >"$CARILLON_OUTPUT/id"`),
			"outputs": map[string]any{"id": map[string]any{"default": "unknown"}}},
		{"name": "work", "after": []string{"create"}, "command": script("work", ":")},
		{"name": "remove", "after": []string{"create", "work"}, "finally": true, "command": script("remove", ":"),
			"env": map[string]string{"ID": "${{ steps.create.outputs.id }}"}},
	}
	job := map[string]any{"name": m.way, "onLost": "rerun", "lostAfter": "20s", "killGrace": "1s", "overlap": "allow"}
	maps.Copy(job, more)
	if m.way == "fail-fast" { // a step fails while the others work
		steps = append(steps, map[string]any{"name": "boom", "after": []string{"create"},
			"command": script("boom", "") + "\nexit 1"})
	}
	job["steps"] = steps
	m.a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", job, nil)
	m.keep("work")
}

// keep holds a step of later flow runs, and letGo lets it end.
func (m *machines) keep(step string) {
	m.t.Helper()
	if err := os.WriteFile(m.hold(step), nil, 0o600); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machines) letGo(step string) {
	m.t.Helper()
	if err := os.Remove(m.hold(step)); err != nil && !os.IsNotExist(err) {
		m.t.Fatal(err)
	}
}

// request ends a flow run by a kill request: of the API, or of cronctl.
func (m *machines) request(run string, cli bool) {
	m.t.Helper()
	if !cli {
		m.a.do(http.StatusAccepted, http.MethodPost, "/api/v1/runs/"+run+"/kill", map[string]any{}, nil)
		return
	}
	p := launchWith(m.t, []string{"CARILLON_TOKEN=" + m.a.token}, "cronctl", filepath.Join(bin, "cronctl"), "--server",
		m.a.base, "kill", run)
	if code := p.exit(); code != 0 {
		m.t.Fatalf("cronctl kill ended with %d: %s", code, p.Text())
	}
}

// playKills kills flow runs while they create the machine, and while they work.
func (m *machines) playKills(rounds int) {
	for i := range rounds {
		r := machineRound{want: common.StatusKilled}
		step := "work"
		r.steps = map[string][]string{"create": {didSucceed}, "work": {wasKilled}}
		if i%2 == 1 {
			step = "create"
			r.steps = map[string][]string{"create": {wasKilled}, "work": {wasStopped}}
			m.keep("create")
		}
		r.run = m.run(m.way)
		m.awaitLine(r.run, step, "work")
		m.request(r.run, i%4 > 1)
		m.close(r)
		m.letGo("create")
	}
}

// playTimeouts waits for the timeouts of flow runs. On a slow machine one may be over before the work begins.
func (m *machines) playTimeouts(rounds int) {
	for range rounds {
		m.close(machineRound{run: m.run(m.way), want: common.StatusTimedOut})
	}
}

// playFailures lets a step fail beside the work.
func (m *machines) playFailures(rounds int) {
	for range rounds {
		m.keep("boom")
		r := machineRound{run: m.run(m.way), want: common.StatusFailed, steps: map[string][]string{
			"create": {didSucceed}, "work": {wasKilled}, "boom": {hasFailed}}}
		m.awaitLine(r.run, "work", "work")
		m.letGo("boom")
		m.close(r)
	}
}

// playReplacements lets the fires of the schedule replace each other's flow runs. Each flow run begins after the
// clean-up of the one before it.
func (m *machines) playReplacements(rounds int) {
	m.a.do(http.StatusOK, http.MethodPost, "/api/v1/jobs/"+m.way+"/resume", nil, nil)
	var runs []string
	eventually(m.t, "enough flow runs have been replaced", func() bool {
		runs = m.flowRuns()
		return len(runs) > rounds
	})
	m.a.do(http.StatusOK, http.MethodPost, "/api/v1/jobs/"+m.way+"/pause", map[string]any{}, nil)
	for _, run := range runs[:rounds] {
		m.close(machineRound{run: run, want: common.StatusKilled})
		var end struct{ Reason *common.Reason }
		m.a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+run, nil, &end)
		if end.Reason == nil || !strings.Contains(fmt.Sprint(end.Reason), "replaced") {
			m.t.Errorf("the reason of %s is %+v, want one that names the replacement", run, end.Reason)
		}
	}
	var open struct{ Items []run }
	m.a.do(http.StatusOK, http.MethodGet, "/api/v1/runs?job="+m.way+"&status=running", nil, &open)
	for _, r := range open.Items {
		m.request(r.ID, false)
	}
	for _, run := range m.flowRuns()[rounds:] {
		m.ended(run)
	}
	current, over := "", map[string]bool{}
	for _, l := range m.lines("") {
		if l.run == current {
			continue
		}
		if over[l.run] {
			m.t.Errorf("%s of %s wrote a line after the begin of %s, which replaced it", l.step, l.run, current)
		}
		over[current], current = true, l.run
	}
}

// Phases in which the keeper dies.
const (
	inMainPart = iota
	beforeCleanUp
	inCleanUp
	phases
)

// playDeaths kills the worker that keeps the flow run: while it works, when the work has ended, and while the machine
// is removed. Half of the flow runs are killed by a request too.
func (m *machines) playDeaths(rounds int) {
	for i := range rounds {
		phase, killed := i%phases, i/phases%2 == 1
		r := machineRound{want: common.StatusSucceeded}
		r.steps = map[string][]string{"create": {didSucceed}, "work": {didSucceed}}
		if killed {
			r.want, r.steps["work"] = common.StatusKilled, []string{wasKilled, wasLost}
		}
		var live map[string]common.Registration
		eventually(m.t, "all workers are registered", func() bool {
			live = registered(m.t, m.client)
			return len(live) == len(m.workers)
		})
		m.keep("work")
		if phase == inCleanUp {
			m.keep("remove")
		}
		r.run = m.run(m.way)
		m.awaitLine(r.run, "work", "work")
		end := func() {
			if killed {
				m.request(r.run, false)
			} else {
				m.letGo("work")
			}
		}
		r.victim = keeperOf(live, r.run).Name
		how := []string{"both", "worker"}[i/(2*phases)%2]
		switch phase {
		case inMainPart:
			m.kill(r.victim, how)
			end()
		case beforeCleanUp:
			end()
			m.marks.await(m.t, r.run, "work", common.NodeEnded)
			m.kill(r.victim, how)
		case inCleanUp:
			end()
			m.awaitLine(r.run, "remove", "work")
			m.kill(r.victim, how)
			m.letGo("remove")
		}
		// Either another worker takes over, or the dead one is back before that.
		away := i%2 == 0
		if !away {
			m.workers[r.victim] = m.worker(r.victim)
		}
		m.close(r)
		if away {
			m.workers[r.victim] = m.worker(r.victim)
		}
	}
}

// machineLine is a line of the ledger of commands.
type machineLine struct{ what, step, run, id, machine string }

// lines returns the lines of a flow run, or of all.
func (m *machines) lines(flowRun string) (lines []machineLine) {
	m.t.Helper()
	data, err := os.ReadFile(m.ledger)
	if err != nil && !os.IsNotExist(err) {
		m.t.Fatal(err)
	}
	for text := range strings.Lines(string(data)) {
		f := strings.Fields(text)
		if !strings.HasSuffix(text, "\n") { // it is being written
			continue
		}
		if len(f) != 5 {
			m.t.Fatalf("the ledger has %q", text)
		}
		if flowRun == "" || f[2] == flowRun {
			lines = append(lines, machineLine{f[0], f[1], f[2], f[3], f[4]})
		}
	}
	return lines
}

// flowRuns returns the flow runs in the order of their first lines.
func (m *machines) flowRuns() (runs []string) {
	m.t.Helper()
	for _, l := range m.lines("") {
		if !slices.Contains(runs, l.run) {
			runs = append(runs, l.run)
		}
	}
	return runs
}

// awaitLine waits until a step of a flow run has written a line.
func (m *machines) awaitLine(flowRun, step, what string) {
	m.t.Helper()
	eventually(m.t, step+" of "+flowRun+" writes "+what, func() bool {
		return slices.ContainsFunc(m.lines(flowRun), func(l machineLine) bool {
			return l.step == step && l.what == what
		})
	})
}

// close waits for the end of a round, and compares it with the promises.
func (m *machines) close(r machineRound) {
	m.t.Helper()
	var end struct {
		Status common.Status
		Nodes  common.NodeCounts
		Reason *common.Reason
	}
	eventually(m.t, "the outcome of "+r.run+" is stored", func() bool {
		status, err := m.a.try(http.MethodGet, "/api/v1/runs/"+r.run, nil, &end)
		return err == nil && status == http.StatusOK && hasEnded(end.Status)
	})
	steps := []string{"create", "work", "remove"}
	if m.way == "fail-fast" {
		steps = append(steps, "boom")
	}
	if end.Status != r.want || end.Nodes.Total != len(steps) {
		m.t.Errorf("the flow run is %s with %+v, want %s with %d nodes", end.Status, end.Nodes, r.want, len(steps))
	}
	outcomes := m.outcomes(r, steps)
	for step, texts := range r.steps {
		if !slices.Contains(texts, outcomes[step]) {
			m.t.Errorf("%s is %q, want %q", step, outcomes[step], texts)
		}
	}
	m.checkRemoval(r, outcomes)
	m.marks.check(m.t, r.run, steps)
	m.rounds = append(m.rounds, r)
	if m.t.Failed() {
		m.t.Fatalf("round %d, %+v: %+v\nits lines: %+v", len(m.rounds), r, outcomes, m.lines(r.run))
	}
}

// outcomes returns the last outcome of each step, and checks its attempts: there is one, which ended, or none was
// needed; further ones exist only of what was lost with a worker.
func (m *machines) outcomes(r machineRound, steps []string) map[string]string {
	m.t.Helper()
	var all []run
	eventually(m.t, "the history has all nodes of "+r.run, func() bool {
		all = m.a.runs("flowRun=" + r.run)
		found := map[string]bool{}
		for _, a := range all {
			found[a.Job] = true
		}
		return len(found) == len(steps) && !slices.ContainsFunc(all, func(a run) bool {
			return !hasEnded(common.Status(a.Status))
		})
	})
	slices.SortFunc(all, func(a, b run) int { return cmp.Compare(a.Attempt, b.Attempt) })
	last, known := map[string]string{}, map[string]bool{}
	attempts := map[string]int{}
	for _, a := range all {
		step := strings.TrimPrefix(a.Job, m.way+":")
		known[a.ID] = true
		if before, again := last[step]; again && (before != wasLost || r.victim == "") {
			m.t.Errorf("attempt %d of %s follows one that is %s", a.Attempt, step, before)
		}
		if attempts[step]++; a.Attempt != attempts[step] && (a.Attempt != 0 || a.Status != "skipped") {
			m.t.Errorf("entry %d of %s is attempt %d, %s", attempts[step], step, a.Attempt, a.Status)
		}
		last[step] = a.Status
		if a.Status == "skipped" {
			last[step] += " " + a.Reason.Code
		}
		if a.Status == wasLost && a.WorkerName != r.victim {
			m.t.Errorf("%s was lost on %s; %q was killed", step, a.WorkerName, r.victim)
		}
	}
	for _, l := range m.lines(r.run) {
		if !known[l.id] {
			m.t.Errorf("%s ran as %s, which is not in the history", l.step, l.id)
		}
	}
	return last
}

// checkRemoval checks that the machine of a round was removed if a step that may create it was started: by a clean-up
// step that succeeded, and after all other steps had ended.
func (m *machines) checkRemoval(r machineRound, outcomes map[string]string) {
	m.t.Helper()
	started, removed := false, 0
	var removal machineLine // the last one that began
	for _, l := range m.lines(r.run) {
		switch {
		case l.step != "remove":
			started = true
			if removal.step != "" {
				m.t.Errorf("%s wrote %q after the clean-up had begun", l.step, l.what)
			}
		case l.what == "begin":
			removal = l
		case l.what == "end" && l != (machineLine{"end", "remove", r.run, removal.id, removal.machine}):
			m.t.Errorf("the removal %+v ended, and the last one that began is %+v", l, removal)
		case l.what == "end":
			removed++
		}
	}
	if !started {
		if want := "skipped " + common.ReasonRuleUnmet; outcomes["create"] == wasStopped && outcomes["remove"] != want {
			m.t.Errorf("no machine was created, and its removal is %q, want %q", outcomes["remove"], want)
		}
		return
	}
	m.created++
	if outcomes["remove"] != didSucceed || removed == 0 || removed > 1 && r.victim == "" {
		m.t.Errorf("the removal is %s, and the machine was removed %d times", outcomes["remove"], removed)
	}
	machine := "m-" + r.run
	if removal.machine != machine && (outcomes["create"] == didSucceed || removal.machine != "unknown") {
		m.t.Errorf("%s was removed, and %s was created", removal.machine, machine)
	}
}

// checkFires checks that each flow run is one entry in the ledger of fires.
func (m *machines) checkFires() {
	m.t.Helper()
	entries := map[string]int{}
	var page struct {
		Items []struct {
			Status   string
			Attempts []string
		}
	}
	m.a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/"+m.way+"/fires?limit=500", nil, &page)
	for _, f := range page.Items {
		for _, attempt := range f.Attempts {
			entries[attempt]++
		}
	}
	for _, r := range m.rounds {
		if entries[r.run] != 1 {
			m.t.Errorf("the ledger has %d entries of %s", entries[r.run], r.run)
		}
	}
}

// markLog has all marks of flow runs, in the order of etcd.
type markLog struct {
	mu   sync.Mutex
	runs map[string][]seenMark // owned under mu
}

type seenMark struct {
	node string
	common.Node
}

// watchMarks records the marks of a cluster until the end of the test.
func watchMarks(t *testing.T, client *clientv3.Client) *markLog {
	t.Helper()
	log := &markLog{runs: map[string][]seenMark{}}
	ctx, cancel := context.WithCancel(t.Context())
	now, err := client.Get(ctx, common.FlowNodesPrefix, clientv3.WithCountOnly(), clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	events := client.Watch(ctx, common.FlowNodesPrefix, clientv3.WithPrefix(), clientv3.WithRev(now.Header.Revision+1))
	var group sync.WaitGroup
	group.Go(func() {
		for resp := range events {
			for _, ev := range resp.Events {
				run, node, _ := strings.Cut(strings.TrimPrefix(string(ev.Kv.Key), common.FlowNodesPrefix), "/")
				mark, err := common.Decode[common.Node](ev.Kv.Value)
				if ev.Type != clientv3.EventTypePut || err != nil {
					continue
				}
				log.mu.Lock()
				log.runs[run] = append(log.runs[run], seenMark{node, mark})
				log.mu.Unlock()
			}
		}
	})
	t.Cleanup(func() { cancel(); group.Wait() })
	return log
}

func (l *markLog) of(run string) []seenMark {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.runs[run])
}

// await returns as soon as a node has a mark.
func (l *markLog) await(t *testing.T, run, node string, state common.NodeState) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if slices.ContainsFunc(l.of(run), func(m seenMark) bool { return m.node == node && m.State == state }) {
			return
		}
	}
	t.Fatalf("%s of %s was not %s within %v", node, run, state, patience)
}

// check checks that each step of a flow run was started at most once and ended once, and that the clean-up step was
// started when all others had ended.
func (l *markLog) check(t *testing.T, run string, steps []string) {
	t.Helper()
	ended := func() (marks []seenMark) {
		return slices.DeleteFunc(l.of(run), func(m seenMark) bool { return m.State != common.NodeEnded })
	}
	eventually(t, "the ends of all nodes of "+run+" are seen", func() bool { return len(ended()) >= len(steps) })
	begun, over := map[string]int{}, map[string]int{}
	for _, m := range l.of(run) {
		switch {
		case m.State == common.NodeEnded:
			over[m.node]++
		case m.node == "remove" && len(over) != len(steps)-1:
			t.Errorf("the clean-up of %s was started when %v had ended", run, over)
			fallthrough
		default:
			begun[m.node]++
		}
	}
	for _, step := range steps {
		if begun[step] > 1 || over[step] != 1 {
			t.Errorf("%s of %s was started %d times, and ended %d times", step, run, begun[step], over[step])
		}
	}
}
