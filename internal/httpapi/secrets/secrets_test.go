package secrets_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"carillon/internal/access"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/secrets"
)

const canary = "canary-4711-swordfish"

func TestSecrets(t *testing.T) {
	stored := &apitest.FakeSecrets{}
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Secrets = stored })
	const path = "/api/v1/secrets/db"
	said := func(w interface{ String() string }) {
		t.Helper()
		if strings.Contains(w.String(), canary) {
			t.Errorf("the value is answered: %s", w)
		}
	}
	made := h.Want(http.StatusCreated, apitest.As("admin", http.MethodPut, path,
		`{"value":"`+canary+`","description":"of the reports","groups":["reports"]}`))
	said(made.Body)
	if stored.Values["db"] != canary {
		t.Fatalf("kept is %q", stored.Values["db"])
	}
	said(h.Want(http.StatusOK, apitest.As("editor", http.MethodGet, path, "")).Body)
	list := h.Want(http.StatusOK, apitest.As("editor", http.MethodGet, "/api/v1/secrets", ""))
	said(list.Body)
	var all struct{ Items []secrets.Secret }
	apitest.Decode(t, list, &all)
	if len(all.Items) != 1 || all.Items[0].Name != "db" || !slices.Equal(all.Items[0].Groups, []string{"reports"}) ||
		all.Items[0].SetAt.IsZero() {
		t.Errorf("%+v", all)
	}
	h.Want(http.StatusCreated, apitest.As("editor", http.MethodPut, "/api/v1/jobs/report",
		`{"name":"report","command":"true","group":"reports","env":{"P":"secret:db"}}`))
	var one secrets.Secret
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("editor", http.MethodGet, path, "")), &one)
	if one.Jobs != 1 || !slices.Equal(one.UsedBy, []string{"report"}) {
		t.Errorf("its jobs: %+v", one)
	}
	changed := h.Want(http.StatusOK, apitest.As("admin", http.MethodPut, path, `{"description":"of all"}`, "If-Match",
		made.Header().Get("ETag")))
	if stored.Values["db"] != canary || changed.Header().Get("ETag") == made.Header().Get("ETag") {
		t.Errorf("a change without a value: %q, ETag %s", stored.Values["db"], changed.Header().Get("ETag"))
	}
	h.Problem(http.StatusPreconditionFailed, "stale", "",
		apitest.As("admin", http.MethodPut, path, `{"value":"`+canary+`"}`,
			"If-None-Match", "*"))
	for _, bad := range []string{`{"value":"short"}`, `{"value":"` + strings.Repeat("x", 4097) + `"}`,
		`{"value":"has a nul\u0000 in it"}`, `{}`} {
		p := h.Problem(http.StatusUnprocessableEntity, "invalid", "body.value",
			apitest.As("admin", http.MethodPut, "/api/v1/secrets/new", bad))
		if p.Errors[0].Value != nil {
			t.Errorf("%.20s is quoted: %v", bad, p.Errors[0].Value)
		}
	}
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body.groups[0]",
		apitest.As("admin", http.MethodPut, path, `{"groups":["Nope"]}`))
	h.Want(http.StatusNoContent, apitest.As("admin", http.MethodDelete, path+"?force=true", ""))
	h.Problem(http.StatusNotFound, "not_found", "", apitest.As("admin", http.MethodDelete, path, ""))
	h.Problem(http.StatusNotFound, "not_found", "", apitest.As("editor", http.MethodGet, path, ""))
}

