package backfills

import (
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/httpapi/core"
)

// Backfill is a request to run past fires of a job, and how far it is.
type Backfill struct {
	ID          string               `json:"id,omitempty" doc:"Absent in a dry run."`
	Job         string               `json:"job" doc:"Name of the job."`
	State       string               `json:"state" enum:"planned,running,paused,ending,ended" doc:"planned: a dry run; ending: no further fire is started."`
	Status      common.Status        `json:"status,omitempty" enum:"succeeded,failed,killed,refused" doc:"Outcome of one that has ended."`
	Reason      *common.Reason       `json:"reason,omitempty"`
	From        *time.Time           `json:"from,omitempty" doc:"The first planned time, inclusive. Absent once it has ended."`
	To          *time.Time           `json:"to,omitempty" doc:"The end of the planned times, exclusive."`
	Reprocess   common.Reprocess     `json:"reprocess,omitempty" enum:"none,failed,all"`
	Order       common.BackfillOrder `json:"order,omitempty" enum:"oldest,newest"`
	Concurrency int                  `json:"concurrency,omitempty" doc:"Maximum number of fires that run at the same time."`
	MaxFailures int                  `json:"maxFailures,omitempty" doc:"No further fire is started after as many failures."`
	Params      map[string]string    `json:"params,omitempty"`
	Note        string               `json:"note,omitempty"`
	By          string               `json:"by,omitempty"`
	CreatedAt   time.Time            `json:"createdAt,omitzero"`
	EndedAt     *time.Time           `json:"endedAt,omitempty"`
	Counts      BackfillCounts       `json:"counts"`
	Kept        int                  `json:"kept,omitempty" doc:"Fires of the range that are not run, in the response to the request."`
	Live        []common.LiveFire    `json:"live,omitempty" nullable:"false" doc:"Fires of the range that are left out because they have not ended, in the response to the request."`
	Unknown     *common.UnknownFires `json:"unknown,omitempty" doc:"Fires of the range that are left out because they are older than the history of the job, in the response to the request. They run with includeUnknown."`
	Warnings    []common.Reason      `json:"warnings,omitempty" nullable:"false" doc:"Of a dry run: what may surprise, such as dates with a run at another time of the day."`
	Yielded     *YieldedFires        `json:"yielded,omitempty" doc:"Planned fires that were skipped because of the backfill (reason backfill) and have not run since. Absent in lists, and if there are none."`
	Fires       []BackfillFire       `json:"fires,omitempty" nullable:"false" doc:"A page of the fires, in their order; absent in lists, and once it has ended. A dry run returns the first 1000. The ledger shows them, too."`
	NextCursor  string               `json:"nextCursor,omitempty" doc:"Cursor of the next page of fires; absent on the last one."`
}

// BackfillCounts are the numbers of fires of a backfill.
type BackfillCounts struct {
	Total     int `json:"total"`
	Waiting   int `json:"waiting"`
	Running   int `json:"running"`
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	Skipped   int `json:"skipped" doc:"Fires that are not started any more."`
}

// BackfillFire is a fire of a backfill.
type BackfillFire struct {
	At      time.Time     `json:"at" doc:"Its planned time."`
	Attempt int           `json:"attempt" doc:"Number of the attempt that the backfill requests."`
	Run     string        `json:"run,omitempty" doc:"Id of the run, once it was started."`
	Status  common.Status `json:"status" enum:"waiting,running,succeeded,failed,timed_out,killed,lost,skipped,refused,missed"`
}

// YieldedFires are planned fires that were skipped because of a backfill.
type YieldedFires struct {
	Count int         `json:"count"`
	More  bool        `json:"more,omitempty" doc:"There are more, which are older than these."`
	From  time.Time   `json:"from" doc:"The first one's planned time: a backfill from here to 'to' runs them."`
	To    time.Time   `json:"to" doc:"After the last one's planned time."`
	Times []time.Time `json:"times" nullable:"false" doc:"Their planned times, the newest first; 100 at most."`
}

// maxFires is the number of fires in the response to a dry run.
const maxFires = 1000

func planned(job string, r *common.BackfillRequest, plan *common.BackfillPlan) Backfill {
	out := Backfill{Job: job, State: "planned", MaxFailures: r.MaxFailures, Params: r.Params, Note: r.Note,
		Concurrency: plan.Concurrency, Kept: plan.Kept, Live: plan.Live, Unknown: plan.Unknown}
	out.setRange(&plan.Range)
	out.Counts = BackfillCounts{Total: len(plan.Fires), Waiting: len(plan.Fires)}
	for _, f := range plan.Fires[:min(maxFires, len(plan.Fires))] {
		out.Fires = append(out.Fires, BackfillFire{At: f.At, Attempt: f.Attempt, Status: common.StatusWaiting})
	}
	return out
}

func (b *Backfill) setRange(r *common.BackfillRange) {
	if r != nil {
		b.From, b.To, b.Reprocess, b.Order = &r.From, &r.To, r.Reprocess, r.Order
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
	out.Counts.Total = len(b.Items)
	for i, item := range b.Items {
		f := BackfillFire{At: item.At, Attempt: item.Attempt, Status: common.StatusWaiting}
		if mark, begun := b.Marks[common.ItemNode(flow.BackfillStep, i)]; begun {
			if f.Status = mark.Status; mark.State == common.NodeStarted {
				f.Status = common.StatusRunning
			}
			if mark.Fire != "" {
				f.Run = common.RunID(mark.Fire, max(item.Attempt, mark.Attempt))
			}
			out.Counts.add(&mark)
		} else {
			out.Counts.Waiting++
		}
		out.Fires = append(out.Fires, f)
	}
	return out
}

// cut keeps one page of the fires.
func (b *Backfill) cut(in *core.Paging) error {
	list := "fires of backfill " + b.ID
	from, err := core.ReadCursor[int](list, in.Cursor)
	if err != nil {
		return err
	}
	b.Fires = b.Fires[min(max(0, from), len(b.Fires)):]
	if len(b.Fires) > in.Limit {
		b.Fires = b.Fires[:in.Limit]
		b.NextCursor, err = core.WriteCursor(list, new(from+in.Limit))
	}
	return err
}

func (c *BackfillCounts) add(mark *common.Node) {
	switch {
	case mark.State == common.NodeStarted:
		c.Running++
	case mark.Class == common.ClassSuccess:
		c.Succeeded++
	case mark.Class == common.ClassSkipped:
		c.Skipped++
	default:
		c.Failed++
	}
}

func isBackfill(run *common.Run) bool {
	return run.Cause == common.CauseBackfill && run.Job == common.BackfillJob(jobOf(run))
}

func jobOf(run *common.Run) string { return strings.TrimSuffix(run.Job, common.BackfillJob("")) }

func ended(run *common.Run) Backfill {
	out := Backfill{ID: run.ID, Job: jobOf(run), State: "ended", Status: run.Status, Reason: run.Reason,
		Params: run.Params, Note: run.Note, By: run.TriggeredBy, CreatedAt: run.PlannedAt, EndedAt: run.EndedAt}
	if n := run.Nodes; n != nil {
		out.Counts = BackfillCounts{Total: n.Total, Succeeded: n.Succeeded, Failed: n.Failed, Skipped: n.Skipped}
	}
	return out
}
