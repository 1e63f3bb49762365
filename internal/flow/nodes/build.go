package nodes

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
)

// builder builds the nodes of one flow run.
type builder struct {
	graph *flow.Graph
	state *flow.State
	head  *common.Head
	live  bool
	runs  map[string][]common.Run // by node, the first attempt first
	now   time.Time
	full  bool // as many nodes run as may
}

// nodes returns the nodes. earlier is the flow run from which some are kept; nil if there is none, or if it is unknown.
func (b *builder) nodes(earlier *past) []Node {
	b.full = b.running() >= b.limit()
	before := known(earlier)
	var all []Node
	step := -1 // the index in all of the step of the items that follow
	for v := range b.state.Nodes() {
		if b.head.Spread != nil && v.Item < 0 {
			continue // its nodes are the workers
		}
		n := b.node(&v)
		if n.Kept {
			n.keep(before.of(&n), b.head.Base.Run)
		}
		n.at = len(all)
		if v.Item < 0 {
			step = len(all)
		} else if step >= 0 {
			if all[step].Items == nil {
				all[step].Items = &ItemCounts{}
			}
			all[step].Items.add(&n)
			if !n.Kept { // it ran in another flow run
				all[step].span(&n)
			}
		}
		all = append(all, n)
	}
	return all
}

// before are the nodes of the flow run from which some are kept, by name.
type before map[string]*Node

// known returns the nodes of a flow run; none if it is unknown. Items that count as successes are also found by their
// value: those of another list may have other numbers.
func known(earlier *past) before {
	all := before{}
	if earlier == nil {
		return all
	}
	for i := len(earlier.Nodes) - 1; i >= 0; i-- {
		n := &earlier.Nodes[i]
		all[n.Node] = n
		if n.Item != nil && n.Class == common.ClassSuccess {
			all[byValue(n)] = n
		}
	}
	return all
}

// byValue returns a key that no name of a node is.
func byValue(n *Node) string { return n.Step + "\x00" + n.value }

// of returns what a kept node was; nil if it is not known.
func (b before) of(n *Node) *Node {
	if was := b[n.Node]; n.Item == nil || was != nil && was.value == n.value {
		return was
	}
	return b[byValue(n)]
}

// keep adds what a kept node did in the flow run in which it ran. was is nil if that is not known; run is the flow run
// from which it was kept.
func (n *Node) keep(was *Node, run string) {
	if n.From = run; was == nil {
		return
	}
	if was.From != "" {
		n.From = was.From
	}
	n.Status, n.Reason, n.Items, n.Run, n.Attempt, n.Attempts = was.Status, was.Reason, was.Items, was.Run, was.Attempt,
		was.Attempts
	n.Job, n.Worker, n.StartedAt, n.EndedAt, n.Duration = was.Job, was.Worker, was.StartedAt, was.EndedAt, was.Duration
	n.ExitCode, n.Outputs = was.ExitCode, was.Outputs
}

// running returns the number of nodes that the limit of the flow run counts.
func (b *builder) running() (n int) {
	for v := range b.state.Started() {
		if b.graph.Step(v.Step).Kind().Runs() {
			n++
		}
	}
	return n
}

func (b *builder) limit() int {
	if b.head.Concurrency > 0 {
		return b.head.Concurrency
	}
	return b.graph.Job().NodeLimit()
}

func (b *builder) node(v *flow.View) Node {
	def := b.graph.Step(v.Step)
	n := Node{Node: v.Node, Step: def.Name, Kind: kindOf(def), Title: def.Title, Job: def.Job}
	if n.Job == "" {
		n.Job = common.StepJob(b.graph.Name(), def.Name)
	}
	if v.Item >= 0 {
		n.Item, n.value = &v.Item, v.Value
		if b.head.Spread == nil { // they are shown by their workers
			n.Value = common.Shorten(v.Value)
		}
	}
	n.Kept = v.Stage == flow.StageKept
	n.Worker = v.Worker
	if a := v.Accepted; a != nil {
		n.Accepted = &NodeAcceptance{a.By, a.Note, a.At}
	}
	if runs := b.runs[v.Node]; len(runs) > 0 {
		n.ran(runs, b.now)
		if n.Worker == "" && b.head.Spread != nil { // of a run that waits for its worker
			n.Worker = b.head.Spread.Name(runs[len(runs)-1].Worker)
		}
	} else {
		n.Attempt = v.Attempt
		if v.ExitCode >= 0 {
			n.ExitCode = &v.ExitCode
		}
		n.Outputs = shown(v.Outputs)
	}
	switch {
	case v.Class != "": // decided: the engine knows how it counts
		n.Status, n.Class = v.Status, v.Class
		if n.Reason == nil && v.Reason != "" {
			n.Reason = v.Why(def)
			if v.Fault != nil {
				n.Reason = v.Fault
			}
		}
	case n.Run != "": // its run is at least as new as its mark
	case v.Stage == flow.StageStarted:
		n.Status = common.StatusWaiting // its run is not visible yet
	case v.Stage == flow.StageExpanded:
		n.Status = common.StatusRunning
	default:
		n.Status = StatusPending
		if b.live {
			n.Reason = b.pending(v, def)
		}
	}
	return n
}

