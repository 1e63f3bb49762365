package hooks_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	pure "carillon/internal/hooks"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/hooks"
)

const uid = "aaaaaaaaaaaaaaaa"

// world is the API with a job "deploy" of the group "web".
type world struct {
	*apitest.Harness
	hooks *apitest.FakeHooks
	now   time.Time
	log   bytes.Buffer
}

func newWorld(t *testing.T) *world {
	w := &world{hooks: &apitest.FakeHooks{}, now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	w.Harness = apitest.NewHarness(t, func(c *httpapi.Config) {
		c.Hooks, c.Now, c.PublicURL = w.hooks, func() time.Time { return w.now }, "https://cron.example.com/"
		c.Logger = slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	w.Jobs["deploy"] = common.JobState{Version: 3, StoredJob: common.StoredJob{UID: uid, Job: common.Job{Name: "deploy",
		Group: "web", Params: common.Params{"REF": {Pattern: "[a-z/]+"}, "WHO": {}, "ENV": {}}}}}
	w.hooks.SetUID("deploy", uid)
	return w
}

const path = "/api/v1/jobs/deploy/hooks"

// create creates a hook and returns it with its URL, as a path.
func (w *world) create(body string) hooks.Hook {
	w.T.Helper()
	var h hooks.Hook
	apitest.Decode(w.T, w.Want(http.StatusCreated, apitest.As("editor", http.MethodPost, path, body)), &h)
	h.URL = w.path(h.URL)
	return h
}

func (w *world) path(url string) string {
	w.T.Helper()
	target, ok := strings.CutPrefix(url, "https://cron.example.com")
	if !ok || !strings.HasPrefix(target, "/api/v1/hooks/crnh_") {
		w.T.Fatalf("the URL is %q", url)
	}
	return target
}

// post is a delivery.
func post(target, body string, headers ...string) *http.Request {
	return apitest.As("", http.MethodPost, target, body, headers...)
}

func (w *world) last() common.TriggerRequest {
	w.T.Helper()
	if len(w.Triggers) == 0 {
		w.T.Fatal("nothing was started")
	}
	return w.Triggers[len(w.Triggers)-1]
}

func TestHook_Delivery_StartsItsJob(t *testing.T) {
	w := newWorld(t)
	h := w.create(`{"name":"push","params":{"REF":{"path":"$.ref"},"WHO":{"path":"$.commits[0][\"who\"].name",` +
		`"optional":true},"ENV":{"value":"prod"}}}`)
	const body = `{"ref":"refs/heads/main","commits":[{"who":{"name":7.50}}]}`
	answer := w.Want(http.StatusAccepted, post(h.URL, body, "traceparent",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
	var started hooks.HookStarted
	apitest.Decode(t, answer, &started)
	if started.Run == "" || started.Link != "https://cron.example.com/runs/"+started.Run ||
		answer.Header().Get("Location") != "/api/v1/runs/"+started.Run ||
		!strings.HasPrefix(started.Run, started.Fire) {
		t.Errorf("%+v, %v", started, answer.Header())
	}
	asked := w.last()
	want := map[string]string{"REF": "refs/heads/main", "WHO": "7.50", "ENV": "prod"}
	if asked.Job != "deploy" || asked.JobUID != uid || asked.Hook == "" || asked.Key != "" ||
		!maps.Equal(asked.Params, want) || !strings.Contains(asked.Traceparent, "0af7651916cd43dd8448eb211c80319c") {
		t.Errorf("%+v", asked)
	}
	// Cookies, tokens and the site that the request comes from do not count.
	w.Want(http.StatusAccepted, post(h.URL, body, "Origin", "https://forms.example", "Sec-Fetch-Site", "cross-site",
		"Cookie", "carillon=x", "Authorization", "Bearer wrong"))
	// An optional value that is absent or null is left out; another one, and one that has no text, is refused.
	w.Want(http.StatusAccepted, post(h.URL, `{"ref":"main","commits":{}}`))
	if got := w.last().Params; !maps.Equal(got, map[string]string{"REF": "main", "ENV": "prod"}) {
		t.Errorf("%v", got)
	}
	before := len(w.Triggers)
	for _, body := range []string{`{}`, `{"ref":null}`, ``} {
		p := w.Problem(http.StatusUnprocessableEntity, "invalid", "body.params.REF", post(h.URL, body))
		if p.Errors[0].Code != "required" {
			t.Errorf("%s: %+v", body, p.Errors)
		}
	}
	// A form, as GitHub sends unless told otherwise, holds no JSON to take values from.
	w.Problem(http.StatusUnsupportedMediaType, "unsupported_media_type", "header.Content-Type",
		post(h.URL, "payload=%7B%7D", "Content-Type", "application/x-www-form-urlencoded"))
	w.Problem(http.StatusUnprocessableEntity, "invalid", "body.params.REF", post(h.URL, `{"ref":{}}`))
	w.Problem(http.StatusUnprocessableEntity, "invalid", "body", post(h.URL, `{"ref":`))
	w.Problem(http.StatusUnsupportedMediaType, "unsupported_media_type", "header.Content-Type",
		post(h.URL, `ref`, "Content-Type", "text/plain"))
	p := w.Problem(http.StatusRequestEntityTooLarge, "too_large", "body",
		post(h.URL, `{"ref":"`+strings.Repeat("x", pure.MaxBody)+`"}`))
	if size := p.Errors[0].Data["size"]; size != "2 MiB" {
		t.Errorf("the limit is %q", size)
	}
	if len(w.Triggers) != before {
		t.Error("a refused delivery has started the job")
	}
}

func TestHook_WithoutSources_TakesAnyBody(t *testing.T) {
	w := newWorld(t)
	h := w.create(`{"name":"ping","params":{"ENV":{"value":"x"}}}`)
	w.Want(http.StatusAccepted, post(h.URL, ""))
	w.Want(http.StatusAccepted, post(h.URL, "anything", "Content-Type", "text/plain"))
	w.Want(http.StatusAccepted, post(h.URL, strings.Repeat("x", pure.MaxBody)))
}

func TestHook_Form(t *testing.T) {
	w := newWorld(t)
	h := w.create(`{"name":"form","params":{"REF":{"field":"branch"},"WHO":{"field":"who"}}}`)
	const form = "application/x-www-form-urlencoded"
	answer := w.Want(http.StatusAccepted, post(h.URL+"?who=ann+b", "branch=main", "Content-Type", form, "Accept",
		"text/html,*/*", "Origin", "null"))
	page := answer.Body.String()
	if ct := answer.Header().Get("Content-Type"); !strings.HasPrefix(ct, "text/html") ||
		!strings.Contains(page, "<h1>Started</h1>") || strings.Contains(page, "<script") ||
		!strings.Contains(answer.Header().Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%v %s", answer.Header(), page)
	}
	if got := w.last().Params; got["REF"] != "main" || got["WHO"] != "ann b" {
		t.Errorf("%v", got)
	}
	// A problem is a page as well, whose text is escaped.
	answer = w.Want(http.StatusUnprocessableEntity, post(h.URL+"?branch=b", "branch=a", "Content-Type", form, "Accept",
		"text/html", "Accept-Language", "zh"))
	if page := answer.Body.String(); !strings.Contains(page, "未启动") || !strings.Contains(page, `lang="zh"`) {
		t.Error(page)
	}
	w.Want(http.StatusAccepted, post(h.URL+"?who=ann", "branch=main", "Content-Type", form)) // a program gets JSON
}

func TestHook_UnknownKey_IsNotFoundAndLimited(t *testing.T) {
	w := newWorld(t)
	h := w.create(`{"name":"a"}`)
	wrong := strings.Replace(h.URL, h.URL[len(h.URL)-4:], "abcd", 1)
	if wrong == h.URL {
		wrong = h.URL[:len(h.URL)-4] + "efgh"
	}
	other := "/api/v1/hooks/" + pure.NewKey("bbbbbbbbbbbbbbbb").Reveal()
	for _, target := range []string{wrong, "/api/v1/hooks/x", other, wrong, wrong} {
		p := w.Problem(http.StatusNotFound, "not_found", "", post(target, "{}"))
		if p.Detail != "not found" || p.Reason != "" || p.Hint != "" {
			t.Errorf("%+v", p)
		}
	}
	limited := w.Want(http.StatusTooManyRequests, post(wrong, "{}"))
	if limited.Header().Get("Retry-After") != "60" {
		t.Errorf("Retry-After %q", limited.Header().Get("Retry-After"))
	}
	// The right key is accepted all the same, and elsewhere a wrong one is counted apart.
	w.Want(http.StatusAccepted, post(h.URL, "{}"))
	w.Want(http.StatusNotFound, apitest.At(post(wrong, "{}"), "203.0.113.9"))
	w.now = w.now.Add(time.Minute)
	w.Want(http.StatusNotFound, post(wrong, "{}"))
	// A malformed key is not looked up, and other methods are not served.
	finds := w.hooks.Finds
	w.Want(http.StatusNotFound, post("/api/v1/hooks/crnh_x", "{}"))
	w.Want(http.StatusUnauthorized, apitest.As("", http.MethodGet, h.URL, ""))
	w.Want(http.StatusUnauthorized, post(h.URL+"/", "{}"))
	if w.hooks.Finds != finds {
		t.Error("a malformed key was looked up")
	}
}

func sum(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

func TestHook_Signature(t *testing.T) {
	const secret, body = "a-shared-secret", `{"ref":"main"}`
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	timed := func(at time.Time, secret, body string) string {
		return fmt.Sprintf("t=%d,v1=%s", at.Unix(), sum(secret, fmt.Sprintf("%d.%s", at.Unix(), body)))
	}
	for kind, c := range map[string]struct {
		settings, header string
		good             []string
		bad              []string
	}{
		"github": {"", "X-Hub-Signature-256", []string{"sha256=" + sum(secret, body)},
			[]string{"", "sha256=", sum(secret, body), "sha256=" + sum("other", body),
				"sha256=" + sum(secret, body+" "), "sha1=" + sum(secret, body)}},
		"github, other header": {`,"header":"X-Gitea-Signature-256"`, "X-Gitea-Signature-256",
			[]string{"sha256=" + sum(secret, body)}, []string{""}},
		"gitlab": {"", "X-Gitlab-Token", []string{secret}, []string{"", "a-shared-secre", secret + "x"}},
		"gitlab, bearer": {`,"header":"authorization"`, "authorization", []string{secret, "Bearer " + secret,
			"bearer " + secret}, []string{"", "Bearer ", "Bearer x" + secret, "Basic " + secret}},
		"gitlab, other header": {`,"header":"X-Token"`, "X-Token", []string{secret}, []string{"Bearer " + secret}},
		"timestamp": {"", "X-Carillon-Signature", []string{timed(now, secret, body),
			timed(now.Add(-5*time.Minute), secret, body), timed(now.Add(5*time.Minute), secret, body),
			"v1=00, " + timed(now.Add(time.Second), secret, body)},
			[]string{"", timed(now.Add(-301*time.Second), secret, body), timed(now.Add(301*time.Second), secret, body),
				timed(now, "other", body), timed(now, secret, "{}"), "v1=" + sum(secret, "."+body), "t=x,v1=00"}},
	} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			w.now = now
			name, _, _ := strings.Cut(kind, ",")
			h := w.create(`{"name":"a","signature":"` + name + `","secret":"` + secret + `"` + c.settings + `}`)
			if h.Secret != "" {
				t.Error("a given secret is returned")
			}
			for _, good := range c.good {
				w.Want(http.StatusAccepted, post(h.URL, body, c.header, good))
			}
			for i, bad := range c.bad {
				started := len(w.Triggers)
				p := w.Problem(http.StatusForbidden, "forbidden", "", apitest.At(post(h.URL, body, c.header, bad),
					fmt.Sprintf("198.51.%d.1", i)))
				if p.Reason != "hook_signature" || p.Data["header"] != c.header || len(w.Triggers) != started {
					t.Errorf("%q: %+v", bad, p)
				}
			}
			// Wrong signatures are limited as wrong keys are.
			for range 5 {
				w.Send(post(h.URL, body, c.header, "wrong"))
			}
			if p := w.Problem(http.StatusTooManyRequests, "too_many_requests", "",
				post(h.URL, body, c.header, "wrong")); p.Reason != "hook_attempts" {
				t.Errorf("%+v", p)
			}
		})
	}
}

func TestHook_GeneratedSecret_IsReturnedOnce(t *testing.T) {
	w := newWorld(t)
	h := w.create(`{"name":"a","signature":"github"}`)
	if h.Secret == "" {
		t.Fatal("no secret was generated")
	}
	w.Want(http.StatusAccepted, post(h.URL, "{}", "X-Hub-Signature-256", "sha256="+sum(h.Secret, "{}")))
	for _, target := range []string{path, path + "/a"} {
		method, body := http.MethodGet, ""
		if target != path {
			method, body = http.MethodPut, `{"signature":"github"}`
		}
		if answer := w.Want(http.StatusOK, apitest.As("editor", method, target, body)); strings.Contains(
			answer.Body.String(), h.Secret) || strings.Contains(answer.Body.String(), "crnh_") {
			t.Errorf("%s shows a secret: %s", target, answer.Body)
		}
	}
	// GitHub tests the URL with a ping, which starts nothing.
	started := len(w.Triggers)
	w.Want(http.StatusNoContent, post(h.URL, "{}", "X-Hub-Signature-256", "sha256="+sum(h.Secret, "{}"),
		"X-GitHub-Event", "ping"))
	// It does so whatever the hook asks for, also if it needs no values, and if it is signed in another way.
	open, token := w.create(`{"name":"b"}`), w.create(`{"name":"c","signature":"gitlab","secret":"0123456789"}`)
	w.Want(http.StatusNoContent, post(open.URL, "{}", "X-GitHub-Event", "ping"))
	w.Want(http.StatusNoContent, post(token.URL, "{}", "X-GitHub-Event", "ping", "X-Gitlab-Token", "0123456789"))
	w.Want(http.StatusForbidden, post(token.URL, "{}", "X-GitHub-Event", "ping"))
	if len(w.Triggers) != started {
		t.Error("a ping has started the job")
	}
}

// A secret that this master cannot decrypt concerns its operator: the log has the cause, and the sender retries.
func TestHook_SecretCannotBeDecrypted(t *testing.T) {
	w := newWorld(t)
	h := w.create(`{"name":"a","signature":"gitlab","secret":"0123456789"}`)
	w.hooks.Sealed = common.Errorf(common.CodeUnavailable, "not now").WithCause(errors.New("the cause"))
	p := w.Problem(http.StatusServiceUnavailable, "unavailable", "", post(h.URL, "{}", "X-Gitlab-Token", "0123456789"))
	if strings.Contains(p.Detail, "the cause") || !strings.Contains(w.log.String(), "the cause") {
		t.Errorf("%+v, and the log: %s", p, w.log.String())
	}
}

// A repeated delivery has the same idempotency key, and those of other hooks and deliveries have others.
func TestHook_DeliveryID_IsTheIdempotencyKey(t *testing.T) {
	w := newWorld(t)
	a, b := w.create(`{"name":"a"}`), w.create(`{"name":"b"}`)
	timed := w.create(`{"name":"timed","signature":"timestamp","secret":"0123456789"}`)
	key := func(target string, headers ...string) string {
		t.Helper()
		w.Want(http.StatusAccepted, post(target, "{}", headers...))
		return w.last().Key
	}
	seen := map[string]string{}
	for what, headers := range map[string][]string{
		"github": {"X-GitHub-Delivery", "1"}, "gitlab": {"X-Gitlab-Event-UUID", "1"}, "key": {"Idempotency-Key", "1"},
		"other": {"Idempotency-Key", "2"},
	} {
		for hook, target := range map[string]string{"a": a.URL, "b": b.URL} {
			got := key(target, headers...)
			if got == "" || got != key(target, headers...) || seen[got] != "" {
				t.Errorf("%s of %s: %q is that of %q", what, hook, got, seen[got])
			}
			seen[got] = what + " of " + hook
			if note := w.last().Note; note != headers[0]+" "+headers[1] {
				t.Errorf("the note is %q", note)
			}
		}
	}
	if got := key(a.URL); got != "" {
		t.Errorf("without an id: %q", got)
	}
	// With the signature of GitHub only its own header counts.
	signed := w.create(`{"name":"signed","signature":"github","secret":"0123456789"}`)
	by := []string{"X-Hub-Signature-256", "sha256=" + sum("0123456789", "{}"), "X-Gitlab-Event-UUID", "1",
		"Idempotency-Key", "1"}
	if got := key(signed.URL, by...); got != "" {
		t.Errorf("with the headers of other senders: %q", got)
	}
	by = append(by, "X-GitHub-Delivery", "7")
	if got := key(signed.URL, by...); !strings.HasSuffix(got, "X-GitHub-Delivery 7") {
		t.Errorf("with the header of GitHub: %q", got)
	}
	w.Problem(http.StatusUnprocessableEntity, "invalid", "header.Idempotency-Key",
		post(a.URL, "{}", "Idempotency-Key", strings.Repeat("x", 129)))
	// Of a signature with a time the signature counts, in any spelling, and not a header that it does not cover.
	at := fmt.Sprint(w.now.Unix())
	mac := sum("0123456789", at+".{}")
	first := key(timed.URL, "X-Carillon-Signature", "t="+at+",v1="+mac, "Idempotency-Key", "1")
	if second := key(timed.URL, "X-Carillon-Signature", "v1="+strings.ToUpper(mac)+", t="+at, "Idempotency-Key",
		"2"); first == "" || first != second {
		t.Errorf("%q and %q", first, second)
	}
}

func TestHook_Rate(t *testing.T) {
	w := newWorld(t)
	few, usual := w.create(`{"name":"few","rate":2}`), w.create(`{"name":"usual"}`)
	for range 2 {
		w.Want(http.StatusAccepted, post(few.URL, "{}"))
	}
	w.now = w.now.Add(20 * time.Second)
	answer := w.Want(http.StatusTooManyRequests, post(few.URL, "{}"))
	if answer.Header().Get("Retry-After") != "40" || !strings.Contains(answer.Body.String(), "hook_rate") {
		t.Errorf("%v %s", answer.Header(), answer.Body)
	}
	for range pure.DefaultRate {
		w.Want(http.StatusAccepted, post(usual.URL, "{}"))
	}
	w.Want(http.StatusTooManyRequests, post(usual.URL, "{}"))
	w.now = w.now.Add(40 * time.Second)
	w.Want(http.StatusAccepted, post(few.URL, "{}"))
}

func TestHook_RotatedDisabledDeleted(t *testing.T) {
	w := newWorld(t)
	first := w.create(`{"name":"a","rate":5}`)
	w.Problem(http.StatusConflict, "exists", "", apitest.As("editor", http.MethodPost, path, `{"name":"a"}`))
	var second hooks.Hook
	apitest.Decode(t, w.Want(http.StatusOK, apitest.As("editor", http.MethodPost, path+"/a/rotate", "")), &second)
	second.URL = w.path(second.URL)
	if second.RotatedAt == nil || second.Rate != 5 || second.URL == first.URL {
		t.Errorf("%+v", second)
	}
	w.Want(http.StatusNotFound, post(first.URL, "{}"))
	w.Want(http.StatusAccepted, post(second.URL, "{}"))
	w.Want(http.StatusOK, apitest.As("editor", http.MethodPut, path+"/a", `{"disabled":true}`))
	if p := w.Problem(http.StatusConflict, "conflict", "", post(second.URL, "{}")); p.Reason != "hook_disabled" {
		t.Errorf("%+v", p)
	}
	w.Want(http.StatusOK, apitest.As("editor", http.MethodPut, path+"/a", `{}`))
	w.Want(http.StatusAccepted, post(second.URL, "{}"))
	w.Want(http.StatusNoContent, apitest.As("editor", http.MethodDelete, path+"/a", ""))
	w.Want(http.StatusNotFound, post(second.URL, "{}"))
	for _, r := range []*http.Request{apitest.As("editor", http.MethodDelete, path+"/a", ""),
		apitest.As("editor", http.MethodPut, path+"/a", "{}"),
		apitest.As("editor", http.MethodPost, path+"/a/rotate", "")} {
		w.Problem(http.StatusNotFound, "not_found", "", r)
	}
}

// Unknown keys, and deliveries over a limit, do not flood the log; a wrong signature is in it with the hook.
func TestHook_Refusals_InTheLog(t *testing.T) {
	w := newWorld(t)
	signed := w.create(`{"name":"signed","signature":"gitlab","secret":"0123456789"}`)
	few := w.create(`{"name":"few","rate":1}`)
	w.Want(http.StatusAccepted, post(few.URL, "{}"))
	warned := func(r *http.Request, status int) (lines []string) {
		t.Helper()
		w.log.Reset()
		w.Want(status, r)
		for line := range strings.Lines(w.log.String()) {
			if !strings.Contains(line, "level=DEBUG") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	other := "/api/v1/hooks/" + pure.NewKey(uid).Reveal()
	for what, lines := range map[string][]string{
		"an unknown key":   warned(post(other, "{}"), http.StatusNotFound),
		"a malformed key":  warned(post("/api/v1/hooks/x", "{}"), http.StatusNotFound),
		"one over a limit": warned(post(few.URL, "{}"), http.StatusTooManyRequests),
	} {
		if len(lines) > 0 {
			t.Errorf("%s is logged: %q", what, lines)
		}
	}
	wrong := func() *http.Request { return post(signed.URL, "{}", "X-Gitlab-Token", "not-the-secret") }
	for range 3 {
		lines := warned(wrong(), http.StatusForbidden)
		if got := strings.Join(lines, ""); !strings.Contains(got, "job=deploy hook=signed") ||
			strings.Contains(got, "not-the-secret") {
			t.Errorf("a wrong signature: %q", lines)
		}
	}
	if lines := warned(wrong(), http.StatusTooManyRequests); len(lines) > 0 {
		t.Errorf("a wrong signature over the limit is logged: %q", lines)
	}
}

// A change from a page that shows an older state does not take back what was changed since, such as a signature.
func TestHook_IfMatch(t *testing.T) {
	w := newWorld(t)
	first := w.create(`{"name":"a"}`)
	w.Sessions["editor"] = access.Identity{Name: "web-editor", User: "web-editor",
		Grants: map[string]access.Role{"web": access.Editor}}
	put := func(tag, body string) *http.Request {
		r := apitest.As("", http.MethodPut, path+"/a", body, "If-Match", tag)
		r.Header.Set("Cookie", apitest.PlainCookie+"=editor")
		return r
	}
	tag := fmt.Sprintf("%q", fmt.Sprint(first.Version))
	answer := w.Want(http.StatusOK, put(tag, `{"signature":"github"}`))
	next := answer.Header().Get("ETag")
	if first.Version == 0 || next == "" || next == tag {
		t.Errorf("ETag %q after %q", next, tag)
	}
	if p := w.Problem(http.StatusPreconditionFailed, "stale", "", put(tag, `{"disabled":true}`)); p.Reason !=
		"hook_changed" {
		t.Errorf("%+v", p)
	}
	var list struct{ Items []hooks.Hook }
	apitest.Decode(t, w.Want(http.StatusOK, apitest.As("operator", http.MethodGet, path, "")), &list)
	if list.Items[0].Signature != pure.GitHub || fmt.Sprintf("%q", fmt.Sprint(list.Items[0].Version)) != next {
		t.Errorf("%+v", list.Items)
	}
	w.Problem(http.StatusUnprocessableEntity, "invalid", "header.If-Match", put("x", `{}`))
	w.Want(http.StatusOK, put(next, `{"signature":"github","disabled":true}`))
}

// The URL of a job's hook does not start another job of the same name, even if the hook was left behind.
func TestHook_JobCreatedAgain_IsNotStarted(t *testing.T) {
	w := newWorld(t)
	h := w.create(`{"name":"a"}`)
	again := w.Jobs["deploy"]
	again.UID = "cccccccccccccccc"
	w.Jobs["deploy"] = again
	w.Problem(http.StatusNotFound, "not_found", "", post(h.URL, "{}"))
	delete(w.Jobs, "deploy")
	w.Problem(http.StatusNotFound, "not_found", "", post(h.URL, "{}"))
}

func TestHooks_Roles(t *testing.T) {
	w := newWorld(t)
	w.create(`{"name":"a"}`)
	edits := map[string]*http.Request{}
	for _, role := range []string{"viewer", "operator", "group-editor"} {
		edits[role+" creates"] = apitest.As(role, http.MethodPost, path, `{"name":"b"}`)
		edits[role+" changes"] = apitest.As(role, http.MethodPut, path+"/a", `{}`)
		edits[role+" rotates"] = apitest.As(role, http.MethodPost, path+"/a/rotate", "")
		edits[role+" deletes"] = apitest.As(role, http.MethodDelete, path+"/a", "")
	}
	w.Sessions["other"] = access.Identity{Name: "other", User: "other",
		Grants: map[string]access.Role{"other": access.Editor, "web": access.Operator}}
	for what, r := range edits {
		if strings.HasPrefix(what, "group-editor") {
			r.Header.Del("Authorization")
			r.Header.Set("Cookie", apitest.PlainCookie+"=other")
		}
		w.Want(http.StatusForbidden, r)
	}
	w.Want(http.StatusForbidden, apitest.As("viewer", http.MethodGet, path, ""))
	w.Want(http.StatusOK, apitest.As("operator", http.MethodGet, path, ""))
}

// The key appears in the answer that creates it, and nowhere else.
func TestHook_KeyIsNotLogged(t *testing.T) {
	w := newWorld(t)
	h := w.create(`{"name":"a","signature":"github"}`)
	key := h.URL[strings.LastIndex(h.URL, "/")+1:]
	part := key[len("crnh_")+len(uid)+1:][:20] // the log shortens long paths
	for _, r := range []*http.Request{
		post(h.URL, "{}"), post(h.URL+"/", "{}"), post(h.URL+"/x", "{}"), post("//"+h.URL[1:], "{}"),
		apitest.As("", http.MethodGet, h.URL, ""), apitest.As("viewer", http.MethodGet, h.URL, ""),
		apitest.As("viewer", http.MethodGet, h.URL, "", "Accept", "text/html"),
		apitest.As("viewer", http.MethodPut, h.URL, "{}"), post("/api/v1/"+key, "{}"), post("/api/v1/hook/"+key, "{}"),
		post(h.URL+"%2F", "{}"), post(strings.Replace(h.URL, "crnh_", "%63rnh_", 1), "{}"),
		post("/api/v1/hooks/x"+key, "{}"), post("/api/v1/hooks/"+strings.ToUpper(key), "{}"),
	} {
		answer := w.Send(r)
		if strings.Contains(strings.ToLower(answer.Body.String()+fmt.Sprint(answer.Header())), part) {
			t.Errorf("%s %s answers with the key: %s", r.Method, r.URL, answer.Body)
		}
	}
	if log := strings.ToLower(w.log.String()); strings.Contains(log, part) ||
		!strings.Contains(log, "path=/api/v1/hooks/{key}") {
		t.Errorf("the log: %s", log)
	}
	if data, err := json.Marshal(w.Actors); err != nil || bytes.Contains(data, []byte(part)) {
		t.Errorf("%s %v", data, err)
	}
}
