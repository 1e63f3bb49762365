package audit_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	chain "carillon/internal/audit"
	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/audit"
	"carillon/internal/httpapi/core"
)

func TestAudit(t *testing.T) {
	record := &apitest.FakeAudit{}
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Audit = record })
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range 120 {
		at := noon.Add(time.Duration(i) * time.Minute)
		c := common.Change{
			ID:       fmt.Sprintf("%s-%d", common.TimeKey(at), i),
			At:       at,
			Actor:    common.Actor{Name: []string{"ada", "bob"}[i%2], Remote: "::1", User: "ada", Token: "t1"},
			Verb:     []string{"create", "delete", "replace"}[i%3],
			Kind:     "job",
			Name:     fmt.Sprint("j", i%5),
			Revision: int64(i + 1),
			After:    json.RawMessage(`{"name":"j","env":{"KEY":"canary"},"command":"true"}`),
		}
		if i < 119 {
			c.Link = &common.Link{Seq: int64(i + 1), Hash: fmt.Sprintf("%064x", i), Text: "{}"}
		}
		record.Changes = append(record.Changes, c)
	}
	pages := func(query string) (items []audit.AuditEntry) {
		t.Helper()
		for cursor := ""; ; {
			w := h.Want(200, apitest.As("admin", "GET", "/api/v1/audit?"+query+cursor, ""))
			if strings.Contains(w.Body.String(), "canary") {
				t.Fatalf("a value of env is shown: %s", w.Body)
			}
			var page core.HistoryPage[audit.AuditEntry]
			apitest.Decode(t, w, &page)
			items = append(items, page.Items...)
			if page.NextCursor == "" {
				return items
			}
			cursor = "&cursor=" + page.NextCursor
		}
	}
	all := pages("limit=50")
	if len(all) != 120 || all[0].Seq != 0 || all[0].Hash != "" || all[1].Seq != 119 ||
		all[1].Actor != (common.Actor{
			Name:   "ada",
			Remote: "::1",
			User:   "ada",
			Token:  "t1",
		}) ||
		!strings.Contains(string(all[1].After), `"command":"true"`) || all[119].Revision != 1 {
		t.Errorf("%d entries, the first ones %+v", len(all), all[:2])
	}
	for query, want := range map[string]int{
		"actor=bob":                 60,
		"actor=BOB":                 0,
		"verb=delete":               40,
		"kind=job&name=j3":          24,
		"kind=user":                 0,
		"from=2026-03-01T13:00:00Z": 60,
		"to=2026-03-01T12:10:00Z":   10,
		"from=2026-03-01T12:10:00Z&to=2026-03-01T12:30:00Z&actor=ada&limit=3": 10,
	} {
		if got := pages(query); len(got) != want {
			t.Errorf("%s: %d entries, want %d", query, len(got), want)
		}
	}
	var page core.HistoryPage[audit.AuditEntry]
	apitest.Decode(t, h.Want(200, apitest.As("admin", "GET", "/api/v1/audit?limit=5&actor=ada", "")), &page)
	h.Problem(422, "invalid", "query.cursor",
		apitest.As("admin", "GET", "/api/v1/audit?limit=5&actor=bob&cursor="+page.NextCursor, ""))
	h.Problem(422, "invalid", "query.to",
		apitest.As("admin", "GET", "/api/v1/audit?from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z", ""))
	record.Away = true
	apitest.Decode(t, h.Want(200, apitest.As("admin", "GET", "/api/v1/audit", "")), &page)
	if !page.Partial {
		t.Error("it is not said that the log store is away")
	}
}

func TestAuditVerify(t *testing.T) {
	record := &apitest.FakeAudit{}
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Audit = record })
	link := &common.Link{
		Seq:      4,
		Previous: strings.Repeat("ab", 32),
		Hash:     chain.Hash(strings.Repeat("ab", 32), `{"<&>":1}`),
		Text:     `{"<&>":1}`,
	}
	record.Step = chain.Step{
		From:    4,
		To:      4,
		Checked: 1,
		Head:    chain.Anchor{Seq: 4, Hash: link.Hash},
		Kept:    chain.Anchor{Seq: 3, Hash: link.Previous},
		Entries: []common.Change{{ID: "x", Link: link}},
	}
	var got chain.Step
	apitest.Decode(t, h.Want(200, apitest.As("admin", "GET", "/api/v1/audit/verify", "")), &got)
	if !got.Intact || got.Links != nil || got.Head.Seq != 4 || got.Kept.Seq != 3 || got.Checked != 1 {
		t.Errorf("%+v", got)
	}
	apitest.Decode(t, h.Want(200, apitest.As("admin", "GET", "/api/v1/audit/verify?from=4&limit=7&links=true", "")),
		&got)
	if len(got.Links) != 1 || got.Links[0].Hash != chain.Hash(got.Links[0].Previous, got.Links[0].Text) ||
		!slices.Equal(record.Asked, []int64{1, 500, 4, 7}) {
		t.Errorf("%+v, asked for %v", got, record.Asked)
	}
	record.Step.Faults = []chain.Fault{{Seq: 4, ID: "x", Code: chain.FaultAltered, Text: "no"}}
	apitest.Decode(t, h.Want(200, apitest.As("admin", "GET", "/api/v1/audit/verify", "")), &got)
	if got.Intact || len(got.Faults) != 1 || got.Faults[0].Code != "altered" {
		t.Errorf("%+v", got)
	}
	for _, role := range []string{"viewer", "operator", "editor"} {
		h.Problem(403, "forbidden", "", apitest.As(role, "GET", "/api/v1/audit", ""))
		h.Problem(403, "forbidden", "", apitest.As(role, "GET", "/api/v1/audit/verify", ""))
	}
}
