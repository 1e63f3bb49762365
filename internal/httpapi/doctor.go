package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
)

// Doctor looks at all that the cluster depends on.
type Doctor interface {
	// Examine gives all that was found, also what is well; it takes a few seconds at most.
	Examine(ctx context.Context) Examination
}

// FindingStatus says how something was found.
type FindingStatus string

const (
	FindingOK      FindingStatus = "ok"
	FindingWarning FindingStatus = "warning"
	FindingFailing FindingStatus = "failing"
	FindingUnknown FindingStatus = "unknown"
)

// Finding is what was found out about one thing.
type Finding struct {
	Check  string        `json:"check" doc:"What was looked at." example:"etcd_space"`
	Status FindingStatus `json:"status" enum:"ok,warning,failing,unknown" doc:"Failing: something does not work, or soon will not. Unknown: it could not be looked at."`
	Who    string        `json:"who,omitempty" doc:"Which of several: an endpoint of etcd, a worker, a master, a file." example:"https://etcd-1.example.com:2379"`
	Text   string        `json:"text" doc:"What was found." example:"1.7 GiB of 2 GiB are taken"`
	Advice string        `json:"advice,omitempty" doc:"What to do about it." example:"Make etcd compact its history, then defragment it, one member after the other."`
	Data   common.Words  `json:"data,omitempty" doc:"For translated texts."`
}

// Examination is all that was found.
type Examination struct {
	At       time.Time     `json:"at" doc:"By the clock of the master that looked."`
	Master   string        `json:"master,omitempty" doc:"Its host."`
	Version  string        `json:"version" doc:"Its version."`
	Status   FindingStatus `json:"status" enum:"ok,warning,failing,unknown" doc:"The worst of all."`
	Findings []Finding     `json:"findings" nullable:"false" doc:"In the order in which to look at them."`
}

type doctorResource struct{ doctor Doctor }

type examinationOutput struct{ Body Examination }

func (d *doctorResource) register(r *router) {
	register(r, route{access: needs(auth.Viewer), Operation: huma.Operation{OperationID: "get-doctor", Method: http.MethodGet,
		Path: "/api/v1/system/doctor", Summary: "Look at all that the cluster depends on, with what to do about each fault", Tags: []string{"system"},
		Description: "Looks at etcd (each member's version, space and leader), the clocks, the watch, the log store, certificates, workers and masters, the audit " +
			"chain, and at every degraded mode. Each fault says what to do about it. The answer is 200 whatever was found."}}, d.examine)
}

func (d *doctorResource) examine(ctx context.Context, _ *struct{}) (*examinationOutput, error) {
	found := d.doctor.Examine(ctx)
	if found.Findings == nil {
		found.Findings = []Finding{}
	}
	return &examinationOutput{Body: found}, nil
}

// Worst is what findings come to. What could not be looked at is worse than what is well, and better than a warning.
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
