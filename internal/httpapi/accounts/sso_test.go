package accounts_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"carillon/internal/access"
	accessetcd "carillon/internal/access/etcd"
	"carillon/internal/access/oidc"
	"carillon/internal/access/oidc/oidctest"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/accounts"
	"carillon/internal/httpapi/apitest"
)

// sso is the API with an issuer, and sessions in etcd.
type sso struct {
	*apitest.Harness
	issuer *oidctest.Issuer
	from   func() string
	// foreign says that what comes back is no answer to the browser's own attempt.
	foreign bool
}

func newSSO(t *testing.T) *sso {
	t.Helper()
	issuer := oidctest.Start(t)
	rules := []access.Rule{{Claimed: "ops", Group: "reports", Role: access.Editor}}
	store := accessetcd.New(etcdtest.Start(t), time.Now, &access.Issuer{URL: issuer.URL, Rules: rules})
	provider := oidc.New(oidc.Config{
		Title:        "Company login",
		Issuer:       issuer.URL,
		ClientID:     oidctest.ClientID,
		ClientSecret: oidctest.ClientSecret,
		RedirectURL:  "https://carillon.example.com" + accounts.SsoPath + "/callback",
		Scopes:       []string{"openid"},
		NameClaim:    "preferred_username",
		GroupsClaim:  "groups",
		Rules:        rules,
		Now:          time.Now,
	})
	t.Cleanup(provider.Close)
	return &sso{
		issuer: issuer,
		from:   func() string { return "192.0.2.1" },
		Harness: apitest.NewHarness(t, func(c *httpapi.Config) {
			c.Auth, c.External, c.SSO, c.Secure = store, store, provider, true
		}),
	}
}

// cookiesOf gives the cookies of an answer by their names.
func cookiesOf(w *httptest.ResponseRecorder) map[string]*http.Cookie {
	all := map[string]*http.Cookie{}
	for _, c := range w.Result().Cookies() {
		all[c.Name] = c
	}
	return all
}

// begin goes to the issuer, and gives the attempt's cookie and the address that it sends the browser to.
func (s *sso) begin(to string) (cookie *http.Cookie, back string) {
	s.T.Helper()
	w := s.Want(http.StatusFound, apitest.As("", http.MethodGet, accounts.SsoPath+"/start?to="+url.QueryEscape(to), ""))
	cookie = cookiesOf(w)[apitest.SecureAttemptCookie]
	if cookie == nil || !cookie.HttpOnly || !cookie.Secure || cookie.SameSite != http.SameSiteLaxMode ||
		cookie.Path != "/" || cookie.Domain != "" || cookie.MaxAge <= 0 {
		s.T.Fatalf("the attempt's cookie: %v", cookie)
	}
	client := s.issuer.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Get(w.Header().Get("Location"))
	if err != nil {
		s.T.Fatal(err)
	}
	defer resp.Body.Close()
	location, err := resp.Location()
	if err != nil {
		s.T.Fatal(err)
	}
	return cookie, location.RequestURI()
}

// finish comes back, and gives where it leads and the session's cookie, if there is one.
func (s *sso) finish(back string, cookies ...*http.Cookie) (location string, session *http.Cookie) {
	s.T.Helper()
	r := apitest.As("", http.MethodGet, back, "")
	for _, c := range cookies {
		r.AddCookie(c)
	}
	w := s.Want(http.StatusFound, apitest.At(r, s.from()))
	set := cookiesOf(w)
	if gone := set[apitest.SecureAttemptCookie]; !s.foreign && (gone == nil || gone.MaxAge >= 0) || s.foreign &&
		gone != nil {
		s.T.Errorf("the attempt's cookie: %v", gone)
	}
	return w.Header().Get("Location"), set[apitest.SecureCookie]
}

