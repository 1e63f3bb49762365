package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func runResource() *resource {
	return &resource{
		name: "run", plural: "runs",
		get:      verb{use: "runs [RUN]", short: "List runs, newest or oldest first, or show one"},
		describe: verb{use: "run ID", short: "Show a run: times, worker, status and reason"},
		columns:  columnsOf("RUN,JOB,PLANNED,STATUS,TOOK,EXIT,WORKER,+CAUSE,+ATTEMPT,+OUTPUT,+BY,+REASON", runCells),
		list:     some((*client).ListRuns), one: byID((*client).GetRun),
		filters: append(slices.Concat(ofRuns(), between("runs")), filters{
			{name: "query", help: "only runs with this text in the job, worker, id, reason, note, or user"},
			{kind: isNumber, name: "exit-code", help: "only runs that ended with this exit code"},
			{name: "flow-run", help: "only runs of the nodes of this flow run"},
			{name: "step", help: "with --flow-run: only those of this step"},
			{kind: isSwitch, name: "nodes", help: "also list runs of nodes of flow runs"},
			{name: "fire", help: "only the attempts of the fire with this id"},
			{name: "cause", help: "only runs with this cause: cron, catchup, manual, retry or rerun"},
			{name: "order", help: "newest or oldest first (default newest)"},
		}...),
		limit:  &limit{50, "maximum number of runs; 0 for all"},
		events: events{apiclient.FollowEventsParamsTypesRun},
		newest: true, arrange: byAttemptsOfFlow,
		parts: describeRun,
		offer: func(o *offered) (string, string) { return o.ID, o.Job + ", " + o.Status },
	}
}

// ofStep reports whether runs of a job are those of an inline step of a flow.
func ofStep(job string) bool { return strings.Contains(job, ":") }

// byAttemptsOfFlow orders the runs of a step whose planned times are equal by their starts: those of the attempts of
// one flow run, whose own ids do not show the order.
func byAttemptsOfFlow(items []json.RawMessage, query url.Values) {
	if !ofStep(query.Get("job")) {
		return
	}
	runs := make([]common.Run, len(items))
	places := make([]int, len(items))
	for i, item := range items {
		run, err := decode[common.Run](item)
		if err != nil {
			return
		}
		runs[i], places[i] = run, i
	}
	newest := query.Get("order") != "oldest"
	slices.SortStableFunc(places, func(a, b int) int {
		c := cmp.Or(runs[a].PlannedAt.Compare(runs[b].PlannedAt), byStart(&runs[a], &runs[b]))
		if newest {
			return -c
		}
		return c
	})
	arranged := make([]json.RawMessage, len(items))
	for i, place := range places {
		arranged[i] = items[place]
	}
	copy(items, arranged)
}

// byStart compares two runs by when they were claimed; one that waits follows.
func byStart(a, b *common.Run) int {
	switch {
	case a.ClaimedAt != nil && b.ClaimedAt != nil:
		return a.ClaimedAt.Compare(*b.ClaimedAt)
	case a.ClaimedAt != nil:
		return -1
	case b.ClaimedAt != nil:
		return 1
	}
	return 0
}

// ofRuns are the filters of runs by what is known when they start and end.
func ofRuns() filters {
	return filters{
		{name: "job", help: "only runs of this job; also FLOW:STEP, and JOB@backfill"},
		{name: "group", help: "only runs of jobs that were in this group at the time"},
		{name: "worker", help: "only runs of the worker with this id"},
		{kind: isList, name: "status", help: "only runs with one of these statuses"},
	}
}

func runCells(r *common.Run, _ bool) []any {
	reason := reasonOf(r.Reason)
	if r.Forced != nil {
		reason = strings.TrimPrefix(reason+"; clean-up ", "; ") + forcedEnd(r.Forced)
	}
	return []any{
		r.ID, r.Job, r.PlannedAt, r.Status, took(r.StartedAt, r.EndedAt), exitOf(r), cmp.Or(r.WorkerName, "-"), r.Cause,
		r.Attempt, fmt.Sprintf("%dB", r.OutputBytes), cmp.Or(r.TriggeredBy, "-"), reason,
	}
}

// forcedEnd describes the forced end of the clean-up of a flow run.
func forcedEnd(f *common.Forced) string {
	text := "ended by force" + by(f.By)
	if !f.At.IsZero() {
		text += " at " + when(f.At)
	}
	if f.Note != "" {
		text += ": " + f.Note
	}
	return text
}

// reasonOf returns the text of a reason, with the last line that a failed run printed.
func reasonOf(r *common.Reason) string {
	reason := value(r)
	if line := reason.Data[common.LastLine]; line != "" {
		return reason.Text + ": " + line
	}
	return reason.Text
}

func exitOf(r *common.Run) string {
	switch {
	case r.Signal != "":
		return r.Signal
	case r.ExitCode != nil:
		return fmt.Sprint(*r.ExitCode)
	}
	return "-"
}

