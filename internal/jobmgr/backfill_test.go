package jobmgr_test

import (
	"context"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// hourly is a job created at noon, with a past that begins some time before.
func (s *story) hourly(name string) (common.JobState, *common.BackfillPast) {
	job := minutely(name)
	job.CronExpr = "0 * * * *"
	return s.put(job), &common.BackfillPast{Ends: map[int64]*common.Run{}, Since: noon.Add(-4 * time.Hour)}
}

func (s *story) planned(name string, from, to time.Time, known *common.BackfillPast, unknown bool) common.BackfillPlan {
	s.Helper()
	plan, err := s.store.PlanBackfill(s.Context(), name, common.BackfillRequest{From: from, To: to,
		IncludeUnknown: unknown}, func(context.Context, *common.JobState, time.Time, time.Time) (common.BackfillPast,
		error) {
		return *known, nil
	})
	if err != nil {
		s.Fatal(err)
	}
	return plan
}

// Fires that are older than the history run on request only, unless they have an entry.
func TestBackfill_OlderThanTheHistory_RunsOnRequest(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job, known := s.hourly("a")
	from := noon.Add(-6 * time.Hour)
	missed := common.Run{Job: "a", PlannedAt: from, Fire: common.PlannedFire(job.UID, from),
		Status: common.StatusMissed}
	known.Ends[from.UnixNano()] = &missed
	plan := s.planned("a", from, noon, known, false)
	u := plan.Unknown
	if len(plan.Fires) != 4 || u == nil || u.Count != 2 || !u.From.Equal(noon.Add(-5*time.Hour)) ||
		!u.To.Equal(noon.Add(-4*time.Hour)) || !u.HistoryFrom.Equal(known.Since) {
		t.Errorf("%+v, unknown %+v", plan.Fires, u)
	}
	if plan := s.planned("a", from, noon, known, true); len(plan.Fires) != 6 || plan.Unknown != nil {
		t.Errorf("on request: %+v, unknown %+v", plan.Fires, plan.Unknown)
	}
	known.Since, known.Ends = time.Time{}, nil
	if u := s.planned("a", from, noon, known, false).Unknown; u.Count != 6 || u.HistoryFrom != nil {
		t.Errorf("without a history: %+v", u)
	}
	_, _, err := s.store.Backfill(t.Context(), actor, "a", common.BackfillRequest{From: from, To: noon},
		common.Precondition{}, func(context.Context, *common.JobState, time.Time, time.Time) (common.BackfillPast,
			error) {
			return *known, nil
		})
	wantReason(t, "all are unknown", err, "backfill_unknown")
}

// Dates of which a run exists at a time of an earlier schedule are counted.
func TestBackfill_ScheduleWasChanged_CountsDatesWithAnotherTime(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job, known := s.hourly("a")
	if plan := s.planned("a", noon.Add(-3*time.Hour), noon, known, false); plan.OtherTimes != 0 ||
		plan.Period != time.Hour {
		t.Errorf("%+v", plan)
	}
	ran := func(at time.Time) {
		known.Ends[at.UnixNano()] = &common.Run{Job: "a", PlannedAt: at, Fire: common.PlannedFire(job.UID, at),
			Attempt: 1, Status: common.StatusSucceeded}
	}
	ran(noon.Add(-2 * time.Hour)) // a time of the schedule
	if plan := s.planned("a", noon.Add(-3*time.Hour), noon, known, false); plan.OtherTimes != 0 {
		t.Errorf("beside a run of the schedule: %+v", plan)
	}
	ran(noon.Add(-8*time.Hour - 10*time.Minute)) // on the same day
	if plan := s.planned("a", noon.Add(-3*time.Hour), noon, known, false); plan.OtherTimes != 2 || plan.Kept != 1 {
		t.Errorf("beside one at another time: %+v", plan)
	}
}

// The backfill of a job is found until it has ended: not that of another job, and no flow run of the job itself.
func TestRunningBackfill_UntilItHasEnded(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	_, known := s.hourly("a")
	s.hourly("ab")
	wants := func(what, job, want string) {
		t.Helper()
		if got, err := s.store.RunningBackfill(t.Context(), job); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", what, got, err, want)
		}
	}
	other := common.Head{Kind: common.KindFlow, Job: "a", Run: "u1.1.1"}
	s.raw(common.FlowRunKey(other.Job, other.Run), encode(s, other))
	wants("before it", "a", "")
	_, head, err := s.store.Backfill(t.Context(), actor, "a", common.BackfillRequest{From: noon.Add(-3 * time.Hour),
		To: noon}, common.Precondition{}, func(context.Context, *common.JobState, time.Time,
		time.Time) (common.BackfillPast, error) {
		return *known, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wants("while it runs", "a", head.Run)
	wants("of another job", "ab", "")
	if err := s.store.ActOnBackfill(t.Context(), actor, head.Run, common.BackfillCancel, ""); err != nil {
		t.Fatal(err)
	}
	wants("while it is being ended", "a", head.Run)
	s.erase(common.FlowRunKey(head.Job, head.Run)) // by its keeper
	wants("after its end", "a", "")
}

// marksRead counts the marks that are read.
type marksRead struct {
	clientv3.KV
	marks int
}

func (c *marksRead) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	resp, err := c.KV.Get(ctx, key, opts...)
	if err == nil && strings.HasPrefix(key, common.FlowNodesPrefix) {
		c.marks += len(resp.Kvs)
	}
	return resp, err
}

// The progress of a backfill is read from the marks that have changed since the last request, without those of other
// flow runs.
func TestBackfills_Progress_ReadsWhatHasChanged(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	_, known := s.hourly("a")
	past := func(context.Context, *common.JobState, time.Time, time.Time) (common.BackfillPast, error) {
		return *known, nil
	}
	_, head, err := s.store.Backfill(t.Context(), actor, "a", common.BackfillRequest{From: noon.Add(-3 * time.Hour),
		To: noon, IncludeUnknown: true}, common.Precondition{}, past)
	if err != nil {
		t.Fatal(err)
	}
	if !head.Range.IncludeUnknown {
		t.Error("the range does not keep includeUnknown")
	}
	s.raw(common.FlowRunKey("flow", "u9.1.1"), "damaged")
	mark := func(item int, m common.Node) {
		s.raw(common.FlowNodeKey(head.Run, common.ItemNode("fire", item)), encode(s, m))
	}
	wants := func(what string, want ...common.Status) {
		t.Helper()
		all, err := s.store.Backfills(t.Context(), "")
		if err != nil || len(all) != 1 || len(all[0].Items) != len(want) {
			t.Fatalf("%s: %+v, %v", what, all, err)
		}
		b, err := s.store.LiveBackfill(t.Context(), head.Run)
		if err != nil || b == nil {
			t.Fatalf("%s: %+v, %v", what, b, err)
		}
		for i, status := range want {
			if all[0].Items[i].Status != status || b.Items[i].Status != status {
				t.Errorf("%s: fire %d is %q in the list and %q alone, want %q", what, i, all[0].Items[i].Status,
					b.Items[i].Status, status)
			}
		}
	}
	wants("at first", "", "", "")
	mark(0, common.Node{State: common.NodeStarted, Fire: "f", Attempt: 1})
	mark(1, common.Node{State: common.NodeEnded, Fire: "g", Attempt: 3, Status: common.StatusFailed})
	wants("with marks", common.StatusRunning, common.StatusFailed, "")
	if b, err := s.store.LiveBackfill(t.Context(), head.Run); err != nil || b.Items[1].Last != 3 {
		t.Errorf("%+v, %v", b, err)
	}
	read := &marksRead{KV: s.client.KV}
	s.client.KV = read
	wants("without a change", common.StatusRunning, common.StatusFailed, "")
	if read.marks > 0 {
		t.Errorf("%d marks were read, and none has changed", read.marks)
	}
	mark(0, common.Node{State: common.NodeEnded, Fire: "f", Attempt: 1, Status: common.StatusSucceeded})
	wants("after a change", common.StatusSucceeded, common.StatusFailed, "")
	if read.marks != 1 {
		t.Errorf("%d marks were read, and one has changed", read.marks)
	}
	if b, err := s.store.LiveBackfill(t.Context(), "u9.1.1"); b != nil || err != nil {
		t.Errorf("a flow run: %+v, %v", b, err)
	}
	if all, err := s.store.Backfills(t.Context(), "b"); len(all) > 0 || err != nil {
		t.Errorf("another job: %+v, %v", all, err)
	}
}
