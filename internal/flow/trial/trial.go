package trial

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/flow"
)

// Values of Trial.Kill.
const (
	KillUser    = "user"
	KillTimeout = common.ReasonTimeout
	KillForce   = "force"
)

// Trial is a flow run that is tried: what happens to it, besides what the definition says. The zero value is a flow run
// in which every node succeeds.
type Trial struct {
	Ends    map[string]End               // by node; those of a map apply to its items without their own
	Outputs map[string]map[string]string // by node and name, as a run writes them; a list has one item per line
	Params  map[string]string

	Cause     common.Cause // default: manual
	PlannedAt time.Time

	// Kill ends the flow run once nothing else can proceed than nodes that do not end: KillUser as a user kills it,
	// KillTimeout as its timeout does, KillForce as a user who ends its clean-up steps as well, with a second request
	// if they do not end. A flow run in which all nodes end is not killed.
	Kill string
}

// Result is how a flow run proceeds.
type Result struct {
	Flow    string            `json:"flow"`
	Status  common.Status     `json:"status"` // running: nodes do not end
	Reason  *common.Reason    `json:"reason,omitempty"`
	Counts  common.NodeCounts `json:"counts"`
	Outputs map[string]string `json:"outputs,omitempty"`
	Nodes   []Node            `json:"nodes"` // in the order of the definition, each map followed by its items

	// Events are the starts and ends of nodes, in their order.
	Events []Event `json:"-"`
}

// Event is the start or the end of a node.
type Event struct {
	Node string
	Ends bool
}

// run is a trial that is in progress.
type run struct {
	*Trial
	graph    *flow.Graph
	state    *flow.State
	head     common.Head
	revision int64
	running  []string // nodes that were started and will end, in the order of their starts
	endless  []string // nodes that were started and do not end
	started  map[string]flow.Start
	reasons  map[string]*common.Reason // of ended nodes
	events   []Event
}

// most is the number of nodes that the engine is asked for at once, as a keeper asks.
const most = 64

// Run tries a flow run. It fails, with all faults, if the trial names a step, an output or a parameter that the flow
// does not have.
func (t *Trial) Run(graph *flow.Graph) (*Result, error) {
	if faults := t.check(graph); len(faults) > 0 {
		return nil, common.Invalid("the flow cannot be tried like this", faults...)
	}
	r := &run{Trial: t, graph: graph, started: map[string]flow.Start{}, reasons: map[string]*common.Reason{}}
	r.head = common.Head{Kind: common.KindFlow, Run: "try.1", Fire: "try", Attempt: 1, Job: graph.Name(), UID: "try",
		Group: graph.Job().Group, PlannedAt: t.PlannedAt, ClaimedAt: t.PlannedAt, Cause: t.Cause, Params: t.Params}
	if r.head.Cause == "" {
		r.head.Cause = common.CauseManual
	}
	r.head.Interval = interval(graph.Job(), &r.head)
	r.state = flow.New(graph, &r.head)
	complete, err := r.drive()
	if err != nil {
		return nil, err
	}
	if faults := t.checkItems(r.state, graph); len(faults) > 0 {
		return nil, common.Invalid("the flow cannot be tried like this", faults...)
	}
	return r.result(complete), nil
}

// interval returns the interval of a fire of the flow's schedule; nil for another flow run, and if the flow has no
// schedule that can be computed.
func interval(job *common.Job, head *common.Head) *common.Interval {
	if head.Cause != common.CauseCron && head.Cause != common.CauseCatchUp && head.Cause != common.CauseBackfill {
		return nil
	}
	plan, err := schedule.NewInterner().OfJob(job)
	if err != nil || plan.IsZero() || plan.Floating() {
		return nil
	}
	start, found, err := plan.Previous(head.PlannedAt)
	if err != nil || !found {
		return nil
	}
	return &common.Interval{Start: start.UTC(), End: head.PlannedAt}
}

