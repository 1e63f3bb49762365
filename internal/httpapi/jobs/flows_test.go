package jobs_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/flow/drawing"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/jobs"
)

const aFlow = `{"name":"f","timeout":"1h","steps":[{"name":"a","command":"true","outputs":{"day":{}}},` +
	`{"name":"b","command":"true","after":["a",{"step":"c","on":"done"}]},{"name":"c","job":"leaf"}],` +
	`"outputs":{"day":"${{ steps.a.outputs.day }}"}}`

func TestFlow_RoundTrip(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"leaf","command":"true"}`))
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", aFlow))
	got := h.Want(200, apitest.As("viewer", "GET", "/api/v1/jobs/f", "")).Body.String()
	if !strings.Contains(got, `"after":["a",{"step":"c","on":"done"}]`) ||
		!strings.Contains(got, `"outputs":{"day":"${{ steps.a.outputs.day }}"}`) {
		t.Errorf("one: %s", got)
	}
	h.Want(200, apitest.As("editor", "PUT", "/api/v1/jobs/f", got))
	list := h.Want(200, apitest.As("viewer", "GET", "/api/v1/jobs", "")).Body.String()
	if strings.Contains(list, `"after"`) || !strings.Contains(list, `"flow":{"steps":3}`) {
		t.Errorf("list: %s", list)
	}
	h.Want(200, apitest.As("editor", "PATCH", "/api/v1/jobs/f", `{"concurrency":3}`, "Content-Type",
		"application/merge-patch+json"))
	if job := h.Jobs["f"]; job.Concurrency != 3 || len(job.Steps) != 3 {
		t.Errorf("patched: %+v", job.Job)
	}
}

// A flow run without a timeout may wait for ever: each way of saving such a flow says so, and reading it does not.
func TestFlow_SavedWithoutTimeout_ReturnsAWarning(t *testing.T) {
	h := apitest.NewHarness(t)
	const endless = `{"name":"f","steps":[{"name":"a","command":"true"}]}`
	const bounded = `{"name":"f","timeout":"1h","steps":[{"name":"a","command":"true"}]}`
	for _, c := range []struct {
		method, path, body string
		status             int
		warned             bool
	}{
		{"POST", "/api/v1/jobs", endless, 201, true},
		{"GET", "/api/v1/jobs/f", "", 200, false},
		{"PUT", "/api/v1/jobs/f", bounded, 200, false},
		{"PUT", "/api/v1/jobs/f", endless, 200, true},
		{"PATCH", "/api/v1/jobs/f", `{"timeout":"1h"}`, 200, false},
		{"PATCH", "/api/v1/jobs/f", `{"timeout":null}`, 200, true},
		{"PUT", "/api/v1/jobs/plain", `{"name":"plain","command":"true"}`, 201, false},
	} {
		headers := []string{}
		if c.method == "PATCH" {
			headers = []string{"Content-Type", "application/merge-patch+json"}
		}
		var job jobs.Job
		apitest.Decode(t, h.Want(c.status, apitest.As("editor", c.method, c.path, c.body, headers...)), &job)
		found := job.Meta.Warnings
		if warned := len(found) == 1 && found[0].Code == "no_timeout" && found[0].Location == "body.timeout"; warned !=
			c.warned || !c.warned && len(found) > 0 {
			t.Errorf("%s %s %s: %+v", c.method, c.path, c.body, found)
		}
	}
	body := `{"jobs":[{"name":"plain","command":"false"},{"name":"g","steps":[{"name":"a","command":"true"}]}]}`
	for _, query := range []string{"?dryRun=true", ""} {
		_, by := applied(h, "editor", query, body)
		if found := by["g"].Warnings; len(found) != 1 || found[0].Location != "body.jobs[1].timeout" ||
			len(by["plain"].Warnings) > 0 {
			t.Errorf("apply %s: %+v", query, by)
		}
	}
	if _, by := applied(h, "editor", "", body); len(by["g"].Warnings) > 0 {
		t.Errorf("an unchanged flow: %+v", by["g"].Warnings)
	}
}

func TestFlow_Faults(t *testing.T) {
	h := apitest.NewHarness(t)
	for body, at := range map[string]string{
		`{"name":"f","steps":[{"name":"a","command":"x"},{"name":"b","command":"x","after":["b"]}]}`:                     "body.steps",
		`{"name":"f","steps":[{"name":"a","command":"x","after":[{"step":"a","when":"x"}]}]}`:                            "body.steps[0].after[0].when",
		`{"name":"f","steps":[{"name":"a","command":"x","after":[7]}]}`:                                                  "body.steps[0].after[0]",
		`{"name":"f","steps":[{"name":"a","command":"x","sudo":true}]}`:                                                  "body.steps[0].sudo",
		`{"name":"f","steps":[{"command":"x"}]}`:                                                                         "body.steps[0].name",
		`{"name":"f","steps":[{"name":"a","command":"echo ${{ params.X }}"}]}`:                                           "body.steps[0].command",
		`{"name":"f","steps":[{"name":"a","command":"x","env":{"DAY":"${{ steps.z.outputs.day }}"}}]}`:                   "body.steps[0].env.DAY",
		`{"name":"f","steps":[{"name":"a","job":"nothing"}]}`:                                                            "body.steps[0].job",
		`{"name":"f","command":"x","steps":[{"name":"a","command":"x"}]}`:                                                "body.command",
		`{"name":"f","steps":[{"name":"a","command":"x","outputs":{"day":"x"}}]}`:                                        "body.steps[0].outputs.day",
		`{"name":"f","command":"x","outputs":{"day":"x"}}`:                                                               "body.outputs.day",
		`{"name":"f","steps":[{"name":"a","command":"x","outputs":{"day":[]}}]}`:                                         "body.steps[0].outputs.day",
		`{"name":"f","steps":[{"name":"a","command":"x"}],"outputs":{"day":{"list":true}}}`:                              "body.outputs.day",
		`{"name":"f","steps":[{"name":"a","command":"x"},{"name":"a","command":"x","when":"now() > 1"}],"x":1}`:          "body.x",
		`{"name":"f","steps":[` + strings.Repeat(`{"name":"a","command":"x"},`, 10_000) + `{"name":"a","command":"x"}]}`: "body.steps",
	} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", at, apitest.As("editor", "POST", "/api/v1/jobs", body))
	}
	if len(h.Jobs) != 0 {
		t.Errorf("written: %v", h.Jobs)
	}
	// What is missing does not hide what is wrong.
	p := h.Problem(http.StatusUnprocessableEntity, "invalid", "body.steps[0].approval.text",
		apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"f","steps":[{"name":"a","approval":{}},{"command":"x","after":[{}]},`+
			`{"name":"B","command":"x","env":{"LD_PRELOAD":"${{ params.X }}"},"retry":{"max":99},"timeout":"soon"}]}`))
	var at []string
	for _, f := range p.Errors {
		at = append(at, f.Location)
	}
	for _, want := range []string{"body.steps[1].name", "body.steps[1].after[0]", "body.steps[2].name",
		"body.steps[2].env.LD_PRELOAD", "body.steps[2].retry.max", "body.steps[2].timeout"} {
		if !slices.Contains(at, want) {
			t.Errorf("no fault at %s: %v", want, at)
		}
	}
}

