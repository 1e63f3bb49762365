package nodes

import (
	"time"

	"carillon/internal/common"
)

// StatusPending is the status of a node that waits for the steps before it, or to be started.
const StatusPending common.Status = "pending"

// Node is a node of a flow run: a step, or an item of a map.
type Node struct {
	Node  string `json:"node" doc:"Name of the node: of the step, or of an item of a map, such as load@00003."`
	Step  string `json:"step"`
	Item  *int   `json:"item,omitempty" doc:"Index of the item of a map, from 0; absent for a step."`
	Value string `json:"value,omitempty" doc:"The item itself, if the list is known; shortened after 80 bytes."`
	Kind  string `json:"kind,omitempty" enum:"command,job,approval,wait,join" doc:"What the step runs."`
	Title string `json:"title,omitempty" doc:"Display name of the step."`
	Job   string `json:"job,omitempty" doc:"Name of the job whose runs are those of the node; that of an inline step contains a colon."`

	Status common.Status  `json:"status" enum:"pending,waiting,running,succeeded,failed,timed_out,killed,lost,skipped,refused,missed" doc:"pending: it waits for other steps, or to be started. waiting: its run has not started, or it waits for an answer or for fires."`
	Class  common.Class   `json:"class,omitempty" enum:"success,failure,skipped" doc:"How its end counts for later steps."`
	Reason *common.Reason `json:"reason,omitempty" doc:"Why it waits, did not run, or failed."`
	Kept   bool           `json:"kept,omitempty" doc:"It was kept from an earlier flow run, and did not run in this one: run, times, attempts and outputs are those of then."`
	From   string         `json:"keptFrom,omitempty" doc:"Id of the flow run in which a kept node ran."`
	// Accepted is the decision by which its failure counts as a success.
	Accepted *NodeAcceptance `json:"accepted,omitempty" doc:"Its failure was accepted: it counts as a success."`

	Items *ItemCounts `json:"items,omitempty" doc:"Of a map whose list is known: the numbers of its items."`

	Run       string            `json:"run,omitempty" doc:"Id of its last run."`
	Attempt   int               `json:"attempt,omitempty" doc:"Number of its last attempt."`
	Attempts  []string          `json:"attempts,omitempty" nullable:"false" doc:"Ids of its attempts, the first one first."`
	Worker    string            `json:"worker,omitempty" doc:"Name of the worker; of a run on several workers also before it starts."`
	Since     *time.Time        `json:"waitingSince,omitempty" doc:"Since when it waits for an answer or for fires; after a failure, for its next attempt."`
	StartedAt *time.Time        `json:"startedAt,omitempty"`
	EndedAt   *time.Time        `json:"endedAt,omitempty"`
	Duration  common.Duration   `json:"duration,omitempty" doc:"From its start until its end, or until now." example:"1.2s"`
	ExitCode  *int              `json:"exitCode,omitempty"`
	Outputs   map[string]string `json:"outputs,omitempty" doc:"Values that it reported; those of more than 4 KiB are left out here, and are in its run."`

	Hidden bool `json:"hidden,omitempty" doc:"What requires a role in the flow's group is left out."`

	at    int    // its number in the order of all nodes
	value string // the whole item
}

// NodeAcceptance is who accepted the failure of a node, and why.
type NodeAcceptance struct {
	By   string    `json:"by,omitempty" doc:"Name of the user or token."`
	Note string    `json:"note,omitempty" doc:"The reason given."`
	At   time.Time `json:"at"`
}

// ItemCounts are the numbers of a map's items.
type ItemCounts struct {
	Total     int `json:"total"`
	Pending   int `json:"pending,omitempty" doc:"Not started."`
	Running   int `json:"running,omitempty" doc:"Started."`
	Succeeded int `json:"succeeded,omitempty"`
	Failed    int `json:"failed,omitempty"`
	Skipped   int `json:"skipped,omitempty"`
}

// add counts an item.
func (c *ItemCounts) add(n *Node) {
	c.Total++
	switch {
	case n.Status == StatusPending:
		c.Pending++
	case !n.Status.Terminal():
		c.Running++
	case n.Status == common.StatusSucceeded:
		c.Succeeded++
	case n.Status == common.StatusSkipped:
		c.Skipped++
	default:
		c.Failed++
	}
}

// Hide removes what requires a role in the flow's group.
func (n *Node) Hide(reason func(common.Status, *common.Reason) *common.Reason) {
	n.Title, n.Value, n.Outputs, n.Reason, n.Hidden = "", "", nil, reason(n.Status, n.Reason), true
	if n.Accepted != nil {
		n.Accepted = &NodeAcceptance{By: n.Accepted.By, At: n.Accepted.At}
	}
}