func kindOf(def *common.Step) string {
	switch def.Kind() {
	case common.JobStep:
		return "job"
	case common.ApprovalStep:
		return "approval"
	case common.WaitStep:
		return "wait"
	case common.JoinStep:
		return "join"
	default:
		return "command"
	}
}

// mostNamed is the number of steps that a reason names.
const mostNamed = 5

// pending returns why a node was not started.
func (b *builder) pending(v *flow.View, def *common.Step) *common.Reason {
	switch {
	case def.Finally && !b.state.Cleans():
		return &common.Reason{Code: common.ReasonWaitsForMain, Text: "it waits for the end of all other steps"}
	case b.head.Kill != nil && (!def.Finally || b.head.Kill.Force):
		return &common.Reason{Code: common.ReasonFlowStopped, Text: "the flow run is being ended"}
	case v.Stage == flow.StageWaiting:
		return b.waitsFor(def)
	case b.head.Paused:
		return &common.Reason{Code: common.ReasonFlowPaused, Text: "the flow run is paused"}
	case b.full && def.Kind() != common.JoinStep:
		most := b.limit()
		return &common.Reason{Code: common.ReasonNodeLimit, Data: map[string]string{"most": strconv.Itoa(most)},
			Text: fmt.Sprintf("%d steps of the flow run are running, as many as may", most)}
	case v.Item >= 0 && def.ForEach.Concurrency > 0:
		return &common.Reason{Code: common.ReasonNodeLimit,
			Data: map[string]string{"most": strconv.Itoa(def.ForEach.Concurrency)},
			Text: fmt.Sprintf("at most %d items of the step run at the same time", def.ForEach.Concurrency)}
	}
	return common.Starting()
}

// waitsFor names the steps before a step that are not decided.
func (b *builder) waitsFor(def *common.Step) *common.Reason {
	var names []string
	count := 0
	for i := range def.After {
		source, known := b.state.Node(def.After[i].Step)
		if !known || source.Class != "" {
			continue
		}
		if count++; count <= mostNamed {
			names = append(names, def.After[i].Step)
		}
	}
	list := strings.Join(names, ", ")
	if count > mostNamed {
		list += ", …"
	}
	data := map[string]string{"steps": list, "count": strconv.Itoa(count)}
	return &common.Reason{Code: common.ReasonWaitsForSteps, Data: data, Text: "it waits for " + list}
}

// ran adds what the runs of a node show, the first attempt first.
func (n *Node) ran(runs []common.Run, now time.Time) {
	last := &runs[len(runs)-1]
	n.Run, n.Attempt, n.Job, n.Status, n.Reason = last.ID, last.Attempt, last.Job, last.Status, last.Reason
	n.Worker, n.ExitCode, n.Outputs = last.WorkerName, last.ExitCode, shown(last.Outputs)
	n.EndedAt = last.EndedAt
	if since := last.ReadyAt; last.Status == common.StatusWaiting && since != nil && !since.After(now) {
		n.Since = since
	}
	for i := range runs {
		if runs[i].Attempt > 0 {
			n.Attempts = append(n.Attempts, runs[i].ID)
		}
		if n.StartedAt == nil {
			n.StartedAt = runs[i].StartedAt
		}
	}
	if n.StartedAt == nil && last.Status == common.StatusRunning {
		n.StartedAt = last.ClaimedAt
	}
	if last.Status.Terminal() {
		reason := ""
		if last.Reason != nil {
			reason = last.Reason.Code
		}
		n.Class = common.ClassOf(last.Status, reason)
	}
	n.took(now)
}

// took sets the duration.
func (n *Node) took(now time.Time) {
	n.Duration = ""
	if n.StartedAt == nil {
		return
	}
	end := now
	if n.EndedAt != nil {
		end = *n.EndedAt
	} else if n.Status.Terminal() {
		return
	}
	n.Duration = common.Duration(max(0, end.Sub(*n.StartedAt)).Round(time.Millisecond).String())
}

// span extends the times of a map to those of an item.
func (n *Node) span(item *Node) {
	if item.StartedAt != nil && (n.StartedAt == nil || item.StartedAt.Before(*n.StartedAt)) {
		n.StartedAt = item.StartedAt
	}
	if n.Class != "" && item.EndedAt != nil && (n.EndedAt == nil || item.EndedAt.After(*n.EndedAt)) {
		n.EndedAt = item.EndedAt
	}
	if n.StartedAt != nil && n.EndedAt != nil {
		n.took(*n.EndedAt)
	}
}

// maxShown bounds the values of outputs that are shown.
const maxShown = 4 << 10

func shown(outputs map[string]string) map[string]string {
	var small map[string]string
	for name, value := range outputs {
		if len(value) <= maxShown {
			if small == nil {
				small = map[string]string{}
			}
			small[name] = value
		}
	}
	return small
}
