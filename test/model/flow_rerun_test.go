package model

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/flow/nodes"
	"carillon/internal/runlog"
)

// entries are the runs that have ended, as the planner of re-runs reads them.
type entries struct{ world *world }

// Run is nodes.Runs'.
func (e entries) Run(_ context.Context, id string) (common.Run, error) {
	if run, found := e.world.runs()[id]; found {
		return run, nil
	}
	return common.Run{}, common.Errorf(common.CodeNotFound, "run %q not found", id)
}

// Runs is nodes.Runs': those of the nodes of a flow run.
func (e entries) Runs(_ context.Context, q runlog.Query) (page runlog.RunPage, err error) {
	for _, run := range e.world.runs() {
		if run.Flow != nil && run.Flow.Run == q.FlowRun {
			page.Runs = append(page.Runs, run)
		}
	}
	return page, nil
}

// anyEnded is the last attempt of a fire of a flow that exists; empty where there is none.
func (s *script) anyEnded() common.Run {
	last := map[string]common.Run{}
	for _, run := range s.world.runs() {
		if run.Attempt > last[run.Fire].Attempt {
			last[run.Fire] = run
		}
	}
	uids := map[string]bool{}
	for _, name := range s.jobs {
		if job := s.world.jobNow(name); job != nil {
			uids[job.UID] = true
		}
	}
	maps.DeleteFunc(last, func(_ string, run common.Run) bool {
		return run.Digest == "" || !uids[run.JobUID] || run.Flow != nil && run.Flow.Kind == common.KindFlow
	})
	if len(last) == 0 {
		return common.Run{}
	}
	return last[pick(s, slices.Sorted(maps.Keys(last))...)]
}

// scope selects nodes for a re-run. Each flow has the first three steps.
func (s *script) scope() flow.Scope {
	step := fmt.Sprintf("s%d", s.random.IntN(3))
	switch s.random.IntN(6) {
	case 0:
		return flow.Scope{Kind: flow.ScopeAll}
	case 1:
		return flow.Scope{Kind: flow.ScopeOnly, Steps: []string{step, "s0"}}
	case 2, 3:
		return flow.Scope{Kind: flow.ScopeFrom, Steps: []string{step}}
	}
	return flow.Scope{Kind: flow.ScopeFailed}
}

// rerunFlow requests the re-run of a flow run. The log store takes a while to answer.
func (s *script) rerunFlow(ctx context.Context, m *master, run common.Run, scope flow.Scope,
	definition common.Definition, takes time.Duration) {
	view := nodes.New(entries{s.world}, nil, m.bodies, m.store, time.Now)
	last := func(context.Context) (common.Run, error) {
		last, err := s.world.lastOf(run.Fire)
		time.Sleep(takes)
		return last, err
	}
	keep := func(ctx context.Context, last *common.Run, digest string) (*common.Base, map[string]string, error) {
		plan, err := view.Replan(ctx, last, scope, digest, false)
		if err == nil && len(plan.Run) == 0 {
			err = common.Errorf(common.CodeConflict, "no node would run again")
		}
		if err != nil {
			return nil, nil, err
		}
		return plan.Base, plan.Params, nil
	}
	if _, err := m.store.Trigger(ctx, modelActor, common.TriggerRequest{Job: run.Job, Params: run.Params,
		Again: &common.AgainRequest{Fire: run.Fire, Last: last, Flow: &common.FlowRerun{Run: run.ID,
			Scope: string(scope.Kind), Steps: scope.Steps, Definition: definition, Keep: keep}}}); err == nil {
		s.world.count("flow runs run again on request")
	}
}

// rawBase are the nodes that a re-run keeps: of steps by their numbers in the definition, of items by theirs.
type rawBase struct {
	Run                   string
	Kept, Failed, Skipped []byte
	Again                 []byte // clean-up steps that were chosen
	Items                 map[string][]byte
	Steps                 map[string]any
	Nested                map[string]struct { // by node: what its flow run keeps
		Digest string
		Keep   *rawBase
	}
}

func hasBit(bits []byte, n int) bool { return n>>3 < len(bits) && bits[n>>3]&(1<<(n&7)) != 0 }

// rawAsked is a request for the re-run of a flow run.
type rawAsked struct {
	Fire, Digest, Cause string
	Attempt, Base       int
	Keep                *rawBase
	Flow                *rawNode
}

// stepEnd is how a step of a flow run ended.
type stepEnd struct {
	class, status string
	outputs       map[string]string
	done          map[int]bool // the items of a map that succeeded
	interrupted   bool         // items of a map were ended with the flow run
}

