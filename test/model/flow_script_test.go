package model

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
	flowetcd "carillon/internal/flow/etcd"
	"carillon/internal/flow/nodes"
)

const (
	chaosOfFlows  = 150 * time.Second
	restOfFlows   = 130 * time.Second
	flowWorkers   = 3
	flowDisturbed = 4 * time.Second
)

// flowPlay is what a world with flows plays.
type flowPlay struct {
	ends   [][]string // see script.ends
	define func(s *script, name string) common.Job
}

// The jobs of the play: x and y are flows with a schedule, n is a flow that they run, a and b are jobs that flows run.
var flowJobs = []string{"a", "b", "n", "x", "y"}

// playFlows lets a cluster with flows live through its disturbances, and come to rest.
func playFlows(ctx context.Context, w *world) (until time.Time) {
	w.flows = &flowPlay{ends: [][]string{{"x", "y"}, {"n"}, {"a", "b"}}, define: (*script).defineFlow}
	random := w.randomOf("clocks")
	skews := make([]time.Duration, flowWorkers)
	for i := range skews {
		skews[i] = time.Duration(random.Int64N(int64(4*time.Second))) - 2*time.Second
	}
	return run(ctx, w, flowJobs, skews, func(ctx context.Context, s *script) {
		for began := time.Now(); time.Since(began) < chaosOfFlows; {
			time.Sleep(s.between(100*time.Millisecond, flowDisturbed))
			s.disturbFlows(ctx)
		}
	})
}

// defineFlow makes a job of the play of flows.
func (s *script) defineFlow(name string) common.Job {
	j := common.Job{Name: name, Timezone: "UTC", OnLost: pick(s, common.LostRerun, common.LostAbandon),
		LostAfter: pick[common.Duration](s, "20s", "30s"), KillGrace: pick[common.Duration](s, "0s", "2s")}
	if name < "n" {
		j.Command, j.Overlap = "true", pick(s, common.OverlapAllow, common.OverlapSkip, common.OverlapQueue)
		j.CronExpr = pick(s, "", "@every 29s")
		j.Retry = s.retry()
		return j
	}
	j.Overlap = pick(s, common.OverlapSkip, common.OverlapQueue, common.OverlapReplace, common.OverlapAllow)
	if name > "n" {
		j.CronExpr, j.StartDeadline = pick(s, "@every 17s", "@every 31s", "* * * * *"), "10s"
	}
	j.Timeout = pick[common.Duration](s, "", "", "20s", "60s")
	j.Concurrency, j.FailFast = pick(s, 0, 0, 1, 2), s.random.IntN(5) == 0
	if j.Retry = s.retry(); j.Retry != nil { // attempts that wait for each other would not end within the play
		j.Overlap = pick(s, common.OverlapSkip, common.OverlapReplace)
		if name == "n" {
			j.Overlap = pick(s, common.OverlapSkip, common.OverlapReplace, common.OverlapAllow)
		}
	}
	s.steps(&j)
	if faults := flow.Faults(&j); len(faults) > 0 {
		panic(fmt.Sprint(faults))
	}
	return j
}