func TestSingleSignOn(t *testing.T) {
	s := newSSO(t)
	var methods accounts.LoginMethods
	apitest.Decode(t, s.Want(http.StatusOK, apitest.As("", http.MethodGet, "/api/v1/auth/methods", "")), &methods)
	if !methods.Password || methods.OIDC == nil || methods.OIDC.Title != "Company login" ||
		methods.OIDC.Start != accounts.SsoPath+"/start" {
		t.Errorf("%+v", methods)
	}
	cookie, back := s.begin("/jobs?group=reports")
	location, session := s.finish(back, cookie, &http.Cookie{Name: apitest.SecureCookie, Value: "preset"})
	if location != "/jobs?group=reports" || session == nil || session.Value == "preset" || !session.HttpOnly ||
		!session.Secure ||
		session.SameSite != http.SameSiteLaxMode || session.Path != "/" || session.Domain != "" {
		t.Fatalf("back at %q with %v", location, session)
	}
	var me accounts.Me
	mine := apitest.SecureCookie + "=" + session.Value
	apitest.Decode(t, s.Want(http.StatusOK, apitest.As("", http.MethodGet, "/api/v1/auth/me", "", "Cookie", mine)), &me)
	if me.Name != "oidc:ann" || !strings.HasPrefix(me.User, "oidc:") || !strings.HasSuffix(me.User, ":248289761001") ||
		me.Role != "" || me.Groups["reports"] != access.Editor || !me.Session {
		t.Errorf("%+v", me)
	}
	s.Want(http.StatusForbidden, apitest.As("", http.MethodPost, "/api/v1/jobs", apitest.AJob, "Cookie", mine))
	s.Want(http.StatusCreated, apitest.As("", http.MethodPost, "/api/v1/jobs",
		`{"name":"monthly","group":"reports","command":"true"}`, "Cookie", mine))
	s.Want(http.StatusConflict, apitest.As("", http.MethodPut, "/api/v1/auth/password", `{"current":"a","new":"b"}`,
		"Cookie", mine))
	// The same answer again makes no session, even where the issuer and the browser play along.
	s.issuer.Return(oidctest.WrongValues{Reuse: true})
	cookie, back = s.begin("/")
	if _, session := s.finish(back, cookie); session == nil {
		t.Fatal("no session")
	}
	if location, session := s.finish(back, cookie); location != "/#sso=refused" || session != nil {
		t.Errorf("a second use leads to %q with %v", location, session)
	}
	s.Want(http.StatusNoContent, apitest.As("", http.MethodPost, "/api/v1/auth/logout", "", "Cookie", mine))
	s.Want(http.StatusUnauthorized, apitest.As("", http.MethodGet, "/api/v1/auth/me", "", "Cookie", mine))
}

func TestSingleSignOn_InvalidLogins_AreRefused(t *testing.T) {
	s := newSSO(t)
	network := 0 // each case comes from one of its own
	s.from = func() string { return fmt.Sprintf("198.51.%d.1", network) }
	for name, c := range map[string]struct {
		lie    oidctest.WrongValues
		change func(s *sso, cookie *http.Cookie, back string) (*http.Cookie, string) // into what is foreign
		want   string
	}{
		"other group": {
			lie:  oidctest.WrongValues{Claims: map[string]any{"groups": []string{"x"}}},
			want: "not_allowed",
		},
		"forged":           {lie: oidctest.WrongValues{Signature: "none"}, want: "refused"},
		"a replayed nonce": {lie: oidctest.WrongValues{Claims: map[string]any{"nonce": "another"}}, want: "refused"},
		"without the cookie": {
			want: "refused",
			change: func(_ *sso, _ *http.Cookie, back string) (*http.Cookie, string) {
				return &http.Cookie{Name: "other", Value: "x"}, back
			},
		},
		"another's answer": {
			want: "refused",
			change: func(s *sso, cookie *http.Cookie, _ string) (*http.Cookie, string) {
				_, back := s.begin("/")
				return cookie, back
			},
		},
		"with less than an answer": {
			want: "refused",
			change: func(_ *sso, cookie *http.Cookie, _ string) (*http.Cookie, string) {
				return cookie, accounts.SsoPath + "/callback?state[]=%00&code=%ff"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func(before *testing.T) { s.T = before }(s.T)
			s.T = t
			network++
			s.issuer.Return(c.lie)
			cookie, back := s.begin("/jobs")
			if s.foreign = c.change != nil; s.foreign {
				cookie, back = c.change(s, cookie, back)
				// A page may send it as often as it likes, and others at its address can still log in.
				for range accounts.LoginBurst {
					s.finish(back, cookie)
				}
			}
			if location, session := s.finish(back, cookie); location != "/#sso="+c.want || session != nil {
				t.Errorf("it leads to %q with %v", location, session)
			}
		})
	}
	network++
	s.foreign = false
	s.issuer.Return(oidctest.WrongValues{Signature: "other"})
	for range accounts.LoginBurst {
		cookie, back := s.begin("/")
		s.finish(back, cookie)
	}
	s.issuer.Return(oidctest.WrongValues{})
	cookie, back := s.begin("/")
	if location, session := s.finish(back, cookie); location != "/#sso=busy" || session != nil {
		t.Errorf("after %d failures it leads to %q with %v", accounts.LoginBurst, location, session)
	}
	network++
	cookie, back = s.begin("/")
	s.issuer.Close()
	if location, session := s.finish(back, cookie); location != "/#sso=unavailable" || session != nil {
		t.Errorf("where the issuer is gone it leads to %q with %v", location, session)
	}
}

func TestSingleSignOn_WithoutIssuer_IsAbsent(t *testing.T) {
	h := apitest.NewHarness(t)
	w := h.Want(http.StatusOK, apitest.As("", http.MethodGet, "/api/v1/auth/methods", ""))
	if strings.Contains(w.Body.String(), "oidc") {
		t.Errorf("a way that is not there: %s", w.Body)
	}
	for _, path := range []string{"/start", "/callback?state=x&code=y"} {
		h.Problem(http.StatusNotFound, "not_found", "", apitest.As("", http.MethodGet, accounts.SsoPath+path, ""))
		h.Want(http.StatusMethodNotAllowed, apitest.As("admin", http.MethodPost, accounts.SsoPath+path, ""))
	}
}