// One request may create a flow and the jobs that its steps run, in any order.
func TestFlow_Apply_SavesJobsBeforeTheFlowsThatRunThem(t *testing.T) {
	h := apitest.NewHarness(t)
	body := `{"jobs":[{"name":"outer","steps":[{"name":"a","job":"inner"}]},` +
		`{"name":"inner","steps":[{"name":"a","job":"leaf"}]},{"name":"leaf","command":"true"},` +
		`{"name":"lost","steps":[{"name":"a","job":"broken"}]},{"name":"broken","command":"","args":[]}]}`
	for _, query := range []string{"?dryRun=true", ""} {
		answer, by := applied(h, "editor", query, body)
		if answer.Counts != (jobs.ApplyCounts{Created: 3, Refused: 2}) {
			t.Errorf("%s: %+v", query, answer)
		}
		r := by["lost"].Refusal
		if r == nil || len(r.Errors) != 1 || r.Errors[0].Location != "body.jobs[3].steps[0].job" {
			t.Errorf("%s: %+v", query, r)
		}
	}
	_, by := applied(h, "editor", "", `{"jobs":[{"name":"inner","steps":[{"name":"a","job":"leaf"},`+
		`{"name":"b","command":"true"}]}]}`)
	if got := by["inner"].Fields; !slices.Contains(got, "steps.b") || slices.Contains(got, "steps.a") {
		t.Errorf("changed: %v", got)
	}
}

