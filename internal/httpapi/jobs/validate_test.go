package jobs_test

import (
	"net/http"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/jobs"
	"carillon/internal/notify"
)

func TestValidateWarns(t *testing.T) {
	channels := &apitest.FakeChannels{Kept: map[string]notify.Channel{
		"ops": {Name: "ops"},
		"old": {Name: "old", Disabled: true},
	}}
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Channels = channels })
	h.Jobs["single"] = common.JobState{StoredJob: common.StoredJob{Job: common.Job{Name: "single"}, UID: "s"}}
	h.Jobs["many"] = common.JobState{StoredJob: common.StoredJob{Job: common.Job{Name: "many",
		Overlap: common.OverlapAllow}, UID: "m"}}
	for _, c := range []struct{ job, query, want string }{
		{`{"name":"a","command":"true","cronExpr":"0 9 * * 1-5"}`, "", ""},
		{`{"name":"a","command":"make >> /var/log/a.log 2>&1"}`, "", "body.command redirected"},
		{`{"name":"a","command":"true","cronExpr":"* 2 * * *"}`, "", "body.cronExpr cron_every_minute"},
		{`{"name":"a","command":"true","notify":{"on":["failed"],"to":["ops","none","old"]}}`, "",
			"body.notify.to[1] unknown_channel, body.notify.to[2] disabled_channel"},
		{`{"name":"a","steps":[{"name":"s","command":"true"}]}`, "", "body.timeout no_timeout"},
		{`{"name":"a","timeout":"1h","steps":[{"name":"s","command":"true"}]}`, "", ""},
		{`{"name":"a","timeout":"1h","steps":[{"name":"s","job":"single","forEach":{"items":["x","y"]}},` +
			`{"name":"t","job":"many","forEach":{"items":["x","y"]}},{"name":"u","job":"single"},` +
			`{"name":"v","job":"single","forEach":{"items":["x","y"],"concurrency":1}}]}`, "",
			"body.steps[0].job one_by_one"},
		{`{"name":"a","command":"true"}`, "?placement=true", "body.placement unplaced"},
		{`{"name":"A","command":"true"}`, "?placement=true", ""},
		{`{"name":"a","command":"true","params":{"DAY":{},"RSYNC_OPTS":{},"CFLAGS":{}}}`, "",
			"body.params.CFLAGS param_decides, body.params.RSYNC_OPTS param_decides"},
	} {
		var v jobs.Validation
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("editor", http.MethodPost, "/api/v1/jobs/validate"+c.query,
			c.job)), &v)
		var got []string
		for _, w := range v.Warnings {
			if w.Message == "" {
				t.Errorf("%s: %+v says nothing", c.job, w)
			}
			got = append(got, w.Location+" "+w.Code)
		}
		if strings.Join(got, ", ") != c.want || v.Valid != (len(v.Faults) == 0) ||
			(v.Placement != nil) != (c.query != "" && v.Valid) {
			t.Errorf("%s: warned of %q, want %q; %+v", c.job, got, c.want, v)
		}
	}
	h.WorkerList = []common.Member{{Registration: common.Registration{
		Life:  common.Life{Worker: "w1", Name: "north"},
		Slots: 1,
		Lease: 1,
	}}}
	var v jobs.Validation
	apitest.Decode(t, h.Want(http.StatusOK,
		apitest.As("editor", http.MethodPost, "/api/v1/jobs/validate?placement=true",
			`{"name":"a","command":"true"}`)), &v)
	if len(v.Warnings) != 0 || v.Placement == nil || len(v.Placement.Items) != 1 ||
		v.Placement.Items[0].Name != "north" {
		t.Errorf("%+v", v)
	}
}
