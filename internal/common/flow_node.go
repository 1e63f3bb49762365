package common

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strconv"
	"strings"
)

// Class is how the end of a node counts for the nodes after it.
type Class string

// Classes.
const (
	ClassSuccess Class = "success"
	ClassFailure Class = "failure"
	ClassSkipped Class = "skipped"
)

// NodeState is the state of a node's mark.
type NodeState string

// States of marks.
const (
	NodeStarted NodeState = "started" // the trigger of the node was put
	NodeEnded   NodeState = "ended"   // the node has an outcome
)

// Node is the value of /cron/flownodes/<run>/<node>: the mark of a node of a flow run.
type Node struct {
	State   NodeState `json:"state"`
	Round   int       `json:"round"`
	Job     string    `json:"job,omitempty"`
	Fire    string    `json:"fire,omitempty"`
	Attempt int       `json:"attempt,omitempty"`

	// Set once the node has ended. The class does not consider allowFailure, which only the definition contains.
	Status   Status            `json:"status,omitempty"`
	Class    Class             `json:"class,omitempty"`
	Reason   string            `json:"reason,omitempty"` // code
	ExitCode *int              `json:"exitCode,omitempty"`
	Outputs  map[string]string `json:"outputs,omitempty"` // a list has one item per line
	Worker   string            `json:"worker,omitempty"`  // name of the worker, in a flow run of kind spread
}

// FlowNode is the field flow of a trigger, a record or a run: the node that it belongs to. Such values leave jobUid
// empty, so that workers without support for flows ignore them.
type FlowNode struct {
	Kind       FlowKind `json:"kind" enum:"flow,spread,backfill" doc:"What the flow run consists of."`
	Job        string   `json:"job" doc:"Name of the flow."`
	Run        string   `json:"run" doc:"Id of the flow run."`
	Node       string   `json:"node" doc:"Name of the node: of the step, or of an item of a map, such as load@00003."`
	Round      int      `json:"round" doc:"Numbers the starts of the node in this flow run, from 1."`
	Created    int64    `json:"created" doc:"Revision of etcd at which the flow run began."`
	UID        string   `json:"uid" doc:"Uid of the job that runs; of the flow for an inline step."`
	Digest     string   `json:"digest,omitempty" doc:"Identifies the definition of the flow."`
	Depth      int      `json:"depth,omitempty" doc:"Number of flow runs that this one is nested in."`
	Background bool     `json:"background,omitempty" doc:"The flow run is one of a backfill."`
	Collect    string   `json:"collect,omitempty" doc:"Of an item of a map: the output that the map collects."`

	Interval *Interval `json:"interval,omitempty" doc:"The period of data that the flow run processes, if it is a fire of the schedule."`
}

// Inline reports whether a job name is that of an inline step of the flow, which has no key of its own.
func (f *FlowNode) Inline(job string) bool { return strings.HasPrefix(job, StepJob(f.Job, "")) }

// OfBackfill reports whether the node is a fire of a backfill, or is within one. It is false for nil.
func (f *FlowNode) OfBackfill() bool { return f != nil && (f.Background || f.Kind == KindBackfill) }

// OfDate reports whether the node is a fire of a backfill itself. It is false for nil.
func (f *FlowNode) OfDate() bool { return f != nil && f.Kind == KindBackfill }

// IntervalOfNode returns the interval that a node inherits from its flow run; of is false for nil, and for the fires of
// a backfill, which have those of their dates.
func (f *FlowNode) IntervalOfNode() (interval *Interval, of bool) {
	if f == nil || f.Kind == KindBackfill {
		return nil, false
	}
	return f.Interval, true
}

// RankKey returns what is added to the name of a job when workers are ranked for a node: the item of a map, so that its
// items spread over the workers.
func RankKey(of *FlowNode) string {
	if of == nil {
		return ""
	}
	_, item, isItem := strings.Cut(of.Node, "@")
	if !isItem {
		return ""
	}
	return "@" + item
}

// EndOf returns the mark of a node whose run has ended.
func EndOf(of FlowNode, run *Run) Node {
	end := Node{
		State:    NodeEnded,
		Round:    of.Round,
		Job:      run.Job,
		Fire:     run.Fire,
		Attempt:  run.Attempt,
		Status:   run.Status,
		ExitCode: run.ExitCode,
		Outputs:  of.outputs(run.Outputs),
	}
	if run.Reason != nil {
		end.Reason = run.Reason.Code
	}
	if of.Kind == KindSpread {
		end.Worker = run.WorkerName
	}
	end.Class = ClassOf(end.Status, end.Reason)
	return end
}

// outputs returns the outputs that the mark of the node holds: those of a step, and of an item of a map the one that
// the map collects, unless it is too large. All others are those of the run.
func (f *FlowNode) outputs(all map[string]string) map[string]string {
	if f.Kind != KindFlow || !strings.Contains(f.Node, "@") {
		return all
	}
	if value, found := all[f.Collect]; found && len(value) <= MaxCollected {
		return map[string]string{f.Collect: value}
	}
	return nil
}

// ClassOf returns the class of an outcome, without regard to allowFailure. A skipped node is of class skipped only if
// its flow did not need it; one that was to run and did not has failed.
func ClassOf(status Status, reason string) Class {
	switch {
	case status == StatusSucceeded:
		return ClassSuccess
	case status == StatusSkipped && (reason == ReasonWhenFalse || reason == ReasonUpstreamSkipped ||
		reason == ReasonRuleUnmet || reason == ReasonMapStopped || reason == ReasonFunctionSkipped ||
		reason == ReasonNotAnswered):
		return ClassSkipped
	default:
		return ClassFailure
	}
}

// ItemNode returns the name of the node of an item of a map.
func ItemNode(step string, item int) string { return fmt.Sprintf("%s@%05d", step, item) }

// SplitNode splits the name of a node into its step and its item, which is -1 for a step.
func SplitNode(node string) (step string, item int, err error) {
	step, digits, isItem := strings.Cut(node, "@")
	item = -1
	if isItem {
		n, err := strconv.ParseUint(digits, 10, 31)
		if err != nil || len(digits) != 5 {
			return "", 0, fmt.Errorf("%.80q is not a node", node)
		}
		item = int(n)
	}
	if !ValidStep(step) {
		return "", 0, fmt.Errorf("%.80q is not a node", node)
	}
	return step, item, nil
}

// NodeFire returns the id of the fire of a node: the same in every process. uid is that of the job that runs, or of
// the flow for an inline step.
func NodeFire(uid, flowRun, node string) string {
	sum := sha256.Sum256([]byte(flowRun + "/" + node))
	return uid + ".n" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10]))
}

// OfNode reports whether the id of a fire or of a run is that of a node of a flow run. Such runs are listed with their
// flow run, not beside it.
func OfNode(id string) bool {
	_, rest, _ := strings.Cut(id, ".")
	return strings.HasPrefix(rest, "n")
}

// OfStep reports whether a job name is that of the inline steps of a flow.
func OfStep(job string) bool { return strings.Contains(job, ":") }

// JobOf returns the job to whose group runs of a name belong: the flow of inline steps, the job of backfills, and
// otherwise the job itself.
func JobOf(name string) string {
	job, _, _ := strings.Cut(BackfilledJob(name), ":")
	return job
}

// StepJob returns the name under which runs of an inline step are listed. It cannot be the name of a job.
func StepJob(flow, step string) string { return flow + ":" + step }