// keeps are what a re-run keeps: steps, and items of maps of which others run again.
type keeps struct {
	steps map[string]*stepEnd
	items map[string]map[int]bool
	again map[string]bool // clean-up steps that were chosen
}

// has reports whether a node is kept.
func (k keeps) has(node string) bool {
	step, digits, isItem := strings.Cut(node, "@")
	item, err := strconv.Atoi(digits)
	return k.steps[step] != nil || isItem && err == nil && k.items[step][item]
}

// readAsked checks a request for the re-run of a flow run: it is one for an attempt that did not exist, after the one
// before has ended, and it selects what was asked for.
func (c *checker) readAsked(r *revision, e event) {
	t := decode[rawAsked](e.value)
	if t.Digest == "" || t.isRetry() {
		return
	}
	f, id := c.flows, fmt.Sprintf("%s.%d", t.Fire, t.Attempt)
	if f.asked[id] != nil || f.runs[id] != nil {
		c.breaks("F9", "%s was requested again at %s by %s", id, wallTime(e.at), e.by)
	}
	f.asked[id] = &t
	for _, run := range f.runs {
		if run.Fire == t.Fire && !run.over {
			c.breaks("F9", "%s was requested at %s by %s, and %s had not ended", id, wallTime(e.at), e.by, run.Run)
		}
	}
	before, now := f.runs[t.Keep.Run], f.bodies[t.Digest]
	if t.Flow != nil && t.Attempt == 1 {
		c.goesOn(&t, before, now, e)
		return
	}
	if before == nil || before.Fire != t.Fire || before.Attempt != t.Attempt-1 || now == nil {
		c.breaks("F9", "%s was requested at %s by %s, and keeps nodes of %s, or has no definition", id, wallTime(e.at),
			e.by, t.Keep.Run)
		return
	}
	for _, change := range r.under("/cron/changes/") {
		after := decode[struct {
			After struct {
				ID, Scope string
				Steps     []string
			}
		}](change.value).After
		if after.ID == id {
			c.selected(&t, now.selects(before.ends, after.Scope, after.Steps), now, id)
			c.chosen(&t, before, now, after.Scope, after.Steps, id)
		}
	}
}

// goesOn checks the first attempt of a node that goes on from an earlier flow run: its flow run was re-run with that,
// and selects what has failed in it.
func (c *checker) goesOn(t *rawAsked, before *flowLife, now *rawFlow, e event) {
	id, parent := fmt.Sprintf("%s.%d", t.Fire, t.Attempt), c.flows.runs[t.Flow.Run]
	if parent == nil || parent.Base == nil || !reflect.DeepEqual(parent.Base.Nested[t.Flow.Node].Keep, t.Keep) ||
		parent.Base.Nested[t.Flow.Node].Digest != t.Digest {
		c.breaks("F9", "%s goes on at %s by %s with %+v, and its flow run was not requested so", id, wallTime(e.at),
			e.by, t.Keep)
		return
	}
	if before == nil || !before.over || before.Parent == nil || before.Parent.Run == t.Flow.Run || now == nil {
		c.breaks("F9", "%s goes on at %s by %s from %s, which has not ended, or was no step", id, wallTime(e.at), e.by,
			t.Keep.Run)
		return
	}
	if ran := c.flows.runs[parent.Base.Run]; ran == nil || !ran.over || ran.Fire != parent.Fire {
		c.breaks("F9", "%s goes on at %s by %s, and its flow run has no attempt before", id, wallTime(e.at), e.by)
	}
	c.selected(t, now.selects(before.ends, "failed", nil), now, id)
	c.chosen(t, before, now, "failed", nil, id)
	c.world.counts["nested flow runs that go on"]++
}

// selects returns the steps that a re-run with the definition runs.
func (f *rawFlow) selects(ends map[string]*stepEnd, scope string, steps []string) map[string]bool {
	runs := map[string]bool{}
	for i := range f.Steps { // in topological order
		s := &f.Steps[i]
		was := ends[s.Name]
		runs[s.Name] = was == nil || scope == "all" || s.Finally ||
			scope == "failed" && (was.class == "failure" || was.interrupted) || slices.Contains(steps, s.Name) ||
			scope != "only" && slices.ContainsFunc(s.After, func(e rawEdge) bool { return runs[e.Step] })
	}
	return runs
}

