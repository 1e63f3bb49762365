package jobs

import (
	"cmp"
	"context"
	"slices"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

// Replica is a replica of a daemon job.
type Replica struct {
	Replica    string         `json:"replica" doc:"Its index; of a job with one replica on each worker, the id of the worker."`
	Status     common.Status  `json:"status" enum:"waiting,running" doc:"waiting: it has no run."`
	Run        string         `json:"run" doc:"Id of the run, or of the next one."`
	Version    int64          `json:"version,omitempty" doc:"Version of the job with which it was started."`
	Worker     string         `json:"worker,omitempty" doc:"Id of the worker."`
	WorkerName string         `json:"workerName,omitempty"`
	Restarts   int            `json:"restarts,omitempty" doc:"Number of consecutive runs before it that lasted less than healthyAfter."`
	Since      time.Time      `json:"since" doc:"When the run was claimed; of a waiting replica, when it was requested."`
	DueAt      *time.Time     `json:"dueAt,omitempty" doc:"When a waiting replica is to be started."`
	Reason     *common.Reason `json:"reason,omitempty" doc:"Why a waiting replica has no run."`
}

// Replicas are the replicas of a daemon job.
type Replicas struct {
	Wanted  common.Fleet `json:"wanted,omitempty" doc:"Number of replicas that the job is to have; absent if it is no daemon."`
	Running int          `json:"running"`
	Waiting int          `json:"waiting"`
	Items   []Replica    `json:"items" nullable:"false"`

	Handover *Handover `json:"handover,omitempty" doc:"The handover in progress, if there is one."`
}

// Handover is the planned replacement of a replica's run.
type Handover struct {
	Replica    string            `json:"replica"`
	Run        string            `json:"run" doc:"Id of the run that is ended."`
	Worker     string            `json:"worker" doc:"Id of the worker that hands it over."`
	WorkerName string            `json:"workerName,omitempty"`
	Reason     common.MoveReason `json:"reason" enum:"update,restart,drain,balance,ineligible" doc:"update: the job has changed; restart: an operator restarts it; drain: the worker is drained; balance: another worker runs fewer daemons; ineligible: the worker may no longer run the job."`
	Since      time.Time         `json:"since"`
}

// replicas returns the replicas of a daemon job, as etcd holds them; none of another job.
func (s *Resource) replicas(ctx context.Context, in *view.JobPath) (*core.Body[Replicas], error) {
	state, err := s.Jobs.Get(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	answer := Replicas{Items: []Replica{}}
	if state.Daemon != nil {
		answer.Wanted = state.Daemon.Count
	}
	found, move, err := s.Jobs.Replicas(ctx, in.Name, state.UID)
	if err != nil {
		return nil, err
	}
	if answer.Handover, err = s.handover(ctx, move); err != nil {
		return nil, err
	}
	for i := range found {
		run := &found[i]
		one := Replica{Replica: run.Replica(), Status: run.Status, Run: run.ID, Version: run.JobVersion,
			Worker: run.Worker, WorkerName: run.WorkerName, Since: run.PlannedAt, DueAt: run.DueAt, Reason: run.Reason,
			Restarts: run.Restarts}
		if answer.Waiting++; run.Status == common.StatusRunning {
			answer.Waiting--
			answer.Running++
		}
		if run.ClaimedAt != nil {
			one.Since = *run.ClaimedAt
		}
		answer.Items = append(answer.Items, one)
	}
	slices.SortFunc(answer.Items, func(a, b Replica) int {
		return cmp.Or(cmp.Compare(len(a.Replica), len(b.Replica)), cmp.Compare(a.Replica, b.Replica))
	})
	return &core.Body[Replicas]{Body: answer}, nil
}

// handover returns a handover as it is shown; nil for none.
func (s *Resource) handover(ctx context.Context, m *common.Move) (*Handover, error) {
	if m == nil {
		return nil, nil
	}
	h := Handover{Replica: common.ReplicaLabel(m.Replica), Run: m.Run, Worker: m.Worker, Reason: m.Reason,
		Since: m.Since}
	members, err := s.Workers.Workers(ctx)
	if err != nil {
		return nil, err
	}
	for i := range members {
		if members[i].Worker == m.Worker {
			h.WorkerName = members[i].Name
		}
	}
	return &h, nil
}

// JobRestartRequest is the optional reason of a restart.
type JobRestartRequest struct {
	Note string `json:"note,omitempty" maxLength:"500" doc:"Reason; shown with the runs that are ended, and in the audit."`
}

type jobRestartInput struct {
	view.JobPath
	IfMatch string `header:"If-Match" doc:"Only if the job has this ETag."`
	Body    *JobRestartRequest
}

func (s *Resource) restart(ctx context.Context, in *jobRestartInput) (*jobOutput, error) {
	who := core.Actor(ctx)
	if in.Body != nil {
		who.Note = in.Body.Note
	}
	return s.change(ctx, access.Operator, in.Name, in.IfMatch, func(pre common.Precondition) (common.JobState, error) {
		return s.Jobs.Restart(ctx, who, in.Name, pre)
	})
}