// Rights are checked when a flow is saved: its editor must be allowed to run each of the jobs.
func TestFlow_StepThatRunsAJobOfAnotherGroup_NeedsARoleThere(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Sessions["editor"] = access.Identity{Name: "ed", User: "ed", Grants: map[string]access.Role{
		"blue": access.Editor, "green": access.Operator, "grey": access.Viewer}}
	for _, group := range []string{"green", "grey"} {
		h.Want(201, apitest.As("admin", "POST", "/api/v1/jobs", `{"name":"in-`+group+`","command":"true","group":"`+
			group+`"}`))
	}
	as := func(method, target, body string, headers ...string) *http.Request {
		return apitest.As("", method, target, body, append(headers, "Cookie", apitest.PlainCookie+"=editor")...)
	}
	flow := func(job string) string {
		return `{"name":"f","group":"blue","steps":[{"name":"a","job":"` + job + `"}]}`
	}
	const at = "body.steps[0].job"
	h.Problem(http.StatusForbidden, "forbidden", at, as("POST", "/api/v1/jobs", flow("in-grey")))
	h.Problem(http.StatusForbidden, "forbidden", at, as("PUT", "/api/v1/jobs/f", flow("in-grey")))
	h.Want(201, as("POST", "/api/v1/jobs", flow("in-green")))
	h.Problem(http.StatusForbidden, "forbidden", at, as("PATCH", "/api/v1/jobs/f",
		`{"steps":[{"name":"a","job":"in-grey"}]}`, "Content-Type", "application/merge-patch+json"))
	var answer jobs.ApplyAnswer
	apitest.Decode(t, h.Want(200, as("POST", "/api/v1/jobs/apply", `{"jobs":[`+flow("in-grey")+`]}`)), &answer)
	if r := answer.Items[0].Refusal; r == nil || r.Code != common.CodeForbidden {
		t.Errorf("applied: %+v", answer.Items[0])
	}
	checked := h.Want(200, as("POST", "/api/v1/jobs/validate", flow("in-grey"))).Body.String()
	if !strings.Contains(checked, "foreign_job") {
		t.Errorf("validated: %s", checked)
	}
	if job := h.Jobs["f"].Steps[0].Job; job != "in-green" {
		t.Errorf("saved: %s", job)
	}
}

