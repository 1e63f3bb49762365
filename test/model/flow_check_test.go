package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

type rawNode struct{ Kind, Run, Node, UID, Job string }

type rawHead struct {
	Kind, Job, Run, Digest, Fire string
	Attempt                      int
	Paused                       bool
	Concurrency                  int
	Base                         *rawBase
	UID                          string
	Fires                        []byte // of a backfill
	Range                        *struct{ Reprocess string }
	Kill                         *rawFlowKill
	Rounds                       map[string]int
	Parent                       *rawNode
	Spread                       *struct{ Nodes int }
	Before                       int
	Retry                        *rawRetry
}

type rawFlowKill struct {
	Code         string
	Force, Spare bool
	SignaledAt   time.Time
}

// holds reports whether no node of a part of the flow run may be started: after a pause or a kill, but clean-up steps
// after a kill that is not forced.
func (h *rawHead) holds(cleanUp bool) bool {
	if h.Kill != nil {
		return !cleanUp || h.Kill.Force
	}
	return h.Paused
}

// status is how a kill request lets a flow run end.
func (h *rawHead) status() string {
	return map[string]string{"timeout": "timed_out", "fail_fast": "failed", "restored": "missed"}[h.Kill.Code]
}

// flowLife is what became of a flow run.
type flowLife struct {
	rawHead
	flow    *rawFlow
	over    bool
	removed bool // by hand
	killed  bool // a kill request was committed
	marks   map[string]rawMark
	ready   map[string]time.Time // since when a node could be started
	kept    keeps
	ends    map[string]*stepEnd // once it is over
}

// judge applies the rules to marks of the flow run.
func (run *flowLife) judge(marks map[string]rawMark) judged { return run.flow.judge(marks, run.kept) }

// flowsRead is what the checker knows of flows while it reads the history.
type flowsRead struct {
	bodies   map[string]*rawFlow // by digest
	runs     map[string]*flowLife
	overlap  map[string]string            // by job
	uids     map[string]string            // by name: of the jobs that exist
	nodes    map[string]rawNode           // by fire
	fires    map[string]string            // by key of a trigger, record, head or approval: the fire of a node
	live     map[string]map[string]bool   // by fire of a node: the keys that hold its runs
	leftover map[string]event             // keys that must be gone at the end
	asked    map[string]*rawAsked         // by run: the requests for re-runs of flow runs
	fills    map[string]*fillLife         // by id: the backfills
	last     map[string]rawRun            // by fire: its last attempt that has ended
	busy     map[string]map[string]bool   // by fire: the keys of triggers, runs and flow runs
	held     map[string]string            // by key: the fire
	queued   map[string]bool              // by job: whether a fire of the plan waits
	inWay    map[string]map[string]bool   // by job: the keys of its runs and flow runs, and whether they are dates
	filled   map[string]bool              // the fires whose first attempt is that of a backfill
	workers  map[string]map[string]string // by flow run and worker: the fire of the node that it had
	asks     map[string]*rawWait          // by flow run and step: the approvals that wait
}

func newFlowsRead() *flowsRead {
	return &flowsRead{bodies: map[string]*rawFlow{}, runs: map[string]*flowLife{}, overlap: map[string]string{},
		uids: map[string]string{}, nodes: map[string]rawNode{}, fires: map[string]string{},
		live:     map[string]map[string]bool{},
		leftover: map[string]event{}, asked: map[string]*rawAsked{}, fills: map[string]*fillLife{},
		last: map[string]rawRun{}, busy: map[string]map[string]bool{}, held: map[string]string{},
		queued: map[string]bool{}, inWay: map[string]map[string]bool{}, filled: map[string]bool{},
		workers: map[string]map[string]string{}, asks: map[string]*rawWait{}}
}

const (
	// startsWithin is how soon a node that is ready must be started, where etcd and workers are well: F6.
	startsWithin = 3 * time.Second
	// wellAfter is how long they need for that after the disturbances.
	wellAfter = 40 * time.Second
)

