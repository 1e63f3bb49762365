package main

import (
	"context"
	"fmt"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// The history of flows: a thousand flows of four steps, and among them one of a hundred steps that runs more rarely.
const (
	flowJobs  = 1000
	flowSteps = 4
	wideFlow  = "wide"
	wideSteps = 100
	wideRuns  = 40
)

// flowRuns returns the runs of the n-th of so many flow runs, in the order in which they end: nodes, then the flow run.
func flowRuns(n, of int) (runs []common.Run) {
	job, steps := fmt.Sprintf("flow-%04d", n%flowJobs), flowSteps
	if every := max(1, of/wideRuns); n%every == every-1 {
		job, steps = wideFlow, wideSteps
	}
	planned := begin.Add(time.Duration(n) * (dayCount * 24 * time.Hour / time.Duration(of)))
	uid := fmt.Sprintf("f%015x", mix(uint64(n%flowJobs), 5)>>4)
	if job == wideFlow {
		uid = "f0wide0000000000"
	}
	head := common.Run{Job: job, JobUID: uid, Group: groupName(n), Fire: common.PlannedFire(uid, planned),
		PlannedAt: planned, Cause: common.CauseCron, Attempt: 1, Status: common.StatusSucceeded,
		Nodes: &common.NodeCounts{Total: steps}}
	head.ID = common.RunID(head.Fire, 1)
	for step := range steps {
		node := fmt.Sprintf("s%02d", step)
		claimed := planned.Add(time.Duration(step+1) * 50 * time.Millisecond)
		started, ended, exit := claimed.Add(3*time.Millisecond), claimed.Add(40*time.Millisecond), 0
		r := common.Run{Job: common.StepJob(job, node), JobUID: uid, Group: head.Group,
			Fire: common.NodeFire(uid, head.ID, node), PlannedAt: planned, ReadyAt: &claimed, Cause: common.CauseFlow,
			Attempt: 1, Status: common.StatusSucceeded, Worker: workerID(step % workerCount),
			WorkerName: workerName(step % workerCount), ClaimedAt: &claimed, StartedAt: &started, EndedAt: &ended,
			Flow: &common.FlowNode{Kind: common.KindFlow, Job: job, Run: head.ID, Node: node, Round: 1, UID: uid}}
		if mix(uint64(n*flowSteps+step), 6)%50 == 0 {
			exit, r.Status, head.Status = 1, common.StatusFailed, common.StatusFailed
			head.Nodes.Failed++
		} else {
			head.Nodes.Succeeded++
		}
		r.ExitCode, r.ID, head.EndedAt = &exit, common.RunID(r.Fire, 1), &ended
		runs = append(runs, r)
	}
	return append(runs, head)
}

// flows fills the store with so many flow runs, and measures what the console asks for first.
func (b *bench) flows(ctx context.Context, n int) ([]line, error) {
	began, count, noted := time.Now(), 0, 0
	var part runlog.Batch
	for i := range n {
		part.Runs = append(part.Runs, flowRuns(i, n)...)
		if len(part.Runs) < batch && i < n-1 {
			continue
		}
		if err := b.store.Write(ctx, part); err != nil {
			return nil, err
		}
		count += len(part.Runs)
		part.Runs = nil
		if i/100_000 > noted {
			noted = i / 100_000
			fmt.Fprintf(b.note, "%d flow runs\n", i)
		}
	}
	lines := []line{{what: fmt.Sprintf("%d flow runs with %d nodes are written", n, count-n),
		measured: fmt.Sprintf("%.0f runs/s", float64(count)/time.Since(began).Seconds())}}
	grid, err := measure(100, func(int) error {
		last, err := b.store.Last(ctx, []string{wideFlow}, 20)
		if err != nil {
			return err
		}
		if len(last[wideFlow]) != 20 {
			return fmt.Errorf("%d runs of the flow, want 20", len(last[wideFlow]))
		}
		for _, r := range last[wideFlow] {
			nodes, err := b.store.Runs(ctx, runlog.Query{FlowRun: r.ID, Limit: wideSteps})
			if err != nil {
				return err
			}
			if len(nodes.Runs) != wideSteps {
				return fmt.Errorf("%d nodes of %s, want %d", len(nodes.Runs), r.ID, wideSteps)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	const gridGoal, pageGoal = 100 * time.Millisecond, 50 * time.Millisecond
	lines = append(lines, judged("the last 20 runs of a flow, each with its 100 nodes", "p95 ≤ 100 ms", grid.String(),
		grid.quantile(.95) <= gridGoal))
	for _, l := range []struct {
		what  string
		query func(i int) runlog.Query
	}{
		{"a page of 50 runs without nodes: the newest", func(int) runlog.Query { return runlog.Query{Limit: 50} }},
		{"a page of 50 runs without nodes, anywhere", func(i int) runlog.Query {
			at := begin.Add(time.Duration(mix(uint64(i), 7)%uint64(dayCount*24-1)+1) * time.Hour)
			return runlog.Query{To: at, Limit: 50}
		}},
		{"a page of 50 that failed, without nodes", func(int) runlog.Query {
			return runlog.Query{Statuses: []common.Status{common.StatusFailed}, Limit: 50}
		}},
		{"the last 50 runs of a flow", func(i int) runlog.Query {
			return runlog.Query{Job: fmt.Sprintf("flow-%04d", i*7%(flowJobs/2-1)), Limit: 50}
		}},
	} {
		took, err := measure(1000, func(i int) error { return b.want(ctx, l.query(i)) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.what, err)
		}
		lines = append(lines, judged(l.what, "p95 ≤ 50 ms", took.String(), took.quantile(.95) <= pageGoal))
	}
	return lines, nil
}