// drive commits what the engine returns and ends nodes, until the flow run is complete, or until only nodes run that do
// not end.
func (r *run) drive() (*flow.Completion, error) {
	for {
		work := r.state.Next(most)
		var err error
		switch {
		case work.Complete != nil:
			return work.Complete, nil
		case work.Kill != "":
			err = r.kill(work.Kill)
		case len(work.Starts) > 0: // as a keeper, which starts nodes before it settles others
			for i := range work.Settles {
				r.state.Return(work.Settles[i].Node)
			}
			err = r.start(work.Starts)
		case len(work.Settles) > 0:
			for i := range work.Settles {
				if err == nil {
					err = r.put(work.Settles[i].Node, work.Settles[i].Mark)
				}
			}
		case len(r.running) > 0:
			node := r.running[0]
			r.running = r.running[1:]
			err = r.end(node)
		case len(r.endless) > 0 && r.Kill != "" && r.head.Kill == nil:
			code := r.Trial.Kill
			if code != KillTimeout {
				code = ""
			}
			err = r.kill(code)
		case len(r.endless) > 0 && r.Kill == KillForce && !r.head.Kill.Force:
			err = r.force()
		case len(r.endless) == 0:
			return nil, common.Errorf(common.CodeInternal, "the flow run neither proceeds nor ends")
		default:
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// put applies a mark, as a watch reports it.
func (r *run) put(node string, mark common.Node) error {
	r.revision++
	return r.state.Apply(node, mark, r.revision)
}

func (r *run) start(starts []flow.Start) error {
	for _, start := range starts {
		if start.Refuse != "" {
			r.reasons[start.Node] = &common.Reason{Code: start.Refuse, Text: start.Text, Data: start.Data}
			if err := r.put(start.Node, common.Node{
				State:  common.NodeEnded,
				Round:  start.Round,
				Status: common.StatusRefused,
				Class:  common.ClassOf(common.StatusRefused, start.Refuse),
				Reason: start.Refuse,
			}); err != nil {
				return err
			}
			continue
		}
		r.started[start.Node] = start
		r.events = append(r.events, Event{Node: start.Node})
		if start.Step.Kind() == common.JoinStep {
			if err := r.ended(&start, &outcome{status: common.StatusSucceeded}); err != nil {
				return err
			}
			continue
		}
		if err := r.put(start.Node, common.Node{State: common.NodeStarted, Round: start.Round}); err != nil {
			return err
		}
		if r.endOf(&start).Status == common.StatusRunning {
			r.endless = append(r.endless, start.Node)
		} else {
			r.running = append(r.running, start.Node)
		}
	}
	return nil
}

// endOf returns the end that was given for a node, or for its map.
func (r *run) endOf(start *flow.Start) End {
	if end, given := r.Ends[start.Node]; given {
		return end
	}
	return r.Ends[start.Step.Name]
}

// end ends a node that runs, as it was given.
func (r *run) end(node string) error {
	start := r.started[node]
	outputs, given := r.Outputs[node]
	if !given {
		outputs = r.Outputs[start.Step.Name]
	}
	o := r.endOf(&start).outcome(start.Step, outputs)
	return r.ended(&start, &o)
}

func (r *run) ended(start *flow.Start, o *outcome) error {
	code := ""
	if o.reason != nil {
		code = o.reason.Code
		r.reasons[start.Node] = o.reason
	}
	r.events = append(r.events, Event{Node: start.Node, Ends: true})
	return r.put(start.Node, common.Node{
		State:    common.NodeEnded,
		Round:    start.Round,
		Attempt:  1,
		Status:   o.status,
		Class:    common.ClassOf(o.status, code),
		Reason:   code,
		ExitCode: o.exit,
		Outputs:  o.outputs,
	})
}

// kill ends the flow run: the nodes of its main part that run are killed.
func (r *run) kill(code string) error {
	r.head.Kill = &common.FlowKill{By: "you", Code: code, At: r.PlannedAt}
	r.state.SetHead(&r.head)
	return r.stop(code, func(step *common.Step) bool { return !step.Finally })
}

// force ends the clean-up steps that run as well.
func (r *run) force() error {
	r.head.Kill = r.head.Kill.Again(&common.FlowKill{By: "you", Force: true})
	r.state.SetHead(&r.head)
	return r.stop(r.head.Kill.Code, func(*common.Step) bool { return true })
}

// stop kills nodes that run.
func (r *run) stop(code string, stopped func(*common.Step) bool) error {
	running, endless := r.running, r.endless
	r.running, r.endless = nil, nil
	for n, node := range append(running, endless...) {
		start := r.started[node]
		if !stopped(start.Step) {
			if n < len(running) {
				r.running = append(r.running, node)
			} else {
				r.endless = append(r.endless, node)
			}
			continue
		}
		o := outcome{status: common.StatusKilled,
			reason: &common.Reason{Code: common.ReasonFlowStopped, Text: stopText(code)}}
		if err := r.ended(&start, &o); err != nil {
			return err
		}
	}
	return nil
}

// stopText explains why a flow run is ended.
func stopText(code string) string {
	switch code {
	case common.ReasonTimeout:
		return "the flow run exceeded its timeout"
	case common.ReasonFailFast:
		return "a step failed, and the flow ends with the first failure"
	default:
		return "the flow run was killed"
	}
}
