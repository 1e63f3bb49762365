package trial

import (
	"fmt"
	"strconv"
	"strings"

	"carillon/internal/common"
	"carillon/internal/flow"
)

// StatusPending is the status of a node that was not started and can still run.
const StatusPending common.Status = "pending"

// Node is what a node becomes.
type Node struct {
	Node     string            `json:"node"`
	Step     string            `json:"step"`
	Item     *int              `json:"item,omitempty"` // index of the item of a map; nil for a step
	Status   common.Status     `json:"status"`         // of a run, or StatusPending
	Class    common.Class      `json:"class,omitempty"`
	Reason   *common.Reason    `json:"reason,omitempty"`
	ExitCode *int              `json:"exitCode,omitempty"`
	Outputs  map[string]string `json:"outputs,omitempty"`
	Params   map[string]string `json:"params,omitempty"` // values that it was started with: variables, or those of its job
}

// result returns how the flow run has proceeded. complete is nil if it has not ended.
func (r *run) result(complete *flow.Completion) *Result {
	out := &Result{Flow: r.graph.Name(), Status: common.StatusRunning, Counts: r.state.Counts(), Events: r.events}
	for v := range r.state.Nodes() {
		out.Nodes = append(out.Nodes, r.node(&v))
	}
	if complete == nil {
		out.Reason = r.unended()
		return out
	}
	out.Status, out.Counts, out.Outputs = complete.Status, complete.Counts, complete.Outputs
	if complete.Reason != "" {
		out.Reason = r.reason(complete)
	}
	return out
}

func (r *run) node(v *flow.View) Node {
	def := r.graph.Step(v.Step)
	n := Node{Node: v.Node, Step: def.Name, Status: v.Status, Class: v.Class, Outputs: v.Outputs,
		Params: r.started[v.Node].Params}
	if v.Item >= 0 {
		n.Item = &v.Item
	}
	if v.ExitCode >= 0 {
		n.ExitCode = &v.ExitCode
	}
	switch {
	case v.Class != "":
		if n.Reason = r.reasons[v.Node]; n.Reason == nil && v.Reason != "" {
			n.Reason = v.Why(def)
			if v.Fault != nil {
				n.Reason = v.Fault
			}
		}
	case v.Stage == flow.StageStarted && (def.Approval != nil || def.Wait != nil):
		n.Status = common.StatusWaiting
	case v.Stage == flow.StageStarted, v.Stage == flow.StageExpanded:
		n.Status = common.StatusRunning
	default:
		n.Status, n.Reason = StatusPending, r.pending(v, def)
	}
	return n
}

// pending returns why a node was not started.
func (r *run) pending(v *flow.View, def *common.Step) *common.Reason {
	if def.Finally && !r.state.Cleans() {
		return &common.Reason{Code: common.ReasonWaitsForMain, Text: "it waits for the end of all other steps"}
	}
	if v.Stage != flow.StageWaiting {
		return &common.Reason{Code: common.ReasonNodeLimit, Text: "as many nodes run as may"}
	}
	var names []string
	for i := range def.After {
		if source, _ := r.state.Node(def.After[i].Step); source.Class == "" {
			names = append(names, def.After[i].Step)
		}
	}
	list := brief(names)
	return &common.Reason{Code: common.ReasonWaitsForSteps, Text: "it waits for " + list,
		Data: map[string]string{"steps": list, "count": strconv.Itoa(len(names))}}
}

// unended returns why the flow run does not end.
func (r *run) unended() *common.Reason {
	return &common.Reason{Code: common.ReasonWaitsForSteps, Text: "it waits for " + brief(r.endless),
		Data: map[string]string{"steps": brief(r.endless), "count": strconv.Itoa(len(r.endless))}}
}

// reason explains the outcome of the flow run.
func (r *run) reason(complete *flow.Completion) *common.Reason {
	switch kill := r.head.Kill; {
	case kill != nil && kill.Code == "":
		return &common.Reason{Code: "killed_by_user", Text: "it was killed"}
	case complete.Reason == common.ReasonNothingToDo:
		return &common.Reason{Code: complete.Reason, Text: "there was nothing to do: all steps were skipped"}
	case complete.Reason == common.ReasonTimeout:
		return &common.Reason{Code: complete.Reason, Text: "it exceeded the timeout of the flow"}
	case complete.Reason == common.ReasonOutputsInvalid:
		return &common.Reason{Code: complete.Reason, Text: "the outputs of the flow are too large"}
	}
	var names []string
	for v := range r.state.Nodes() {
		if v.Item < 0 && v.Class == common.ClassFailure && v.Reason != common.ReasonUpstreamFailed &&
			v.Reason != common.ReasonFlowStopped {
			names = append(names, v.Node)
		}
	}
	reason := &common.Reason{Code: complete.Reason, Text: "step " + brief(names) + " failed",
		Data: map[string]string{"steps": brief(names), "count": strconv.Itoa(len(names))}}
	if len(names) != 1 {
		reason.Text = fmt.Sprintf("%d steps failed: %s", len(names), brief(names))
	}
	return reason
}

// brief lists the first names.
func brief(names []string) string {
	const first = 5
	if len(names) > first {
		return strings.Join(names[:first], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
