package jobs_test

import (
	"fmt"
	"testing"

	"carillon/internal/httpapi/apitest"
)

func programJob(name, build, cron string) string {
	return fmt.Sprintf(`{"name":%q,"type":"func","with":{"app":"billing","func":"invoices"},"timezone":"UTC",
		"cronExpr":%q,"labels":{"app":"billing","app-build":%q}}`, name, cron, build)
}

func TestApplyProgram_OlderBuild_ChangesNothing(t *testing.T) {
	h := apitest.NewHarness(t)
	send := func(build, cron string) string {
		_, by := applied(h, "editor", "?program=true", `{"jobs":[`+programJob("billing.invoices", build, cron)+`]}`)
		return by["billing.invoices"].Result
	}
	for _, step := range []struct{ build, cron, result, stored string }{
		{"20310304T050607Z", "0 6 * * *", "created", "0 6 * * *"},
		{"20310304T050607Z", "0 6 * * *", "unchanged", "0 6 * * *"},
		{"20310303T000000Z", "0 5 * * *", "unchanged", "0 6 * * *"},
		{"20310304T050608Z", "0 7 * * *", "changed", "0 7 * * *"},
	} {
		if got := send(step.build, step.cron); got != step.result {
			t.Errorf("build %s: %s instead of %s", step.build, got, step.result)
		}
		if got := h.Jobs["billing.invoices"].CronExpr; got != step.stored {
			t.Errorf("build %s: %s is stored", step.build, got)
		}
	}
}

func TestApplyProgram_PauseOfAnOperator_IsKept(t *testing.T) {
	h := apitest.NewHarness(t)
	body := func(build string) string {
		return `{"jobs":[` + programJob("billing.invoices", build, "0 6 * * *") + `]}`
	}
	applied(h, "editor", "?program=true", body("1"))
	h.Want(200, apitest.As("editor", "POST", "/api/v1/jobs/billing.invoices/pause", `{"note":"broken"}`))
	applied(h, "editor", "?program=true", body("2"))
	job := h.Jobs["billing.invoices"]
	if !job.Paused || job.PauseNote != "broken" || job.Labels["app-build"] != "2" {
		t.Errorf("%+v", job.Job)
	}
	applied(h, "editor", "", body("3"))
	if h.Jobs["billing.invoices"].Paused {
		t.Error("without program, the pause of the request applies")
	}
}

func TestApplyProgram_JobOfAnotherApp_IsRefused(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs",
		`{"name":"billing.invoices","command":"true","labels":{"app":"other"}}`))
	_, by := applied(h, "editor", "?program=true", `{"jobs":[`+programJob("billing.invoices", "1", "@daily")+`]}`)
	item := by["billing.invoices"]
	if item.Result != "refused" || item.Refusal.Reason != "other_app" || h.Jobs["billing.invoices"].Command != "true" {
		t.Errorf("%+v", item)
	}
}

func TestApplyProgram_Prune_KeepsJobsOfLaterBuilds(t *testing.T) {
	h := apitest.NewHarness(t)
	for name, build := range map[string]string{"billing.old": "1", "billing.same": "2", "billing.later": "3"} {
		applied(h, "editor", "?program=true", `{"jobs":[`+programJob(name, build, "@daily")+`]}`)
	}
	applied(h, "editor", "?program=true&prune=app%3Dbilling",
		`{"jobs":[`+programJob("billing.invoices", "2", "@daily")+`]}`)
	for name, left := range map[string]bool{"billing.old": false, "billing.same": false, "billing.later": true,
		"billing.invoices": true} {
		if _, found := h.Jobs[name]; found != left {
			t.Errorf("%s: exists: %t", name, found)
		}
	}
}
