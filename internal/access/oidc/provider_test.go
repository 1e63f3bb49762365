package oidc

import (
	"context"
	"crypto/x509"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"carillon/internal/access"
	"carillon/internal/access/oidc/oidctest"
	"carillon/internal/common"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const callback = "https://carillon.example.com/api/v1/auth/oidc/callback"

// login is a browser that logs in at an issuer.
type login struct {
	t      *testing.T
	issuer *oidctest.Issuer
	p      *Provider
	now    time.Time
}

func newLogin(t *testing.T) *login { return newLoginAt(t, oidctest.Start(t)) }

func newLoginAt(t *testing.T, issuer *oidctest.Issuer, change ...func(*Config)) *login {
	l := &login{t: t, issuer: issuer, now: time.Now()}
	cfg := Config{
		Issuer:       l.issuer.URL,
		ClientID:     oidctest.ClientID,
		ClientSecret: oidctest.ClientSecret,
		RedirectURL:  callback,
		Scopes:       []string{"openid", "profile"},
		NameClaim:    "preferred_username",
		GroupsClaim:  "groups",
		Now:          func() time.Time { return l.now },
		Rules: []access.Rule{{Claimed: "ops", Role: access.Operator}, {
			Claimed: "data",
			Group:   "reports",
			Role:    access.Editor,
		}},
	}
	for _, c := range change {
		c(&cfg)
	}
	l.p = New(cfg)
	t.Cleanup(l.p.Close)
	return l
}

// begin starts a login at the issuer and returns the parameters of its redirect.
func (l *login) begin(to string) (cookie string, answer access.IssuerAnswer) {
	l.t.Helper()
	cookie, location, err := l.p.Begin(l.t.Context(), to)
	if err != nil {
		l.t.Fatal(err)
	}
	client := l.issuer.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Get(location)
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close()
	back, err := resp.Location()
	if err != nil || !strings.HasPrefix(back.String(), callback+"?") {
		l.t.Fatalf("the issuer sends the browser to %v (%d, %v)", back, resp.StatusCode, err)
	}
	return cookie, access.IssuerAnswer{Code: back.Query().Get("code"), State: back.Query().Get("state")}
}

func (l *login) all() (access.External, string, error) {
	l.t.Helper()
	cookie, answer := l.begin("/jobs?group=a")
	return l.p.Finish(l.t.Context(), cookie, answer)
}

func (l *login) refused(what string, code common.Code, err error) {
	l.t.Helper()
	if common.CodeOf(err) != code {
		l.t.Errorf("%s: %v, want %s", what, err, code)
	}
}

func TestLogin(t *testing.T) {
	l := newLogin(t)
	who, to, err := l.all()
	if err != nil {
		t.Fatal(err)
	}
	if to != "/jobs?group=a" || who.Name != "ann" || who.Subject != "248289761001" || who.Issuer != l.issuer.URL ||
		!slices.Equal(who.Claimed, []string{"ops"}) || who.Once == "" {
		t.Errorf("%+v, to %s", who, to)
	}
	again, _, err := l.all()
	if err != nil || again.Once == who.Once {
		t.Errorf("a second login is the first one: %+v, %v", again, err)
	}
}

func TestFinish_ForgedToken_Refused(t *testing.T) {
	l := newLogin(t)
	past := time.Now().Add(-time.Hour).Unix()
	for name, lie := range map[string]oidctest.WrongValues{
		"not signed":                   {Signature: "none"},
		"signed by a shared secret":    {Signature: "HS256"},
		"signed by another key":        {Signature: "other"},
		"for another client":           {Claims: map[string]any{"aud": "another"}},
		"without an audience":          {Claims: map[string]any{"aud": nil}},
		"for several, none of them us": {Claims: map[string]any{"aud": []string{oidctest.ClientID, "another"}}},
		"by another party":             {Claims: map[string]any{"azp": "another"}},
		"of another issuer":            {Claims: map[string]any{"iss": "https://id.example.com"}},
		"expired":                      {Claims: map[string]any{"exp": past}},
		"without an end":               {Claims: map[string]any{"exp": nil}},
		"not yet begun":                {Claims: map[string]any{"nbf": time.Now().Add(time.Hour).Unix()}},
		"of an earlier login":          {Claims: map[string]any{"nonce": "that of an earlier one"}},
		"without a nonce":              {Claims: map[string]any{"nonce": nil}},
		"without a subject":            {Claims: map[string]any{"sub": ""}},
		"with too long a subject":      {Claims: map[string]any{"sub": strings.Repeat("x", maxSubject+1)}},
		"no ID token":                  {NoToken: true},
		"of another, in the user info": {
			Claims:   map[string]any{"groups": nil},
			UserInfo: map[string]any{"sub": "another", "groups": []string{"ops"}},
		},
	} {
		l.issuer.Return(lie)
		who, _, err := l.all()
		l.refused(name, common.CodeUnauthenticated, err)
		if who.Subject != "" || who.Claimed != nil {
			t.Errorf("%s: %+v", name, who)
		}
	}
	l.issuer.Return(oidctest.WrongValues{Claims: map[string]any{
		"aud": []string{oidctest.ClientID, "another"},
		"azp": oidctest.ClientID,
	}})
	if _, _, err := l.all(); err != nil {
		t.Errorf("for several, and by us: %v", err)
	}
}

func TestFinish_OtherBrowser_Refused(t *testing.T) {
	l := newLogin(t)
	l.issuer.Return(oidctest.WrongValues{Reuse: true})
	mine, answer := l.begin("/")
	other, foreign := l.begin("/")
	before := l.issuer.TokenRequests()
	finish := func(what, cookie string, answer access.IssuerAnswer) {
		t.Helper()
		_, _, err := l.p.Finish(t.Context(), cookie, answer)
		l.refused(what, common.CodeUnauthenticated, err)
	}
	finish("no cookie", "", answer)
	finish("another browser's", other, answer)
	finish("no state", mine, access.IssuerAnswer{Code: answer.Code})
	finish("another's answer", mine, foreign)
	finish("half a cookie", mine[:len(mine)/2], answer)
	parts := strings.Split(mine, ".")
	finish("another path", parts[0]+"."+parts[1]+".L2V2aWw", answer)
	finish("a later begin", parts[0]+".9999999999."+parts[2], answer)
	finish("the issuer said no", mine, access.IssuerAnswer{State: answer.State, Error: "access_denied"})
	finish("of another issuer", mine, access.IssuerAnswer{
		State:  answer.State,
		Code:   answer.Code,
		Issuer: "https://id.example.com",
	})
	l.now = l.now.Add(access.ExternalLoginLife)
	finish("too late", mine, answer)
	l.now = l.now.Add(-access.ExternalLoginLife)
	if !l.p.Begun(mine, answer.State) || l.p.Begun(mine, foreign.State) || l.p.Begun(other, answer.State) ||
		l.p.Begun("", "") || l.p.Begun(mine, "") {
		t.Error("it is not told who began what")
	}
	if l.issuer.TokenRequests() != before {
		t.Error("the issuer is asked about what cannot be ours")
	}
	// Another's code with one's own state: the verifier does not fit.
	finish("another's code", mine, access.IssuerAnswer{State: answer.State, Code: foreign.Code})
	if _, _, err := l.p.Finish(t.Context(), mine, answer); err != nil {
		t.Errorf("and the right one: %v", err)
	}
	l.issuer.Return(oidctest.WrongValues{})
	_, _, _ = l.p.Finish(t.Context(), other, foreign)
	finish("a code twice", other, foreign)
}

func TestFinish_RightsComeFromRulesOnly(t *testing.T) {
	issuer := oidctest.Start(t)
	for name, c := range map[string]struct {
		rules  []access.Rule
		claims map[string]any
		info   map[string]any
		claim  string
		role   access.Role
		groups map[string]access.Role
		none   bool
	}{
		"no group":             {claims: map[string]any{"groups": []string{}}, none: true},
		"no group with a rule": {claims: map[string]any{"groups": []string{"admin", "admins", "OPS"}}, none: true},
		"a role by itself": {
			claims: map[string]any{"groups": nil, "role": "admin", "roles": []string{"admin"}},
			none:   true,
		},
		"a group": {
			claims: map[string]any{"groups": []string{"data", "x"}},
			groups: map[string]access.Role{"reports": access.Editor},
		},
		"two": {
			claims: map[string]any{"groups": []string{"data", "ops"}},
			role:   access.Operator,
			groups: map[string]access.Role{"reports": access.Editor},
		},
		"as a text": {claims: map[string]any{"groups": "ops"}, role: access.Operator},
		"odd ones": {
			claims: map[string]any{"groups": []any{7, nil, "ops", map[string]any{}}},
			role:   access.Operator,
		},
		"no list of names": {claims: map[string]any{"groups": 7}, none: true},
		"all users": {
			rules: []access.Rule{{Claimed: access.AllUsers, Role: access.Viewer},
				{Claimed: "ops", Role: access.Admin}},
			claims: map[string]any{"groups": []string{"x"}},
			role:   access.Viewer,
		},
		"the higher one": {
			rules: []access.Rule{{Claimed: "ops", Role: access.Admin},
				{Claimed: access.AllUsers, Role: access.Viewer}},
			role: access.Admin,
		},
		"a group called *": {
			rules:  []access.Rule{{Claimed: "ops", Role: access.Viewer}},
			claims: map[string]any{"groups": []string{"*"}},
			none:   true,
		},
		"by a path": {
			claim:  "realm_access.roles",
			claims: map[string]any{"realm_access": map[string]any{"roles": []string{"ops"}}},
			role:   access.Operator,
		},
		"from the user info": {
			claims: map[string]any{"groups": nil},
			info:   map[string]any{"groups": []string{"ops"}},
			role:   access.Operator,
		},
		"not from both": {
			claims: map[string]any{"groups": []string{"x"}},
			info:   map[string]any{"groups": []string{"ops"}},
			none:   true,
		},
	} {
		l := newLoginAt(t, issuer, func(cfg *Config) {
			if c.rules != nil {
				cfg.Rules = c.rules
			}
			if c.claim != "" {
				cfg.GroupsClaim = c.claim
			}
		})
		l.issuer.Return(oidctest.WrongValues{Claims: c.claims, UserInfo: c.info})
		who, _, err := l.all()
		if c.none {
			l.refused(name, common.CodeForbidden, err)
			continue
		}
		id, ok := l.p.issuer.Identity(&who)
		if err != nil || !ok || id.Role != c.role || !maps.Equal(id.Grants, c.groups) ||
			slices.Contains(who.Claimed, "x") {
			t.Errorf("%s: %+v is %+v, %v", name, who, id, err)
		}
	}
}

func TestExternalName_Invalid_IsReplacedByTheAddress(t *testing.T) {
	l := newLogin(t)
	for claimed, want := range map[any]string{
		"ann":                          "ann",
		"Änne Weiß":                    "Änne Weiß",
		"":                             "ann@example.com",
		"a\nb":                         "ann@example.com",
		"\x1b[31m":                     "ann@example.com",
		strings.Repeat("x", maxName+1): "ann@example.com",
		7:                              "ann@example.com",
	} {
		l.issuer.Return(oidctest.WrongValues{
			Claims: map[string]any{"preferred_username": claimed, "email": "ann@example.com"},
		})
		if who, _, err := l.all(); err != nil || who.Name != want {
			t.Errorf("%q: %q, %v", claimed, who.Name, err)
		}
	}
}

func TestFinish_ReturnsToConsolePathsOnly(t *testing.T) {
	l := newLogin(t)
	for to, want := range map[string]string{
		"/jobs/a":                        "/jobs/a",
		"/?x=1#y":                        "/?x=1#y",
		"":                               "/",
		"jobs":                           "/",
		"//evil.example.com":             "/",
		"/\\evil.example.com":            "/",
		"https://evil.example.com/":      "/",
		"/\tx":                           "/",
		"/\r\nSet-Cookie: a=b":           "/",
		"/" + strings.Repeat("x", maxTo): "/",
		"/é":                             "/",
	} {
		cookie, answer := l.begin(to)
		if _, got, err := l.p.Finish(t.Context(), cookie, answer); got != want || err != nil {
			t.Errorf("%.40q leads to %q, %v", to, got, err)
		}
	}
}

func TestBegin_IssuerAwayOrInvalid_Unavailable(t *testing.T) {
	l := newLogin(t)
	l.issuer.Close()
	_, _, err := l.p.Begin(t.Context(), "/")
	l.refused("away", common.CodeUnavailable, err)
	for name, document := range map[string]map[string]any{
		"another's document":       {"issuer": "https://id.example.com"},
		"tokens in the clear":      {"token_endpoint": "http://id.example.com/token"},
		"keys from elsewhere":      {"jwks_uri": "file:///etc/passwd"},
		"no algorithm of ours":     {"id_token_signing_alg_values_supported": []string{"HS256", "none"}},
		"no place for the browser": {"authorization_endpoint": nil},
	} {
		// http is allowed for an issuer on this machine, so these use https.
		server := httptest.NewTLSServer(http.NotFoundHandler())
		says := map[string]any{
			"issuer":                 server.URL,
			"authorization_endpoint": server.URL + "/a",
			"token_endpoint":         server.URL + "/t",
			"jwks_uri":               server.URL + "/k",
		}
		maps.Copy(says, document)
		server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			oidctest.Answer(w, says)
		})
		p := New(Config{Issuer: server.URL, ClientID: "x", Now: time.Now, Roots: poolOf(server)})
		_, location, err := p.Begin(t.Context(), "/")
		if l.refused(name, common.CodeUnavailable, err); location != "" {
			t.Errorf("%s: the browser is sent to %s", name, location)
		}
		p.Close()
		server.Close()
	}
	// A failed discovery is repeated.
	server := httptest.NewServer(nil)
	defer server.Close()
	up, asked, now := false, 0, time.Now()
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if !up {
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		oidctest.Answer(w, map[string]any{
			"issuer":                 server.URL,
			"authorization_endpoint": server.URL + "/a",
			"token_endpoint":         server.URL + "/t",
			"jwks_uri":               server.URL + "/k",
		})
	})
	p := New(Config{Issuer: server.URL, ClientID: "x", Now: func() time.Time { return now }})
	defer p.Close()
	_, _, err = p.Begin(t.Context(), "/")
	l.refused("not yet up", common.CodeUnavailable, err)
	up = true
	_, _, err = p.Begin(t.Context(), "/")
	if l.refused("asked at once", common.CodeUnavailable, err); asked != 1 {
		t.Errorf("%d requests", asked)
	}
	now = now.Add(askAgain)
	_, location, err := p.Begin(t.Context(), "/")
	u, err2 := url.Parse(location)
	if err != nil || err2 != nil || u.Query().Get("code_challenge_method") != "S256" {
		t.Errorf("up again: %s, %v", location, err)
	}
}