func describeRun(ctx context.Context, c *cli, api *apiclient.API, id string) (any, func() error, error) {
	raw, err := apiclient.Decode[json.RawMessage](api.GetRun(ctx, id))
	return raw, func() error {
		r, err := decode[describedRun](raw)
		if err != nil {
			return err
		}
		r.next = nextAttempt(ctx, api, &r.Run)
		return r.show(c)
	}, err
}

// describedRun is a run, with remarks on an active one.
type describedRun struct {
	common.Run
	ExpectedEndAt *time.Time `json:"expectedEndAt"`
	Late          bool       `json:"late"`
	Slow          bool       `json:"slow"`

	next *common.Run // the next attempt of its fire
}

func (r *describedRun) show(c *cli) error {
	var facts table
	facts.fact("Run", r.ID)
	facts.fact("Job", r.Job)
	facts.fact("Status", string(r.Status))
	facts.fact("Reason", reasonOf(r.Reason))
	if r.Orphaned != nil {
		facts.fact("Orphaned", lateEnd(r.Orphaned))
	}
	if e := r.Ending; e != nil {
		asked := fmt.Sprintf("requested with %s%s at %s", e.Signal, by(e.By), when(e.At))
		if e.Note != "" {
			asked += ": " + e.Note
		}
		facts.fact("Ending", asked)
	}
	if r.Forced != nil {
		facts.fact("Clean-up", forcedEnd(r.Forced))
	}
	if r.Flow != nil {
		facts.fact("Flow run", r.Flow.Run)
		facts.fact("Node", r.Flow.Node)
		if i := r.Flow.Interval; i != nil {
			facts.fact("Data", fmt.Sprintf("from %s to %s", when(i.Start), when(i.End)))
		}
	}
	if n := r.Nodes; n != nil {
		facts.fact("Nodes", fmt.Sprintf("%d: %d succeeded, %d failed, %d skipped", n.Total, n.Succeeded, n.Failed,
			n.Skipped))
	}
	facts.fact("Cause", string(r.Cause)+by(r.TriggeredBy))
	for _, p := range r.Parents {
		facts.fact("After "+p.Job, fmt.Sprintf("run %s, planned for %s", p.Run, when(p.PlannedAt)))
	}
	if r.NoAfter {
		facts.fact("Jobs after it", "its success starts no other jobs")
	}
	facts.fact("Schedule", r.Schedule)
	if r.Attempt > 0 {
		facts.fact("Attempt", r.Attempt)
	}
	if r.next != nil {
		facts.fact("Next attempt", r.next.ID+", "+dueOf(r.next))
	}
	facts.fact("Note", r.Note)
	facts.fact("Worker", cmp.Or(r.WorkerName, r.Worker))
	facts.fact("Planned", when(r.PlannedAt))
	facts.fact("Due", r.DueAt)
	facts.fact("Claimed", r.ClaimedAt)
	facts.fact("Started", r.StartedAt)
	facts.fact("Ended", r.EndedAt)
	facts.fact("Expected", r.ExpectedEndAt)
	switch {
	case r.Late:
		facts.fact("Unusual", "should have started by now")
	case r.Slow:
		facts.fact("Unusual", "takes far longer than usual")
	}
	if r.StartedAt != nil && r.EndedAt != nil {
		facts.fact("Took", took(r.StartedAt, r.EndedAt))
	}
	if exit := exitOf(&r.Run); exit != "-" {
		facts.fact("Exit", exit)
	}
	facts.fact("Used", usageOf(&r.Run))
	if r.Leftover > 0 {
		facts.fact("Left", leftBehind(&r.Run))
	}
	if r.Status.Terminal() && r.Attempt > 0 && r.Nodes == nil { // a flow run has no command of its own
		printed := common.Count(r.OutputBytes, "byte", "bytes")
		if r.OutputTruncated {
			printed += "; the middle was not kept"
		}
		facts.fact("Printed", printed)
	}
	return facts.print(c.stdout)
}

// usageOf describes what a run has used, as far as it was measured.
func usageOf(r *common.Run) string {
	var parts []string
	for _, part := range [...]struct{ of, what string }{
		{cpuTime(r.CPUSeconds), "CPU time"},
		{size(r.MaxRSSBytes), "memory at most"},
		{size(r.ReadBytes), "read"},
		{size(r.WrittenBytes), "written"},
	} {
		if part.of != "-" {
			parts = append(parts, part.of+" "+part.what)
		}
	}
	return strings.Join(parts, ", ")
}

// leftBehind describes what the command left in the background.
func leftBehind(r *common.Run) string {
	return common.Count(r.Leftover, "process", "processes") + " left behind, and ended with the command"
}

// lateEnd describes how a run ended on its worker after it had been resolved as lost.
func lateEnd(l *common.LateEnd) string {
	text := fmt.Sprintf("ended %s on %s", l.Status, cmp.Or(l.WorkerName, l.Worker))
	if l.EndedAt != nil {
		text += " at " + when(*l.EndedAt)
	}
	if exit := exitOf(&common.Run{Signal: l.Signal, ExitCode: l.ExitCode}); exit != "-" {
		text += " (" + exit + ")"
	}
	return text + ", after it had been resolved as lost"
}
