package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
)

// Recovery brings cursors back.
type Recovery interface {
	// Recover brings cursors back that are in the future and, after a restore of etcd, accepts what it holds.
	Recover(ctx context.Context, actor common.Actor, r common.RecoverRequest) (common.Recovered, error)
}

type recoveryResource struct{ recovery Recovery }

// RecoverRequest asks to bring cursors back.
type RecoverRequest struct {
	Restored bool `json:"restored,omitempty" doc:"etcd was restored from a backup. It need not be said where the condition etcd_went_back says so."`
	DryRun   bool `json:"dryRun,omitempty" doc:"Tell what would be done, and do nothing."`
}

// RecoveredJob is what recovery did to a job.
type RecoveredJob struct {
	Job      string     `json:"job"`
	Effect   string     `json:"effect" enum:"brought_back,passed_over,busy,unreadable" doc:"brought_back: its cursor was in the future, and is now; its fires have new ids. passed_over: the fires since the backup are one missed entry. busy: its cursor is in the future, and stays there until its runs have ended. unreadable: it does not decode, and is left alone."`
	Cursor   *time.Time `json:"cursor,omitempty" doc:"The last fire that was accounted for, before."`
	To       *time.Time `json:"to,omitempty" doc:"And after."`
	Runs     []string   `json:"runs,omitempty" nullable:"false" doc:"Unresolved in the backup: they may have ended since, or have run twice. Those whose worker is gone are ended, and not run again."`
	Triggers int        `json:"triggers,omitempty" doc:"Runs by hand and retries that waited in the backup, and are skipped."`
}

// RecoverAnswer is what recovery did.
type RecoverAnswer struct {
	At       time.Time      `json:"at" doc:"The time that cursors are moved to, by the clock of the master."`
	Restored bool           `json:"restored" doc:"It was done for an etcd that was restored."`
	DryRun   bool           `json:"dryRun" doc:"Nothing was done."`
	Total    int            `json:"total" doc:"Jobs that it concerns."`
	Jobs     []RecoveredJob `json:"jobs" nullable:"false" maxItems:"1000" doc:"The first of them, by name."`
}

type recoverOutput struct{ Body RecoverAnswer }

// mostRecovered bounds the jobs that are listed.
const mostRecovered = 1000

func (s *recoveryResource) register(r *router) {
	register(r, route{access: needs(auth.Admin), Operation: huma.Operation{OperationID: "recover", Method: http.MethodPost,
		Path: "/api/v1/system/recover", Summary: "Bring back cursors after a wrong clock, or after etcd was restored", Tags: []string{"system"},
		Description: "A clock that was ahead leaves cursors in the future, and their jobs silent: these cursors are brought back to now. After a restore of etcd from a backup all " +
			"cursors are moved to now, runs and triggers of the backup are ended, and the workers go on. Each job that is changed has an entry in the audit."}}, s.recover)
}

func (s *recoveryResource) recover(ctx context.Context, in *struct{ Body RecoverRequest }) (*recoverOutput, error) {
	if err := allowEverywhere(ctx, auth.Admin); err != nil {
		return nil, err
	}
	done, err := s.recovery.Recover(ctx, actor(ctx), common.RecoverRequest{Restored: in.Body.Restored, DryRun: in.Body.DryRun})
	if err != nil {
		return nil, err
	}
	out := &recoverOutput{Body: RecoverAnswer{At: done.At, Restored: done.Restored, DryRun: done.DryRun, Total: len(done.Jobs), Jobs: []RecoveredJob{}}}
	for _, j := range done.Jobs[:min(len(done.Jobs), mostRecovered)] {
		item := RecoveredJob{Job: j.Job, Effect: string(j.Effect), Runs: j.Runs, Triggers: j.Triggers}
		if !j.Cursor.IsZero() {
			item.Cursor, item.To = &j.Cursor, &j.To
		}
		out.Body.Jobs = append(out.Body.Jobs, item)
	}
	return out, nil
}
