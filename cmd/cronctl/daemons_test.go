package main

import (
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

// daemon makes the fake server have a daemon job.
func (s *stage) daemon(name string) {
	s.jobs[name] = common.JobState{Version: 1, StoredJob: common.StoredJob{UID: "uid-" + name,
		Job: common.Job{Name: name, Command: "sleep 9", Daemon: &common.Daemon{Count: 2}}}}
}

// replica makes the fake server run a replica of a job.
func (s *stage) replica(job string, index int, status common.Status) {
	uid, at := s.jobs[job].UID, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	fire := common.ReplicaFire(uid, common.ReplicaName(index), at)
	run := common.Run{ID: common.RunID(fire, 1), Job: job, JobUID: uid, Fire: fire, Attempt: 1, PlannedAt: at,
		Cause: common.CauseDaemon, Status: status, WorkerName: "alpha", Restarts: 4}
	s.runs[run.ID] = &run
}

func TestGetReplicas_ShowsRestartsAndTheHandover(t *testing.T) {
	s := newStage(t)
	s.daemon("hello")
	s.replica("hello", 0, common.StatusRunning)
	s.replica("hello", 1, common.StatusWaiting)
	got := s.run("get", "replicas", "hello").want(t, exitOK, "RESTARTS", "running", "alpha", "4").out
	if strings.Contains(got, "handed over") {
		t.Errorf("shown without a handover:\n%s", got)
	}
	s.moving = &common.Move{Job: "hello", Replica: "001", Worker: "w1", Reason: common.MoveUpdate,
		Since: time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)}
	s.run("get", "replicas", "hello").want(t, exitOK,
		"Replica 1 is being handed over by alpha since 2026-03-01 13:00:00 (update).")
	s.run("get", "replicas", "hello", "-o", "json").want(t, exitOK, `"handover": {`, `"restarts": 4`)
}

func TestRestart_SendsTheNote(t *testing.T) {
	s := newStage(t)
	s.daemon("hello")
	s.run("restart", "hello", "--note", "it leaks").want(t, exitOK, "restarting hello")
	if s.notes[len(s.notes)-1] != "it leaks" {
		t.Errorf("notes %q", s.notes)
	}
}
