package system

import (
	"context"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// Doctor checks everything that the cluster depends on.
type Doctor interface {
	// Examine returns all findings, including those without a problem; it takes a few seconds at
	// most.
	Examine(ctx context.Context) Examination
}

// FindingStatus is the result of a check.
type FindingStatus string

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
	Data   common.Words  `json:"data,omitempty" doc:"For translated texts."`
}

// Examination contains all findings.
type Examination struct {
	At       time.Time     `json:"at" doc:"By the clock of the examining master."`
	Master   string        `json:"master,omitempty" doc:"Its host."`
	Version  string        `json:"version" doc:"Its version."`
	Status   FindingStatus `json:"status" enum:"ok,warning,failing,unknown" doc:"The worst status of all findings."`
	Findings []Finding     `json:"findings" nullable:"false" doc:"In the order in which to look at them."`
}

type doctorResource struct{ doctor Doctor }

func (d *doctorResource) register(r *core.Router) {
	op := core.NewOperations("system", "/api/v1")
	core.Register(r, op.Get("get-doctor", "/system/doctor", "Diagnose the cluster", core.Viewer), d.examine)
}

func (d *doctorResource) examine(ctx context.Context, _ *struct{}) (*core.Body[Examination], error) {
	found := d.doctor.Examine(ctx)
	if found.Findings == nil {
		found.Findings = []Finding{}
	}
	return core.Reply(found)
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