// steps makes a random DAG.
func (s *script) steps(j *common.Job) {
	n := 3 + s.random.IntN(5)
	for i := range n {
		step := common.Step{Name: fmt.Sprintf("s%d", i), AllowFailure: s.random.IntN(8) == 0}
		for p := max(0, i-4); p < i; p++ {
			if s.random.IntN(5) < 2 {
				step.After = append(step.After, common.Edge{Step: fmt.Sprintf("s%d", p)})
			}
		}
		var source *common.Step
		if edges := len(step.After); edges > 0 {
			step.Rule = pick(s, "", "", "", common.RuleNoneFailed, common.RuleNoneFailedOneSuccess,
				common.RuleAllDone, common.RuleOneSuccess, common.RuleOneFailed, common.RuleAllFailed)
			e := &step.After[s.random.IntN(edges)]
			e.On = pick(s, "", "", "", "", common.OnDone, common.OnSkipped, common.OnFailure)
			source = &j.Steps[int(e.Step[1]-'0')]
			step.When = pick(s, "", "", "", "", "", "false", "steps."+e.Step+".status == 'succeeded'")
			if step.Rule.Any() && edges > 1 { // the source may not have ended
				source = nil
				if step.When != "false" {
					step.When = ""
				}
			}
		}
		s.does(j.Name, &step, source)
		j.Steps = append(j.Steps, step)
	}
	for i := range s.random.IntN(3) { // clean-up steps
		step := common.Step{Name: fmt.Sprintf("z%d", i), Finally: true, Command: "true",
			AllowFailure: s.random.IntN(8) == 0, Retry: s.retry()}
		for p := range n {
			if s.random.IntN(n) == 0 {
				step.After = append(step.After, common.Edge{Step: fmt.Sprintf("s%d", p)})
			}
		}
		if i == 1 && s.random.IntN(2) == 0 {
			step.After = append(step.After, common.Edge{Step: "z0"})
		}
		step.When = pick(s, "", "", "", "false", "steps.s0.status == 'succeeded'")
		j.Steps = append(j.Steps, step)
	}
	s.random.Shuffle(len(j.Steps), func(a, b int) { j.Steps[a], j.Steps[b] = j.Steps[b], j.Steps[a] })
}

// does chooses what a step does. A map may read the list of one of the sources.
func (s *script) does(job string, step, source *common.Step) {
	switch s.random.IntN(9) {
	case 8:
		step.Join, step.AllowFailure = true, false
	case 0:
		step.Job, step.Retry = pick(s, "a", "b"), s.retry()
	case 1:
		if step.Job = "n"; job == "n" {
			step.Job = "a"
		}
		step.Retry = s.retry()
	case 2:
		if s.random.IntN(3) == 0 {
			step.Wait = &common.Wait{Job: "a", Fires: common.WaitLatest, Timeout: pick[common.Duration](s, "6s", "19s")}
			break
		}
		step.Approval = &common.Approval{Text: "On?", Timeout: pick[common.Duration](s, "6s", "19s"),
			OnTimeout: pick(s, "", common.TimeoutFails, common.TimeoutSkips)}
		if s.random.IntN(3) == 0 { // it has to be given
			step.Approval.Params = common.Params{"N": {Pattern: `\d+`}}
		}
	case 3, 4:
		step.Command = "true"
		step.ForEach = &common.ForEach{Items: []string{"p", "q", "r"}, MaxFailures: s.random.IntN(2),
			Stop: s.random.IntN(3) == 0, Concurrency: s.random.IntN(3)}
		if source != nil && source.Kind() == common.InlineStep && source.ForEach == nil && s.random.IntN(2) == 0 {
			list := common.Output{List: true} // a step that fails does not report it
			if empty := ""; s.random.IntN(2) == 0 {
				list.Default = &empty
			}
			source.Outputs = map[string]common.Output{"list": list}
			step.ForEach.Items, step.ForEach.List = nil, "steps."+source.Name+".outputs.list"
		}
	default:
		step.Command = "true"
		step.Retry = s.retry()
	}
}

func (s *script) retry() *common.Retry {
	if s.random.IntN(3) > 0 {
		return nil
	}
	return &common.Retry{Max: pick(s, 1, 2), Backoff: "2s", MaxBackoff: "6s"}
}

