package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"carillon/internal/common"
)

func (f *fakes) Apply(ctx context.Context, actor common.Actor, job common.Job, pre common.Precondition,
	dry bool) (common.Saved, error) {
	if f.lost[job.Name] {
		return common.Saved{}, errLost
	}
	saved := common.Saved{Effect: common.EffectCreated}
	if old, err := f.Get(ctx, job.Name); err == nil {
		if pre.May != nil {
			if err := pre.May(old.Group); err != nil {
				return common.Saved{}, err
			}
		}
		saved.Effect, saved.Before = common.EffectChanged, &old.Job
		before, _ := json.Marshal(old.Job)
		with := job
		if with.Timezone == "" {
			with.Timezone = "UTC"
		}
		if after, _ := json.Marshal(with); bytes.Equal(before, after) {
			saved.Effect, saved.State = common.EffectUnchanged, old
			return saved, nil
		}
	}
	if dry {
		saved.State.Job = job
		if faults := job.Faults(); len(faults) > 0 {
			return common.Saved{}, common.Invalid("the job is not valid", faults...)
		}
		return saved, nil
	}
	var err error
	saved.State, _, err = f.Put(ctx, actor, job, pre)
	return saved, err
}

func (f *fakes) CreateOnce(ctx context.Context, actor common.Actor, job common.Job,
	key string) (common.JobState, error) {
	f.mu.Lock()
	f.created = append(f.created, key)
	f.mu.Unlock()
	return f.Create(ctx, actor, job)
}

func (f *fakes) Change(ctx context.Context, actor common.Actor, verb, name string, pre common.Precondition,
	change func(common.Job) (common.Job, error)) (common.JobState, error) {
	old, err := f.Get(ctx, name)
	if err != nil {
		return common.JobState{}, err
	}
	job, err := change(old.Job)
	if err != nil {
		return common.JobState{}, err
	}
	f.mu.Lock()
	f.notes = append(f.notes, verb)
	f.mu.Unlock()
	state, _, err := f.Put(ctx, actor, job, pre)
	return state, err
}

func (f *fakes) Once(_ context.Context, _ common.Actor, key, asks string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keys == nil {
		f.keys = map[string]string{}
	}
	if before, used := f.keys[key]; used && before != asks {
		return common.Errorf(common.CodeConflict, "the Idempotency-Key was used before, for another request")
	}
	f.keys[key] = asks
	return nil
}

// applied sends jobs to be applied and gives what is answered, by name.
func (h *harness) applied(role, query, body string) (ApplyAnswer, map[string]Applied) {
	h.t.Helper()
	var answer ApplyAnswer
	decode(h.t, h.want(200, as(role, "POST", "/api/v1/jobs/apply"+query, body)), &answer)
	by := map[string]Applied{}
	for _, item := range answer.Items {
		by[item.Name] = item
	}
	return answer, by
}

func TestApply(t *testing.T) {
	h := newHarness(t)
	h.want(201, as("editor", "POST", "/api/v1/jobs", `{"name":"same","command":"true","timezone":"UTC"}`))
	h.want(201, as("editor", "POST", "/api/v1/jobs", `{"name":"other","command":"true","labels":{"team":"data"}}`))
	h.want(201, as("editor", "POST", "/api/v1/jobs", `{"name":"goes","command":"true","labels":{"app":"x"}}`))
	h.want(201, as("editor", "POST", "/api/v1/jobs", `{"name":"stays","command":"true","labels":{"app":"y"}}`))
	body :=
		`{"jobs":[{"name":"new","command":"make\nit\n"},{"name":"same","command":"true","timezone":"UTC","meta":null},{"name":"other","command":"false","timezone":"UTC"}]}`

	answer, by := h.applied("editor", "?dryRun=true&prune=app%3Dx", body)
	if !answer.DryRun || answer.Counts != (ApplyCounts{Created: 1, Changed: 1, Unchanged: 1, Deleted: 1}) ||
		len(h.jobs) != 4 {
		t.Errorf("dry: %+v, then %d jobs", answer, len(h.jobs))
	}
	if by["new"].Diff != "--- /dev/null\n+++ new (new)\n@@ -0,0 +1,4 @@\n+name: new\n+command: |\n+  make\n+  it\n" {
		t.Errorf("%q", by["new"].Diff)
	}
	if by["same"].Diff != "" || !strings.Contains(by["other"].Diff, "-command: \"true\"\n+command: \"false\"\n") ||
		!strings.HasPrefix(by["goes"].Diff, "--- goes\n+++ /dev/null\n") {
		t.Errorf("%+v", by)
	}
	if got := by["other"].Fields; !slices.Equal(got, []string{"command", "labels"}) {
		t.Error(got)
	}

	answer, by = h.applied("editor", "?prune=app%3Dx", body)
	if answer.DryRun || answer.Counts != (ApplyCounts{Created: 1, Changed: 1, Unchanged: 1, Deleted: 1}) {
		t.Errorf("%+v", answer)
	}
	if names := slices.Sorted(maps.Keys(h.jobs)); !slices.Equal(names, []string{"new", "other", "same", "stays"}) {
		t.Error(names)
	}
	if by["new"].Version != h.jobs["new"].Version || by["new"].Diff != "" || h.jobs["other"].Command != "false" {
		t.Errorf("%+v", by["new"])
	}
	if answer, _ = h.applied("editor", "?prune=app%3Dx", body); answer.Counts != (ApplyCounts{Unchanged: 3}) {
		t.Errorf("again: %+v", answer)
	}
}

