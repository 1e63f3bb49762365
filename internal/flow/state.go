package flow

import (
	"fmt"
	"maps"

	"carillon/internal/common"
)

// phase is how far a node has proceeded.
type phase uint8

const (
	phaseOpen     phase = iota // its join is not decided
	phaseReady                 // it may be started
	phaseExpanded              // a map whose items are nodes
	phaseDecided               // it will not run; it is settled at the end
	phaseStarted
	phaseEnded
	phaseKept // it ended in an earlier flow run
)

// asked is what Next has returned a node for, while its mark has not arrived.
type asked uint8

const (
	askedNothing asked = iota
	askedStart
	askedSettle
)

// node is the state of a step or an item.
type node struct {
	mark  record
	phase phase
	asked asked

	// Of a node that is decided.
	decided bool
	class   common.Class
	status  common.Status
	reason  string

	refusal *refusal // why it cannot be started
}

// record is a mark as it was seen.
type record struct {
	state    common.NodeState
	class    common.Class
	revision int64
	round    int32
	attempt  int32
	exit     int32 // -1 without an exit code
	status   common.Status
	reason   string
	job      string
	fire     string
}

// join is the state of a step's edges.
type join struct {
	open   int32 // edges whose source is not decided
	reads  int32 // steps to read that are not decided
	held   int32
	broken int32

	failed  bool // an edge that needed no failure had one
	skipped bool // the source of an edge that needed a success was skipped
	good    bool // a source has succeeded
	passed  bool // a source was skipped
}

// State is the state of one flow run. It is used by one goroutine.
type State struct {
	graph *Graph
	head  common.Head
	given map[string]string // values of the flow's parameters

	nodes     []node // steps, then the items of expanded maps
	joins     []join
	maps      map[int32]*items
	outputs   map[int32]map[string]string // by step
	collected map[int32]map[int]string    // values of items, by step, that their maps collect
	workers   map[int]string              // of a flow run of kind spread: names of the workers of ended items
	early     map[int32]map[int]record    // marks of items that do not exist yet, by step

	roots map[int32]int32 // why steps do not run; computed when it is asked for

	queue   []int32 // steps whose join has changed
	ready   heap    // steps that may have something to start
	stopped []int32 // maps whose remaining items will not run

	counts  counters
	turn    int  // numbers the calls of Next that may start nodes
	swept   int  // the position in the order up to which nodes were settled
	cleans  bool // the main part has ended, and clean-up steps may be started
	killing bool // Next has asked for a kill request
	ending  bool // Next has returned the completion
}

// counters are the numbers of nodes that decide about what is next.
type counters struct {
	started int // marks started, of items that do not exist yet too
	asked   int // starts that Next has returned
	running int // started or asked, without approvals: what the limit counts
	missing int // nodes without an outcome in etcd
	main    int // of these, those of the main part
	begun   int // marks started, of nodes of the main part
	failed  int // steps of class failure
	failing int // failures of this flow run, and maps that can no longer succeed
}

// New returns the state of a flow run without marks. The head must be of a flow run of the graph's definition.
func New(graph *Graph, head *common.Head) *State {
	s := &State{graph: graph, early: map[int32]map[int]record{}}
	s.head = *head
	s.given = graph.job.ParamValues(head.Params)
	s.nodes = make([]node, len(graph.steps))
	s.outputs = map[int32]map[string]string{}
	s.rebuild()
	return s
}

// Mark is the value of a node's key.
type Mark struct {
	Node     string
	Value    common.Node
	Revision int64
}

// Load applies marks in any order. It returns the names of those that are of no node of the flow run.
func (s *State) Load(marks []Mark) (unknown []string) {
	for i := range marks {
		if err := s.note(&marks[i]); err != nil {
			unknown = append(unknown, marks[i].Node)
		}
	}
	s.rebuild()
	return unknown
}

// note stores a mark without deciding anything.
func (s *State) note(m *Mark) error {
	i, item, err := s.find(m.Node)
	if err != nil {
		return err
	}
	r := recordOf(&m.Value, m.Revision)
	if n := s.at(i, item); n >= 0 {
		if r.revision > s.nodes[n].mark.revision {
			s.nodes[n].mark = r
			s.keep(i, item, &m.Value)
		}
		return nil
	}
	if s.hold(i, item, r) {
		s.keepItem(i, item, &m.Value)
	}
	return nil
}

// at returns the index of a node; -1 for an item of a map that is not expanded, or whose list has no such item.
func (s *State) at(i int32, item int) int32 {
	if item < 0 {
		return i
	}
	if m := s.maps[i]; m != nil && item < len(m.list) {
		return m.base + int32(item)
	}
	return -1
}

// hold stores the record of an item that does not exist yet, and reports whether it is a new one.
func (s *State) hold(i int32, item int, r record) bool {
	if s.early[i] == nil {
		s.early[i] = map[int]record{}
	}
	if before, found := s.early[i][item]; found && before.revision >= r.revision {
		return false
	}
	s.early[i][item] = r
	return true
}

// keep stores the outputs of a step, which later steps read, and those of items that their map collects, with the
// workers of items.
func (s *State) keep(i int32, item int, mark *common.Node) {
	if item >= 0 && mark.Worker != "" {
		if s.workers == nil {
			s.workers = map[int]string{}
		}
		s.workers[item] = mark.Worker
	}
	if item >= 0 {
		s.keepItem(i, item, mark)
		return
	}
	delete(s.outputs, i)
	if len(mark.Outputs) > 0 {
		s.outputs[i] = maps.Clone(mark.Outputs)
	}
}

func recordOf(mark *common.Node, revision int64) record {
	r := record{
		state:    mark.State,
		class:    mark.Class,
		revision: revision,
		round:    int32(mark.Round),
		attempt:  int32(mark.Attempt),
		exit:     -1,
		status:   mark.Status,
		reason:   mark.Reason,
		job:      mark.Job,
		fire:     mark.Fire,
	}
	if mark.ExitCode != nil {
		r.exit = int32(*mark.ExitCode)
	}
	switch r.class {
	case common.ClassSuccess, common.ClassFailure, common.ClassSkipped:
	default:
		r.class = common.ClassOf(mark.Status, mark.Reason)
	}
	return r
}

// find returns the index of a node's step, and its item, which is -1 for a step.
func (s *State) find(name string) (i int32, item int, err error) {
	step, item, err := common.SplitNode(name)
	if err != nil {
		return 0, 0, err
	}
	i, known := s.graph.index[step]
	if !known || item >= 0 && !s.graph.steps[i].isMap() {
		return 0, 0, fmt.Errorf("flow %q has no node %.80q", s.graph.job.Name, name)
	}
	return i, item, nil
}

// name returns the name of a node.
func (s *State) name(i int32, item int) string {
	if item < 0 {
		return s.graph.steps[i].def.Name
	}
	return common.ItemNode(s.graph.steps[i].def.Name, item)
}

// Head returns the head that the state was computed with.
func (s *State) Head() *common.Head { return &s.head }
