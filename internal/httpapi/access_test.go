package httpapi_test

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/core"
)

// The exact list of public operations, the console's files aside. Adding a
// line here is a decision.
func publicRoutes() []string {
	return []string{"GET /api/v1/auth/methods", "GET /api/v1/auth/oidc/callback", "GET /api/v1/auth/oidc/start",
		"GET /healthz", "GET /readyz", "POST /api/v1/auth/login",
		"POST /api/v1/hooks/{key}"}
}

func TestRoutes_RequireAuthentication(t *testing.T) {
	h := apitest.NewHarness(t)
	var open []string
	for _, route := range h.Router.Routes() {
		r := apitest.As("", route.Method, apitest.Fill(route.Path), "")
		if w := h.Send(r); w.Code != http.StatusUnauthorized {
			open = append(open, route.Method+" "+strings.Replace(route.Path, ":key", "{key}", 1))
		} else if w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%s: 401 without WWW-Authenticate", route.Path)
		}
	}
	slices.Sort(open)
	if !slices.Equal(open, publicRoutes()) {
		t.Errorf("public: %q", open)
	}
	for path, item := range h.Router.API.OpenAPI().Paths {
		for method, op := range apitest.Operations(item) {
			public := slices.Contains(publicRoutes(), method+" "+path)
			if role := op.Extensions["x-carillon-role"]; (role == "public") != public ||
				(len(op.Security) == 0) != public {
				t.Errorf("%s %s says role %v, security %v", method, path, role, op.Security)
			}
		}
	}
	// What no route answers is refused alike, so that the API cannot be mapped.
	for _, target := range []string{"/api", "/api/", "/api/v1/", "/api/v2/jobs", "/api/v1/jobs/a/secret", "/nothing",
		"/metrics/", "//api/v1/jobs",
		"/debug/pprof/", "/api/v1/jobs/%2e%2e/a", "/API/v1/jobs"} {
		h.Problem(http.StatusUnauthorized, "unauthenticated", "", apitest.As("", http.MethodGet, target, ""))
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch,
		http.MethodOptions, "BREW"} {
		h.Want(http.StatusUnauthorized, apitest.As("", method, "/", "", "Accept", "text/html"))
		h.Want(http.StatusUnauthorized, apitest.As("", method, "/healthz", ""))
	}
	for _, header := range []string{"Basic YTpi", "Bearer", "Bearer ", "Bearer x", "bearer viewer-toke", "viewer-token",
		"Token viewer-token"} {
		h.Problem(http.StatusUnauthorized, "unauthenticated", "",
			apitest.As("", http.MethodGet, "/api/v1/jobs", "", "Authorization", header))
	}
}

func TestRoles(t *testing.T) {
	h := apitest.NewHarness(t)
	walked := 0
	for path, item := range h.Router.API.OpenAPI().Paths {
		for method, op := range apitest.Operations(item) {
			needed := op.Extensions["x-carillon-role"].(string)
			if needed == string(core.Public) {
				continue
			}
			if needed == string(core.Authenticated) {
				needed = string(access.Viewer)
			}
			walked++
			for _, role := range access.Roles {
				w := h.Send(apitest.As(string(role), method, apitest.Fill(path), ""))
				if allowed := role.Includes(access.Role(needed)); allowed == (w.Code == http.StatusForbidden) ||
					w.Code == http.StatusUnauthorized {
					t.Errorf("%s %s as %s: %d; it needs %s", method, path, role, w.Code, needed)
				}
			}
		}
	}
	if walked < 15 {
		t.Errorf("only %d operations were walked", walked)
	}
	for _, path := range []string{"/metrics", "/openapi.json", "/openapi.yaml", "/docs"} {
		h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, path, ""))
	}
	p := h.Problem(http.StatusForbidden, "forbidden", "", apitest.As("viewer", http.MethodPost, "/api/v1/jobs",
		apitest.AJob))
	if !strings.Contains(p.Hint, "editor") {
		t.Errorf("the refusal does not say which role is needed: %+v", p)
	}
	if len(h.Jobs) != 0 {
		t.Error("a refused request has written")
	}
}

func TestRouteWithoutRoleIsRefused(t *testing.T) {
	for _, a := range []core.Audience{"", "root"} {
		h := apitest.NewHarness(t)
		h.Router.Raw(http.MethodGet, "/planted", a, http.NotFoundHandler())
		core.Register(h.Router, core.Route{Access: a, Operation: apitest.OperationAt("/planted2")},
			func(context.Context, *struct{}) (*struct{}, error) { return nil, nil })
		if h.Router.Err == nil {
			t.Errorf("a route with role %q is registered", a)
		}
	}
}