// Of what may have been done it is not said that it was refused, and nothing is pruned.
func TestManyUnknown(t *testing.T) {
	h := newHarness(t)
	h.want(201, as("editor", "POST", "/api/v1/jobs", `{"name":"goes","command":"true","labels":{"app":"x"}}`))
	h.lost = map[string]bool{"a": true}
	answer, by := h.applied("editor", "?prune=app%3Dx",
		`{"jobs":[{"name":"a","command":"true"},{"name":"b","command":"true"}]}`)
	if answer.Counts != (ApplyCounts{Created: 1, Unknown: 1, Refused: 1}) || by["a"].Result != resultUnknown ||
		by["a"].Refusal.Code != common.CodeUnavailable {
		t.Errorf("%+v", answer)
	}
	bulk := h.bulk("editor", `{"action":"pause","note":"n","jobs":["a","goes"]}`)
	if bulk.Done != 1 || bulk.Unknown != 1 || bulk.Refused != 0 || bulk.Items[0].Result != resultUnknown ||
		bulk.Items[0].Refusal == nil {
		t.Errorf("%+v", bulk)
	}
}

// What is wrong with one job hinders no other, but then nothing is pruned.
func TestApplyJudgesEachByItself(t *testing.T) {
	h := newHarness(t)
	h.want(201, as("editor", "POST", "/api/v1/jobs", `{"name":"goes","command":"true","labels":{"app":"x"}}`))
	answer, by := h.applied("editor", "?prune=app", `{"jobs":[{"name":"good","command":"true"},{"name":"Bad Name","command":"true"},
		{"name":"odd","comand":"true"},{"name":"twice","command":"true"},{"name":"twice","command":"false"},{"name":"void"},
		{"name":"typed","command":7},{"name":"keys","command":"a","command":"b"},null,"text",{"command":"x"},{"name":"long","command":"`+strings.Repeat("x", 70_000)+`"}]}`)
	if answer.Counts != (ApplyCounts{Created: 2, Refused: 11}) || h.jobs["good"].Command != "true" ||
		h.jobs["twice"].Command != "true" || len(h.jobs) != 3 {
		t.Errorf("%+v", answer.Counts)
	}
	for name, location := range map[string]string{
		"odd":   "body.jobs[2].comand",
		"typed": "body.jobs[6].command",
		"keys":  "body.jobs[7].command",
		"void":  "body.jobs[5].command",
	} {
		if r := by[name].Refusal; r == nil || r.Code != common.CodeInvalid || r.Detail == "" ||
			!slices.ContainsFunc(r.Errors, func(f common.Fault) bool {
				return f.Location == location
			}) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := by["goes"].Refusal; by["goes"].Result != resultRefused || r == nil || r.Code != common.CodeConflict {
		t.Errorf("pruned although others were refused: %+v", by["goes"])
	}
}

func TestApplyRefusesWhatIsNoApply(t *testing.T) {
	h := newHarness(t)
	for body, location := range map[string]string{
		``:                      "body",
		`[]`:                    "body",
		`{}`:                    "body.jobs",
		`{"jobs":{}}`:           "body.jobs",
		`{"jobs":[],"x":1}`:     "body.x",
		`{"jobs":[],"jobs":[]}`: "body.jobs",
		`{"jobs":[}`:            "body",
		`{"jobs":[]} {}`:        "body",
		"{\"jobs\":[\"\xff\"]}": "body",
		`null`:                  "body",
	} {
		h.problem(422, "invalid", location, as("editor", "POST", "/api/v1/jobs/apply", body))
	}
	h.problem(422, "invalid", "query.prune", as("editor", "POST", "/api/v1/jobs/apply?prune=%3D", `{"jobs":[]}`))
	h.problem(422, "invalid", "body.jobs",
		as("editor", "POST", "/api/v1/jobs/apply", `{"jobs":[`+strings.Repeat("1,", maxMany)+`1]}`))
	h.problem(413, "too_large", "body",
		as("editor", "POST", "/api/v1/jobs/apply", `{"jobs":["`+strings.Repeat("x", maxApplyBody)+`"]}`))
	h.problem(403, "forbidden", "", as("operator", "POST", "/api/v1/jobs/apply", `{"jobs":[]}`))
	h.problem(422, "invalid", "header.Idempotency-Key", as("editor", "POST", "/api/v1/jobs/apply", `{"jobs":[]}`,
		"Idempotency-Key", "é"))

	h.want(200, as("editor", "POST", "/api/v1/jobs/apply", `{"jobs":[]}`, "Idempotency-Key", "k"))
	h.want(200, as("editor", "POST", "/api/v1/jobs/apply", `{"jobs":[]}`, "Idempotency-Key", "k"))
	h.problem(409, "conflict", "", as("editor", "POST", "/api/v1/jobs/apply",
		`{"jobs":[{"name":"a","command":"true"}]}`, "Idempotency-Key", "k"))
}

func (f *fakes) OpenRuns(context.Context) (open []common.Run, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.runs {
		if !r.Status.Terminal() {
			open = append(open, r)
		}
	}
	return open, f.fail
}

func TestCreateWithAKey(t *testing.T) {
	h := newHarness(t)
	h.want(201, as("editor", "POST", "/api/v1/jobs", `{"name":"a","command":"true"}`, "Idempotency-Key", "k"))
	if !slices.Equal(h.created, []string{"k"}) {
		t.Error(h.created)
	}
	h.problem(422, "invalid", "header.Idempotency-Key",
		as("editor", "POST", "/api/v1/jobs", `{"name":"b","command":"true"}`, "Idempotency-Key",
			strings.Repeat("k", 129)))
}
