package system

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

const (
	killRounds = 20
	// killBudget bounds the test on a slow machine: after it no further round begins.
	killBudget = 3 * time.Minute
	// killedDay is an output of the first step; the others read it.
	killedDay = "2026-03-29"
)

// A worker is killed at any moment of a flow run of three steps, and started again. Each step ends once with success,
// after the one before it; no attempt begins twice, and further attempts exist only of what the dead worker ran.
func TestFlow_WorkerKilledAtAnyMoment_EachStepSucceedsOnce(t *testing.T) {
	t.Parallel() // it mostly waits
	k := newKillings(t)
	began := time.Now()
	for len(k.rounds) < killRounds && (len(k.rounds) < len(moments) || time.Since(began) < killBudget) {
		r := k.play(moments[len(k.rounds)%len(moments)])
		k.check(&r)
		k.rounds = append(k.rounds, r)
		t.Logf("round %d: %s (%s), killed %s (%s); the command ran on %q; %d lost", len(k.rounds), r.at, r.step,
			r.victim, r.how, r.runner, r.lost)
		if t.Failed() {
			t.Fatalf("its lines:\n%s", strings.Join(k.textOf(r.run), "\n"))
		}
	}
	k.checkFires()
	losses := 0
	for _, r := range k.rounds {
		losses += r.lost
	}
	t.Logf("%d rounds in %v; %d attempts were lost", len(k.rounds), time.Since(began).Round(time.Second), losses)
}

// moment is when a worker is killed.
type moment string

const (
	requested   moment = "when the flow run is requested"
	stepStarted moment = "when a step is started, before its run is claimed"
	stepBegan   moment = "while the command of a step runs"
	stepWrote   moment = "when the command of a step has done its work"
	stepEnded   moment = "when a step has ended, before the next one"
)

var moments = []moment{stepBegan, requested, stepEnded, stepStarted, stepWrote}

// killRound is a flow run in which a worker was killed.
type killRound struct {
	run    string
	at     moment
	step   string
	victim string // name of the worker
	runner string // name of the worker that ran the step; empty before
	how    string // what was killed: worker, guardian or both
	lost   int    // attempts
}

// killings is a cluster of three workers and a flow. Its commands append to a ledger of their own.
type killings struct {
	*fleet
	t      *testing.T
	steps  []string
	random *rand.Rand
	rounds []killRound
}

func newKillings(t *testing.T) *killings {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	k := &killings{fleet: newFleet(t), t: t, steps: []string{"extract", "transform", "load"},
		random: rand.New(rand.NewPCG(seed, 0))}
	k.ledger = filepath.Join(k.dir, "lines")
	line := func(what string) string {
		return fmt.Sprintf(`echo "%s $CARILLON_STEP $CARILLON_FLOW_RUN $CARILLON_RUN_ID $CARILLON_ATTEMPT `+
			`$CARILLON_WORKER_NAME $DAY" >>%s`, what, k.ledger)
	}
	// A command that is held runs while a file exists.
	held := "while [ -e " + k.dir + "/hold-$CARILLON_STEP ]; do sleep 0.02; done"
	work := strings.Join([]string{line("begin"), "sleep 0.1", held, line("end")}, "\n")
	day := map[string]string{"DAY": "${{ steps.extract.outputs.day }}"}
	k.a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":      "etl",
		"overlap":   "allow",
		"onLost":    "rerun",
		"lostAfter": "20s",
		"killGrace": "1s",
		"steps": []map[string]any{
			{"name": "extract", "command": "DAY=" + killedDay + "\n" + work + "\nprintf %s $DAY >$CARILLON_OUTPUT/day",
				"outputs": map[string]any{"day": map[string]any{"required": true}}},
			{"name": "transform", "after": []string{"extract"}, "env": day, "command": work},
			{"name": "load", "after": []string{"transform"}, "env": day, "command": work},
		},
	}, nil)
	return k
}