func TestSession(t *testing.T) {
	for _, secure := range []bool{true, false} {
		h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Secure = secure })
		h.Codes = map[string]access.Identity{"once": {Name: "the admin", Role: access.Admin}}
		name := apitest.PlainCookie
		if secure {
			name = apitest.SecureCookie
		}
		// A session that the client brings along is not taken up.
		planted := name + "=" + access.NewSecret()
		c := apitest.Login(t, h, `{"code":"once"}`, "Cookie", planted)
		if c.Name != name || strings.Contains(planted, c.Value) || !c.HttpOnly || c.Secure != secure ||
			c.SameSite != http.SameSiteLaxMode ||
			c.Path != "/" || c.Domain != "" {
			t.Errorf("secure %v: cookie %+v", secure, c)
		}
		h.Problem(http.StatusUnauthorized, "unauthenticated", "",
			apitest.As("", http.MethodGet, "/api/v1/auth/me", "", "Cookie", planted))
		w := h.Want(http.StatusOK, apitest.As("", http.MethodGet, "/api/v1/auth/me", "", "Cookie", name+"="+c.Value))
		if !strings.Contains(w.Body.String(), `"role":"admin","session":true`) {
			t.Error(w.Body)
		}
		h.Problem(http.StatusUnauthorized, "unauthenticated", "",
			apitest.As("", http.MethodPost, "/api/v1/auth/login", `{"code":"once"}`))

		// The other name is not read: a plain cookie must not pass for a secure one.
		other := apitest.SecureCookie
		if secure {
			other = apitest.PlainCookie
		}
		h.Want(http.StatusUnauthorized, apitest.As("", http.MethodGet, "/api/v1/auth/me", "", "Cookie",
			other+"="+c.Value))
		// Beside a token the cookie counts for nothing.
		h.Want(http.StatusForbidden, apitest.As("viewer", http.MethodPost, "/api/v1/jobs", apitest.AJob, "Cookie",
			name+"="+c.Value))
		h.Want(http.StatusUnauthorized, apitest.As("unknown", http.MethodGet, "/api/v1/auth/me", "", "Cookie",
			name+"="+c.Value))

		w = h.Want(http.StatusNoContent, apitest.As("", http.MethodPost, "/api/v1/auth/logout", "", "Cookie",
			name+"="+c.Value))
		if out := w.Result().Cookies(); len(out) != 1 || out[0].MaxAge >= 0 || out[0].Value != "" {
			t.Errorf("logout leaves the cookie: %v", out)
		}
		h.Want(http.StatusUnauthorized, apitest.As("", http.MethodGet, "/api/v1/auth/me", "", "Cookie",
			name+"="+c.Value))
	}
}

func TestCrossSiteRequests_AreRefused(t *testing.T) {
	h := apitest.NewHarness(t)
	c := apitest.Login(t, h, `{"token":"admin-token"}`)
	cookie := c.Name + "=" + c.Value
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"},
		{"Origin", "null"},
	} {
		for _, target := range []string{"/api/v1/jobs", "/api/v1/auth/login", "/api/v1/auth/logout",
			"/api/v1/jobs/a/run"} {
			h.Problem(http.StatusForbidden, "forbidden", "",
				apitest.As("", http.MethodPost, target, apitest.AJob, append(headers, "Cookie", cookie)...))
		}
	}
	h.Want(http.StatusCreated, apitest.As("", http.MethodPost, "/api/v1/jobs", apitest.AJob, "Sec-Fetch-Site",
		"same-origin",
		"Cookie", cookie))
	h.Want(http.StatusCreated, apitest.As("admin", http.MethodPost, "/api/v1/jobs",
		strings.Replace(apitest.AJob, `"a"`, `"b"`, 1)))
	// Nothing changes by a GET.
	lists := []string{"/api/v1/jobs", "/api/v1/users", "/api/v1/tokens"}
	for _, route := range h.Router.Routes() {
		if route.Method == http.MethodPost && !strings.Contains(route.Path, ":name") {
			if w := h.Send(apitest.As("admin", http.MethodGet, apitest.Fill(route.Path),
				"")); w.Code == http.StatusOK &&
				!slices.Contains(lists, route.Path) {
				t.Errorf("GET %s: %d", route.Path, w.Code)
			}
		}
	}
	if len(h.Jobs) != 2 {
		t.Errorf("%d jobs", len(h.Jobs))
	}
}

// A proxy that does not pass the Host on makes our own pages look like another site's to browsers that send no
// Sec-Fetch-Site: publicURL says that they are ours, and the refusal says what to do.
func TestCrossSiteRequests_ProxyChangesTheHost_AreRefused(t *testing.T) {
	for public, status := range map[string]int{
		"":                          http.StatusForbidden,
		"https://cron.example.com":  http.StatusOK,
		"https://cron.example.com/": http.StatusOK,
		"https://other.example.com": http.StatusForbidden,
	} {
		h := apitest.NewHarness(t, func(c *httpapi.Config) { c.PublicURL = public })
		attempt := func(headers ...string) *http.Request {
			r := apitest.As("", http.MethodPost, "/api/v1/auth/login", `{"token":"admin-token"}`, headers...)
			r.Host = "carillon" // the upstream's name in nginx
			return r
		}
		var p core.Problem
		w := h.Want(status, attempt("Origin", "https://cron.example.com"))
		if status == http.StatusForbidden {
			if apitest.Decode(t, w, &p); p.Reason != "other_site" ||
				!strings.Contains(p.Detail, "https://cron.example.com") ||
				!strings.Contains(p.Detail, `"carillon"`) ||
				!strings.Contains(p.Hint, "Host") || !strings.Contains(p.Hint, "publicURL") {
				t.Errorf("%+v", p)
			}
		}
		h.Want(http.StatusForbidden, attempt("Origin", "https://evil.example"))
		h.Want(http.StatusForbidden, attempt("Origin", "http://cron.example.com"))
	}
}

