package main

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"carillon/internal/apiclient"
	"carillon/internal/common"
	"carillon/internal/httpapi/backfills"
)

// begun is the backfill of the fakes: three fires, of which none has run.
type begun struct {
	request common.BackfillRequest
	actions []common.BackfillAction
	head    *common.Head
	items   int  // default 3
	younger bool // than the first two fires
}

func (f *fakes) PlanBackfill(ctx context.Context, job string, r common.BackfillRequest,
	_ backfills.Past) (plan common.BackfillPlan, err error) {
	if _, err := f.Get(ctx, job); err != nil {
		return plan, err
	}
	plan = common.BackfillPlan{Concurrency: max(1, r.Concurrency), Kept: 1,
		Range: common.BackfillRange{From: r.From, To: r.To, Reprocess: r.Reprocess, Order: common.OldestFirst}}
	if f.begun.younger && !r.IncludeUnknown {
		plan.Unknown = plan.Unknown.Add(r.From).Add(r.From.AddDate(0, 0, 1))
		plan.Unknown.HistoryFrom = new(r.From.AddDate(0, 0, 2))
		plan.OtherTimes = 2
	}
	for i := range 3 {
		plan.Fires = append(plan.Fires, common.BackfillFire{At: r.From.AddDate(0, 0, i), Attempt: i + 1})
	}
	return plan, nil
}

func (f *fakes) Backfill(ctx context.Context, actor common.Actor, job string, r common.BackfillRequest,
	_ common.Precondition, past backfills.Past) (plan common.BackfillPlan, head common.Head, err error) {
	if plan, err = f.PlanBackfill(ctx, job, r, past); err != nil {
		return plan, head, err
	}
	head = common.Head{Kind: common.KindBackfill, Run: "u.b1.1", Job: common.BackfillJob(job), UID: "u", By: actor.Name,
		ClaimedAt: time.Now(), Range: &plan.Range, Concurrency: plan.Concurrency, MaxFailures: r.MaxFailures}
	f.begun.request, f.begun.head = r, &head
	return plan, head, nil
}

func (f *fakes) Backfills(ctx context.Context, _ string) ([]common.Backfill, error) {
	b, err := f.LiveBackfill(ctx, "u.b1.1")
	if b == nil {
		return nil, err
	}
	return []common.Backfill{*b}, err
}

func (f *fakes) LiveBackfill(context.Context, string) (*common.Backfill, error) {
	if f.begun.head == nil {
		return nil, nil
	}
	b := &common.Backfill{FlowRun: common.FlowRun{Head: *f.begun.head},
		Items: make([]common.BackfillFire, cmp.Or(f.begun.items, 3))}
	b.Items[0].Status = common.StatusSucceeded
	return b, nil
}

func (f *fakes) ActOnBackfill(_ context.Context, _ common.Actor, _ string, action common.BackfillAction,
	_ string) error {
	f.begun.actions = append(f.begun.actions, action)
	return nil
}

func TestBackfill(t *testing.T) {
	s := newStage(t)
	s.run("create", "job", "report", "--cron", "30 2 * * *", "--", "true").want(t, exitOK)
	s.run("backfill", "report", "--to", "now").want(t, exitUsage, "--from is required")
	s.run("backfill", "none", "--from", "-2d", "--to", "now").want(t, exitNotFound)
	s.run("backfill", "report", "--from", "2026-03-01T00:00:00Z", "--to", "2026-03-08T00:00:00Z", "--dry-run",
		"--concurrency", "2").want(t, exitOK, "PLANNED", "3 fires would be run, 2 at a time; 1 kept as they are")
	if s.fakes.begun.head != nil {
		t.Error("a dry run began a backfill")
	}
	s.run("backfill", "report", "--from", "2026-03-01T00:00:00Z", "--to", "2026-03-08T00:00:00Z", "--reprocess",
		"failed", "--newest-first", "--max-failures", "4").want(t, exitOK, "u.b1.1")
	if r := s.fakes.begun.request; r.Reprocess != common.ReprocessFailed || r.Order != common.NewestFirst ||
		r.MaxFailures != 4 || r.Concurrency != 0 {
		t.Errorf("%+v", r)
	}
	s.run("get", "backfills").want(t, exitOK, "ID", "u.b1.1", "report", "running")
	s.run("get", "backfills", "u.b1.1").want(t, exitOK, "u.b1.1")
	s.run("describe", "backfill", "u.b1.1").want(t, exitOK, "report", "3, 2 waiting, 1 succeeded", "STATUS",
		"reprocess failed, oldest first, 1 at a time, at most 4 failures")
	s.run("get", "backfills", "--ended").want(t, exitOK, "u.b1.1", "running")
	s.run("backfill", "pause", "u.b1.1").want(t, exitOK, "paused the backfill of report")
	s.run("backfill", "resume", "u.b1.1").want(t, exitOK, "resumed")
	s.run("backfill", "cancel", "u.b1.1", "--kill").want(t, exitOK, "cancelled")
	if got := s.fakes.begun.actions; len(got) != 3 || got[2] != common.BackfillKill {
		t.Errorf("%q", got)
	}
}

