package check

import (
	"io"
	"time"
)

// History is all that is known when everything has come to rest.
type History struct {
	Jobs    []Job     `json:"jobs"`
	Until   time.Time `json:"until"` // fires planned up to here are judged
	Journal []Event   `json:"journal"`
	Lines   []Line    `json:"-"` // see ReadLedger
	Runs    []Run     `json:"runs"`
	Fires   []Fire    `json:"fires"` // planned ones of the future may be among them

	// Output gives all that the API has of a run's output. It is asked for runs that
	// began; nil leaves output alone, as does a nil reader that of one run.
	Output func(run string) (io.ReadCloser, error) `json:"-"`

	Rules Rules `json:"rules"`
}

// Rules are the settings of the system under test, and what is expected of it. The
// zero value means the defaults.
type Rules struct {
	TTL       time.Duration `json:"ttl"`       // of a worker's lease; 15 s
	Survive   time.Duration `json:"survive"`   // how long a command may outlive its worker; 1 s
	Linger    time.Duration `json:"linger"`    // how long what a command left behind may outlive it; 3 s
	Flush     time.Duration `json:"flush"`     // how much output may be lost with a worker; 1 s
	Precision time.Duration `json:"precision"` // of what commands and harness write down, on a busy machine; 500 ms
	Finish    time.Duration `json:"finish"`    // from a command's end until its outcome is committed, where all is well; 3 s
	Rerun     time.Duration `json:"rerun"`     // beyond TTL and lostAfter; 5 s
	Return    time.Duration `json:"return"`    // from a worker's start until what it had lost runs again; 5 s
	TakeBack  time.Duration `json:"takeBack"`  // from etcd's return after a restore until commands without a record have ended; 10 s
}

// Violation is a promise that was not kept.
type Violation struct {
	Rule   Rule   `json:"rule"`
	Job    string `json:"job"`
	What   string `json:"what"` // run or fire
	Detail string `json:"detail"`
}

// Rule names a promise.
type Rule string

// The promises.
const (
	Doubled  Rule = "doubled"  // an attempt was started twice
	Overlaps Rule = "overlap"  // two commands of a job that forbids it were alive together
	Silent   Rule = "silent"   // a planned fire is not in the ledger
	Twice    Rule = "twice"    // a fire has two entries
	Strays   Rule = "stray"    // an entry or a start without a planned fire
	Open     Rule = "open"     // a fire has no outcome, after all had time to come to rest
	Outcome  Rule = "outcome"  // the outcome of a run is lost, or is not what happened
	Output   Rule = "output"   // output is missing, or is not what was printed
	Fence    Rule = "fence"    // the tokens of a job do not grow
	Attempts Rule = "attempts" // too many, or with holes
	Follow   Rule = "follow"   // what follows a run is not what its job wants
	Survivor Rule = "survivor" // a command outlived its worker
	Listing  Rule = "listing"  // the API's lists contradict each other
	Held     Rule = "held"     // a command was started in a restored etcd that no operator had accepted
)

// Spread is a distribution of durations.
type Spread struct {
	N   int           `json:"n"`
	P50 time.Duration `json:"p50"`
	P99 time.Duration `json:"p99"`
	Max time.Duration `json:"max"`
}

// Report is the verdict. Violations are sorted by rule.
type Report struct {
	Violations []Violation    `json:"violations"`
	Planned    int            `json:"planned"`  // fires that had to be
	Starts     int            `json:"starts"`   // commands
	Lost       int            `json:"lost"`     // runs
	Orphaned   int            `json:"orphaned"` // of these, seen to end by their worker
	Read       int            `json:"read"`     // runs whose output was looked at
	ByStatus   map[string]int `json:"byStatus"` // fires, by their last attempt; those of a gap each

	Reruns   Spread   `json:"reruns"`   // from the death of a worker until the next attempt of what it ran began, where it stayed away
	Returns  Spread   `json:"returns"`  // from the start of a worker until the next attempt of what its earlier life ran began
	Lateness Spread   `json:"lateness"` // from planned until started, first attempts that did not wait for another run
	Outlived Spread   `json:"outlived"` // how long commands were seen alive after their worker was killed
	LostText Spread   `json:"lostText"` // of runs that lost output: how long before the death the first missing line had been printed, at least
	Late     []string `json:"late"`     // which of Reruns and Returns took longer than the rules allow
}

// Count is how often a rule was broken.
func (r *Report) Count(rule Rule) int {
	n := 0
	for _, v := range r.Violations {
		if v.Rule == rule {
			n++
		}
	}
	return n
}