// disturbFlows does one thing that a cluster with flows has to bear.
func (s *script) disturbFlows(ctx context.Context) {
	b, m := s.boxes[s.random.IntN(len(s.boxes))], s.masters[s.random.IntN(len(s.masters))]
	job := s.jobs[s.random.IntN(len(s.jobs))]
	d := s.between(time.Second, 20*time.Second)
	what := s.random.IntN(kindsOfFlows)
	if often := s.world.mutation.often(); len(often) > 0 && s.random.IntN(2) == 0 {
		what = pick(s, often...)
	}
	switch what {
	case 0:
		b.with(func(l *life) { l.link.cut(d) })
	case 1:
		b.with(func(l *life) { l.link.deaf(d) })
	case aLag, 3: // the views of heads, marks and triggers lag independently
		prefix := pick(s, common.FlowRunsPrefix, common.FlowNodesPrefix, common.TriggersPrefix)
		b.with(func(l *life) { l.link.lag(prefix, d/2) })
	case 4:
		prefix := pick(s, common.FlowRunsPrefix, common.FlowNodesPrefix, common.TriggersPrefix)
		b.with(func(l *life) { l.link.interrupt(prefix) })
	case aDeath:
		power := s.random.IntN(2) == 0
		s.act(func() { b.alone(func() { s.crash(ctx, b, d, power) }) })
	case 6:
		s.act(func() { b.alone(func() { s.freeze(ctx, b, 2*d, false) }) })
	case 7:
		def := s.define(job)
		s.act(func() { _, _, _ = m.store.Put(ctx, modelActor, def, common.Precondition{}) })
	case 8:
		b.with(func(l *life) { s.world.expire(clientv3.LeaseID(l.session.Proof().Lease)) })
	case 9:
		s.act(func() {
			_, _ = m.store.Pause(ctx, modelActor, job, common.PauseRequest{}, common.Precondition{})
			time.Sleep(d / 2)
			_, _ = m.store.Resume(ctx, modelActor, job, common.Precondition{})
		})
	case aRemoval:
		kill, def := s.random.IntN(2) == 0, s.define(job)
		s.act(func() {
			_ = m.store.Delete(ctx, modelActor, job, common.Precondition{},
				common.DeleteRequest{Kill: kill, Force: true})
			time.Sleep(d / 4)
			_, _ = m.store.Create(ctx, modelActor, def)
		})
	case aRunPause, 12:
		if run := s.anyFlowRun(); run != "" {
			s.act(func() {
				_ = m.store.PauseRun(ctx, modelActor, run, true, "")
				time.Sleep(d / 2)
				_ = m.store.PauseRun(ctx, modelActor, run, false, "")
			})
		}
	case aRunKill, 14: // two operators, of whom one may only want to pause it
		if run := s.anyFlowRun(); run != "" {
			other := s.masters[s.random.IntN(len(s.masters))]
			force := common.KillRequest{Force: s.random.IntN(3) == 0}
			s.act(func() { _ = m.store.Kill(ctx, modelActor, run, common.KillRequest{}) })
			s.act(func() { _ = other.store.PauseRun(ctx, modelActor, run, true, "") })
			if force.Force {
				s.act(func() {
					time.Sleep(d / 4)
					_ = other.store.Kill(ctx, modelActor, run, force)
				})
			}
		}
	case aNodeKill:
		run := s.anyRun("")
		s.act(func() { _ = m.store.Kill(ctx, modelActor, run, common.KillRequest{}) })
	case anAnswer, 17, 18: // one approves, one rejects
		if waits := s.world.keysNow(common.FlowWaitsPrefix); len(waits) > 0 {
			s.answer(ctx, pick(s, waits...))
		}
	case aRetry, 20: // two users retry what has failed, or fails next
		run, node := s.anyFailed()
		next := run == "" || s.random.IntN(2) == 0
		s.act(func() {
			if next {
				run, node = s.world.nextFailed(d)
			}
			for _, m := range s.masters { // one may accept the failure meanwhile
				accept := s.random.IntN(3) == 0
				switch s.world.mutation {
				case acceptsInRound:
					accept = true
				case retriesDirty: // which is rare
					accept = false
				}
				s.act(func() { s.retryNode(ctx, m, run, node, accept) })
			}
		})
	case aFlowRerun, 22: // two users re-run a part of a flow run that has ended
		if run := s.anyEnded(); run.ID != "" {
			scope, same := s.scope(), pick(s, common.DefinitionCurrent, common.DefinitionSame)
			for _, m := range s.masters {
				takes := s.between(0, 8*time.Second)
				s.act(func() { s.rerunFlow(ctx, m, run, scope, same, takes) })
			}
		}
	case aBackfill: // two users run what was planned
		name, now := pick(s, "a", "b", "x", "y"), time.Now()
		r := common.BackfillRequest{From: now.Add(-s.between(20*time.Second, 100*time.Second)), To: now,
			Reprocess:   pick(s, common.ReprocessNone, common.ReprocessFailed, common.ReprocessAll),
			Order:       pick(s, common.OldestFirst, common.NewestFirst),
			Concurrency: pick(s, 1, 2, 3), MaxFailures: pick(s, 0, 0, 1, 2), IncludeUnknown: true}
		for _, m := range s.masters {
			takes := s.between(0, 5*time.Second)
			s.act(func() { s.requestBackfill(ctx, m, name, r, takes) })
		}
	case aFillAct, 25: // two operators, of whom one may only want to pause it
		if id := s.anyBackfill(); id != "" {
			action := pick(s, common.BackfillPause, common.BackfillCancel, common.BackfillKill)
			other := s.masters[s.random.IntN(len(s.masters))]
			s.act(func() { s.actOnBackfill(ctx, m, id, action, d/2) })
			s.act(func() { s.actOnBackfill(ctx, other, id, common.BackfillPause, d/4) })
		}
	default:
		name := pick(s, "n", "x", "y")
		s.act(func() { _, _ = m.store.Trigger(ctx, modelActor, common.TriggerRequest{Job: name}) })
	}
}

