package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

func (f *fakes) Acknowledge(_ context.Context, _ common.Actor, fire string, state runlog.AckState, undo bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.acked == nil {
		f.acked = map[string]runlog.AckState{}
	}
	if f.acked[fire] = state; undo {
		delete(f.acked, fire)
	}
	return nil
}

// Latest returns no acknowledgements.
func (f *fakes) Latest(context.Context) (map[string]string, bool, error) { return nil, false, nil }

func (f *fakes) Mark(_ context.Context, fires []common.Fire) (partial bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range fires {
		if state, is := f.acked[fires[i].ID]; is {
			fires[i].Acknowledged = &common.Acknowledgement{By: "ann", Note: state.Note}
		}
	}
	return false, nil
}

func (f *fakes) Snapshot(context.Context) (func(job, uid string) *runlog.LastFires, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	records := map[string]*runlog.LastFires{}
	for _, r := range f.runs {
		if records[r.Job] == nil {
			records[r.Job] = &runlog.LastFires{}
		}
		records[r.Job].Add(r.JobUID, r.Fire, r.Attempt, r.Status, "", r.PlannedAt)
	}
	return func(job, _ string) *runlog.LastFires { return records[job] }, nil
}

// failedRun puts a failed run of a job there.
func (s *stage) failedRun(t *testing.T, job string) string {
	t.Helper()
	s.run("create", "job", job, "--", "false").want(t, exitOK)
	s.mu.Lock()
	defer s.mu.Unlock()
	id := job + ".f1.1"
	s.runs[id] = &common.Run{ID: id, Job: job, JobUID: s.jobs[job].UID, Fire: job + ".f1", Attempt: 1,
		Status: common.StatusFailed, PlannedAt: time.Now()}
	return id
}

func TestAck_PrintsTheResultForEachFire(t *testing.T) {
	s := newStage(t)
	id := s.failedRun(t, "hello")
	s.run("ack", id, "none.f1", "--note", "known").want(t, exitNotFound, "acknowledged "+id+" of hello")
	if s.acked["hello.f1"].Note != "known" {
		t.Errorf("%+v", s.acked)
	}
	s.run("ack", id, "none").want(t, exitUsage, "fires[1]: is not the id of a fire or run")
	s.run("ack", id, "--undo").want(t, exitOK, "no longer acknowledged: "+id)
	if len(s.acked) > 0 {
		t.Errorf("%+v", s.acked)
	}
}

func TestRerun_RequestsTheNextAttemptOfEachFire(t *testing.T) {
	s := newStage(t)
	id := s.failedRun(t, "hello")
	s.run("rerun", id, "--note", "again").want(t, exitOK, "requested hello.f1.2 of hello")
	if len(s.asked) != 1 || s.asked[0].Note != "again" || s.asked[0].NoAfter {
		t.Errorf("%+v", s.asked)
	}
	s.run("rerun", s.failedRun(t, "parent"), "--no-after").want(t, exitOK)
	if len(s.asked) != 2 || !s.asked[1].NoAfter {
		t.Errorf("%+v", s.asked)
	}
}

func TestRerun_ParametersThatAreGone_AreNoted(t *testing.T) {
	s := newStage(t)
	id, other := s.failedRun(t, "hello"), s.failedRun(t, "parent")
	s.runs[id].Params = map[string]string{"TABLE": "orders"}
	const note = "note: TABLE is no longer a parameter of the job: its earlier value is not used\n"
	r := s.run("rerun", other, id).want(t, exitConflict, "requested parent.f1.2 of parent")
	if !strings.Contains(r.err, "no longer declares: TABLE") || !strings.Contains(r.err, "cronctl rerun "+id) ||
		len(s.asked) != 1 {
		t.Errorf("%s, %+v", r.err, s.asked)
	}
	s.run("rerun", id).want(t, exitOK, "requested hello.f1.2 of hello\n"+note)
	delete(s.runs, "hello.f1.2")
	s.run("rerun", id, "--param", "DAY=1").want(t, exitOK, "requested hello.f1.2\n"+note)
}

func TestGetJobs_FilteredByTheirRuns(t *testing.T) {
	s := newStage(t)
	s.failedRun(t, "broken")
	s.run("create", "job", "fresh", "--", "true").want(t, exitOK)
	for flags, want := range map[string]string{"--failing": "broken", "--not-due --unnotified": "fresh"} {
		args := append([]string{"get", "jobs", "-o", "json"}, strings.Fields(flags)...)
		r := s.run(args...).want(t, exitOK, `"`+want+`"`)
		if strings.Contains(r.out, `"broken"`) == strings.Contains(r.out, `"fresh"`) {
			t.Errorf("%s: %s", flags, r.out)
		}
	}
}
