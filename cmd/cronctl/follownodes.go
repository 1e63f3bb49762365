package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

const (
	// nodesEvery is the minimum time between two requests for the nodes of a flow run that is followed.
	nodesEvery = 500 * time.Millisecond
	// mostFollowed is the number of jobs whose events one stream selects.
	mostFollowed = 100
)

// nodeJobs returns a job whose runs have nodes, and the jobs that its steps run; none if its runs have no nodes.
func nodeJobs(ctx context.Context, api *apiclient.API, name string) (jobs []string, err error) {
	job, err := apiclient.Decode[struct {
		Steps []struct{ Job string }
		RunOn json.RawMessage
	}](api.GetJob(ctx, name))
	if err != nil || len(job.Steps) == 0 && len(job.RunOn) == 0 {
		return nil, err
	}
	jobs = []string{name}
	for _, step := range job.Steps {
		if step.Job != "" && len(jobs) < mostFollowed && !slices.Contains(jobs, step.Job) {
			jobs = append(jobs, step.Job)
		}
	}
	return jobs, nil
}

// reattach follows a flow run that was started before, and reports its end.
func (c *cli) reattach(ctx context.Context, api *apiclient.API, id string) error {
	run, err := fetchRun(ctx, api, id)
	if err != nil {
		return err
	}
	jobs, err := nodeJobs(ctx, api, run.Job)
	switch {
	case err != nil && common.CodeOf(err) != common.CodeNotFound:
		return err
	case run.Digest == "" && len(jobs) == 0: // before a run starts, only the job shows whether it will have nodes
		return hinted(common.CodeConflict, fmt.Sprintf("run %q has no steps", common.Shorten(id)),
			"follow its output with cronctl logs -f "+id)
	case len(jobs) == 0: // the job was deleted, or is another one now
		jobs = []string{run.Job}
	}
	if err := c.followNodes(ctx, api, id, jobs); err != nil {
		return c.leave(ctx, id, true, err)
	}
	if run, err = await(ctx, api, id); err != nil {
		return c.leave(ctx, id, true, err)
	}
	return c.endedWith(ctx, api, &run, false)
}

// nodesFollower prints the nodes of a flow run as they change.
type nodesFollower struct {
	c     *cli
	api   *apiclient.API
	id    string
	run   common.Run
	shown map[string]string // printed state by node

	// Since the last request:
	all   bool            // the flow run itself, or an unknown number of nodes, may have changed
	steps map[string]bool // that have changed
}

// followNodes prints the nodes of a flow run as they change, until it has ended. The events of the jobs concern it.
func (c *cli) followNodes(ctx context.Context, api *apiclient.API, id string, jobs []string) error {
	f := &nodesFollower{c: c, api: api, id: id, shown: map[string]string{}, all: true, steps: map[string]bool{}}
	n := &news{
		c: c,
		params: apiclient.FollowEventsParams{
			Types: &events{apiclient.FollowEventsParamsTypesRun, apiclient.FollowEventsParamsTypesFlowrun},
			Jobs:  &jobs,
		},
		wants: f.wants,
		least: nodesEvery,
		again: f.again,
	}
	switch err := n.fetch(ctx); {
	case errors.Is(err, errEnded):
		return nil
	case err != nil && common.CodeOf(err) != common.CodeUnavailable && common.CodeOf(err) != common.CodeTooMany:
		return err
	}
	return n.run(ctx)
}

// wants notes what an event reports of the flow run.
func (f *nodesFollower) wants(event string, data []byte) bool {
	var e struct{ ID, Run, FlowRun, Node string }
	if event == "ready" || event == "reset" || json.Unmarshal(data, &e) != nil {
		f.all = true
		return true
	}
	if e.ID != f.id && e.Run != f.id && e.FlowRun != f.id {
		return false
	}
	if e.ID == f.id || e.Node == "" {
		f.all = true
		return true
	}
	step, _, _ := strings.Cut(e.Node, "@")
	f.steps[step] = true
	return true
}

// statusesBegun are the statuses of nodes that are printed.
func statusesBegun() string {
	var names []string
	for _, status := range common.Statuses {
		names = append(names, string(status))
	}
	return strings.Join(names, ",")
}

// again prints the nodes that have changed. If they are of one step, only that is read.
func (f *nodesFollower) again(ctx context.Context) error {
	query, all := url.Values{"status": {statusesBegun()}}, f.all || len(f.steps) != 1
	if !all {
		for step := range f.steps {
			query.Set("step", step)
		}
	}
	if all {
		var err error
		if f.run, err = fetchRun(ctx, f.api, f.id); err != nil {
			return err
		}
	}
	if f.run.Digest == "" {
		return f.ended() // it has not begun, or never will
	}
	found, err := someOf((*client).ListRunNodes).pages(ctx, f.api, f.id, query, 0)
	if err == nil {
		err = f.print(found)
	}
	if err != nil {
		f.all = true
		return err
	}
	f.all, f.steps = false, map[string]bool{}
	return f.ended()
}

func (f *nodesFollower) ended() error {
	if f.run.Status.Terminal() {
		return errEnded
	}
	return nil
}

// print prints the nodes that have changed since they were shown.
func (f *nodesFollower) print(found list) error {
	var changed []json.RawMessage
	for _, raw := range found.Items {
		n, err := decode[flowNode](raw)
		if err != nil {
			return err
		}
		if line, news := f.line(&n); news {
			changed = append(changed, raw)
			if !f.c.structured() {
				fmt.Fprintln(f.c.stdout, oneLine(fmt.Sprintf("%s  %s", n.Node, line)))
			}
		}
	}
	if f.c.structured() {
		return f.c.printEach(changed)
	}
	return nil
}

// line returns the text of a node, unless it is the one that was shown last.
func (f *nodesFollower) line(n *flowNode) (line string, news bool) {
	line = n.Status
	if n.Kept { // it did not run here: its times, its worker and its attempts are those of an earlier flow run
		line += ", kept from an earlier flow run"
		news = f.shown[n.Node] != line
		f.shown[n.Node] = line
		return line, news
	}
	if n.Attempt > 1 {
		line += fmt.Sprintf(", attempt %d", n.Attempt)
	}
	starting := n.Status == string(common.StatusWaiting) && n.Reason != nil && n.Reason.Code == common.ReasonStarting
	if n.Status == "pending" || starting || f.shown[n.Node] == line { // it is about to begin
		return "", false
	}
	f.shown[n.Node] = line
	if n.Duration != "" && common.Status(n.Status).Terminal() {
		line += ", after " + n.Duration
	}
	if n.Worker != "" {
		line += ", on " + n.Worker
	}
	if reason := n.why(); reason != "" && n.Status != "running" &&
		(n.Status != "succeeded" || n.Reason.Code == common.ReasonApproved) {
		line += ": " + reason
	}
	return line, true
}