// Disturbances of flows that a mutation may want more often.
const (
	aLag         = 2
	aDeath       = 5
	aRemoval     = 10
	aRunPause    = 11
	aRunKill     = 13
	aNodeKill    = 15
	anAnswer     = 16
	aRetry       = 19
	aFlowRerun   = 21
	aBackfill    = 23
	aFillAct     = 24
	kindsOfFlows = 30
)

// anyFlowRun is one that has not ended; empty where there is none.
func (s *script) anyFlowRun() string {
	runs := s.world.keysNow(common.FlowRunsPrefix)
	runs = slices.DeleteFunc(runs, func(key string) bool { return strings.Contains(key, ofBackfill) })
	if len(runs) > 0 {
		return runOfKey(pick(s, runs...))
	}
	return ""
}

// answer lets one or two users answer an approval, at once or about when its time is over.
func (s *script) answer(ctx context.Context, key string) {
	id := runOfKey(key)
	at := strings.LastIndex(id, ".")
	run, step := id[:at], id[at+1:]
	wait := decode[common.FlowWait](s.world.valueOf(key))
	if !wait.IsApproval() {
		s.endWait(ctx, key)
		return
	}
	late := s.random.IntN(2) == 0 && wait.Deadline != nil
	for i, m := range s.masters[:1+s.random.IntN(2)] {
		answer := common.Answer{Step: step, Approve: (i == 0) == (s.random.IntN(2) == 0)}
		if answer.Approve && len(wait.Params) > 0 { // one that is not valid is refused
			answer.Params = map[string]string{"N": pick(s, "7", "11", "eleven")}
		}
		around := s.between(0, 4*time.Second) - 2*time.Second
		s.act(func() {
			if late {
				time.Sleep(time.Until(*wait.Deadline) + around)
			}
			err := m.store.Answer(ctx, modelActor, run, answer, func(*common.FlowWait) error { return nil })
			if err == nil && late {
				s.world.count("approvals answered late")
			}
		})
	}
}

// endWait lets one or two masters end a step that waits for fires, each as it sees them, or note what is missing, by
// what they have read some time before.
func (s *script) endWait(ctx context.Context, key string) {
	for _, m := range s.masters[:1+s.random.IntN(2)] {
		kv, err := etcdkit.Get(ctx, m.client, key)
		if err != nil || kv == nil {
			return
		}
		p := common.PendingWait{Key: key, Wait: decode[common.FlowWait](string(kv.Value)), Version: kv.ModRevision}
		d, status, code := s.between(0, 4*time.Second), common.StatusSucceeded, common.ReasonFiresSucceeded
		if s.random.IntN(3) == 0 {
			status, code = common.StatusFailed, common.ReasonFireFailed
		}
		notes := s.random.IntN(3) == 0
		s.act(func() {
			time.Sleep(d)
			store := flowetcd.NewWaits(m.client, m.now)
			if notes {
				_, _ = store.Note(ctx, &p, common.AwaitedNow{Total: 1, Open: 1})
				return
			}
			outcome := p.Wait.Ended(status, &common.Reason{Code: code}, m.now().UTC())
			if done, err := store.End(ctx, &p, &outcome); err == nil && done {
				s.world.count("waits ended by their fires")
			}
		})
	}
}

