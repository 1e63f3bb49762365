package system

import (
	"context"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// Recovery recovers cursors.
type Recovery interface {
	// Recover moves back cursors that are in the future and, after a restore of etcd, accepts its
	// data.
	Recover(ctx context.Context, actor common.Actor, r common.RecoverRequest) (common.Recovered, error)
}

// RecoveredJob is the result of the recovery for a job.
type RecoveredJob struct {
	Job      string     `json:"job"`
	Effect   string     `json:"effect" enum:"brought_back,passed_over,busy,unreadable" doc:"brought_back: the cursor was in the future and is moved to now; the job's fires get new ids. passed_over: the fires since the backup are recorded as one missed entry. busy: the cursor is in the future and stays there until the job's runs have ended. unreadable: the job cannot be decoded and is not changed."`
	Cursor   *time.Time `json:"cursor,omitempty" doc:"The cursor before."`
	To       *time.Time `json:"to,omitempty" doc:"The cursor after."`
	Runs     []string   `json:"runs,omitempty" nullable:"false" doc:"Runs unresolved in the backup: they may have ended since, or have run twice. Those without a live worker are ended and not re-run."`
	Triggers int        `json:"triggers,omitempty" doc:"Number of manual runs and retries pending in the backup, which are skipped."`
}

// RecoverAnswer is the result of the recovery.
type RecoverAnswer struct {
	At       time.Time      `json:"at" doc:"The time to which cursors are moved, by the clock of the master."`
	Restored bool           `json:"restored" doc:"Recovery from a restore of etcd."`
	DryRun   bool           `json:"dryRun" doc:"Nothing was changed."`
	Total    int            `json:"total" doc:"Number of jobs concerned."`
	Jobs     []RecoveredJob `json:"jobs" nullable:"false" maxItems:"1000" doc:"The first jobs, by name."`
}

// mostRecovered bounds the jobs that are listed.
const mostRecovered = 1000

func (s *Resource) recover(ctx context.Context,
	in *struct{ Body common.RecoverRequest }) (*core.Body[RecoverAnswer], error) {
	done, err := s.Recovery.Recover(ctx, core.Actor(ctx), in.Body)
	if err != nil {
		return nil, err
	}
	out := &core.Body[RecoverAnswer]{Body: RecoverAnswer{
		At:       done.At,
		Restored: done.Restored,
		DryRun:   done.DryRun,
		Total:    len(done.Jobs),
		Jobs:     []RecoveredJob{},
	}}
	for _, j := range done.Jobs[:min(len(done.Jobs), mostRecovered)] {
		item := RecoveredJob{Job: j.Job, Effect: string(j.Effect), Runs: j.Runs, Triggers: j.Triggers}
		if !j.Cursor.IsZero() {
			item.Cursor, item.To = &j.Cursor, &j.To
		}
		out.Body.Jobs = append(out.Body.Jobs, item)
	}
	return out, nil
}
