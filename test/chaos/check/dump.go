package check

import "time"

// Run is an item of GET /api/v1/runs.
type Run struct {
	ID              string     `json:"id"`
	Job             string     `json:"job"`
	JobUID          string     `json:"jobUid"`
	Fire            string     `json:"fire"`
	PlannedAt       time.Time  `json:"plannedAt"`
	Cause           string     `json:"cause"`
	Attempt         int        `json:"attempt"`
	Status          string     `json:"status"`
	Reason          *Reason    `json:"reason"`
	Worker          string     `json:"worker"`
	WorkerName      string     `json:"workerName"`
	ClaimedAt       *time.Time `json:"claimedAt"`
	StartedAt       *time.Time `json:"startedAt"`
	EndedAt         *time.Time `json:"endedAt"`
	ExitCode        *int       `json:"exitCode"`
	Signal          string     `json:"signal"`
	OutputBytes     int64      `json:"outputBytes"`
	OutputTruncated bool       `json:"outputTruncated"`
	Gap             *Gap       `json:"gap"`
	Orphaned        *LateEnd   `json:"orphaned"`
	Flow            *NodeRef   `json:"flow"`
	Parents         []Parent   `json:"parents"`

	// Of its nodes, which the harness adds: lists of runs leave them out.
	Outputs  map[string]string `json:"outputs"`
	Accepted []string          `json:"accepted"` // nodes whose failures count as successes since it began
}

// Parent is a run whose success a fire after other jobs has consumed.
type Parent struct {
	Job string `json:"job"`
	Run string `json:"run"`
}

// Fire is an item of GET /api/v1/fires.
type Fire struct {
	ID        string    `json:"id"`
	Job       string    `json:"job"`
	JobUID    string    `json:"jobUid"`
	PlannedAt time.Time `json:"plannedAt"`
	Cause     string    `json:"cause"`
	Status    string    `json:"status"`
	Reason    *Reason   `json:"reason"`
	Attempts  []string  `json:"attempts"`
	Gap       *Gap      `json:"gap"`
}

// Reason is the reason of a status.
type Reason struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Gap covers the fires after From, up to and including To.
type Gap struct {
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	Count int64     `json:"count"`
}

// LateEnd is a worker's report of the end of a run after it was recorded as lost.
type LateEnd struct {
	Status   string `json:"status"`
	ExitCode *int   `json:"exitCode"`
	Signal   string `json:"signal"`
}

func open(status string) bool {
	return status == "waiting" || status == "running" || status == "planned"
}

func code(r *Reason) string {
	if r == nil {
		return ""
	}
	return r.Code
}
