package common

import (
	"slices"
	"strings"
	"testing"
)

func functionJob() Job {
	return Job{Name: "billing.invoices", Type: TypeFunc, With: Function{"billing", "invoices"}.With()}
}

func TestFunction_Faults(t *testing.T) {
	t.Parallel()
	for location, change := range map[string]func(*Job){
		"":            func(*Job) {},
		"with.app":    func(j *Job) { delete(j.With, "app") },
		"with.func":   func(j *Job) { j.With["func"] = "A b" },
		"with.more":   func(j *Job) { j.With["more"] = "x" },
		"command":     func(j *Job) { j.Command = "true" },
		"args":        func(j *Job) { j.Args = []string{"true"} },
		"shell":       func(j *Job) { j.Shell = "/bin/sh" },
		"stdin":       func(j *Job) { j.Stdin = "x" },
		"user":        func(j *Job) { j.User = "ada" },
		"workDir":     func(j *Job) { j.WorkDir = "/" },
		"memoryMax":   func(j *Job) { j.MemoryMax = "1GiB" },
		"tasksMax":    func(j *Job) { j.TasksMax = 1 },
		"env.KEY":     func(j *Job) { j.Env = map[string]string{"KEY": "secret:key"} },
		"env.MODE ok": func(j *Job) { j.Env = map[string]string{"MODE": "dry"} },
	} {
		job := functionJob()
		change(&job)
		var got []string
		for _, f := range job.Faults() {
			got = append(got, f.Location)
		}
		want := []string{location}
		if location == "" || strings.HasSuffix(location, " ok") {
			want = nil
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: faults at %v", location, got)
		}
	}
}

func TestFunction_NeedsItsFeature(t *testing.T) {
	t.Parallel()
	job := StoredJob{Job: functionJob()}
	if got := job.MustHave(); !slices.Equal(got, []string{"func:billing/invoices"}) {
		t.Errorf("needs %v", got)
	}
	need := job.MustHave()[0]
	if !Understood(need) || !OfSomeWorkers(need) || !OwnFeature(need) {
		t.Errorf("%s is not a function's feature", need)
	}
	if f, ok := FunctionOfFeature(need); !ok || f != (Function{"billing", "invoices"}) {
		t.Errorf("%+v", f)
	}
	if _, ok := FunctionOfFeature(FeatureOutputs); ok || OwnFeature(FeatureOutputs) {
		t.Error("outputs is no function")
	}
	job.NoteNeeds([]string{"func:billing/old"})
	if slices.Contains(job.Needs, "func:billing/old") {
		t.Error("the feature of a former function is still needed")
	}
}
