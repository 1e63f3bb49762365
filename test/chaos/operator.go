package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

// operator acts on flow runs during a trial: it answers approvals, kills, pauses, resumes and re-runs flow runs, and
// accepts failures. What it does to a flow run follows from its id.
type operator struct {
	*trial
	acted  map[string]bool      // answers and kills that were requested
	paused map[string]time.Time // since when
	counts map[string]int       // requests that were accepted
}

// beginOperating starts the operator, if there are flows, and returns what stops it and waits for its end.
func (t *trial) beginOperating(ctx context.Context) (stop func()) {
	if len(t.flows) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { t.operate(ctx) })
	return func() { cancel(); group.Wait() }
}

// operate acts until the context ends. A pause ends in any case, as soon as a master answers.
func (t *trial) operate(ctx context.Context) {
	o := &operator{trial: t, acted: map[string]bool{}, paused: map[string]time.Time{}, counts: map[string]int{}}
	for harness.Sleep(ctx, 300*time.Millisecond) == nil {
		o.answer(ctx)
		o.end(ctx)
		o.hold(ctx)
		o.repeat(ctx)
	}
	t.figure("of flow runs, the operator approved %d, rejected %d, killed %d, paused %d, resumed %d and re-ran %d, "+
		"and accepted %d failures", o.counts["approve"], o.counts["reject"], o.counts["kill"], o.counts["pause"],
		o.counts["resume"], o.counts["rerun"]-o.counts["accept"], o.counts["accept"])
}

// lot draws a number below n for a flow run.
func lot(run string, n uint32) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(run)) // it never fails
	return h.Sum32() >> 8 % n
}

// request makes a request for a flow run, and reports whether it was accepted. kind is that of its events, if it has
// any.
func (o *operator) request(ctx context.Context, run, verb string, kind check.Kind, body map[string]any) bool {
	return o.requestOf(ctx, run, verb, check.Event{Kind: kind, Run: run}, body)
}

// requestOf is request, with the whole event.
func (o *operator) requestOf(ctx context.Context, run, verb string, e check.Event, body map[string]any) bool {
	kind := e.Kind
	if kind != "" {
		defer o.begin(e)()
	}
	body["note"] = "chaos"
	if o.do(ctx, http.MethodPost, "/api/v1/runs/"+url.PathEscape(run)+"/"+verb, body, nil) != nil {
		return false // it has ended, or no master has answered
	}
	if kind != "" {
		o.begin(check.Event{Kind: check.Accepted, Run: run, Text: string(kind)})()
	}
	o.counts[verb]++
	return true
}

// answer approves a third of the approvals, and rejects another one; the others time out.
func (o *operator) answer(ctx context.Context) {
	var list struct{ Items []struct{ Run, Step string } }
	if o.get(ctx, "/api/v1/approvals", &list) != nil {
		return
	}
	for _, a := range list.Items {
		if o.acted[a.Run] {
			continue
		}
		o.acted[a.Run] = true
		switch lot(a.Run, 3) {
		case 0:
			body, e := map[string]any{"step": a.Step}, check.Event{Kind: check.Approved, Run: a.Run}
			if a.Step == "fill" {
				e.Text = fmt.Sprint(lot(a.Run, 1000))
				body["params"] = map[string]any{"TICKET": e.Text}
			}
			o.requestOf(ctx, a.Run, "approve", e, body)
		case 1:
			o.request(ctx, a.Run, "reject", check.Rejected, map[string]any{"step": a.Step})
		}
	}
}

// running returns the flow runs of a flow that have not ended.
func (o *operator) running(ctx context.Context, flow string) (runs []string) {
	var list struct{ Items []struct{ ID string } }
	if o.get(ctx, "/api/v1/runs?status=running&job="+flow, &list) != nil {
		return nil
	}
	for _, r := range list.Items {
		runs = append(runs, r.ID)
	}
	return runs
}

// end kills two thirds of the flow runs.
func (o *operator) end(ctx context.Context) {
	for _, run := range o.running(ctx, flowEnded) {
		if !o.acted[run] && lot(run, 3) > 0 {
			o.acted[run] = o.request(ctx, run, "kill", check.RunKilled, map[string]any{})
		}
	}
}

// repeat re-runs what has failed of a third of the flow runs, and accepts the failure of a step of the others, of half
// of them before the flow run has ended.
func (o *operator) repeat(ctx context.Context) {
	if !time.Now().Before(o.until) {
		return // all is to come to rest
	}
	for _, run := range o.running(ctx, flowAgain) {
		if !o.acted[run] && lot(run, 3) == 2 && o.failed(ctx, run) {
			o.acted[run] = true
			o.accept(ctx, run)
		}
	}
	var list struct {
		Items []struct {
			ID      string
			Attempt int
		}
	}
	if o.get(ctx, "/api/v1/runs?status=failed&job="+flowAgain, &list) != nil {
		return
	}
	for _, r := range list.Items {
		if o.acted[r.ID] || r.Attempt > 2 {
			continue
		}
		switch lot(r.ID, 3) {
		case 0:
			o.acted[r.ID] = true
			o.request(ctx, r.ID, "rerun", check.RunAgain, map[string]any{})
		case 1:
			o.acted[r.ID] = true
			if o.failed(ctx, r.ID) {
				o.accept(ctx, r.ID)
			}
		}
	}
}

// failed reports whether the step of a flow run has failed whose failure can be accepted.
func (o *operator) failed(ctx context.Context, run string) bool {
	nodes, err := o.nodes(ctx, run)
	return err == nil && slices.ContainsFunc(nodes, func(n node) bool {
		return n.Node == accepts && (n.Status == "failed" || n.Status == "lost")
	})
}

func (o *operator) accept(ctx context.Context, run string) {
	if o.requestOf(ctx, run, "rerun", check.Event{Kind: check.FailAccepted, Run: run, Text: accepts},
		map[string]any{"accept": []string{accepts}}) {
		o.counts["accept"]++
	}
}

// hold pauses flow runs, and resumes them after a while, or kills them.
func (o *operator) hold(ctx context.Context) {
	for _, run := range o.running(ctx, flowHeld) {
		since, paused := o.paused[run]
		switch {
		case o.acted[run]:
		case !paused:
			o.paused[run] = time.Now()
			o.request(ctx, run, "pause", "", map[string]any{})
		case time.Since(since) < 2*time.Second:
		case lot(run, 3) == 0:
			o.acted[run] = o.request(ctx, run, "kill", check.RunKilled, map[string]any{})
		default:
			o.acted[run] = o.request(ctx, run, "resume", "", map[string]any{})
		}
	}
}
