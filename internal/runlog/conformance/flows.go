package conformance

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// flowRun returns a run of a flow with a number of nodes: those of the steps load and check, an inline step each, and
// of report, which runs the job of this name.
func flowRun(id string, planned time.Time, nodes int) (all []common.Run) {
	run := ended(id, planned)
	run.Job, run.JobUID, run.Group, run.Fire = "etl", "u9", "ops", fireOf(id)
	run.Nodes = &common.NodeCounts{Total: nodes, Succeeded: nodes}
	all = append(all, run)
	for i := range nodes {
		all = append(all, nodeOf(&run, i))
	}
	return all
}

// nodeOf returns the run of a node of a flow run, of a step that follows from its number.
func nodeOf(of *common.Run, i int) common.Run {
	node, job, uid := common.ItemNode("load", i), common.StepJob(of.Job, "load"), of.JobUID
	switch i % 4 {
	case 1:
		node, job = fmt.Sprintf("check-%d", i), common.StepJob(of.Job, "check")
	case 2:
		node, job, uid = "report", "report", "u1"
	}
	fire := common.NodeFire(uid, of.ID, fmt.Sprint(node, i))
	run := ended(common.RunID(fire, 1+i%2), of.PlannedAt)
	run.Job, run.JobUID, run.Group, run.Fire, run.Attempt = job, uid, of.Group, fire, 1+i%2
	run.Cause, run.Worker, run.ExitCode = common.CauseFlow, workers[i%len(workers)], new(exits[i%2])
	if i%2 == 1 {
		run.Cause, run.Status = common.CauseRetry, common.StatusFailed
	}
	run.Flow = &common.FlowNode{Kind: common.KindFlow, Job: of.Job, Run: of.ID, Node: node, Round: 1, UID: uid}
	return run
}