// Fires that are older than the history are left out, and the user is shown how to run them.
func TestBackfill_OlderThanTheHistory_NamesTheOption(t *testing.T) {
	s := newStage(t)
	s.run("create", "job", "report", "--cron", "30 2 * * *", "--", "true").want(t, exitOK)
	s.begun.younger = true
	args := []string{"backfill", "report", "--from", "2026-03-01T00:00:00Z", "--to", "2026-03-08T00:00:00Z"}
	const left = "2 fires are older than the history of the job ("
	s.run(append(args, "--dry-run")...).want(t, exitOK, "3 fires would be run", left, "which begins",
		"add --include-unknown", "note: 2 of the dates have a run at another time")
	s.run(args...).want(t, exitOK, "u.b1.1", left, "add --include-unknown")
	out := s.run(append(args, "--dry-run", "--include-unknown")...).want(t, exitOK)
	if strings.Contains(out.err, left) {
		t.Errorf("with the option: %s", out.err)
	}
}

// The fires of a backfill are read page by page; what only needs their numbers reads one of them.
func TestBackfill_FiresArePaged(t *testing.T) {
	s := newStage(t)
	s.begun.items = 700
	s.begun.head = &common.Head{Kind: common.KindBackfill, Run: "u.b1.1", Job: common.BackfillJob("report"), UID: "u",
		Range: &common.BackfillRange{}}
	var whole, first apiclient.Backfill
	s.run("describe", "backfill", "u.b1.1").want(t, exitOK, "700, 699 waiting")
	out := s.run("describe", "backfill", "u.b1.1", "-o", "json").want(t, exitOK).out
	if err := json.Unmarshal([]byte(out), &whole); err != nil || len(*whole.Fires) != 700 || whole.NextCursor != nil {
		t.Errorf("%d fires, %v", len(value(whole.Fires)), err)
	}
	out = s.run("get", "backfills", "u.b1.1", "-o", "json").want(t, exitOK).out
	if err := json.Unmarshal([]byte(out), &first); err != nil || len(*first.Fires) != 1 || first.NextCursor == nil {
		t.Errorf("%d fires, %v", len(value(first.Fires)), err)
	}
	if out := s.run("get", "backfills", "-o", "json").want(t, exitOK).out; strings.Contains(out, `"fires"`) {
		t.Error("the list has the fires")
	}
}

// Names of the backfills of a job, and of steps, are accepted where the API can answer.
func TestSeries_OfBackfillsAndSteps(t *testing.T) {
	s := newStage(t)
	s.run("create", "job", "report", "--cron", "30 2 * * *", "--", "true").want(t, exitOK)
	for _, name := range []string{"report@backfill", "report:load"} {
		s.run("get", "runs", "--job", name).want(t, exitOK)
		s.run("stats", name).want(t, exitOK)
		s.run("fires", name).want(t, exitOK)
		s.run("fires", name, "--next", "3").want(t, exitUsage, "has no planned fires", "cronctl fires report --next 3")
	}
	s.run("stats", "report@other").want(t, exitUsage, "JOB@backfill")
}
