package main

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
)

// withVersions stores a job with these versions, oldest first. Their numbers are the positions, from 1.
func (s *stage) withVersions(verbs []string, versions ...common.Job) {
	s.t.Helper()
	s.changes = nil
	for i, job := range versions {
		after, err := json.Marshal(common.StoredJob{Job: job, UID: "u"})
		if err != nil {
			s.t.Fatal(err)
		}
		s.changes = append(s.changes, common.Change{
			ID:       common.TimeKey(time.Unix(int64(i), 0)),
			Verb:     verbs[i],
			Kind:     "job",
			Name:     job.Name,
			Revision: int64(i + 1),
			After:    after,
		})
	}
	slices.Reverse(s.changes)
	last := versions[len(versions)-1]
	s.version = int64(len(versions))
	s.jobs[last.Name] = common.JobState{StoredJob: common.StoredJob{Job: last, UID: "u"}, Version: s.version}
}

func TestRollback_PausedJob_NamesTheRestoredAndTheNewVersion(t *testing.T) {
	one := common.Job{Name: "hello", Command: "one", Timezone: "UTC"}
	two := one
	two.Command = "two"
	paused := two
	paused.Paused = true
	verbs := []string{"create", "patch", "pause"}
	t.Run("default", func(t *testing.T) {
		s := newStage(t)
		s.withVersions(verbs, one, two, paused)
		s.run("rollback", "hello").want(t, exitOK, "restored version 1 of hello as version 4\n")
		if j := s.jobs["hello"]; j.Command != "one" || !j.Paused {
			t.Errorf("stored %+v", j.Job)
		}
	})
	t.Run("same definition", func(t *testing.T) {
		s := newStage(t)
		s.withVersions(verbs, one, two, paused)
		s.run("rollback", "hello", "--to", "2").want(t, exitOK,
			"hello has the definition of version 2 already: it keeps version 3\n")
		if s.writes != 0 {
			t.Error("it was written")
		}
	})
	t.Run("number, and revision", func(t *testing.T) {
		s := newStage(t)
		s.withVersions(verbs, one, two, paused)
		for i := range s.changes {
			s.changes[i].Revision += 1000
		}
		last := s.jobs["hello"]
		last.Version, last.Number, s.version = 1003, 3, 1003
		s.jobs["hello"] = last
		s.run("get", "versions", "hello").want(t, exitOK, "VERSION", "\n3 ", "\n1 ")
		s.run("diff", "hello", "--from", "1", "--to", "2").want(t, exitJobFailed, "-command: one")
		s.run("get", "versions", "hello", "1001", "-o", "yaml").want(t, exitOK, "command: one")
		s.run("rollback", "hello", "--to", "1").want(t, exitOK, "restored version 1 of hello as version 4\n")
		if j := s.jobs["hello"]; j.Command != "one" {
			t.Errorf("stored %+v", j.Job)
		}
	})
	t.Run("only pauses", func(t *testing.T) {
		s := newStage(t)
		s.withVersions([]string{"create", "pause"}, two, paused)
		s.run("rollback", "hello").want(t, exitNotFound, "no earlier version of hello")
	})
}