// readFlows checks what one revision did to flow runs.
func (c *checker) readFlows(r *revision) {
	f := c.flows
	if c.world.flows == nil {
		return
	}
	for _, e := range r.under("/cron/jobs/") {
		name, job := e.key[len("/cron/jobs/"):], struct{ Overlap, UID string }{}
		if e.created != 0 {
			job = decode[struct{ Overlap, UID string }](e.value)
		}
		f.overlap[name], f.uids[name] = job.Overlap, job.UID
	}
	for _, e := range r.under("/cron/flows/") {
		if parts := strings.Split(e.key, "/"); e.created != 0 {
			f.bodies[parts[4]] = readBody(e.value)
		}
	}
	for _, e := range r.under("/cron/outbox/") {
		if run := f.runs[runOfKey(e.key)]; run != nil && run.over && e.created != 0 {
			c.breaks("F4", "the flow run %s ended again at %s by %s", run.Run, wallTime(e.at), e.by)
		}
	}
	defer f.readEnds(r)
	for _, e := range r.under("/cron/triggers/") {
		if e.created == e.rev {
			c.readAsked(r, e)
		}
	}
	c.readYields(r)
	c.readBackfills(r)
	touched := map[*flowLife]bool{}
	for _, e := range r.under("/cron/flowruns/") {
		if e.created == e.rev && !strings.Contains(e.key, ofBackfill) {
			touched[c.begun(e)] = true
		}
	}
	starts, ends := map[*flowLife][]string{}, map[*flowLife]map[string]rawMark{}
	for _, e := range r.under("/cron/flownodes/") {
		id, node, _ := strings.Cut(e.key[len("/cron/flownodes/"):], "/")
		run := f.runs[id]
		switch {
		case f.fills[id] != nil:
			continue
		case run == nil:
			c.breaks("F4", "%s was written, and there is no flow run", e.key)
			continue
		case e.created == 0:
			continue // with its head, or after it
		}
		touched[run] = true
		m := decode[rawMark](e.value)
		if run.kept.has(node) {
			c.breaks("F9", "node %s of %s was marked %s at %s by %s, and it was kept", node, id, m.State,
				wallTime(e.at), e.by)
		}
		if run.over && !run.removed {
			c.breaks("F4", "node %s of %s was marked %s at %s by %s, after the flow run had ended", node, id, m.State,
				wallTime(e.at), e.by)
		}
		if m.State == "started" {
			starts[run] = append(starts[run], node)
		} else {
			c.ended(r, e, run, node, m)
			if run.flow.of(node).Join && m.Attempt > 0 { // it is started and ends at once
				starts[run] = append(starts[run], node)
				c.world.counts["joins"]++
			}
		}
		if ends[run] == nil {
			ends[run] = map[string]rawMark{}
		}
		ends[run][node] = m
	}
	for run, nodes := range starts {
		c.started(r, run, nodes, ends[run])
	}
	for run, marks := range ends {
		maps.Copy(run.marks, marks)
	}
	for _, e := range r.under("/cron/flowruns/") {
		touched[c.changed(r, e)] = true // nil for a backfill
	}
	c.readRetries(r)
	c.readApprovals(r)
	c.readLive(r)
	for run := range touched {
		if run != nil {
			c.readiness(r, run)
		}
	}
	for _, e := range r.keys {
		c.leave(e)
	}
}

// readEnds takes in the ends of fires.
func (f *flowsRead) readEnds(r *revision) {
	for _, e := range r.under("/cron/outbox/") {
		if e.created == 0 || strings.HasSuffix(e.key, ".late") {
			continue
		}
		run := decode[rawRun](e.value)
		if last, ended := f.last[run.Fire]; run.Gap == nil && (!ended || run.Try >= last.Try) {
			f.last[run.Fire] = run
		}
	}
}

func runOfKey(key string) string { return key[strings.LastIndex(key, "/")+1:] }

// begun takes in a new flow run.
func (c *checker) begun(e event) *flowLife {
	f, id := c.flows, runOfKey(e.key)
	h := decode[rawHead](e.value)
	if f.runs[id] != nil {
		c.breaks("F4", "the flow run %s began again at %s by %s", id, wallTime(e.at), e.by)
		f.runs[id].over = false
		return f.runs[id]
	}
	run := &flowLife{rawHead: h, marks: map[string]rawMark{}, ready: map[string]time.Time{},
		flow: f.bodies[h.Digest]}
	if run.flow == nil {
		c.breaks("F3", "the flow run %s has no definition", id)
		run.flow = &rawFlow{}
	}
	if h.Spread != nil {
		run.flow = run.flow.onWorkers(h.Spread.Nodes)
	}
	if overlap := f.overlap[h.Job]; overlap != "allow" {
		for other, was := range f.runs {
			if was.Job == h.Job && !was.over {
				c.breaks("G3", "the flow run %s of %s began at %s by %s, and %s had not ended", id, h.Job,
					wallTime(e.at), e.by, other)
			}
		}
	}
	f.runs[id] = run
	run.kept = c.readKept(run, e)
	c.wanted[id] = "it was claimed"
	c.world.counts["flow runs"]++
	if h.Parent != nil {
		c.world.counts["nested flow runs"]++
	}
	return run
}

