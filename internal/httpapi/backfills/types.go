package backfills

import (
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

// Backfill is a request to run past fires of a job, and how far it is.
type Backfill struct {
	ID             string               `json:"id,omitempty" doc:"Absent in a dry run."`
	Job            string               `json:"job" doc:"Name of the job."`
	State          string               `json:"state" enum:"planned,running,paused,ending,ended" doc:"planned: a dry run; ending: no further fire is started."`
	Status         common.Status        `json:"status,omitempty" enum:"succeeded,failed,killed,refused" doc:"Outcome of one that has ended."`
	Reason         *common.Reason       `json:"reason,omitempty"`
	From           *time.Time           `json:"from,omitempty" doc:"The first planned time, inclusive. Absent for one that an earlier version ended."`
	To             *time.Time           `json:"to,omitempty" doc:"The end of the planned times, exclusive."`
	Reprocess      common.Reprocess     `json:"reprocess,omitempty" enum:"none,failed,all"`
	Order          common.BackfillOrder `json:"order,omitempty" enum:"oldest,newest"`
	IncludeUnknown bool                 `json:"includeUnknown,omitempty" doc:"It runs fires that are older than the history of the job, too."`
	Concurrency    int                  `json:"concurrency,omitempty" doc:"Maximum number of fires that run at the same time."`
	MaxFailures    int                  `json:"maxFailures,omitempty" doc:"No further fire is started after as many failures."`
	Params         map[string]string    `json:"params,omitempty"`
	Note           string               `json:"note,omitempty"`
	By             string               `json:"by,omitempty"`
	CreatedAt      time.Time            `json:"createdAt,omitzero"`
	EndedAt        *time.Time           `json:"endedAt,omitempty"`
	ExpectedEndAt  *time.Time           `json:"expectedEndAt,omitempty" doc:"Of a running one: an estimate from the usual duration of the job's runs; absent if that is unknown."`
	Counts         view.BackfillCounts  `json:"counts"`
	Kept           int                  `json:"kept,omitempty" doc:"Fires of the range that are not run, in the response to the request."`
	Live           []common.LiveFire    `json:"live,omitempty" nullable:"false" doc:"Fires of the range that are left out because they have not ended, in the response to the request."`
	Unknown        *common.UnknownFires `json:"unknown,omitempty" doc:"Fires of the range that are left out because they are older than the history of the job, in the response to the request. They run with includeUnknown."`
	Warnings       []common.Reason      `json:"warnings,omitempty" nullable:"false" doc:"Of a dry run: what may surprise, such as dates with a run at another time of the day."`
	Yielded        *YieldedFires        `json:"yielded,omitempty" doc:"Planned fires that were skipped because of the backfill (reason backfill) and have not run since. Absent in lists, and if there are none."`
	Fires          []BackfillFire       `json:"fires,omitempty" nullable:"false" doc:"A page of the fires, in their order; absent in lists, if there are none with a requested status, and for one that an earlier version ended. A dry run returns the first 1000. The ledger shows them, too."`
	NextCursor     string               `json:"nextCursor,omitempty" doc:"Cursor of the next page of fires; absent on the last one."`
}

// BackfillFire is a fire of a backfill.
type BackfillFire struct {
	At      time.Time     `json:"at" doc:"Its planned time."`
	Attempt int           `json:"attempt" doc:"Number of its last attempt; until it is started, of the one that the backfill requests."`
	Run     string        `json:"run,omitempty" doc:"Id of the run, once it was started."`
	Status  common.Status `json:"status" enum:"waiting,running,succeeded,failed,timed_out,killed,lost,skipped,refused,missed"`
}

// YieldedFires are planned fires that were skipped because of a backfill.
type YieldedFires struct {
	Count   int         `json:"count"`
	More    bool        `json:"more,omitempty" doc:"There may be more, which are older than these: only the newest 10000 skipped fires are read."`
	Partial bool        `json:"partial,omitempty" doc:"The log store is away: only those are known that have just been skipped."`
	From    time.Time   `json:"from,omitzero" doc:"The first one's planned time: a backfill from here to 'to' runs them. Absent if none is known."`
	To      time.Time   `json:"to,omitzero" doc:"After the last one's planned time."`
	Times   []time.Time `json:"times" nullable:"false" doc:"Their planned times, the newest first; 100 at most."`
}

// maxFires is the number of fires in the response to a dry run.
const maxFires = 1000

func planned(job string, r *common.BackfillRequest, plan *common.BackfillPlan) Backfill {
	out := Backfill{Job: job, State: "planned", MaxFailures: r.MaxFailures, Params: r.Params, Note: r.Note,
		Concurrency: plan.Concurrency, Kept: plan.Kept, Live: plan.Live, Unknown: plan.Unknown}
	out.setRange(&plan.Range)
	out.Counts = view.BackfillCounts{Total: len(plan.Fires), Waiting: len(plan.Fires)}
	for _, f := range plan.Fires[:min(maxFires, len(plan.Fires))] {
		out.Fires = append(out.Fires, BackfillFire{At: f.At, Attempt: f.Attempt, Status: common.StatusWaiting})
	}
	return out
}

func (b *Backfill) setRange(r *common.BackfillRange) {
	if r != nil {
		b.From, b.To, b.Reprocess, b.Order = &r.From, &r.To, r.Reprocess, r.Order
		b.IncludeUnknown = r.IncludeUnknown
	}
}

func running(b *common.Backfill) Backfill {
	out := Backfill{ID: b.Run, Job: b.BackfillOf(), State: "running", Concurrency: b.Concurrency,
		MaxFailures: b.MaxFailures, Params: b.Params, Note: b.Note, By: b.By, CreatedAt: b.ClaimedAt}
	out.setRange(b.Range)
	switch {
	case b.Kill != nil:
		out.State = "ending"
	case b.Paused:
		out.State = "paused"
	}
	out.Counts = countsOf(b.Items)
	return out
}

func countsOf(fires []common.BackfillFire) (counts view.BackfillCounts) {
	for i := range fires {
		counts.Add(&fires[i])
	}
	return counts
}

// page sets a page of the fires of a backfill of the job with a uid.
func (b *Backfill) page(fires []common.BackfillFire, uid string, in *FiresInput) error {
	list := "fires of backfill " + b.ID
	at, err := core.ReadCursor[int](list, in.Cursor)
	if err != nil {
		return err
	}
	for i := max(0, at); i < len(fires); i++ {
		f := &fires[i]
		shown := BackfillFire{At: f.At, Attempt: max(f.Attempt, f.Last), Run: f.RunID(uid), Status: f.Status}
		if f.Status == "" {
			shown.Status = common.StatusWaiting
		}
		if len(in.Statuses) > 0 && !slices.Contains(in.Statuses, shown.Status) {
			continue
		}
		if len(b.Fires) == in.Limit {
			b.NextCursor, err = core.WriteCursor(list, &i)
			return err
		}
		b.Fires = append(b.Fires, shown)
	}
	return nil
}

func ended(run *common.Run) Backfill {
	out := Backfill{ID: run.ID, Job: common.BackfilledJob(run.Job), State: "ended", Status: run.Status,
		Reason: run.Reason, Params: run.Params, Note: run.Note, By: run.TriggeredBy, CreatedAt: run.PlannedAt,
		EndedAt: run.EndedAt}
	if n := run.Nodes; n != nil {
		out.Counts = view.BackfillCounts{Total: n.Total, Succeeded: n.Succeeded, Failed: n.Failed, Skipped: n.Skipped}
	}
	if kept := run.Backfill; kept != nil {
		out.setRange(kept.Range)
		out.Concurrency, out.MaxFailures = kept.Concurrency, kept.MaxFailures
	}
	return out
}