// play starts a flow run, kills a worker at a moment of it, starts that worker again, and waits for the end.
func (k *killings) play(at moment) killRound {
	k.t.Helper()
	r := killRound{at: at, step: k.steps[k.random.IntN(len(k.steps))]}
	var live map[string]common.Registration
	eventually(k.t, "all workers are registered", func() bool {
		live = registered(k.t, k.client)
		return len(live) == len(k.workers)
	})
	hold := filepath.Join(k.dir, "hold-"+r.step)
	if at == stepBegan {
		if err := os.WriteFile(hold, nil, 0o600); err != nil {
			k.t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(k.t.Context(), patience)
	defer cancel()
	now, err := k.client.Get(ctx, common.FlowNodesPrefix, clientv3.WithCountOnly(), clientv3.WithPrefix())
	if err != nil {
		k.t.Fatal(err)
	}
	marks := k.client.Watch(ctx, common.FlowNodesPrefix, clientv3.WithPrefix(), clientv3.WithRev(now.Header.Revision+1))
	var accepted struct{ Run string }
	k.a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/etl/run", map[string]any{}, &accepted)
	r.run = accepted.Run
	switch at {
	case stepStarted:
		k.awaitMark(marks, r, common.NodeStarted)
	case stepEnded:
		k.awaitMark(marks, r, common.NodeEnded)
	case stepBegan:
		r.runner = k.awaitLine(r, "begin").worker
	case stepWrote:
		r.runner = k.awaitLine(r, "end").worker
	}
	if r.runner != "" && k.workers[r.runner] == nil {
		k.t.Fatalf("the command ran on %q", r.runner)
	}
	r.victim, r.how = k.choose(r, keeperOf(live, r.run).Name)
	k.kill(r.victim, r.how)
	if at == stepBegan {
		if err := os.Remove(hold); err != nil {
			k.t.Fatal(err)
		}
	}
	k.workers[r.victim] = k.worker(r.victim)
	eventually(k.t, "the flow run ends", func() bool {
		resp, err := k.client.Get(k.t.Context(), common.FlowRunKey("etl", r.run), clientv3.WithCountOnly())
		return err == nil && resp.Count == 0
	})
	return r
}

// choose returns a worker, and what of it is killed. The worker is any of them, or, in half of the rounds, the one that
// runs the step or keeps the flow run. In the first round, while a step runs, it is the one that runs it, so that at
// least one attempt is lost.
func (k *killings) choose(r killRound, keeper string) (victim, how string) {
	names := slices.Sorted(maps.Keys(k.workers))
	victim = names[k.random.IntN(len(names))]
	if len(k.rounds) == 0 || k.random.IntN(2) == 0 {
		victim = cmp.Or(r.runner, keeper)
	}
	return victim, []string{"both", "worker", "guardian"}[k.random.IntN(3)]
}

// awaitMark waits until the mark of a round's step has a state.
func (k *killings) awaitMark(marks clientv3.WatchChan, r killRound, state common.NodeState) {
	k.t.Helper()
	for resp := range marks {
		for _, ev := range resp.Events {
			if string(ev.Kv.Key) != common.FlowNodeKey(r.run, r.step) || ev.Type != clientv3.EventTypePut {
				continue
			}
			mark, err := common.Decode[common.Node](ev.Kv.Value)
			if err != nil {
				k.t.Fatal(err)
			}
			if mark.State == state {
				return
			}
		}
	}
	k.t.Fatalf("%s of %s was not %s within %v", r.step, r.run, state, patience)
}

// killLine is a line of the commands' ledger.
type killLine struct{ what, step, flowRun, run, attempt, worker, day string }

// awaitLine waits until a command of a round's step has written a line, and returns it at once.
func (k *killings) awaitLine(r killRound, what string) killLine {
	k.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		for _, l := range k.linesOf(r.run) {
			if l.what == what && l.step == r.step {
				return l
			}
		}
	}
	k.t.Fatalf("%s of %s did not %s within %v", r.step, r.run, what, patience)
	return killLine{}
}

// textOf returns the whole lines of a flow run.
func (k *killings) textOf(flowRun string) (found []string) {
	k.t.Helper()
	data, err := os.ReadFile(k.ledger)
	if err != nil && !os.IsNotExist(err) {
		k.t.Fatal(err)
	}
	for text := range strings.Lines(string(data)) {
		if line, whole := strings.CutSuffix(text, "\n"); whole && strings.Contains(line, " "+flowRun+" ") {
			found = append(found, line)
		}
	}
	return found
}

func (k *killings) linesOf(flowRun string) (lines []killLine) {
	k.t.Helper()
	for _, text := range k.textOf(flowRun) {
		f := strings.Fields(text)
		if len(f) != 7 {
			k.t.Fatalf("the ledger has %q", text)
		}
		lines = append(lines, killLine{f[0], f[1], f[2], f[3], f[4], f[5], f[6]})
	}
	return lines
}

// check compares what the API shows of a round with the promises, and with the lines of the commands.
func (k *killings) check(r *killRound) {
	k.t.Helper()
	var end struct {
		Status common.Status
		Nodes  common.NodeCounts
	}
	eventually(k.t, "the outcome of the flow run is stored", func() bool {
		status, err := k.a.try(http.MethodGet, "/api/v1/runs/"+r.run, nil, &end)
		return err == nil && status == http.StatusOK && hasEnded(end.Status)
	})
	if end.Status != common.StatusSucceeded || end.Nodes.Total != len(k.steps) || end.Nodes.Succeeded != len(k.steps) {
		k.t.Errorf("the flow run ended as %+v", end)
	}
	lines := k.linesOf(r.run)
	known := map[string]bool{} // run ids of the API
	after := -1                // position of the end of the step before
	for _, step := range k.steps {
		attempts := k.attempts(r, step)
		for _, a := range attempts {
			known[a.ID] = true
		}
		if len(attempts) == 0 {
			k.t.Fatalf("%s has no run", step)
		}
		after = k.checkLines(step, attempts, lines, after)
	}
	for _, l := range lines {
		if !known[l.run] {
			k.t.Errorf("%s ran as %s, which is not in the history", l.step, l.run)
		}
		if l.day != killedDay {
			k.t.Errorf("%s of the day %q, want %q", l.step, l.day, killedDay)
		}
	}
	switch {
	case r.lost > 1:
		k.t.Errorf("%d attempts were lost, of steps that do not run at the same time", r.lost)
	case r.lost == 0 && r.at == stepBegan && r.victim == r.runner:
		k.t.Error("the worker died while it ran the step, and no attempt was lost")
	}
}

// attempts returns the runs of a step of a round, in their order. The last one has succeeded, and those before it were
// lost with the worker that was killed.
func (k *killings) attempts(r *killRound, step string) (found []run) {
	k.t.Helper()
	eventually(k.t, "the history has all attempts of "+step, func() bool {
		found = slices.DeleteFunc(k.a.runs("flowRun="+r.run), func(a run) bool { return a.Job != "etl:"+step })
		return len(found) > 0 && !slices.ContainsFunc(found, func(a run) bool {
			return !hasEnded(common.Status(a.Status))
		})
	})
	slices.SortFunc(found, func(a, b run) int { return cmp.Compare(a.Attempt, b.Attempt) })
	for i, a := range found {
		if a.Attempt != i+1 {
			k.t.Errorf("attempt %d of %s is number %d", i+1, step, a.Attempt)
		}
		if last := i == len(found)-1; last != (a.Status == "succeeded") {
			k.t.Errorf("attempt %d of %d of %s is %s", i+1, len(found), step, a.Status)
		} else if last {
			continue
		}
		r.lost++
		if a.Status != "lost" || a.WorkerName != r.victim {
			k.t.Errorf("attempt %d of %s is %s on %s; %s died", a.Attempt, step, a.Status, a.WorkerName, r.victim)
		}
	}
	return found
}

// checkLines checks the lines of a step: each attempt began and ended at most once, no two overlapped, the one that
// succeeded did both, and none began before the end of the step before, which is at the position after. It returns that
// of the step's own end.
func (k *killings) checkLines(step string, attempts []run, lines []killLine, after int) (end int) {
	k.t.Helper()
	end = -1
	latest := -1 // position of the last line of the attempts so far
	for n, a := range attempts {
		var begun, ended int
		for i, l := range lines {
			switch {
			case l.run != a.ID:
				continue
			case l.step != step || l.attempt != fmt.Sprint(a.Attempt):
				k.t.Errorf("attempt %d of %s wrote %+v", a.Attempt, step, l)
			case l.what == "begin":
				begun++
			default:
				ended++
			}
			if i <= after {
				k.t.Errorf("%s wrote line %d, and what it waits for ended at line %d", step, i, after)
			}
			if i < latest {
				k.t.Errorf("attempt %d of %s wrote line %d, after the begin of the next one", a.Attempt, step, i)
			}
			if n == len(attempts)-1 && l.what == "end" {
				end = i
			}
			latest = max(latest, i)
		}
		if begun > 1 || ended > begun {
			k.t.Errorf("attempt %d of %s began %d times, and ended %d times", a.Attempt, step, begun, ended)
		}
	}
	if end < 0 {
		k.t.Errorf("%s succeeded, and its command did not end", step)
	}
	return end
}

// checkFires checks that each flow run has one entry in the ledger of fires.
func (k *killings) checkFires() {
	k.t.Helper()
	var page struct {
		Items []struct {
			Status   string
			Attempts []string
		}
	}
	k.a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/etl/fires?limit=500", nil, &page)
	entries := map[string]int{}
	for _, f := range page.Items {
		if f.Status != "succeeded" || len(f.Attempts) != 1 {
			k.t.Errorf("an entry of the ledger is %+v", f)
		}
		for _, attempt := range f.Attempts {
			entries[attempt]++
		}
	}
	for _, r := range k.rounds {
		if entries[r.run] != 1 {
			k.t.Errorf("the ledger has %d entries of %s", entries[r.run], r.run)
		}
	}
	if len(page.Items) != len(k.rounds) {
		k.t.Errorf("the ledger has %d entries, want %d", len(page.Items), len(k.rounds))
	}
}