// Concurrent logins at a slow issuer make one discovery request.
func TestBegin_SlowIssuer_OneDiscovery(t *testing.T) {
	var asked atomic.Int32
	come, answer := make(chan struct{}, 1), make(chan struct{})
	server := httptest.NewServer(nil)
	defer server.Close()
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			come <- struct{}{}
			<-answer
		}
		http.Error(w, "later", http.StatusServiceUnavailable)
	})
	now := time.Now()
	p := New(Config{Issuer: server.URL, ClientID: "x", Now: func() time.Time { return now }})
	defer p.Close()
	var all sync.WaitGroup
	begin := func() {
		if _, _, err := p.Begin(t.Context(), "/"); common.CodeOf(err) != common.CodeUnavailable {
			t.Error(err)
		}
	}
	all.Go(begin)
	<-come
	for range 50 {
		all.Go(begin)
	}
	// A caller that is cancelled does not wait.
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, _, err := p.Begin(gone, "/"); common.CodeOf(err) != common.CodeUnavailable {
		t.Error(err)
	}
	close(answer)
	if all.Wait(); asked.Load() != 1 {
		t.Errorf("%d requests to the issuer", asked.Load())
	}
}

func FuzzAttempt(f *testing.F) {
	good := newAttempt(time.Unix(1_700_000_000, 0), "/jobs")
	f.Add(good.cookie())
	f.Add("")
	f.Add("..")
	f.Fuzz(func(t *testing.T, text string) {
		a, ok := readAttempt(text)
		if ok && (len(a.secret) != 52 || a.state() == a.nonce() || a.nonce() == a.verifier()) {
			t.Errorf("%q is read as %+v", text, a)
		}
		localPath(a.to)
	})
}

func poolOf(server *httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return pool
}