// started checks the starts of one transaction, each against the state before it.
func (c *checker) started(r *revision, run *flowLife, nodes []string, marks map[string]rawMark) {
	at, by := wallTime(r.at), r.keys[0].by
	all := run.judge(run.marks)
	for _, node := range nodes {
		if run.holds(run.flow.of(node).Finally) {
			c.breaks("F5", "%s of %s was started at %s by %s: paused %t, killed %+v", node, run.Run, at, by, run.Paused,
				run.Kill)
		}
		c.cleans(r, run, all, node)
		c.world.counts["nodes"]++
		m := marks[node]
		was, marked := run.marks[node]
		if uid, _, _ := strings.Cut(m.Fire, "."); !strings.Contains(m.Job, ":") && c.flows.uids[m.Job] != uid {
			c.breaks("F3", "node %s of %s was started at %s by %s, and its job %s was gone or new", node, run.Run,
				at, by, m.Job)
		}
		if marked {
			if was.State != "ended" || m.Round != was.Round+1 || run.Rounds[node] > m.Round {
				c.breaks("F2", "node %s of %s was started in round %d at %s by %s, and was %s in round %d", node,
					run.Run, m.Round, at, by, was.State, was.Round)
			}
			c.startedAgain(r, run, all, node)
			continue
		}
		if fate := all.node(node); fate == nil || !fate.ready {
			c.breaks("F3", "node %s of %s was started at %s by %s, and its join does not hold", node, run.Run, at, by)
		}
		if strings.Contains(node, "@") {
			c.world.counts["items"]++
		}
	}
}

// cleans wants all nodes of the main part to have ended when a clean-up step is started, and no clean-up step to have a
// mark when a node of the main part is started again.
func (c *checker) cleans(r *revision, run *flowLife, all judged, node string) {
	if !run.flow.of(node).Finally {
		for name := range run.marks {
			if run.flow.of(name).Finally {
				c.breaks("F11", "node %s of %s was started at %s by %s, after its clean-up step %s", node, run.Run,
					wallTime(r.at), r.keys[0].by, name)
			}
		}
		return
	}
	c.world.counts["clean-up steps"]++
	for _, name := range run.flow.nodes(all) {
		if m := run.marks[name]; !run.flow.of(name).Finally && (m.State != "ended" || m.Round < run.Rounds[name]) {
			c.breaks("F11", "clean-up step %s of %s was started at %s by %s, and %s had not ended", node, run.Run,
				wallTime(r.at), r.keys[0].by, name)
		}
	}
}

// startedAgain wants nothing that depends on a node to have a mark when it is started again.
func (c *checker) startedAgain(r *revision, run *flowLife, all judged, node string) {
	source, _, _ := strings.Cut(node, "@")
	if !all[source].decided {
		return
	}
	for item := range all[source].items { // of a map that stops, the rules decide what has no mark yet
		if _, marked := run.marks[fmt.Sprintf("%s@%05d", source, item)]; !marked {
			return
		}
	}
	for i := range run.flow.Steps {
		s := &run.flow.Steps[i]
		if _, marked := run.marks[s.Name]; marked && slices.ContainsFunc(s.After, func(e rawEdge) bool {
			return e.Step == source
		}) {
			c.breaks("F3", "node %s of %s was started again at %s by %s, and %s, which depends on it, has a mark", node,
				run.Run, wallTime(r.at), r.keys[0].by, s.Name)
		}
	}
}

