package health

import (
	"time"

	"carillon/internal/common"
)

// StoreState is the state of the log store.
type StoreState string

const (
	StoreOK   StoreState = "ok"
	StoreAway StoreState = "away"
)

// Overview contains totals of the cluster and its active problems.
type Overview struct {
	Running  *int64             `json:"running,omitempty" doc:"Unresolved runs; absent while etcd does not respond."`
	Jobs     JobCounts          `json:"jobs"`
	Workers  WorkerCounts       `json:"workers"`
	Leader   *Leader            `json:"leader,omitempty" doc:"The elected master; absent without one."`
	LogStore StoreState         `json:"logStore" enum:"ok,away" doc:"away: lists contain only pending, current and just completed runs; nothing is lost."`
	Degraded []common.Condition `json:"degraded" nullable:"false" doc:"Active problems of this master, the cluster or a worker. Empty if there are none."`
}

// Leader is the elected master, which performs the duties.
type Leader struct {
	Name  string    `json:"name" doc:"Host of the master."`
	Since time.Time `json:"since" doc:"When it was elected, by its own clock."`
}

// JobCounts counts jobs.
type JobCounts struct {
	Total      int `json:"total"`
	Paused     int `json:"paused"`
	Unreadable int `json:"unreadable" doc:"Unreadable definitions in etcd, which do not fire."`
}

// WorkerCounts counts live workers.
type WorkerCounts struct {
	Alive    int `json:"alive"`
	Draining int `json:"draining" doc:"Workers that claim no new runs because they are stopping or being drained by an operator."`
	Troubled int `json:"troubled" doc:"Workers that claim no new runs because of a condition."`
	Slots    int `json:"slots" doc:"Slots of all live workers."`
	Used     int `json:"used" doc:"Slots in use."`
}

// Check is the result of a check.
type Check struct {
	Name    string `json:"name" doc:"What was checked." example:"etcd"`
	OK      bool   `json:"ok"`
	Needed  bool   `json:"needed" doc:"The process cannot work without it."`
	Message string `json:"message,omitempty" doc:"The problem, if there is one."`
}

// CheckOf returns the result of a check.
func CheckOf(name string, needed bool, err error) Check {
	c := Check{Name: name, OK: err == nil, Needed: needed}
	if err != nil {
		c.Message = common.Excerpt(err.Error())
	}
	return c
}

// Master is a master that is alive.
type Master struct {
	ID         string     `json:"id" doc:"Id of the process; a new one at each start."`
	Host       string     `json:"host"`
	Address    string     `json:"address,omitempty" doc:"Listening address; absent for an older version." example:"10.0.0.7:7070"`
	Version    string     `json:"version"`
	StartedAt  time.Time  `json:"startedAt,omitzero" doc:"Absent for an older version."`
	Clock      time.Time  `json:"clock" doc:"Its wall clock at its last write."`
	SkewMs     int64      `json:"skewMs" doc:"How many milliseconds its clock is ahead of the cluster's, by its own measurement."`
	LeadsSince *time.Time `json:"leadsSince,omitempty" doc:"When it was elected, by its own clock; absent for the others."`
	Answers    bool       `json:"answers,omitempty" doc:"The master that sent this response."`
}
