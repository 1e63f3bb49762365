package channels_test

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/channels"
	"carillon/internal/httpapi/core"
	"carillon/internal/notify"
)

func TestChannels(t *testing.T) {
	h := apitest.NewHarness(t)
	const path = "/api/v1/channels/ops"
	w := h.Want(http.StatusCreated, apitest.As("admin", http.MethodPut, path,
		`{"kind":"webhook","url":"https://hooks.example.com/T0/canary"}`))
	tag := w.Header().Get("ETag")
	var c channels.Channel
	if apitest.Decode(t, w, &c); c.Secret != "whsec_canary" || c.Origin != "https://hooks.example.com" || tag == "" {
		t.Errorf("made: %+v, %s", c, tag)
	}
	// From then on neither the secret nor the URL is returned to any caller, and the addresses to admins only.
	for role, origin := range map[string]string{
		"viewer":   "",
		"operator": "",
		"editor":   "",
		"admin":    "https://hooks.example.com",
	} {
		for _, target := range []string{path, "/api/v1/channels"} {
			w := h.Want(http.StatusOK, apitest.As(role, http.MethodGet, target, ""))
			if strings.Contains(w.Body.String(), "canary") ||
				strings.Contains(w.Body.String(), "hooks.example.com") != (origin != "") ||
				!strings.Contains(w.Body.String(), `"ops"`) {
				t.Errorf("%s as %s: %s", target, role, w.Body)
			}
		}
	}
	h.Problem(http.StatusPreconditionFailed, "stale", "",
		apitest.As("admin", http.MethodPut, path, `{"kind":"mail","to":["a@example.com"]}`, "If-None-Match", "*"))
	h.Want(http.StatusOK, apitest.As("admin", http.MethodPut, path, `{"kind":"mail","to":["a@example.com"]}`,
		"If-Match", tag))
	for _, c := range []struct{ body, location string }{
		{`{"kind":"pigeon"}`, "body.kind"},
		{`{"kind":"mail"}`, "body.to"},
		{`{"kind":"mail","to":["A <a@example.com>"]}`, "body.to[0]"},
		{`{"kind":"mail","to":["a@example.com"],"uid":1}`, "body.uid"},
		{`{"kind":"mail","to":["a@example.com"],"url":"https://x.example"}`, "body.url"},
	} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", c.location,
			apitest.As("admin", http.MethodPut, path, c.body))
	}
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body.url",
		apitest.As("admin", http.MethodPut, "/api/v1/channels/new",
			`{"kind":"webhook"}`))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body.url",
		apitest.As("admin", http.MethodPut, "/api/v1/channels/new",
			`{"kind":"webhook","url":"ftp://x"}`))
	h.Want(http.StatusOK, apitest.As("admin", http.MethodPost, path+"/test", ""))
	h.Problem(http.StatusNotFound, "not_found", "",
		apitest.As("admin", http.MethodPost, "/api/v1/channels/none/test", ""))
	h.Want(http.StatusNoContent, apitest.As("admin", http.MethodDelete, path, ""))
	h.Problem(http.StatusNotFound, "not_found", "", apitest.As("admin", http.MethodDelete, path, ""))
}

// The API accepts and returns each kind.
func TestChannels_Enumerations_ContainAllKinds(t *testing.T) {
	var names []string
	for _, kind := range notify.Kinds {
		names = append(names, string(kind))
	}
	want := strings.Join(names, ",")
	for _, holder := range []any{notify.ChannelDefinition{}, channels.Channel{}, channels.Delivery{}} {
		field, _ := reflect.TypeOf(holder).FieldByName("Kind")
		if got := field.Tag.Get("enum"); got != want {
			t.Errorf("%T: %s, want %s", holder, got, want)
		}
	}
}

// The language is shown to all, and the URL to no one.
func TestChannels_ChatService_ShowsLanguageOnly(t *testing.T) {
	h := apitest.NewHarness(t)
	w := h.Want(http.StatusCreated, apitest.As("admin", http.MethodPut, "/api/v1/channels/team",
		`{"kind":"slack","url":"https://hooks.slack.com/services/canary","language":"zh"}`))
	for _, body := range []string{w.Body.String(),
		h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/channels/team", "")).Body.String()} {
		if strings.Contains(body, "canary") || !strings.Contains(body, `"language":"zh"`) {
			t.Errorf("shown: %s", body)
		}
	}
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body.language", apitest.As("admin", http.MethodPut,
		"/api/v1/channels/team", `{"kind":"slack","language":"fr"}`))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body.secret", apitest.As("admin", http.MethodPut,
		"/api/v1/channels/team", `{"kind":"slack","newSecret":true}`))
}

