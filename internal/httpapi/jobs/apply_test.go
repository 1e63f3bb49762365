package jobs_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/jobs"
)

// applied sends jobs to be applied and gives what is answered, by name.
func applied(h *apitest.Harness, role, query, body string) (jobs.ApplyAnswer, map[string]jobs.Applied) {
	h.T.Helper()
	var answer jobs.ApplyAnswer
	apitest.Decode(h.T, h.Want(200, apitest.As(role, "POST", "/api/v1/jobs/apply"+query, body)), &answer)
	by := map[string]jobs.Applied{}
	for _, item := range answer.Items {
		by[item.Name] = item
	}
	return answer, by
}

func TestApply(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"same","command":"true","timezone":"UTC"}`))
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs",
		`{"name":"other","command":"true","labels":{"team":"data"}}`))
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"goes","command":"true","labels":{"app":"x"}}`))
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"stays","command":"true","labels":{"app":"y"}}`))
	body :=
		`{"jobs":[{"name":"new","command":"make\nit\n"},{"name":"same","command":"true","timezone":"UTC","meta":null},{"name":"other","command":"false","timezone":"UTC"}]}`

	answer, by := applied(h, "editor", "?dryRun=true&prune=app%3Dx", body)
	if !answer.DryRun || answer.Counts != (jobs.ApplyCounts{Created: 1, Changed: 1, Unchanged: 1, Deleted: 1}) ||
		len(h.Jobs) != 4 {
		t.Errorf("dry: %+v, then %d jobs", answer, len(h.Jobs))
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

	answer, by = applied(h, "editor", "?prune=app%3Dx", body)
	if answer.DryRun || answer.Counts != (jobs.ApplyCounts{Created: 1, Changed: 1, Unchanged: 1, Deleted: 1}) {
		t.Errorf("%+v", answer)
	}
	if names := slices.Sorted(maps.Keys(h.Jobs)); !slices.Equal(names, []string{"new", "other", "same", "stays"}) {
		t.Error(names)
	}
	if by["new"].Version != h.Jobs["new"].Version || by["new"].Diff != "" || h.Jobs["other"].Command != "false" {
		t.Errorf("%+v", by["new"])
	}
	if answer, _ = applied(h, "editor", "?prune=app%3Dx", body); answer.Counts != (jobs.ApplyCounts{Unchanged: 3}) {
		t.Errorf("again: %+v", answer)
	}
}

// Of what may have been done it is not said that it was refused, and nothing is pruned.
func TestApply_OutcomeUnknown_IsNotReportedAsRefused(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"goes","command":"true","labels":{"app":"x"}}`))
	h.Lost = map[string]bool{"a": true}
	answer, by := applied(h, "editor", "?prune=app%3Dx",
		`{"jobs":[{"name":"a","command":"true"},{"name":"b","command":"true"}]}`)
	if answer.Counts != (jobs.ApplyCounts{Created: 1, Unknown: 1, Refused: 1}) ||
		by["a"].Result != jobs.ResultUnknown ||
		by["a"].Refusal.Code != common.CodeUnavailable {
		t.Errorf("%+v", answer)
	}
	bulk := inBulk(h, "editor", `{"action":"pause","note":"n","jobs":["a","goes"]}`)
	if bulk.Done != 1 || bulk.Unknown != 1 || bulk.Refused != 0 || bulk.Items[0].Result != jobs.ResultUnknown ||
		bulk.Items[0].Refusal == nil {
		t.Errorf("%+v", bulk)
	}
}