// nodes checks that runs of nodes are listed only where the query names them.
func nodes(t *testing.T, s Store, size Size) {
	all := anyRuns(size.pick(200, 60))
	for i := range 3 {
		all = append(all, flowRun(fmt.Sprintf("u9.%d.1", i), moment(3*i), size.pick(60, 20))...)
	}
	write(t, s, runlog.Batch{Runs: all})
	node := all[len(all)-1]
	for _, q := range []runlog.Query{
		{}, {Nodes: true}, {FlowRun: "u9.1.1"}, {FlowRun: "u9.1"}, {FlowRun: "\xff"},
		{FlowRun: "u9.1.1", Step: "load"}, {FlowRun: "u9.1.1", Step: "report"}, {Step: "load"}, {Step: "none"},
		{FlowRun: "u9.1.1", Job: "report"}, {FlowRun: "u9.1.1", Statuses: []common.Status{common.StatusFailed}},
		{Group: "ops"}, {Group: "ops", Nodes: true}, {Job: "etl"}, {Job: "etl:load"}, {Job: "report"},
		{Fire: node.Fire}, {Worker: "w1"}, {Worker: "w1", Nodes: true},
		{Statuses: []common.Status{common.StatusFailed}},
		{Statuses: []common.Status{common.StatusFailed}, Nodes: true}, {Cause: common.CauseFlow},
		{Cause: common.CauseFlow, Nodes: true}, {Cause: common.CauseCron}, {ExitCode: new(3)}, {ExitCode: new(0)},
		{ExitCode: new(3), Nodes: true}, {Text: "etl"}, {Text: "ETL:LOAD", Nodes: true}, {From: moment(3)},
		{From: moment(3), To: moment(4), Nodes: true}, {JobUID: "u9"}, {JobUID: "u9", Nodes: true},
	} {
		for _, limit := range []int{0, 1, 7, 1000} {
			for _, q.Oldest = range []bool{false, true} {
				q.Limit, q.Before = limit, nil
				got, err := listed(t.Context(), s, q)
				if err != nil {
					t.Fatalf("list %+v: %v", q, err)
				}
				want := naive(all, q)
				if !slices.EqualFunc(got, want, func(a, b common.Run) bool { return a.ID == b.ID }) {
					t.Fatalf("list %+v:\ngot  %s\nwant %s", q, ids(got), ids(want))
				}
			}
		}
	}
	got, err := s.Run(t.Context(), node.ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the run of a node", got, node)
	for _, k := range mustKeep(t, s) {
		if want := len(naive(all, runlog.Query{Job: k.Job})) - len(nodesOf(all, k.Job)); k.Runs != int64(want) {
			t.Errorf("kept of %s: %d, want %d", k.Job, k.Runs, want)
		}
	}
}

func mustKeep(t *testing.T, s Store) []runlog.Kept {
	t.Helper()
	all, err := s.Kept(t.Context(), "", 100)
	if err != nil || len(all) == 0 {
		t.Fatalf("kept: %v, %v", all, err)
	}
	for _, k := range all {
		if common.OfStep(k.Job) {
			t.Errorf("kept lists %s, whose runs are deleted with those of the flow", k.Job)
		}
	}
	return all
}

func nodesOf(all []common.Run, job string) (nodes []common.Run) {
	for _, r := range all {
		if r.Job == job && common.OfNode(r.ID) {
			nodes = append(nodes, r)
		}
	}
	return nodes
}

// nodesExpire checks that the runs of nodes are deleted with their flow run, with those of flow runs in it, and not
// before or without it.
func nodesExpire(t *testing.T, s Store, size Size) {
	var all []common.Run
	for i := range 4 {
		run := flowRun(fmt.Sprintf("u9.%d.1", i), base.Add(time.Duration(i)*time.Hour), size.pick(150, 30))
		inner := nodeOf(&run[0], 0)
		inner.Job, inner.JobUID, inner.Fire = "inner", "u8", common.NodeFire("u8", run[0].ID, "inner")
		inner.ID, inner.Flow.Node = common.RunID(inner.Fire, 1), "inner"
		all = append(append(all, run...), inner)
		for n := range 5 {
			all = append(all, nodeOf(&inner, n))
		}
	}
	own := ended("u1.own.1", base) // a run of its own of a job that is also a step
	all = append(all, own)
	write(t, s, runlog.Batch{Runs: all})
	for i := range all {
		write(t, s, runlog.Batch{Chunks: []common.Chunk{
			{Run: all[i].ID, Stream: common.Stdout, At: base, Data: []byte("x")},
		}})
	}
	left := func(what string, flowRuns ...string) {
		t.Helper()
		want := slices.DeleteFunc(slices.Clone(all), func(r common.Run) bool {
			return r.ID != own.ID && !slices.ContainsFunc(flowRuns, func(id string) bool {
				inner := common.RunID(common.NodeFire("u8", id, "inner"), 1)
				return r.ID == id || r.Flow != nil && (r.Flow.Run == id || r.Flow.Run == inner)
			})
		})
		got, err := listed(t.Context(), s, runlog.Query{Nodes: true})
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %d runs are left, want %d: %s, %v", what, len(got), len(want), ids(got), err)
		}
		for _, r := range want {
			if _, err := s.Run(t.Context(), r.ID); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
	later := base.AddDate(1, 0, 0)
	limit := size.pick(40, 7)
	for _, job := range []string{"etl:load", "etl:check", "inner", "inner:load"} {
		for _, e := range []runlog.Expiry{{Before: later}, {Keep: 1}} {
			e.Job, e.Limit = job, limit
			if gone := expired(t, s, e); gone != (runlog.Expired{}) {
				t.Errorf("%+v deleted %+v", e, gone)
			}
		}
	}
	expired(t, s, runlog.Expiry{Job: "report", Keep: 1, Limit: limit})
	left("after the rules of steps", "u9.0.1", "u9.1.1", "u9.2.1", "u9.3.1")

	gone := expired(t, s, runlog.Expiry{Job: "etl", Before: base.Add(time.Minute), Limit: limit})
	if each := (len(all) - 1) / 4; gone.Runs != each || gone.Chunks != each {
		t.Errorf("one flow run: %+v, want %d runs with their output", gone, each)
	}
	left("by age", "u9.1.1", "u9.2.1", "u9.3.1")
	expired(t, s, runlog.Expiry{Job: "etl", Keep: 2, Limit: limit})
	left("by number", "u9.2.1", "u9.3.1")
	expired(t, s, runlog.Expiry{Job: "etl", Before: later, Newest: true, Limit: limit})
	left("but the newest", "u9.3.1")
	chunks, err := s.Output(t.Context(), all[1].ID, 0, 100)
	if err != nil || len(chunks) != 0 {
		t.Errorf("output of a deleted node: %v, %v", chunks, err)
	}
}

// stepStatistics checks that the runs of a step are counted as those of a job.
func stepStatistics(t *testing.T, s Store, _ Size) {
	all := flowRun("u9.1.1", base, 40)
	write(t, s, runlog.Batch{Runs: all})
	tidied(t, s, runlog.Tidy{Now: base})
	for _, job := range []string{"etl", "etl:load", "etl:check", "report"} {
		totals, err := s.Totals(t.Context(), []string{job}, base.Add(-2*time.Hour), base.Add(time.Hour))
		cell := totals[job]
		if want := len(naive(all, runlog.Query{Job: job})); err != nil || cell.Total() != int64(want) {
			t.Errorf("%s: %d runs, want %d, %v", job, cell.Total(), want, err)
		}
	}
	last, err := s.Last(t.Context(), []string{"etl:load", "etl"}, 2)
	if err != nil || len(last["etl:load"]) != 2 || len(last["etl"]) != 1 {
		t.Errorf("last: %v, %v", last, err)
	}
}