// ended checks that a node ends once in its round, with an outcome.
func (c *checker) ended(r *revision, e event, run *flowLife, node string, m rawMark) {
	was, marked := run.marks[node]
	if marked && was.State == "ended" && was.Round >= m.Round {
		c.breaks("F1", "node %s of %s ended twice: %s, and then %s at %s by %s", node, run.Run, was.text(), m.text(),
			wallTime(e.at), e.by)
	}
	if marked && c.accepted(r, run, node, was, m) {
		return
	}
	outcome := fmt.Sprintf("/%s.%d", m.Fire, m.Attempt)
	if run.Kind != "backfill" && !slices.ContainsFunc(r.under("/cron/outbox/"), func(put event) bool {
		return put.created != 0 && strings.HasSuffix(put.key, outcome)
	}) {
		c.breaks("F1", "node %s of %s ended %s at %s by %s, and no outcome came with that", node, run.Run, m.text(),
			wallTime(e.at), e.by)
	}
}

// accepted reports whether a mark is that of an acceptance: a failure that counts as a success. It wants that to be a
// round of its own, as of a node that is started again, with nothing decided by the failure.
func (c *checker) accepted(r *revision, run *flowLife, node string, was, m rawMark) bool {
	if was.State != "ended" || !was.failed() || m.Status != was.Status || m.Class != "success" {
		return false
	}
	all := run.judge(run.marks)
	c.startedAgain(r, run, all, node)
	c.cleans(r, run, all, node)
	if m.Attempt != was.Attempt || run.of(r).Rounds[node] != m.Round {
		c.breaks("F2", "node %s of %s was accepted at %s by %s in round %d, without a round of its own", node, run.Run,
			wallTime(r.at), r.keys[0].by, m.Round)
	}
	return true
}

// of returns the head after a revision.
func (run *flowLife) of(r *revision) rawHead {
	for _, e := range r.under("/cron/flowruns/") {
		if e.created != 0 && runOfKey(e.key) == run.Run {
			return decode[rawHead](e.value)
		}
	}
	return run.rawHead
}

// changed takes in a head that was changed or removed.
func (c *checker) changed(r *revision, e event) *flowLife {
	run := c.flows.runs[runOfKey(e.key)]
	if run == nil {
		return nil
	}
	if e.created != 0 {
		run.rawHead = decode[rawHead](e.value)
		if run.Kill != nil && !run.killed {
			run.killed = true
			c.world.counts["flow runs ended early"]++
		}
		return run
	}
	run.over = true
	if e.by == "operator" {
		run.removed = true
		return run
	}
	c.completed(r, e, run)
	return run
}

// completed checks the end of a flow run: all its nodes have ended, as the rules say.
func (c *checker) completed(r *revision, e event, run *flowLife) {
	at := wallTime(e.at)
	ran := map[string]rawMark{}
	for node, m := range run.marks {
		if m.State == "started" || m.Round < run.Rounds[node] {
			c.breaks("F4", "%s ended at %s by %s, and node %s has not", run.Run, at, e.by, node)
		}
		if m.Attempt > 0 || m.Status == "refused" || m.Status == "missed" || m.Reason == "deleted" {
			ran[node] = m
		}
	}
	for node, m := range run.marks { // what stops a map may come before a kill request, or after it
		if m.Reason == stopped || m.Reason == "map_stopped" {
			ran[node] = m
		}
		if run.flow.of(node).Finally && m.Status == "skipped" && m.Reason == stopped && !run.holds(true) {
			c.breaks("F11", "clean-up step %s of %s was skipped at %s by %s, without a forced kill", node, run.Run, at,
				e.by)
		}
	}
	all := run.judge(ran)
	run.ends = run.stepEnds()
	failed := false
	for _, name := range run.flow.nodes(all) {
		m, marked := run.marks[name]
		fate := all.node(name)
		if !marked {
			c.breaks("F4", "%s ended at %s by %s, and node %s has no end", run.Run, at, e.by, name)
			continue
		}
		if _, itself := ran[name]; itself {
			continue
		}
		if want := (rawMark{Status: fate.status, Reason: fate.reason}).text(); fate.ready || want != m.text() {
			c.breaks("F7", "node %s of %s ended %s, and by the rules it is ready: %t, or %s", name, run.Run, m.text(),
				fate.ready, want)
		}
	}
	for name, m := range ran {
		if all.node(name) == nil {
			c.breaks("F7", "%s has no node %s, which ended %s", run.Run, name, m.text())
		} else if m.Status == "skipped" && m.Reason == stopped && !c.mayStop(run, ran, name) {
			c.breaks("F7", "node %s of %s ended %s, and by the rules %+v", name, run.Run, m.text(),
				c.without(run, ran, name))
		}
	}
	for i := range run.flow.Steps {
		failed = failed || all[run.flow.Steps[i].Name].class == "failure"
	}
	want := "succeeded"
	switch {
	case run.Kill != nil:
		if want = run.status(); want == "" {
			want = "killed"
		}
	case failed:
		want = "failed"
	}
	got := ""
	for _, put := range r.under("/cron/outbox/") {
		if runOfKey(put.key) == run.Run {
			got = decode[rawRun](put.value).Status
		}
	}
	if got != want {
		c.breaks("F7", "%s ended %q at %s, and by the rules %s", run.Run, got, at, want)
	}
	c.world.counts["flow runs "+got]++
	retried := c.isRetried(r, e, run, got)
	if p := run.Parent; p != nil && c.flows.fills[p.Run] == nil {
		if m := c.flows.runs[p.Run].marks[p.Node]; (m.State != "ended") != retried && !c.flows.runs[p.Run].removed {
			c.breaks("F1", "%s ended at %s by %s, is retried: %t, and its node %s of %s is %s", run.Run, at, e.by,
				retried, p.Node, p.Run, m.State)
		}
	}
}

