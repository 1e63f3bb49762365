package common

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FeatureSpread: a fire runs on several workers; see Job.RunOn.
const FeatureSpread = "spread"

const (
	// MaxRunOn is the largest number of workers that runOn may name.
	MaxRunOn = 1000
	// MaxSpread bounds the workers of one fire: its flow run names all of them.
	MaxSpread = 2000

	// SpreadStep is the step of which the workers of a fire are the items.
	SpreadStep = "worker"

	// spreadItem is the variable that marks a map whose items are the workers in the head of its flow run. No other
	// step may name it.
	spreadItem = "CARILLON_WORKER"

	runOnAll = "all"
)

// RunOn makes each fire of a job run once on each of several workers. Its JSON is all, a number, or an object.
type RunOn struct {
	Workers     Fleet `json:"workers" doc:"all: every worker that is eligible when the fire is claimed; or a number of them, by rank."`
	Concurrency int   `json:"concurrency,omitempty" minimum:"1" maximum:"1000" doc:"Maximum number of workers that run it at the same time. Default: all, at most 1000."`
	MaxFailures int   `json:"maxFailures,omitempty" minimum:"0" maximum:"10000" doc:"The fire has failed if more than this many workers failed, or did not run it. Default: 0."`
	Stop        bool  `json:"stop,omitempty" doc:"Start no further workers once the fire has failed."`
}

// plainRunOn has the fields of RunOn, and no methods.
type plainRunOn RunOn

// UnmarshalJSON decodes all, a number or an object. Unknown fields are rejected: a bound that is ignored would run the
// command on workers that must not run it.
func (r *RunOn) UnmarshalJSON(data []byte) error {
	var none RunOn
	*r = none
	if !isObject(data) {
		return json.Unmarshal(data, &r.Workers)
	}
	var short string
	return decodeShort(data, &short, (*plainRunOn)(r))
}

// MarshalJSON encodes the workers alone where nothing else is set.
func (r RunOn) MarshalJSON() ([]byte, error) {
	if r == (RunOn{Workers: r.Workers}) {
		return json.Marshal(r.Workers)
	}
	return encodePlain(plainRunOn(r))
}

// Fleet is the number of workers that run a fire, or of replicas of a daemon job; -1: all. Its JSON is all or the
// number.
type Fleet int

// AllWorkers means every eligible worker.
const AllWorkers Fleet = -1

// UnmarshalJSON decodes all or a number. A negative number is no number of workers, also not that of all.
func (f *Fleet) UnmarshalJSON(data []byte) error {
	var text string
	if isText(data) && json.Unmarshal(data, &text) == nil && text == runOnAll {
		*f = AllWorkers
		return nil
	}
	var n int
	if err := json.Unmarshal(data, &n); err != nil {
		return errors.New("must be all or a number of workers")
	}
	if *f = Fleet(n); n < 0 {
		*f = 0 // refused when the job is validated
	}
	return nil
}

// MarshalJSON encodes all or the number.
func (f Fleet) MarshalJSON() ([]byte, error) { return encodePlain(f.value()) }

func (f Fleet) value() any {
	if f == AllWorkers {
		return runOnAll
	}
	return int(f)
}

// String returns all or the number.
func (f Fleet) String() string { return fmt.Sprint(f.value()) }

// Spread is the part of a head of kind spread that is fixed when its fire is claimed: the workers. The items of the
// flow run are the first Nodes of them.
type Spread struct {
	Nodes int `json:"nodes" doc:"Number of workers that the fire was to run on."`
	// Workers are in the order of their ranks. Where a number was requested, those after the first Nodes replace
	// workers that have not started it, and workers that were lost.
	Workers []SpreadWorker `json:"workers" nullable:"false" doc:"The eligible workers at the claim, by rank: the fire runs on the first ones; where runOn is a number, the others replace those that do not start it in time."`
	Moved   int            `json:"moved,omitempty" doc:"Number of replacements."` // the first Moved of those in reserve are used
}