func TestLoginIsLimited(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Now = func() time.Time { return now } })
	attempt := func(body, forwarded string) *http.Request {
		return apitest.As("", http.MethodPost, "/api/v1/auth/login", body, "X-Forwarded-For", forwarded,
			"X-Real-IP", forwarded)
	}
	for range 10 {
		h.Want(http.StatusOK, attempt(`{"token":"viewer-token"}`, "203.0.113.1"))
	}
	for i := range 5 {
		h.Want(http.StatusUnauthorized, attempt(`{"token":"wrong"}`, "203.0.113."+string(rune('1'+i))))
	}
	p := attempt(`{"token":"viewer-token"}`, "198.51.100.9")
	h.Problem(http.StatusTooManyRequests, "too_many_requests", "", p)
	if w := h.Send(attempt(`{"token":"wrong"}`, "198.51.100.10")); w.Header().Get("Retry-After") != "61" {
		t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
	}
	elsewhere := attempt(`{"token":"viewer-token"}`, "")
	elsewhere.RemoteAddr = "198.51.100.1:1234"
	h.Want(http.StatusOK, elsewhere)
	now = now.Add(time.Minute)
	h.Want(http.StatusOK, attempt(`{"token":"viewer-token"}`, "203.0.113.1"))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body.code", attempt(`{}`, ""))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body.code", attempt(`{"code":"a","token":"b"}`, ""))
}

func TestActor_IsTheCaller(t *testing.T) {
	h := apitest.NewHarness(t)
	r := apitest.As("editor", http.MethodPost, "/api/v1/jobs", apitest.AJob, "X-Forwarded-For", "203.0.113.1")
	r.RemoteAddr = "192.0.2.7:4711"
	h.Want(http.StatusCreated, r)
	want := common.Actor{Name: "the editor", Remote: "192.0.2.7", Token: "editor"}
	if len(h.Actors) == 1 {
		want.Request = cmp.Or(h.Actors[0].Request, "missing")
	}
	if len(h.Actors) != 1 || h.Actors[0] != want {
		t.Errorf("the actor is %+v", h.Actors)
	}
}

func TestReadinessHidesItsChecks(t *testing.T) {
	h := apitest.NewHarness(t)
	if w := h.Want(http.StatusOK, apitest.As("", http.MethodGet, "/readyz", "")); w.Body.String() != `{"status":"ok"}`+
		"\n" {
		t.Error(w.Body)
	}
	if w := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/readyz",
		"")); !strings.Contains(w.Body.String(),
		`"etcd"`) {
		t.Error(w.Body)
	}
	h.Unready = true
	if w := h.Want(http.StatusServiceUnavailable,
		apitest.As("", http.MethodGet, "/readyz", "")); w.Body.String() != `{"status":"unavailable"}`+"\n" {
		t.Error(w.Body)
	}
	h.Want(http.StatusOK, apitest.As("", http.MethodGet, "/healthz", ""))
	// An old cookie or a wrong token does not close what is public.
	h.Want(http.StatusOK, apitest.As("unknown", http.MethodGet, "/healthz", ""))
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Secure = true })
	for _, r := range []*http.Request{apitest.As("", http.MethodGet, "/healthz", ""),
		apitest.As("", http.MethodGet, "/api/v1/jobs", ""),
		apitest.As("viewer", http.MethodGet, "/api/v1/jobs", ""),
		apitest.As("", http.MethodGet, "/", "", "Accept", "text/html"),
		apitest.As("viewer", http.MethodGet, "/docs", "")} {
		w := httptest.NewRecorder()
		h.Handler.ServeHTTP(w, r)
		for name, want := range map[string]string{
			"X-Content-Type-Options":    "nosniff",
			"Content-Security-Policy":   "frame-ancestors 'none'",
			"Referrer-Policy":           "no-referrer",
			"Strict-Transport-Security": "max-age=",
			"X-Request-Id":              "",
		} {
			if got := w.Header().Get(name); got == "" || !strings.Contains(got, want) {
				t.Errorf("%s: %s is %q", r.URL, name, got)
			}
		}
		if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'self'") &&
			!strings.Contains(csp, "default-src 'none'") ||
			strings.Contains(csp, "script-src") || strings.Contains(csp, "http") {
			t.Errorf("%s: %s", r.URL, csp)
		}
		if httpapi.IsAPI(r.URL.Path) && w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s may be kept: %q", r.URL, w.Header().Get("Cache-Control"))
		}
	}
}
