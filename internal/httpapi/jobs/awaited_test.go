package jobs_test

import (
	"fmt"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/jobs"
)

// A step that waits for fires of which the awaited job may have no entries any more is pointed out by each way to save
// or check its flow.
func TestWait_RetentionIsShorter_ReturnsAWarning(t *testing.T) {
	const weekly, daily, office = "0 4 * * 1", "0 4 * * *", "0 9-17 * * 1-5"
	for _, c := range []struct {
		name, flow, wait string
		awaited          common.Job
		want             string
	}{
		{"by default", weekly, "import", common.Job{CronExpr: "0 * * * *"}, ""},
		{"a month, and 30 days", "0 4 1 * *", "import", common.Job{CronExpr: "0 * * * *"},
			"kept_too_short 30d 31d"},
		{"long enough", weekly, "import", common.Job{CronExpr: "0 * * * *",
			Retention: &common.Retention{Age: "7d"}}, ""},
		{"one day less", weekly, "import", common.Job{CronExpr: "0 * * * *", Retention: &common.Retention{Age: "6d"}},
			"kept_too_short 6d 7d"},
		{"over the weekend", office, "import", common.Job{CronExpr: "0 * * * *",
			Retention: &common.Retention{Age: "2d"}}, "kept_too_short 2d 64h"},
		{"enough runs", daily, "import", common.Job{CronExpr: "0 * * * *", Retention: &common.Retention{Runs: 24}}, ""},
		{"one run less", daily, "import", common.Job{CronExpr: "0 * * * *", Retention: &common.Retention{Runs: 23}},
			"kept_too_few 23 24"},
		{"@every", daily, "import", common.Job{CronExpr: "@every 1m", Retention: &common.Retention{Runs: 1000}},
			"kept_too_few 1000 1440"},
		{"no schedule", "", "import", common.Job{CronExpr: "0 * * * *", Retention: &common.Retention{Runs: 1}}, ""},
		{"of the same time", weekly, "import\",\"fires\":\"same", common.Job{CronExpr: "0 * * * *",
			Retention: &common.Retention{Age: "1h"}}, ""},
		{"the last one of another job", weekly, "import\",\"fires\":\"latest", common.Job{CronExpr: "0 * * * *",
			Retention: &common.Retention{Age: "1h"}}, ""},
		{"the last one of the flow", weekly, "f\",\"fires\":\"latest", common.Job{}, ""},
		{"the last one of a flow that keeps less", weekly + `","retention":{"age":"6d"},"description":"`,
			"f\",\"fires\":\"latest", common.Job{}, "kept_too_short 6d 7d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := apitest.NewHarness(t)
			c.awaited.Name, c.awaited.Timezone = "import", "UTC"
			h.Jobs["import"] = common.JobState{StoredJob: common.StoredJob{Job: c.awaited, UID: "i"}}
			flow := fmt.Sprintf(`{"name":"f","timeout":"7d","cronExpr":"%s","timezone":"UTC","steps":[`+
				`{"name":"a","command":"true"},{"name":"w","wait":{"job":"%s"}}]}`, c.flow, c.wait)
			if c.flow == "" {
				flow = strings.Replace(flow, `"cronExpr":"",`, "", 1)
			}
			check := func(how string, found []common.Fault, at string) {
				t.Helper()
				got := ""
				if len(found) == 1 {
					got = found[0].Code
					for _, word := range []string{"age", "runs", "span", "fires"} {
						if value := found[0].Data[word]; value != "" {
							got += fmt.Sprint(" ", value)
						}
					}
				}
				if got != c.want || len(found) > 1 || got != "" && found[0].Location != at+".steps[1].wait.job" {
					t.Errorf("%s: %q, want %q: %+v", how, got, c.want, found)
				}
			}
			const who = "editor"
			var v jobs.Validation
			apitest.Decode(t, h.Want(200, apitest.As(who, "POST", "/api/v1/jobs/validate", flow)), &v)
			check("validate", v.Warnings, "body")
			_, by := applied(h, who, "?dryRun=true", `{"jobs":[`+flow+`]}`)
			check("apply --dry-run", by["f"].Warnings, "body.jobs[0]")
			var saved jobs.Job
			apitest.Decode(t, h.Want(201, apitest.As(who, "POST", "/api/v1/jobs", flow)), &saved)
			check("create", saved.Meta.Warnings, "body")
		})
	}
}
