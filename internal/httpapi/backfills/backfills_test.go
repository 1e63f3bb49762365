package backfills_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/backfills"
	"carillon/internal/httpapi/core"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// rig is the API with backfills.
type rig struct {
	*apitest.Harness
	t    *testing.T
	live []common.Backfill
}

// jobs are the fake jobs with the live backfills of a rig.
type jobs struct {
	*apitest.Fakes
	rig *rig
}

func (j jobs) Backfills(_ context.Context, job string) (all []common.Backfill, err error) {
	for _, b := range j.rig.live {
		if job == "" || b.BackfillOf() == job {
			all = append(all, b)
		}
	}
	return all, nil
}

func (j jobs) LiveBackfill(_ context.Context, id string) (*common.Backfill, error) {
	at := slices.IndexFunc(j.rig.live, func(b common.Backfill) bool { return b.Run == id })
	if at < 0 {
		return nil, nil
	}
	return &j.rig.live[at], nil
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t}
	r.Harness = apitest.NewHarness(t, func(c *httpapi.Config) {
		c.Now = func() time.Time { return noon }
		c.Jobs = jobs{c.Jobs.(*apitest.Fakes), r}
	})
	return r
}

// fires are those of some hours before noon, of which all but the last two have ended.
func fires(n int) []common.BackfillFire {
	all := make([]common.BackfillFire, n)
	for i := range all {
		all[i] = common.BackfillFire{At: noon.Add(time.Duration(i-n) * time.Hour), Attempt: 1}
		switch {
		case i == n-1:
		case i == n-2:
			all[i].Status, all[i].Last = common.StatusRunning, 1
		case i%3 == 2:
			all[i].Status, all[i].Last = common.StatusFailed, 2
		default:
			all[i].Status, all[i].Last = common.StatusSucceeded, 1
		}
	}
	return all
}

// begin adds a live backfill.
func (r *rig) begin(job, id string, n int) *common.Backfill {
	r.live = append(r.live, common.Backfill{Items: fires(n), FlowRun: common.FlowRun{Head: common.Head{
		Kind: common.KindBackfill, Run: id, Job: common.BackfillJob(job), UID: "u", ClaimedAt: noon.Add(-time.Hour),
		Concurrency: 2, Range: &common.BackfillRange{From: noon.Add(-9 * time.Hour), To: noon}}}})
	return &r.live[len(r.live)-1]
}

// end adds the outcome of a backfill that began some minutes before noon.
func (r *rig) end(job string, minutes int, kept *common.EndedBackfill) string {
	begun := noon.Add(-time.Duration(minutes) * time.Minute)
	fire := fmt.Sprintf("u.b%d", minutes)
	r.RunList = append(r.RunList, common.Run{ID: common.RunID(fire, 1), Fire: fire, Job: common.BackfillJob(job),
		JobUID: "u", PlannedAt: begun, EndedAt: new(begun.Add(time.Second)), Cause: common.CauseBackfill, Attempt: 1,
		Status: common.StatusFailed, Nodes: &common.NodeCounts{Total: 5, Succeeded: 4, Failed: 1}, Backfill: kept})
	return common.RunID(fire, 1)
}

func (r *rig) get(path string, into any) {
	r.t.Helper()
	apitest.Decode(r.t, r.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/backfills"+path, "")), into)
}

// A backfill that has ended shows its request and its fires with their runs, page by page.
func TestGet_Ended_HasItsRangeAndFires(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	all := fires(9)
	all[7].Status, all[8].Status = common.StatusSucceeded, common.StatusSkipped
	packed, err := common.PackEnds(all)
	if err != nil {
		t.Fatal(err)
	}
	id := r.end("a", 30, &common.EndedBackfill{Fires: packed, Concurrency: 3, MaxFailures: 4,
		Range: &common.BackfillRange{From: all[0].At, To: noon, Order: common.NewestFirst, IncludeUnknown: true}})
	var got, rest backfills.Backfill
	r.get("/"+id+"?limit=5", &got)
	if got.State != "ended" || got.From == nil || !got.From.Equal(all[0].At) || !got.IncludeUnknown ||
		got.Order != common.NewestFirst || got.Concurrency != 3 || got.MaxFailures != 4 || len(got.Fires) != 5 ||
		got.Fires[2].Run != common.RunID(common.PlannedFire("u", all[2].At), 2) || got.Fires[2].Attempt != 2 {
		t.Errorf("%+v", got)
	}
	r.get("/"+id+"?limit=5&cursor="+got.NextCursor, &rest)
	if len(rest.Fires) != 4 || rest.NextCursor != "" || rest.Fires[3].Run != "" ||
		rest.Fires[3].Status != common.StatusSkipped {
		t.Errorf("%+v", rest.Fires)
	}
	// Runs show it with the backfill only.
	body := r.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+id, "")).Body.String()
	if strings.Contains(body, `"backfill":`) {
		t.Errorf("the run: %s", body)
	}
}