// anyFailed is a node that has failed in a flow run that could start it again, as flow run and node; empty where
// there is none.
func (s *script) anyFailed() (run, node string) {
	heads, marks, asks := map[string]rawHead{}, map[string]rawMark{}, map[string]bool{}
	events, _ := s.world.since(0)
	for _, e := range events {
		if e.created != 0 && under([]byte(e.key), common.FlowRunsPrefix) {
			heads[runOfKey(e.key)] = decode[rawHead](e.value)
		} else if under([]byte(e.key), common.FlowRunsPrefix) {
			delete(heads, runOfKey(e.key))
		} else if under([]byte(e.key), common.FlowWaitsPrefix) {
			asks[runOfKey(e.key)] = true
		} else if key, found := strings.CutPrefix(e.key, common.FlowNodesPrefix); found && e.created != 0 {
			marks[key] = decode[rawMark](e.value)
		}
	}
	maps.DeleteFunc(marks, func(key string, m rawMark) bool {
		id, node, _ := strings.Cut(key, "/")
		head, live := heads[id]
		return !live || head.Kind != "flow" || head.Paused || head.Kill != nil || !m.failed() || asks[id+"."+node]
	})
	if len(marks) == 0 {
		return "", ""
	}
	run, node, _ = strings.Cut(pick(s, slices.Sorted(maps.Keys(marks))...), "/")
	return run, node
}

// nextFailed waits for a node to fail, and returns its flow run and name; empty if none does within d.
func (w *world) nextFailed(d time.Duration) (run, node string) {
	over := time.After(d)
	events, changed := w.since(0)
	for seen := len(events); ; events, changed = w.since(0) {
		for _, e := range events[seen:] {
			key, found := strings.CutPrefix(e.key, common.FlowNodesPrefix)
			if found && e.created != 0 && decode[rawMark](e.value).failed() {
				run, node, _ = strings.Cut(key, "/")
				return run, node
			}
		}
		seen = len(events)
		select {
		case <-changed:
		case <-over:
			return "", ""
		}
	}
}

// retryNode asks for the live retry of a node, or for the acceptance of its failure, again while there is no answer.
func (s *script) retryNode(ctx context.Context, m *master, run, node string, accept bool) {
	for range 3 {
		if run == "" {
			return
		}
		_, err := m.store.RetryNode(ctx, modelActor, common.NodeRetry{Run: run, Node: node, Accept: accept,
			Continue: nodes.New(entries{s.world}, nil, m.bodies, m.store, time.Now).Continue})
		switch {
		case err == nil && accept:
			s.world.count("failures accepted")
		case err == nil:
			s.world.count("live retries")
		}
		if common.CodeOf(err) != common.CodeUnavailable {
			return
		}
	}
}

// resumeFlowRuns resumes those that an operator has left paused.
func (s *script) resumeFlowRuns(ctx context.Context) {
	for _, key := range s.world.keysNow(common.FlowRunsPrefix) {
		s.try(func(m *master) error {
			var err error
			if strings.Contains(key, ofBackfill) {
				err = m.store.ActOnBackfill(ctx, modelActor, runOfKey(key), common.BackfillResume, "")
			} else {
				err = m.store.PauseRun(ctx, modelActor, runOfKey(key), false, "")
			}
			if common.CodeOf(err) == common.CodeConflict { // it has ended, or is about to
				return nil
			}
			return err
		})
	}
}

// valueOf is the last value of a key.
func (w *world) valueOf(key string) (value string) {
	events, _ := w.since(0)
	for _, e := range slices.Backward(events) {
		if e.key == key && e.created != 0 {
			return e.value
		}
	}
	panic(key + " was never put")
}

// keysNow are those that etcd has under a prefix.
func (w *world) keysNow(prefix string) []string {
	there := map[string]bool{}
	events, _ := w.since(0)
	for _, e := range events {
		if under([]byte(e.key), prefix) {
			there[e.key] = e.created != 0
		}
	}
	maps.DeleteFunc(there, func(_ string, live bool) bool { return !live })
	return slices.Sorted(maps.Keys(there))
}