func TestChannels_UsedByAndLastDelivery(t *testing.T) {
	ports := &apitest.FakeChannels{}
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Channels = ports })
	h.Want(http.StatusCreated, apitest.As("admin", http.MethodPut, "/api/v1/channels/ops",
		`{"kind":"mail","to":["a@example.com"]}`))
	h.Want(http.StatusCreated, apitest.As("admin", http.MethodPut, "/api/v1/channels/spare",
		`{"kind":"mail","to":["a@example.com"]}`))
	for _, name := range []string{"weekly", "nightly"} {
		h.Want(http.StatusCreated, apitest.As("editor", http.MethodPut, "/api/v1/jobs/"+name,
			`{"name":"`+name+`","command":"true","notify":{"on":["failed"],"to":["ops"]}}`))
	}
	ports.NoticeList = []notify.Notice{
		{ID: "3", Channel: "ops", Subject: "failed", Status: notify.Waiting},
		{
			ID:       "2",
			Channel:  "ops",
			Subject:  "failed",
			Status:   notify.Failed,
			Code:     notify.CodeRefused,
			Error:    "canary",
			Attempts: 1,
		},
		{ID: "1", Channel: "ops", Subject: "failed", Status: notify.Sent, Attempts: 1},
	}
	var all core.Page[channels.Channel]
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/channels", "")), &all)
	if len(all.Items) != 2 || all.Items[0].Jobs != 2 || all.Items[0].Last != nil || all.Items[1].Jobs != 0 {
		t.Errorf("listed: %+v", all.Items)
	}
	apitest.Decode(t, h.Want(http.StatusOK,
		apitest.As("viewer", http.MethodGet, "/api/v1/channels?include=last", "")), &all)
	if last := all.Items[0].Last; last == nil || last.ID != "2" || last.Error != "" || all.Items[0].Pending != 1 ||
		all.Items[1].Last != nil {
		t.Errorf("with the last delivery: %+v", all.Items)
	}
	var one channels.Channel
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/channels/ops", "")), &one)
	if !slices.Equal(one.UsedBy, []string{"nightly", "weekly"}) {
		t.Errorf("one: %+v", one)
	}
	h.Problem(http.StatusForbidden, "forbidden", "",
		apitest.As("editor", http.MethodPost, "/api/v1/deliveries/2/retry", ""))
	var again channels.Delivery
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("admin", http.MethodPost, "/api/v1/deliveries/2/retry", "")),
		&again)
	if again.Status != notify.Waiting || again.NextAt == nil || again.Attempts != 0 {
		t.Errorf("retried: %+v", again)
	}
	h.Problem(http.StatusConflict, "conflict", "",
		apitest.As("admin", http.MethodPost, "/api/v1/deliveries/1/retry", ""))
	h.Problem(http.StatusNotFound, "not_found", "",
		apitest.As("admin", http.MethodPost, "/api/v1/deliveries/9/retry", ""))
}

func TestDeliveries(t *testing.T) {
	ports := &apitest.FakeChannels{}
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Channels = ports })
	for _, id := range []string{"5", "4", "3", "2", "1"} {
		ports.NoticeList = append(ports.NoticeList, notify.Notice{
			ID:        id,
			Channel:   "ops",
			Kind:      notify.KindMail,
			Subject:   "failed",
			Status:    notify.Sent,
			Attempts:  1,
			Error:     "canary",
			CreatedAt: time.Now(),
			Data:      notify.Data{Event: "failed", Job: "nightly"},
		})
	}
	var all []string
	target := "/api/v1/deliveries?limit=2&job=nightly"
	for cursor := ""; ; {
		w := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, target+cursor, ""))
		if strings.Contains(w.Body.String(), "canary") {
			t.Errorf("a viewer sees %s", w.Body)
		}
		var page core.Page[channels.Delivery]
		apitest.Decode(t, w, &page)
		for _, d := range page.Items {
			all = append(all, d.ID)
		}
		if page.NextCursor == "" {
			break
		}
		cursor = "&cursor=" + page.NextCursor
		h.Problem(http.StatusUnprocessableEntity, "invalid", "query.cursor",
			apitest.As("viewer", http.MethodGet, "/api/v1/deliveries?limit=2"+cursor, ""))
	}
	if !slices.Equal(all, []string{"5", "4", "3", "2", "1"}) {
		t.Errorf("listed: %v", all)
	}
	if w := h.Want(http.StatusOK, apitest.As("admin", http.MethodGet, "/api/v1/deliveries?channel=ops&status=sent",
		"")); !strings.Contains(w.Body.String(), "canary") {
		t.Errorf("an admin sees %s", w.Body)
	}
	h.Problem(http.StatusUnprocessableEntity, "invalid", "query.status",
		apitest.As("viewer", http.MethodGet, "/api/v1/deliveries?status=lost", ""))
}

// The last line of a failed run is shown to callers who may read its output.
func TestDeliveries_LastLine_IsForThoseWhoMayReadTheOutput(t *testing.T) {
	reason := &common.Reason{Code: "exit_code", Text: "exit code 3", Data: common.Words{common.LastLine: "refused"}}
	ports := &apitest.FakeChannels{NoticeList: []notify.Notice{{
		ID: "1", Channel: "ops", Kind: notify.KindMail, Subject: "failed", Status: notify.Sent,
		Data: notify.Data{Event: "failed", Job: "nightly", Run: "u1.01.1", Group: "red", Reason: reason},
	}}}
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Channels = ports })
	for group, want := range map[string]string{"red": "refused", "blue": ""} {
		grants := map[string]access.Role{group: access.Viewer}
		h.Sessions[group] = access.Identity{Name: "ann", User: "ann", Grants: grants}
		w := h.Want(http.StatusOK, apitest.As("", http.MethodGet, "/api/v1/deliveries", "", "Cookie",
			apitest.PlainCookie+"="+group))
		var page core.Page[channels.Delivery]
		apitest.Decode(t, w, &page)
		if len(page.Items) != 1 || page.Items[0].LastLine != want {
			t.Errorf("with a role in %s: %+v", group, page.Items)
		}
	}
}