// mayStop reports whether a node that was stopped with its flow run was not decided by the nodes that ran.
func (c *checker) mayStop(run *flowLife, ran map[string]rawMark, name string) bool {
	fate := c.without(run, ran, name)
	return run.Kill != nil && (fate.ready || !fate.decided && fate.status == "")
}

// without is what the rules say of a node that did not run.
func (c *checker) without(run *flowLife, ran map[string]rawMark, name string) ruling {
	others := maps.Clone(ran)
	delete(others, name)
	if fate := run.judge(others).node(name); fate != nil {
		return *fate
	}
	return ruling{decided: true}
}

// readLive follows where the runs of nodes are: at most one at a time.
func (c *checker) readLive(r *revision) {
	f := c.flows
	changed := map[string]bool{}
	for _, e := range r.keys {
		if !strings.HasPrefix(e.key, "/cron/triggers/") && !strings.HasPrefix(e.key, "/cron/runs/") &&
			!strings.HasPrefix(e.key, "/cron/flowruns/") && !strings.HasPrefix(e.key, "/cron/flowwaits/") {
			continue
		}
		if fire := f.fires[e.key]; fire != "" {
			delete(f.live[fire], e.key)
			delete(f.fires, e.key)
		}
		if e.created == 0 {
			f.hold(e, "")
			continue
		}
		v := decode[struct {
			Fire         string
			Flow, Parent *rawNode
			Worker       string
			Owner        struct{ Worker string }
		}](e.value)
		f.hold(e, v.Fire)
		if v.Flow == nil {
			v.Flow = v.Parent
		}
		if v.Flow == nil {
			continue
		}
		f.nodes[v.Fire], f.fires[e.key] = *v.Flow, v.Fire
		if f.live[v.Fire] == nil {
			f.live[v.Fire] = map[string]bool{}
		}
		f.live[v.Fire][e.key] = true
		changed[v.Fire] = true
		if v.Flow.Kind == "spread" {
			c.onOneNode(r, v.Fire, v.Flow.Run, cmp.Or(v.Worker, v.Owner.Worker))
		}
		if run := f.runs[v.Flow.Run]; run != nil && run.over && e.created == e.rev {
			c.breaks("F4", "%s was written at %s by %s, after its flow run %s had ended", e.key, wallTime(e.at), e.by,
				v.Flow.Run)
		}
		if fill := f.fills[v.Flow.Run]; fill != nil && fill.over && e.created == e.rev {
			c.breaks("F10", "%s was written at %s by %s, after the backfill %s had ended", e.key, wallTime(e.at), e.by,
				v.Flow.Run)
		}
	}
	for fire := range changed {
		if keys := f.live[fire]; len(keys) > 1 {
			c.breaks("F2", "node %s of %s has %d runs at %s: %v", f.nodes[fire].Node, f.nodes[fire].Run, len(keys),
				wallTime(r.at), slices.Sorted(maps.Keys(keys)))
		}
	}
	for _, e := range r.under("/cron/flowruns/") {
		if e.created != 0 || strings.Contains(e.key, ofBackfill) || f.runs[runOfKey(e.key)].removed {
			continue
		}
		for _, m := range f.runs[runOfKey(e.key)].marks {
			if len(f.live[m.Fire]) > 0 {
				c.breaks("F4", "%s ended at %s by %s, and etcd holds %v", runOfKey(e.key), wallTime(e.at), e.by,
					slices.Sorted(maps.Keys(f.live[m.Fire])))
			}
		}
	}
}