// The outcome of a backfill that an earlier version has ended has neither: it is shown without them.
func TestGet_EndedByAnEarlierVersion_HasNoRange(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.end("a", 30, nil)
	var got backfills.Backfill
	r.get("/"+id, &got)
	if got.From != nil || len(got.Fires) > 0 || got.Counts.Succeeded != 4 || got.Job != "a" {
		t.Errorf("%+v", got)
	}
}

// The fires of a live backfill are filtered by status, and the filter is kept from page to page.
func TestGet_ByStatus_ListsThese(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.begin("a", "u.b1.1", 30)
	var got, next backfills.Backfill
	r.get("/u.b1.1?status=failed,running&limit=4", &got)
	if len(got.Fires) != 4 || got.Fires[0].Status != common.StatusFailed || got.Counts.Total != 30 ||
		got.Counts.Waiting != 1 || got.Counts.Running != 1 || got.Counts.Failed != 9 {
		t.Errorf("%+v, %+v", got.Fires, got.Counts)
	}
	r.get("/u.b1.1?status=failed,running&limit=400&cursor="+got.NextCursor, &next)
	if len(next.Fires) != 6 || next.Fires[5].Status != common.StatusRunning || next.NextCursor != "" {
		t.Errorf("%+v", next.Fires)
	}
	r.get("/u.b1.1?status=waiting", &got)
	if len(got.Fires) != 1 {
		t.Errorf("%+v", got.Fires)
	}
}

// Ended backfills of all jobs are listed page by page among the runs of their fires, live ones first.
func TestList_Ended_OfAllJobs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.begin("live", "u.b9.1", 3)
	for i := range 5 {
		r.end(string(rune('a'+i)), 10*i+1, nil)
		for n := range 300 {
			at := noon.Add(-time.Duration(10*i+2)*time.Minute - time.Duration(n)*time.Second)
			r.RunList = append(r.RunList, common.Run{ID: common.RunID(common.PlannedFire("u", at), 1), Job: "a",
				PlannedAt: at, Cause: common.CauseBackfill, Attempt: 1, Status: common.StatusSucceeded})
		}
	}
	var got core.HistoryPage[backfills.Backfill]
	r.get("", &got)
	if len(got.Items) != 1 || got.Items[0].State != "running" || got.Items[0].Counts.Total != 3 ||
		len(got.Items[0].Fires) > 0 {
		t.Errorf("without: %+v", got)
	}
	var names []string
	for path := "?ended=true&limit=2"; ; path = "?ended=true&limit=2&cursor=" + got.NextCursor {
		got = core.HistoryPage[backfills.Backfill]{}
		r.get(path, &got)
		for _, b := range got.Items {
			names = append(names, b.Job)
		}
		if got.NextCursor == "" {
			break
		}
	}
	if want := []string{"live", "a", "b", "c", "d", "e"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	r.get("?job=c", &got)
	if len(got.Items) != 1 || got.Items[0].Job != "c" {
		t.Errorf("of a job: %+v", got.Items)
	}
	r.StoreOff = true
	r.get("?ended=true", &got)
	if !got.Partial {
		t.Error("the log store is away, and the list is not partial")
	}
}
