package jobmgr_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/jobmgr"
)

// Neither one group nor all of them can fill etcd with jobs; existing jobs can be changed, reduced and
// deleted.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := ownStory(t)
	store := func(limits jobmgr.Limits) master {
		return s.with(jobmgr.Config{
			Limits: limits,
		}, nil)
	}
	job := func(group, name string, weight int) common.Job {
		return common.Job{Name: name, Group: group, Command: "true " + strings.Repeat("x", weight)}
	}
	seen := func(n int) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			if jobs, _ := s.catalog.Len(); jobs == n {
				return
			} else if time.Now().After(deadline) {
				t.Fatalf("%d jobs are listed, want %d", jobs, n)
			}
		}
	}
	free := store(jobmgr.Limits{})
	for i := range 3 {
		for _, group := range []string{"red", "blue"} {
			if _, err := free.Create(t.Context(), actor, job(group, fmt.Sprint(group, i), 1000)); err != nil {
				t.Fatal(err)
			}
		}
	}
	seen(6)
	for name, c := range map[string]struct {
		limits jobmgr.Limits
		job    common.Job
		reason string
	}{
		"jobs in all":           {jobmgr.Limits{Jobs: 6}, job("green", "new", 1), "jobs_limit"},
		"jobs in all, changed":  {jobmgr.Limits{Jobs: 6}, job("red", "red0", 2000), ""},
		"one below":             {jobmgr.Limits{Jobs: 7, GroupJobs: 4}, job("red", "red0", 1200), ""},
		"jobs of the group":     {jobmgr.Limits{GroupJobs: 3}, job("red", "new", 1), "group_jobs_limit"},
		"jobs within a group":   {jobmgr.Limits{GroupJobs: 3}, job("red/eu", "new", 1), "group_jobs_limit"},
		"moved into the group":  {jobmgr.Limits{GroupJobs: 3}, job("red", "blue0", 1), "group_jobs_limit"},
		"no group has no limit": {jobmgr.Limits{GroupJobs: 3, GroupBytes: 1}, job("", "blue1", 1000), ""},
		"bytes in all":          {jobmgr.Limits{Bytes: 8000}, job("green", "new", 8000), "job_bytes_limit"},
		"bytes of the group":    {jobmgr.Limits{GroupBytes: 5000}, job("red", "red1", 4000), "group_job_bytes_limit"},
		"made smaller":          {jobmgr.Limits{Bytes: 1, GroupBytes: 1}, job("red", "red2", 10), ""},
		"as large as it was": {jobmgr.Limits{Bytes: 1, GroupBytes: 1}, common.Job{
			Name:    "blue2",
			Group:   "blue",
			Command: "fals " + strings.Repeat("x", 1000),
		}, ""},
	} {
		revision := s.revision()
		_, _, err := store(c.limits).Put(t.Context(), actor, c.job, any0)
		if c.reason == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if e, ok := errors.AsType[*common.Error](err); c.reason != "" &&
			(!ok || e.Reason != c.reason || e.Code != common.CodeConflict || e.Hint == "" || s.revision() != revision) {
			t.Errorf("%s: %v, want %s", name, err, c.reason)
		}
	}
	// Urgent changes are made in any case.
	if _, err := store(jobmgr.Limits{Bytes: 1, GroupBytes: 1}).Pause(t.Context(), actor, "red1",
		common.PauseRequest{Note: "it writes too much"}, any0); err != nil {
		t.Error(err)
	}
	// A deleted job frees its share.
	s.remove("blue2")
	seen(5)
	if _, err := store(jobmgr.Limits{Jobs: 6}).Create(t.Context(), actor, job("green", "new", 1)); err != nil {
		t.Error(err)
	}
}
