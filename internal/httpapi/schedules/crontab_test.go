package schedules_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/schedules"
)

func TestCrontab(t *testing.T) {
	h := apitest.NewHarness(t)
	text := "MAILTO=ops\r\n\r\n# Nightly report\r\n30 2 * * * make report%hello\r\n@reboot /bin/true\r\n61 * * * * " +
		"date\r\n0 0 1 * 1 -both\r\n"
	var c schedules.Crontab
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodPost, "/api/v1/crontab/parse",
		`{"text":`+strconv.Quote(text)+
			`,"timezone":"Europe/Berlin","group":"reports","prefix":"/etc/cron.d/night.ly","home":"/srv"}`)), &c)
	type told struct {
		line    int
		text    string
		job     string // timetable, command, input, description
		notices string
	}
	want := []told{
		{1, "MAILTO=ops", "", "note carriage_returns, note mailto_user ops"},
		{4, "30 2 * * * make report%hello", "30 2 * * *|make report|hello\n|Nightly report", ""},
		{5, "@reboot /bin/true", "", "notTaken reboot"},
		{6, "61 * * * * date", "", "fault field 61"},
		{7, "0 0 1 * 1 -both", "0 0 1 * 1|-both||", "note either_day"},
	}
	if len(c.Items) != len(want) || c.Jobs != 2 || c.Faults != 1 || c.NotTaken != 1 {
		t.Fatalf("%+v", c)
	}
	for i, item := range c.Items {
		got := told{line: item.Line, text: item.Text}
		if j := item.Job; j != nil {
			got.job = j.CronExpr + "|" + j.Command + "|" + j.Stdin + "|" + j.Title
			if j.Group != "reports" || j.Timezone != "Europe/Berlin" || j.WorkDir != "/srv" ||
				!strings.HasPrefix(j.Name, "night-ly-") || j.Labels["crontab-line"] == "" || *item.MailTo != "ops" {
				t.Errorf("line %d: %+v", item.Line, j)
			}
		}
		var notices []string
		for _, n := range item.Notices {
			notices = append(notices, strings.TrimSpace(n.Level+" "+n.Code+" "+n.Value))
		}
		if got.notices = strings.Join(notices, ", "); got != want[i] {
			t.Errorf("%+v, want %+v", got, want[i])
		}
	}

	// Berlin is at most two hours ahead of UTC; the first fire is the next 2:30 there.
	if next := c.Items[1].Next; next == nil || !next.After(time.Now()) || time.Until(*next) > 26*time.Hour ||
		next.Minute() != 30 || c.Items[3].Next != nil {
		t.Errorf("next fires %v, %v", next, c.Items[3].Next)
	}

	var quotes schedules.Crontab
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodPost, "/api/v1/crontab/parse",
		`{"text":`+strconv.Quote("17 * * * * echo \"hello %world\" % line two")+`}`)), &quotes)
	if line := quotes.Items[0]; line.Job.Command != `echo "hello` || line.Job.Stdin != "world\" \n line two\n" ||
		len(line.Notices) != 2 || line.Notices[0].Code != "percent" || line.Notices[1].Code != "open_quote" ||
		line.Notices[1].Value != `"` {
		t.Errorf("%+v", line)
	}

	var system schedules.Crontab
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodPost, "/api/v1/crontab/parse",
		`{"text":"* * * * * root id","system":true}`)), &system)
	if j := system.Items[0].Job; j.User != "root" || j.Command != "id" || j.Timezone != "UTC" || j.Group != "crontab" {
		t.Errorf("%+v", j)
	}
	var many schedules.Crontab
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodPost, "/api/v1/crontab/parse",
		`{"text":`+strconv.Quote(strings.Repeat("* * * * * date\n", schedules.MaxCrontabEntries+2))+`}`)), &many)
	if last := many.Items[len(many.Items)-1]; many.Jobs != schedules.MaxCrontabEntries ||
		last.Line != schedules.MaxCrontabEntries+1 ||
		last.Notices[0].Code != "too_many" {
		t.Errorf("%d jobs, the last line is %+v", many.Jobs, last)
	}
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body.timezone",
		apitest.As("viewer", http.MethodPost, "/api/v1/crontab/parse", `{"text":"x","timezone":"Mars"}`))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body.text",
		apitest.As("viewer", http.MethodPost, "/api/v1/crontab/parse", `{"text":""}`))
}