// SpreadWorker is a worker that a fire was to run on.
type SpreadWorker struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Worker returns the worker that an item is assigned to first; ok is false if there were too few.
func (s *Spread) Worker(item int) (w SpreadWorker, ok bool) {
	if item < 0 || item >= min(s.Nodes, len(s.Workers)) {
		return w, false
	}
	return s.Workers[item], true
}

// Items returns the items of the flow run: the ids of the workers; empty for one that was missing.
func (s *Spread) Items() []string {
	items := make([]string, s.Nodes)
	for i := range items {
		w, _ := s.Worker(i)
		items[i] = w.ID
	}
	return items
}

// Name returns the name of a worker by its id; the id if it is not one of the fire's.
func (s *Spread) Name(id string) string {
	if i := slices.IndexFunc(s.Workers, func(w SpreadWorker) bool { return w.ID == id }); i >= 0 {
		return s.Workers[i].Name
	}
	return id
}

// Reserve returns the first worker in reserve that is not used and that may accepts, and the value of Moved that uses
// it. ok is false if there is none.
func (s *Spread) Reserve(may func(id string) bool) (w SpreadWorker, moved int, ok bool) {
	for i := s.Nodes + s.Moved; i < len(s.Workers); i++ {
		if may(s.Workers[i].ID) {
			return s.Workers[i], i - s.Nodes + 1, true
		}
	}
	return w, s.Moved, false
}

// OfWorkers returns a map over the workers in the head of its flow run.
func OfWorkers(r *RunOn) *ForEach {
	return &ForEach{As: spreadItem, Concurrency: r.Concurrency, MaxFailures: r.MaxFailures, Stop: r.Stop}
}

// IsOfWorkers reports whether the items of the map are the workers in the head of its flow run.
func (f *ForEach) IsOfWorkers() bool { return f != nil && f.As == spreadItem }

// OfSpread reports whether the run is on one of several workers of a fire.
func (f *FlowNode) OfSpread() bool { return f != nil && f.Kind == KindSpread }

// BeginsFlowRuns reports whether a fire of the job begins a flow run in place of a process.
func (s *StoredJob) BeginsFlowRuns() bool { return s.IsFlow() || s.RunOn != nil }

// HasBody reports whether the definition of the job's flow runs is stored apart from the job.
func (s *StoredJob) HasBody() bool { return s.Flow != nil && s.BeginsFlowRuns() }

// runOnFaults checks on which workers a fire runs.
func (j *Job) runOnFaults(c *checker) {
	r := j.RunOn
	if r == nil {
		return
	}
	if r.Workers != AllWorkers && (r.Workers < 1 || r.Workers > MaxRunOn) {
		c.add("runOn.workers", "range", int(r.Workers), "must be all, or a number from 1 to %d", MaxRunOn).
			With("least", 1, "most", MaxRunOn)
	}
	c.number("runOn.concurrency", r.Concurrency, 1, MaxConcurrency)
	if r.MaxFailures < 0 || r.MaxFailures > MaxOutputItems {
		c.add("runOn.maxFailures", "range", r.MaxFailures, "must be from 0 to %d", MaxOutputItems).
			With("least", 0, "most", MaxOutputItems)
	}
}

// SpreadFailed returns the reason of a fire that failed on some of its workers.
func SpreadFailed(names []string, failed, total int) *Reason {
	list := joinMost(names, failed)
	return &Reason{
		Code: ReasonWorkersFailed,
		Data: map[string]string{"workers": list, "count": strconv.Itoa(failed), "total": strconv.Itoa(total)},
		Text: fmt.Sprintf("%d of %d workers failed: %s", failed, total, list),
	}
}

// joinMost joins names, with an ellipsis if there are more than are named.
func joinMost(names []string, count int) string {
	var list strings.Builder
	for i, name := range names {
		if i > 0 {
			list.WriteString(", ")
		}
		list.WriteString(name)
	}
	if count > len(names) {
		list.WriteString(", …")
	}
	return list.String()
}
