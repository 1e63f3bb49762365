package main

import (
	"strings"
	"testing"
)

func TestPatch_ChangesManyJobsAsReviewed(t *testing.T) {
	s := newStage(t)
	for _, name := range []string{"a", "b"} {
		s.run("create", "job", name, "--group", "shop", "--", "true").want(t, exitOK)
	}
	s.run("create", "job", "other", "--", "true").want(t, exitOK)
	s.run("patch", "--group", "shop", "retry.max=3", "labels.team=data", "--dry-run").want(t, exitOK,
		"would change a: labels, retry", "+  team: data", "2 of 2 jobs would change, 0 refused (not written)")
	if s.jobs["a"].Retry != nil {
		t.Error("a dry run has changed a job")
	}
	s.run("patch", "--group", "shop", "retry.max=3", "labels.team=data", "notify.on=failed,missed", "notify.to=ops",
		"timeout=1h", "--note", "together").want(t, exitOK, "changed a: labels, notify, retry, timeout", "changed b: ")
	a := s.jobs["a"]
	if a.Retry.Max != 3 || a.Labels["team"] != "data" || len(a.Notify.On) != 2 || a.Timeout != "1h" ||
		s.jobs["other"].Retry != nil {
		t.Errorf("%+v", a.Job)
	}
	r := s.run("patch", "a", "other", "none", "labels.team=", "timeout=").want(t, exitNotFound,
		"changed a: labels, timeout",
		"unchanged other")
	if !strings.Contains(r.err, "none: ") || s.jobs["a"].Timeout != "" || len(s.jobs["a"].Labels) != 0 ||
		s.jobs["a"].Retry.Max != 3 {
		t.Errorf("%s %+v", r.err, s.jobs["a"].Job)
	}
	s.run("patch", "a", "retry.max=4", "-o", "json").want(t, exitOK, `"changed": 1`, `"request": "`)
	for args, want := range map[string]string{
		"patch a":                         "nothing to change",
		"patch retry.max=3":               "no jobs given",
		"patch a --group shop retry.max=": "exclude each other",
		"patch a retry.mox=3":             `no field "retry.mox"`,
		"patch a name=b":                  "patch.name",
	} {
		s.run(strings.Fields(args)...).want(t, exitUsage, want)
	}
	s.run("patch", "--group", "none", "retry.max=3").want(t, exitOK, "no job matches")
}