// A line that was imported before has the name of its job, whatever that is; other lines get names that are free.
func TestCrontab_RecognizesImportedLines(t *testing.T) {
	h := apitest.NewHarness(t)
	parse := func(who string) (items []schedules.CrontabLine) {
		var c schedules.Crontab
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As(who, http.MethodPost, "/api/v1/crontab/parse",
			`{"text":"30 2 * * * make report\n0 3 * * * backup\n"}`)), &c)
		return c.Items
	}
	first := parse("editor")
	if first[0].Job.Name != "make-report" || first[0].Exists || first[0].MailTo != nil ||
		first[0].Job.Labels["crontab-import"] == "" {
		t.Fatalf("%+v", first[0])
	}
	h.Want(http.StatusCreated, apitest.As("editor", http.MethodPost, "/api/v1/jobs",
		`{"name":"nightly","command":"make report","labels":{"crontab":"crontab","crontab-line":"`+
			first[0].Job.Labels["crontab-line"]+`"}}`))
	h.Want(http.StatusCreated, apitest.As("editor", http.MethodPost, "/api/v1/jobs",
		`{"name":"backup","command":"another one"}`))
	second := parse("editor")
	if got := second[0]; got.Job.Name != "nightly" || !got.Exists {
		t.Errorf("an imported line: %+v", got)
	}
	if got := second[1]; got.Job.Name != "backup-2" || got.Exists {
		t.Errorf("a line whose name is taken: %+v", got)
	}
	// Who may set the label of a line must not become the owner of its job for others.
	if got := parse("viewer")[0]; got.Job.Name != "make-report" || got.Exists {
		t.Errorf("a line whose job the caller may not edit: %+v", got)
	}
}

// MAILTO becomes a channel, which the caller creates: the jobs notify it of what they print.
func TestCrontab_MailTo_NotifiesChannel(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(http.StatusCreated, apitest.As("admin", http.MethodPut, "/api/v1/channels/managers",
		`{"kind":"mail","to":["boss@example.com"]}`))
	text := "MAILTO=ops@example.com\n0 1 * * * one\nMAILTO=\n0 2 * * * two\nMAILTO=boss@example.com\n0 3 * * * three\n"
	for who, boss := range map[string]string{"admin": "managers", "editor": "mail-boss-example-com"} {
		var c schedules.Crontab
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As(who, http.MethodPost, "/api/v1/crontab/parse",
			`{"text":`+strconv.Quote(text)+`}`)), &c)
		var got []string
		for _, item := range c.Items {
			switch {
			case item.Job == nil:
			case item.Job.Notify == nil:
				got = append(got, "-")
			default:
				got = append(got, string(item.Job.Notify.On[0])+"@"+item.Job.Notify.To[0])
			}
		}
		// Only an admin sees which channel has an address.
		if s := strings.Join(got, " "); s != "output@mail-ops-example-com - output@"+boss {
			t.Errorf("%s: %s", who, s)
		}
		if c.Channels[0].Name != "mail-ops-example-com" || c.Channels[0].To[0] != "ops@example.com" ||
			(len(c.Channels) == 1) != (who == "admin") {
			t.Errorf("%s: to create: %+v", who, c.Channels)
		}
	}
}

// What changes a part of something is taken under both names of a patch.
func TestPatch_AcceptsBothMediaTypes(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(http.StatusCreated, apitest.As("editor", http.MethodPost, "/api/v1/jobs", `{"name":"a","command":"true"}`))
	h.WorkerList = []common.Member{{Registration: common.Registration{
		Life:  common.Life{Worker: "w1", Name: "north"},
		Lease: 1,
	}}}
	for path, body := range map[string]string{"/api/v1/jobs/a": `{"title":"A"}`, "/api/v1/workers/w1": `{"slots":3}`} {
		for _, mediaType := range []string{"application/json", "application/merge-patch+json"} {
			h.Want(http.StatusOK, apitest.As("admin", http.MethodPatch, path, body, "Content-Type", mediaType))
		}
		h.Problem(http.StatusUnsupportedMediaType, "unsupported_media_type", "header.Content-Type",
			apitest.As("admin", http.MethodPatch, path, body, "Content-Type", "text/json"))
	}
	h.Problem(http.StatusUnsupportedMediaType, "unsupported_media_type", "header.Content-Type",
		apitest.As("admin", http.MethodPost, "/api/v1/jobs", `{"name":"b","command":"true"}`, "Content-Type",
			"application/merge-patch+json"))
}