// Each way of saving a flow whose step waits for a job needs the role viewer in that job's group: such a step shows how
// fires of the job end. A job that does not exist could be created in any group.
func TestFlow_StepThatWaitsForAJobOfAnotherGroup_NeedsViewerThere(t *testing.T) {
	for job, c := range map[string]struct {
		status      int
		code, fault string
	}{
		"in-red": {http.StatusForbidden, "forbidden", "foreign_job"},
		"none":   {http.StatusUnprocessableEntity, "invalid", "unknown_job"},
	} {
		h := apitest.NewHarness(t)
		h.Sessions["editor"] = access.Identity{Name: "ed", User: "ed", Grants: map[string]access.Role{
			"blue": access.Editor, "grey": access.Viewer}}
		for _, group := range []string{"grey", "red"} {
			h.Want(201, apitest.As("admin", "POST", "/api/v1/jobs", `{"name":"in-`+group+
				`","cronExpr":"* * * * *","command":"true","group":"`+group+`"}`))
		}
		as := func(method, target, body string, headers ...string) *http.Request {
			return apitest.As("", method, target, body, append(headers, "Cookie", apitest.PlainCookie+"=editor")...)
		}
		steps := func(job string) string { return `"steps":[{"name":"a","wait":{"job":"` + job + `"}}]` }
		flow := func(job string) string { return `{"name":"f","group":"blue","timeout":"2d",` + steps(job) + `}` }
		const at = "body.steps[0].wait.job"
		h.Problem(c.status, c.code, at, as("POST", "/api/v1/jobs", flow(job)))
		h.Problem(c.status, c.code, at, as("PUT", "/api/v1/jobs/f", flow(job)))
		h.Want(201, as("POST", "/api/v1/jobs", flow("in-grey")))
		h.Problem(c.status, c.code, at, as("PUT", "/api/v1/jobs/f", flow(job)))
		h.Problem(c.status, c.code, at, as("PATCH", "/api/v1/jobs/f", `{`+steps(job)+`}`, "Content-Type",
			"application/merge-patch+json"))
		before, err := json.Marshal(&common.StoredJob{UID: "u", Job: common.Job{Name: "f", Group: "blue",
			Steps: []common.Step{{Name: "a", Wait: &common.Wait{Job: job}}}}})
		if err != nil {
			t.Fatal(err)
		}
		h.Changes = []common.Change{{ID: "1", Verb: "create", Kind: "job", Name: "f", Revision: 7, After: before}}
		h.Problem(c.status, c.code, at, as("POST", "/api/v1/jobs/f/rollback", `{"version":7}`))
		for _, query := range []string{"?dryRun=true", ""} {
			var answer jobs.ApplyAnswer
			body := `{"jobs":[` + flow(job) + `]}`
			apitest.Decode(t, h.Want(200, as("POST", "/api/v1/jobs/apply"+query, body)), &answer)
			if r := answer.Items[0].Refusal; r == nil || string(r.Code) != c.code || len(r.Errors) != 1 ||
				r.Errors[0].Location != "body.jobs[0].steps[0].wait.job" || r.Errors[0].Code != c.fault {
				t.Errorf("%s: applied%s: %+v", job, query, answer.Items[0])
			}
		}
		checked := h.Want(200, as("POST", "/api/v1/jobs/validate", flow(job))).Body.String()
		if !strings.Contains(checked, c.fault) {
			t.Errorf("%s: validated: %s", job, checked)
		}
		if saved := h.Jobs["f"].Steps[0].Wait.Job; saved != "in-grey" {
			t.Errorf("%s: saved: %s", job, saved)
		}
	}
}

// A job shows which flows run it or wait for it, to those who may see the job, and is deleted only after them or by
// force.
func TestFlow_JobOfItsSteps_ShowsAndKeepsTheReference(t *testing.T) {
	h := apitest.NewHarness(t)
	for _, body := range []string{
		`{"name":"leaf","cronExpr":"* * * * *","command":"true","group":"blue"}`,
		`{"name":"runs","steps":[{"name":"a","job":"leaf"}]}`,
		`{"name":"waits","steps":[{"name":"a","wait":{"job":"leaf"}}]}`,
	} {
		h.Want(201, apitest.As("admin", "POST", "/api/v1/jobs", body))
	}
	read := func(who string, headers ...string) (job jobs.Job) {
		apitest.Decode(t, h.Want(200, apitest.As(who, "GET", "/api/v1/jobs/leaf", "", headers...)), &job)
		return job
	}
	if m := read("viewer").Meta; !slices.Equal(m.RunBy, []string{"runs"}) ||
		!slices.Equal(m.WaitedBy, []string{"waits"}) {
		t.Errorf("run by %v, waited for by %v", m.RunBy, m.WaitedBy)
	}
	h.Sessions["viewer"] = access.Identity{Name: "vi", User: "vi", Grants: map[string]access.Role{"red": access.Viewer}}
	if m := read("", "Cookie", apitest.PlainCookie+"=viewer").Meta; !m.Hidden || len(m.RunBy)+len(m.WaitedBy) > 0 {
		t.Errorf("without a role: %+v", m)
	}
	h.Problem(409, "conflict", "", apitest.As("admin", "DELETE", "/api/v1/jobs/leaf", ""))
	var answer jobs.BulkAnswer
	apitest.Decode(t, h.Want(200, apitest.As("admin", "POST", "/api/v1/jobs/bulk",
		`{"action":"delete","jobs":["leaf","runs","waits"]}`)), &answer)
	if answer.Done != 3 || len(h.Jobs) != 0 {
		t.Errorf("deleted together: %+v", answer)
	}
}