// selected wants the steps that are not run again to be kept, and none else.
func (c *checker) selected(t *rawAsked, runs map[string]bool, now *rawFlow, id string) {
	for i, name := range now.names {
		if hasBit(t.Keep.Kept, i) == runs[name] {
			c.breaks("F9", "%s was requested, and step %s is kept: %t, where it is to run: %t", id, name, !runs[name],
				runs[name])
		}
		if t.Keep.Items[name] != nil && !runs[name] {
			c.breaks("F9", "%s was requested, and items of step %s are kept, which does not run", id, name)
		}
	}
}

// chosen wants the clean-up steps that were named or have failed to run whatever runs before them, and no other.
func (c *checker) chosen(t *rawAsked, before *flowLife, now *rawFlow, scope string, steps []string, id string) {
	for i, name := range now.names {
		was := before.ends[name]
		failed := scope == "failed" && was != nil && was.class == "failure"
		want := now.step(name).Finally && (failed || slices.Contains(steps, name))
		if scope != "all" && hasBit(t.Keep.Again, i) != want {
			c.breaks("F9", "%s was requested, and clean-up step %s runs again: %t", id, name, !want)
		}
	}
}

// readKept returns what a flow run keeps. It wants that to be what was requested, as it ended in the attempt before.
func (c *checker) readKept(run *flowLife, e event) keeps {
	kept := keeps{map[string]*stepEnd{}, map[string]map[int]bool{}, map[string]bool{}}
	asked, base := c.flows.asked[run.Run], run.Base
	if asked != nil {
		if run.Digest != asked.Digest || !reflect.DeepEqual(base, asked.Keep) {
			c.breaks("F9", "%s began at %s by %s with the definition %.8s and %+v, and was requested with %.8s and %+v",
				run.Run, wallTime(e.at), e.by, run.Digest, base, asked.Digest, asked.Keep)
		}
		c.world.counts["re-runs of flow runs"]++
		base = asked.Keep
	}
	if base == nil {
		return kept
	}
	before := c.flows.runs[base.Run]
	if before == nil {
		c.breaks("F9", "%s keeps nodes of %s, which did not exist", run.Run, base.Run)
		return kept
	}
	for i, name := range run.flow.names {
		if hasBit(base.Again, i) {
			kept.again[name] = true
		}
		if !hasBit(base.Kept, i) {
			continue
		}
		class, was := "success", before.ends[name]
		if hasBit(base.Failed, i) {
			class = "failure"
		} else if hasBit(base.Skipped, i) {
			class = "skipped"
		}
		if was == nil || was.class != class {
			c.breaks("F9", "%s keeps step %s as one of class %s, and it ended %+v", run.Run, name, class, was)
			continue
		}
		kept.steps[name] = was
		c.world.counts["steps kept"]++
	}
	for name, bits := range base.Items {
		kept.items[name] = map[int]bool{}
		for item := range 8 * len(bits) {
			if !hasBit(bits, item) {
				continue
			}
			if was := before.ends[name]; was == nil || !was.done[item] {
				c.breaks("F9", "%s keeps item %d of step %s, which did not succeed", run.Run, item, name)
			}
			kept.items[name][item] = true
			c.world.counts["items kept"]++
		}
	}
	return kept
}

// stepEnds returns how the steps of a flow run ended, all of whose nodes have.
func (run *flowLife) stepEnds() map[string]*stepEnd {
	ends, all := map[string]*stepEnd{}, run.judge(run.marks)
	for i := range run.flow.Steps {
		s := &run.flow.Steps[i]
		own, end := all[s.Name], &stepEnd{done: map[int]bool{}}
		switch m, marked := run.marks[s.Name]; {
		case own.kept: // its items were those of an earlier flow run
			earlier := *run.kept.steps[s.Name]
			earlier.interrupted, end = false, &earlier
		case marked:
			end.class, end.status, end.outputs = classOfMark(m, s.AllowFailure), m.Status, m.Outputs
		case len(own.items) > 0:
			failed := 0
			for i := range own.items {
				item := &own.items[i]
				if item.class == "success" {
					end.done[i] = true
				} else if item.class == "failure" {
					failed++
				}
				end.interrupted = end.interrupted || item.reason == stopped ||
					run.Kill != nil && item.status == "killed"
			}
			end.class, end.status = "success", "succeeded"
			if failed > s.ForEach.MaxFailures {
				end.status = "failed"
				if !s.AllowFailure {
					end.class = "failure"
				}
			}
		default:
			continue
		}
		ends[s.Name] = end
	}
	return ends
}