// What is wrong with one job hinders no other, but then nothing is pruned.
func TestApply_InvalidJob_DoesNotAffectOthers(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"goes","command":"true","labels":{"app":"x"}}`))
	answer, by := applied(h, "editor", "?prune=app", `{"jobs":[{"name":"good","command":"true"},{"name":"Bad Name","command":"true"},
		{"name":"odd","comand":"true"},{"name":"twice","command":"true"},{"name":"twice","command":"false"},{"name":"void"},
		{"name":"typed","command":7},{"name":"keys","command":"a","command":"b"},null,"text",{"command":"x"},{"name":"long","command":"`+strings.Repeat("x", 70_000)+`"}]}`)
	if answer.Counts != (jobs.ApplyCounts{Created: 2, Refused: 11}) || h.Jobs["good"].Command != "true" ||
		h.Jobs["twice"].Command != "true" || len(h.Jobs) != 3 {
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
	if r := by["goes"].Refusal; by["goes"].Result != jobs.ResultRefused || r == nil || r.Code != common.CodeConflict {
		t.Errorf("pruned although others were refused: %+v", by["goes"])
	}
}

func TestApply_MalformedBody_IsRefused(t *testing.T) {
	h := apitest.NewHarness(t)
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
		h.Problem(422, "invalid", location, apitest.As("editor", "POST", "/api/v1/jobs/apply", body))
	}
	h.Problem(422, "invalid", "query.prune", apitest.As("editor", "POST", "/api/v1/jobs/apply?prune=%3D",
		`{"jobs":[]}`))
	h.Problem(422, "invalid", "body.jobs",
		apitest.As("editor", "POST", "/api/v1/jobs/apply", `{"jobs":[`+strings.Repeat("1,", jobs.MaxMany)+`1]}`))
	h.Problem(413, "too_large", "body",
		apitest.As("editor", "POST", "/api/v1/jobs/apply", `{"jobs":["`+strings.Repeat("x", jobs.MaxApplyBody)+`"]}`))
	h.Problem(403, "forbidden", "", apitest.As("operator", "POST", "/api/v1/jobs/apply", `{"jobs":[]}`))
	h.Problem(422, "invalid", "header.Idempotency-Key",
		apitest.As("editor", "POST", "/api/v1/jobs/apply", `{"jobs":[]}`,
			"Idempotency-Key", "é"))

	h.Want(200, apitest.As("editor", "POST", "/api/v1/jobs/apply", `{"jobs":[]}`, "Idempotency-Key", "k"))
	h.Want(200, apitest.As("editor", "POST", "/api/v1/jobs/apply", `{"jobs":[]}`, "Idempotency-Key", "k"))
	h.Problem(409, "conflict", "", apitest.As("editor", "POST", "/api/v1/jobs/apply",
		`{"jobs":[{"name":"a","command":"true"}]}`, "Idempotency-Key", "k"))
}

func TestCreateWithAKey(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"a","command":"true"}`, "Idempotency-Key", "k"))
	if !slices.Equal(h.Created, []string{"k"}) {
		t.Error(h.Created)
	}
	h.Problem(422, "invalid", "header.Idempotency-Key",
		apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"b","command":"true"}`, "Idempotency-Key",
			strings.Repeat("k", 129)))
}

// A job may name one that the same request creates, wherever it is in the list; a dry run shows the same. What is
// pruned may name each other as well.
func TestApply_ParentsInTheSameRequest(t *testing.T) {
	h := apitest.NewHarness(t)
	chain := `{"jobs":[{"name":"c","command":"true","after":["b"]},{"name":"b","command":"true","after":["a"]},
		{"name":"a","command":"true"},{"name":"typo","command":"true","after":["aa"]},
		{"name":"x","command":"true","after":["y"]},{"name":"y","command":"true","after":["x"]}]}`
	want := jobs.ApplyCounts{Created: 3, Refused: 3}
	answer, by := applied(h, "editor", "?dryRun=true", chain)
	if answer.Counts != want || len(h.Jobs) != 0 || !strings.Contains(by["c"].Diff, "+after:\n+- b\n") {
		t.Errorf("dry: %+v", answer)
	}
	if answer, by = applied(h, "editor", "", chain); answer.Counts != want || by["c"].Refusal != nil {
		t.Errorf("%+v", answer)
	}
	refusal := by["typo"].Refusal
	if refusal == nil || len(refusal.Errors) != 1 || refusal.Errors[0].Location != "body.jobs[3].after[0]" {
		t.Errorf("refused with %+v", refusal)
	}
	labelled := strings.ReplaceAll(chain[:strings.Index(chain, `{"name":"typo"`)], `"command"`, `"labels":{"app":"s"},"command"`)
	applied(h, "editor", "", strings.TrimRight(labelled, ",\n\t ")+"]}")
	if answer, _ = applied(h, "editor", "?prune=app%3Ds", `{"jobs":[]}`); answer.Counts.Deleted != 3 || len(h.Jobs) != 0 {
		t.Errorf("pruned: %+v, %d jobs are left", answer, len(h.Jobs))
	}
}

// A job that others name is deleted with force, or with them.
func TestDelete_OfAParent_NeedsForce(t *testing.T) {
	h := apitest.NewHarness(t)
	for _, job := range []string{`{"name":"a","command":"true"}`, `{"name":"b","command":"true","after":["a"]}`,
		`{"name":"c","command":"true","after":["b"]}`} {
		h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", job))
	}
	var parent, child jobs.Job
	apitest.Decode(t, h.Want(200, apitest.As("viewer", "GET", "/api/v1/jobs/b", "")), &parent)
	apitest.Decode(t, h.Want(200, apitest.As("viewer", "GET", "/api/v1/jobs/c", "")), &child)
	if !slices.Equal(parent.Meta.Children, []string{"c"}) || len(child.Meta.Parents) != 1 ||
		child.Meta.Parents[0].Job != "b" || !child.Meta.Parents[0].Waiting {
		t.Errorf("parent %+v, child %+v", parent.Meta, child.Meta)
	}
	h.Problem(409, "conflict", "", apitest.As("editor", "DELETE", "/api/v1/jobs/b", ""))
	h.Want(200, apitest.As("editor", "POST", "/api/v1/jobs/bulk", `{"action":"delete","jobs":["b","c"]}`))
	if names := slices.Sorted(maps.Keys(h.Jobs)); !slices.Equal(names, []string{"a"}) {
		t.Errorf("left are %v", names)
	}
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"b","command":"true","after":["a"]}`))
	h.Want(204, apitest.As("editor", "DELETE", "/api/v1/jobs/a?force=true", ""))
}
