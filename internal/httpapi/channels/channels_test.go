package channels_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

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