// onOneNode wants a worker to have one node of a flow run that runs on several workers.
func (c *checker) onOneNode(r *revision, fire, run, worker string) {
	f := c.flows
	if f.workers[run] == nil {
		f.workers[run] = map[string]string{}
	}
	if other := f.workers[run][worker]; other != "" && other != fire {
		c.breaks("F2", "%s has the nodes %s and %s of %s at %s", worker, other, fire, run, wallTime(r.at))
	}
	f.workers[run][worker] = fire
}

// readiness checks how long nodes were ready before they were started, once everything is well.
func (c *checker) readiness(r *revision, run *flowLife) {
	well := c.world.calmAt.Add(wellAfter)
	if c.world.calmAt.IsZero() || r.at.Before(well) {
		return
	}
	now := map[string]time.Time{}
	if !run.over && !run.holds(true) {
		all := run.judge(run.marks)
		running := map[string]int{}
		for i := range run.flow.Steps {
			s := &run.flow.Steps[i]
			for _, item := range append(all[s.Name].items, *all[s.Name]) {
				if item.started && s.Approval == nil && s.Wait == nil {
					running[s.Name]++
					running[""]++
				}
			}
		}
		for i := range run.flow.Steps {
			s := &run.flow.Steps[i]
			if run.holds(s.Finally) {
				continue
			}
			if most := run.flow.Concurrency; most > 0 && running[""] >= most ||
				s.ForEach != nil && s.ForEach.Concurrency > 0 && running[s.Name] >= s.ForEach.Concurrency {
				continue
			}
			if all[s.Name].ready {
				now[s.Name] = r.at
			}
			for item := range all[s.Name].items {
				if all[s.Name].items[item].ready {
					now[fmt.Sprintf("%s@%05d", s.Name, item)] = r.at
				}
			}
		}
	}
	for node, since := range run.ready {
		if _, still := now[node]; still {
			now[node] = since
			continue
		}
		if took := r.at.Sub(since); took > startsWithin && !run.over && !run.holds(run.flow.of(node).Finally) {
			c.breaks("F6", "node %s of %s was ready at %s, and waited for %v", node, run.Run, wallTime(since), took)
		}
	}
	run.ready = now
}

// leave follows the keys that must be gone at the end.
func (c *checker) leave(e event) {
	for _, prefix := range []string{"flowruns", "flownodes", "flowwaits", "runs", "lock", "killer", "outbox"} {
		if strings.HasPrefix(e.key, "/cron/"+prefix+"/") {
			if delete(c.flows.leftover, e.key); e.created != 0 {
				c.flows.leftover[e.key] = e
			}
		}
	}
}

// flowsOver wants all flow runs to have ended, with an entry in the ledger for each of their nodes, and nothing of them
// to be left in etcd.
func (c *checker) flowsOver() {
	f := c.flows
	if c.world.flows == nil {
		return
	}
	for id, run := range f.runs {
		if !run.over {
			c.breaks("F6", "the flow run %s of %s has not ended: %v", id, run.Job, run.marks)
			continue
		}
		if run.removed || run.Kind == "backfill" {
			continue
		}
		for node, m := range run.marks {
			for attempt := min(m.Attempt, 1); attempt <= m.Attempt; attempt++ {
				entry, found := c.ledger[fmt.Sprintf("%s.%d", m.Fire, attempt)]
				code := ""
				if entry.Reason != nil {
					code = entry.Reason.Code
				}
				if !found || attempt == m.Attempt && (entry.Status != m.Status || code != m.Reason) {
					c.breaks("F1", "node %s of %s ended %s, and the ledger has %q for its attempt %d", node, id,
						m.text(), entry.text(), attempt)
				}
			}
			if _, settled := c.ledger[m.Fire+".0"]; settled && m.Attempt > 0 {
				c.breaks("F1", "node %s of %s ran, and the ledger has an entry that it did not", node, id)
			}
		}
	}
	c.backfillsOver()
	for key, e := range f.leftover {
		c.breaks("F4", "%s is left, since %s by %s", key, wallTime(e.at), e.by)
	}
}
