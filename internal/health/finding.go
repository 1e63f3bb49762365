package health

import (
	"fmt"
	"time"

	"carillon/internal/common"
)

// FindingStatus is the result of a check.
type FindingStatus string

// The results of a check.
const (
	FindingOK      FindingStatus = "ok"
	FindingWarning FindingStatus = "warning"
	FindingFailing FindingStatus = "failing"
	FindingUnknown FindingStatus = "unknown"
)

// Finding is the result of one check.
type Finding struct {
	Check  string        `json:"check" doc:"What was checked." example:"etcd_space"`
	Status FindingStatus `json:"status" enum:"ok,warning,failing,unknown" doc:"failing: something does not work, or will stop working soon. unknown: it could not be checked."`
	Who    string        `json:"who,omitempty" doc:"Which one, if there are several: an etcd endpoint, worker, master or file." example:"https://etcd-1.example.com:2379"`
	Text   string        `json:"text" doc:"The finding." example:"1.7 GiB of 2 GiB are taken"`
	Advice string        `json:"advice,omitempty" doc:"Remedy." example:"Make etcd compact its history, then defragment it, one member after the other."`
	// Condition is set if the finding is an active condition.
	Condition string       `json:"condition,omitempty" doc:"Code of the active condition that the finding is about, if any." example:"disk_full"`
	Data      common.Words `json:"data,omitempty" doc:"For translated texts."`
}

// Examination contains all findings.
type Examination struct {
	At       time.Time     `json:"at" doc:"By the clock of the examining master."`
	Master   string        `json:"master,omitempty" doc:"Its host."`
	Version  string        `json:"version" doc:"Its version."`
	Status   FindingStatus `json:"status" enum:"ok,warning,failing,unknown" doc:"The worst status of all findings."`
	Findings []Finding     `json:"findings" nullable:"false" doc:"In the order in which to look at them."`
	Records  []Record      `json:"records,omitempty" nullable:"false" maxItems:"500" doc:"The first stored values that do not decode; for callers with the role admin everywhere only."`
}

// Worst returns the worst status. Unknown is worse than ok and better than a warning.
func Worst(found []Finding) FindingStatus {
	rank := map[FindingStatus]int{FindingUnknown: 1, FindingWarning: 2, FindingFailing: 3}
	worst := FindingOK
	for i := range found {
		if rank[found[i].Status] > rank[worst] {
			worst = found[i].Status
		}
	}
	return worst
}

// OK returns the finding of a check without a problem.
func OK(check, who, text string, args ...any) Finding {
	return Finding{Check: check, Status: FindingOK, Who: who, Text: fmt.Sprintf(text, args...)}
}

// Fault returns a finding with a remedy.
func Fault(status FindingStatus, check, who, advice, text string, args ...any) Finding {
	return Finding{Check: check, Status: status, Who: who, Text: fmt.Sprintf(text, args...), Advice: advice}
}
