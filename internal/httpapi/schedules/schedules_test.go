package schedules_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/schedules"
)

func TestPreview(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := apitest.NewHarness(t, func(c *httpapi.Config) {
		c.Now = func() time.Time { return now }
		c.Timezone = "Asia/Shanghai"
	})
	preview := func(body, language string) *http.Request {
		return apitest.As("viewer", http.MethodPost, "/api/v1/schedules/preview", body, "Accept-Language", language)
	}
	var en, zh schedules.Preview
	w := h.Want(http.StatusOK, preview(`{"cronExpr":"30 2 * * MON-FRI","count":3}`, "fr, en-GB;q=0.8"))
	apitest.Decode(t, w, &en)
	if len(en.Fires) != 3 || en.Fires[0].Format(time.RFC3339) != "2026-03-02T02:30:00+08:00" ||
		en.Timezone != "Asia/Shanghai" ||
		en.Description == "" || w.Header().Get("Content-Language") != "en" {
		t.Errorf("%+v %v", en, w.Header())
	}
	if !strings.Contains(w.Body.String(), `"2026-03-02T02:30:00+08:00"`) {
		t.Errorf("fires are not in the zone: %s", w.Body)
	}
	w = h.Want(http.StatusOK, preview(`{"cronExpr":"30 2 * * MON-FRI"}`, "zh-CN,zh;q=0.9,en;q=0.8"))
	apitest.Decode(t, w, &zh)
	if len(zh.Fires) != 10 || zh.Description == en.Description || w.Header().Get("Content-Language") != "zh" {
		t.Errorf("%+v", zh)
	}
	var dst schedules.Preview
	apitest.Decode(t,
		h.Want(http.StatusOK,
			preview(
				`{"cronExpr":"30 2 * * *","timezone":"America/New_York","from":"2026-03-07T12:00:00Z","count":2,"dst":{"gap":"skip"}}`, "")), &dst)
	if len(dst.Notes) == 0 || dst.Notes[0].Code != "dst_gap_skip" ||
		dst.Fires[0].Format(time.RFC3339) != "2026-03-09T02:30:00-04:00" {
		t.Errorf("%+v", dst)
	}

	var several schedules.Preview
	apitest.Decode(t, h.Want(http.StatusOK, preview(`{"from":"2026-03-02T00:00:00Z","count":4,"schedules":[`+
		`{"cronExpr":"0 9-10 * * *","timezone":"UTC"},{"cronExpr":"30 9,10 * * *","timezone":"UTC"},`+
		`{"cronExpr":"0 18 * * *"},{"cronExpr":"@every 1h","startAt":"2026-03-03T00:00:00Z"}]}`, "")), &several)
	if len(several.Fires) != 4 || !slices.Equal(several.Entries, []int{1, 2, 1, 2}) ||
		strings.Count(several.Description, ";") < 3 {
		t.Errorf("several schedules: %+v", several)
	}

	for _, c := range []struct{ body, location, code string }{
		{`{"cronExpr":"61 * * * *"}`, "body.cronExpr", "cron_field_range"},
		{`{"cronExpr":""}`, "body.cronExpr", "cron_empty"},
		{`{"cronExpr":"0 9 * * * *"}`, "body.cronExpr", "cron_six_fields"},
		{`{"cronExpr":"0 0 31 2 *"}`, "body.cronExpr", "cron_never"},
		{`{"cronExpr":"50-10 * * * *"}`, "body.cronExpr", "cron_range_reversed"},
		{`{"cronExpr":"* * * * *\n* * * * *"}`, "body.cronExpr", "cron_characters"},
		{`{"cronExpr":"` + strings.Repeat("1,", 300) + `1 * * * *"}`, "body.cronExpr", "cron_too_long"},
		{`{"cronExpr":"` + strings.Repeat("1,", 600) + `1 * * * *"}`, "body.cronExpr", "too_long"},
		{`{"cronExpr":"* * * * *","timezone":"Mars/Olympus"}`, "body.timezone", "zone_unknown"},
		{`{"cronExpr":"* * * * *","timezone":"Local"}`, "body.timezone", "zone_local"},
		{`{"cronExpr":"* * * * *","timezone":"../../etc/passwd"}`, "body.timezone", "zone_unknown"},
		{`{"cronExpr":"* * * * *","dst":{"gap":"x"}}`, "body.dst.gap", "enum"},
		{`{"cronExpr":"* * * * *","from":"yesterday"}`, "body.from", "time"},
		{`{"cronExpr":"* * * * *","count":101}`, "body.count", "range"},
		{`{"timezone":"UTC"}`, "body.cronExpr", "cron_empty"},
		{`{"schedules":[{"cronExpr":"@daily"},{"cronExpr":"61 * * * *"}]}`, "body.schedules[1].cronExpr",
			"cron_field_range"},
		{`{"schedules":[{"cronExpr":"@daily","timezone":"Mars/Olympus"}]}`, "body.schedules[0].timezone",
			"zone_unknown"},
		{`{"schedules":[{"cronExpr":"@daily"},{"cronExpr":"@every 1h"}]}`, "body.schedules[1].cronExpr",
			"cron_every_start"},
		{`{"schedules":[{"cronExpr":"@daily"}],"cronExpr":"@daily"}`, "body.schedules", "exclusive"},
	} {
		p := h.Problem(http.StatusUnprocessableEntity, "invalid", c.location, preview(c.body, ""))
		if len(p.Errors) != 1 || p.Errors[0].Code != c.code || len(p.Errors[0].Message) > 600 {
			t.Errorf("%.60s: %+v, want %s", c.body, p.Errors, c.code)
		}
	}
	p := h.Problem(http.StatusUnprocessableEntity, "invalid", "body.cronExpr",
		preview(`{"cronExpr":"0 9 * * * *"}`, ""))
	if p.Errors[0].Hint == "" {
		t.Errorf("six fields are refused without a hint: %+v", p.Errors)
	}
}