// Who keeps a secret is an admin wherever it may be used, before and after; who sees it could use it.
func TestSecrets_PermittedCallers(t *testing.T) {
	stored := &apitest.FakeSecrets{}
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Secrets = stored })
	people := map[string]access.Identity{
		"reporter": {Name: "reporter", Grants: map[string]access.Role{"reports": access.Admin, "other": access.Editor}},
		"stranger": {Name: "stranger", Grants: map[string]access.Role{"stranger": access.Admin}},
		"editor":   {Name: "editor", Role: access.Editor},
		"viewer":   {Name: "viewer", Role: access.Viewer},
	}
	maps.Copy(h.Sessions, people)
	ask := func(who, method, path, body string) int {
		r := apitest.As("", method, path, body)
		r.AddCookie(&http.Cookie{Name: apitest.PlainCookie, Value: who})
		return h.Send(r).Code
	}
	const path = "/api/v1/secrets/"
	value := func(groups string) string { return `{"value":"` + canary + `","groups":[` + groups + `]}` }
	for _, c := range []struct {
		who, method, name, body string
		want                    int
	}{
		{"reporter", http.MethodPut, "r", value(`"reports"`), 201},
		{"reporter", http.MethodPut, "r", value(`"reports","other"`), 403},
		{"reporter", http.MethodPut, "r", value(``), 403},
		{"reporter", http.MethodPut, "all", value(``), 403},
		{"editor", http.MethodPut, "r", value(`"reports"`), 403},
		{"stranger", http.MethodPut, "r", value(`"stranger"`), 403},
		{"stranger", http.MethodDelete, "r", "", 403},
		{"stranger", http.MethodGet, "r", "", 403},
		{"reporter", http.MethodGet, "r", "", 200},
		{"editor", http.MethodGet, "r", "", 200},
		{"viewer", http.MethodGet, "r", "", 403},
		{"viewer", http.MethodGet, "", "", 403},
		{"stranger", http.MethodPut, "s", value(`"stranger"`), 201},
		{"reporter", http.MethodDelete, "s", "", 403},
		{"reporter", http.MethodDelete, "r", "", 204},
	} {
		if got := ask(c.who, c.method, strings.TrimSuffix(path+c.name, "/"), c.body); got != c.want {
			t.Errorf("%s %s %q %s: %d, want %d", c.who, c.method, c.name, c.body, got, c.want)
		}
	}
	r := apitest.As("", http.MethodGet, "/api/v1/secrets", "")
	r.AddCookie(&http.Cookie{Name: apitest.PlainCookie, Value: "reporter"})
	if body := h.Want(http.StatusOK, r).Body.String(); strings.Contains(body, `"s"`) {
		t.Errorf("a secret of another group is listed: %s", body)
	}
}

// A secret that jobs refer to is deleted by force only; the refusal names the jobs that the caller may see.
func TestSecrets_InUse_IsDeletedByForceOnly(t *testing.T) {
	stored := &apitest.FakeSecrets{}
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Secrets = stored })
	h.Sessions["reporter"] = access.Identity{Name: "reporter", Grants: map[string]access.Role{"reports": access.Admin}}
	as := func(who, path string) *http.Request {
		r := apitest.As("", http.MethodDelete, path, "")
		r.AddCookie(&http.Cookie{Name: apitest.PlainCookie, Value: who})
		return r
	}
	const path = "/api/v1/secrets/db"
	h.Want(http.StatusCreated, apitest.As("admin", http.MethodPut, path,
		`{"value":"`+canary+`","groups":["other","reports"]}`))
	for _, group := range []string{"other", "reports"} {
		h.Want(http.StatusCreated, apitest.As("admin", http.MethodPut, "/api/v1/jobs/of-"+group,
			`{"name":"of-`+group+`","command":"true","group":"`+group+`","env":{"P":"secret:db"}}`))
	}
	h.Want(http.StatusOK, apitest.As("admin", http.MethodPut, path, `{"groups":["reports"]}`))
	for who, jobs := range map[string]string{"reporter": "of-reports, …", "admin": "of-other, of-reports"} {
		r := as(who, path)
		if who == "admin" {
			r = apitest.As("admin", http.MethodDelete, path, "")
		}
		p := h.Problem(http.StatusConflict, "conflict", "", r)
		if p.Reason != "secret_in_use" || p.Data["jobs"] != jobs || p.Data["count"] != "2" ||
			!strings.Contains(p.Detail, jobs) {
			t.Errorf("%s: %+v", who, p)
		}
	}
	if stored.Values["db"] != canary {
		t.Fatal("it was deleted")
	}
	h.Want(http.StatusForbidden, apitest.As("editor", http.MethodDelete, path+"?force=true", ""))
	h.Want(http.StatusNoContent, as("reporter", path+"?force=true"))
	h.Want(http.StatusNotFound, apitest.As("editor", http.MethodGet, path, ""))
}