func TestFlow_Graph(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"leaf","command":"true"}`))
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"f","group":"blue","steps":[`+
		`{"name":"d","command":"x","after":["b",{"step":"a","exitCodes":[7]}],"rule":"all_done"},`+
		`{"name":"a","command":"x"},{"name":"b","job":"leaf","after":["a"]},`+
		`{"name":"c","approval":{"text":"?"},"when":"params.X == '1'"},`+
		`{"name":"m","title":"M","command":"x","forEach":{"items":["p","q"]},"allowFailure":true},`+
		`{"name":"v","wait":{"job":"leaf"}},{"name":"w","wait":{"job":"leaf","fires":"same"}}],"params":{"X":{}}}`))
	var got drawing.FlowGraph
	apitest.Decode(t, h.Want(200, apitest.As("viewer", "GET", "/api/v1/jobs/f/graph", "")), &got)
	want := drawing.FlowGraph{Job: "f", Layers: 3, Steps: []drawing.GraphStep{
		{Name: "d", Kind: "command", Layer: 2, Rule: "all_done"},
		{Name: "a", Kind: "command"},
		{Name: "b", Kind: "job", Layer: 1, Job: "leaf"},
		{Name: "c", Kind: "approval", When: "params.X == '1'"},
		{Name: "m", Title: "M", Kind: "command", AllowFailure: true, ForEach: &drawing.GraphItems{Items: 2}},
		{Name: "v", Kind: "wait", Job: "leaf", Fires: common.WaitInterval},
		{Name: "w", Kind: "wait", Job: "leaf", Fires: common.WaitSame},
	}, Edges: []drawing.GraphEdge{{From: "b", To: "d", On: "done"}, {From: "a", To: "d", ExitCodes: []int{7}},
		{From: "a", To: "b", On: "success"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the graph is %+v, want %+v", got, want)
	}
	h.Problem(409, "conflict", "", apitest.As("viewer", "GET", "/api/v1/jobs/leaf/graph", ""))
	h.Problem(404, "not_found", "", apitest.As("viewer", "GET", "/api/v1/jobs/none/graph", ""))
	h.Problem(404, "not_found", "", apitest.As("viewer", "GET", "/api/v1/jobs/f/graph?digest="+
		strings.Repeat("0", 64), ""))
	h.Problem(422, "invalid", "query.digest", apitest.As("viewer", "GET", "/api/v1/jobs/f/graph?digest=x", ""))
	h.Sessions["other"] = access.Identity{Name: "o", User: "o", Grants: map[string]access.Role{"red": access.Viewer}}
	h.Problem(403, "forbidden", "", apitest.As("", "GET", "/api/v1/jobs/f/graph", "", "Cookie",
		apitest.PlainCookie+"=other"))
}

// Two flows may wait for each other, so that neither can be saved first. A job that the request only names, or that the
// caller may not see, is no reason to save a flow that waits for it.
func TestApply_FlowsThatWaitForEachOther_AreSaved(t *testing.T) {
	h := apitest.NewHarness(t)
	flow := func(name, job string) string {
		return `{"name":"` + name + `","timeout":"1d","steps":[{"name":"w","wait":{"job":"` + job + `","fires":"latest"}}]}`
	}
	var answer jobs.ApplyAnswer
	apitest.Decode(t, h.Want(200, apitest.As("admin", "POST", "/api/v1/jobs/apply",
		`{"jobs":[`+flow("a", "b")+`,`+flow("b", "a")+`,`+flow("c", "none")+`]}`)), &answer)
	if len(h.Jobs) != 2 || answer.Items[0].Result != "created" || answer.Items[1].Result != "created" {
		t.Errorf("%+v", answer.Items)
	}
	if r := answer.Items[2].Refusal; r == nil || len(r.Errors) != 1 || r.Errors[0].Code != "unknown_job" {
		t.Errorf("%+v", answer.Items[2])
	}
}
