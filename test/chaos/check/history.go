package check

import (
	"io"
	"time"
)

// History is all that is known when everything is settled.
type History struct {
	Jobs    []Job     `json:"jobs"`
	Until   time.Time `json:"until"` // fires planned up to here are checked
	Journal []Event   `json:"journal"`
	Lines   []Line    `json:"-"` // see ReadLedger
	Runs    []Run     `json:"runs"`
	Flows   []Flow    `json:"flows,omitempty"`
	Nodes   []Run     `json:"nodes,omitempty"` // runs of nodes of flow runs
	Fires   []Fire    `json:"fires"`           // planned ones of the future may be among them

	// Output returns all output of a run that the API has. It is called for runs that began; nil skips
	// output, as does a nil reader for one run.
	Output func(run string) (io.ReadCloser, error) `json:"-"`

	Rules Rules `json:"rules"`
}

// Rules are the settings of the system under test, and what is expected of it. The
// zero value means the defaults.
type Rules struct {
	TTL       time.Duration `json:"ttl"`       // of a worker's lease; 15 s
	Survive   time.Duration `json:"survive"`   // how long a command may outlive its worker; 1 s
	Linger    time.Duration `json:"linger"`    // how long children of a command may outlive it; 3 s
	Flush     time.Duration `json:"flush"`     // how much output may be lost with a worker; 1 s
	Precision time.Duration `json:"precision"` // of the records of commands and harness, on a busy machine; 500 ms
	// from a command's end until its outcome is committed, without a fault; 3 s
	Finish time.Duration `json:"finish"`
	Rerun  time.Duration `json:"rerun"`  // beyond TTL and lostAfter; 5 s
	Return time.Duration `json:"return"` // from a worker's start until its lost runs are re-run; 5 s
	// from etcd's return after a restore until commands without a record have ended; 10 s
	TakeBack time.Duration `json:"takeBack"`
	// from the end of a replica's run, or from the request for it, until its next one, without a fault, with the
	// backoff; 15 s
	Restart time.Duration `json:"restart"`
}

// Violation is a guarantee that was not kept.
type Violation struct {
	Rule   Rule   `json:"rule"`
	Job    string `json:"job"`
	What   string `json:"what"` // run or fire
	Detail string `json:"detail"`
}

// Rule names a guarantee.
type Rule string

// The guarantees.
const (
	Doubled  Rule = "doubled"  // an attempt was started twice
	Overlaps Rule = "overlap"  // two commands of a job that forbids it were alive together
	Silent   Rule = "silent"   // a planned fire is not in the ledger
	Twice    Rule = "twice"    // a fire has two entries
	Strays   Rule = "stray"    // an entry or a start without a planned fire
	Open     Rule = "open"     // a fire has no outcome, after the time to settle
	Outcome  Rule = "outcome"  // the outcome of a run is lost, or wrong
	Output   Rule = "output"   // output is missing, or differs from what was printed
	Fence    Rule = "fence"    // the fencing tokens of a job do not grow
	Attempts Rule = "attempts" // too many attempts, or gaps in their numbers
	Follow   Rule = "follow"   // what follows a run is not what its job defines
	Survivor Rule = "survivor" // a command outlived its worker
	Listing  Rule = "listing"  // the API's lists contradict each other
	Flows    Rule = "flow"     // a step of a flow did not end, or start, as its definition says
	Chained  Rule = "after"    // a job after others did not fire once for each set of their successes
	Held     Rule = "held"     // a command was started in a restored etcd that no operator had accepted
	Absent   Rule = "absent"   // a wanted replica of a daemon job did not run
	Handover Rule = "handover" // two replicas of a daemon job were handed over at a time
)

// Spread is a distribution of durations.
type Spread struct {
	N   int           `json:"n"`
	P50 time.Duration `json:"p50"`
	P99 time.Duration `json:"p99"`
	Max time.Duration `json:"max"`
}

// Report is the result. Violations are sorted by rule.
type Report struct {
	Violations []Violation    `json:"violations"`
	Planned    int            `json:"planned"`  // expected fires
	Starts     int            `json:"starts"`   // commands
	Lost       int            `json:"lost"`     // runs
	Orphaned   int            `json:"orphaned"` // of these, with a late end
	Read       int            `json:"read"`     // runs whose output was read
	FlowRuns   int            `json:"flowRuns"`
	FlowNodes  int            `json:"flowNodes"`
	Replicas   int            `json:"replicas"` // starts of replicas of daemon jobs
	ByStatus   map[string]int `json:"byStatus"` // fires, by their last attempt; those of a gap each

	// from the death of a worker until the next attempt of its runs began, if it stayed away
	Reruns Spread `json:"reruns"`
	// from the start of a worker until the next attempt of its earlier incarnation's runs began
	Returns  Spread `json:"returns"`
	Lateness Spread `json:"lateness"` // from planned until started, first attempts that did not wait for another run
	Outlived Spread `json:"outlived"` // how long commands were seen alive after their worker was killed
	// of runs that lost output: how long before the death the first missing line had been printed, at least
	LostText Spread   `json:"lostText"`
	Replaced Spread   `json:"replaced"` // from the end of a replica's run until its next one began
	Late     []string `json:"late"`     // which of Reruns and Returns took longer than the rules allow
}

// Count returns how often a rule was violated.
func (r *Report) Count(rule Rule) int {
	n := 0
	for _, v := range r.Violations {
		if v.Rule == rule {
			n++
		}
	}
	return n
}
