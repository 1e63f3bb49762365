package accounts_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/access"
	accessetcd "carillon/internal/access/etcd"
	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/accounts"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/core"
)

const (
	aPassword = "blue horse under a quiet bridge"
	another   = "nine green lamps along the canal"
)

// site is the API over the store that keeps users in an etcd.
type site struct {
	*apitest.Harness
	admin string // token
	log   *bytes.Buffer
}

func newSite(t *testing.T, change ...func(*httpapi.Config)) *site {
	t.Helper()
	store := accessetcd.New(etcdtest.Start(t), time.Now, nil)
	admin, err := store.Bootstrap(t.Context(), common.Actor{Name: "host"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{admin: admin, log: &bytes.Buffer{}}
	s.Harness = apitest.NewHarness(t, append(change, func(c *httpapi.Config) {
		c.Auth, c.Access = store, store
		c.Logger = slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})...)
	return s
}

func bearer(token, method, target, body string) *http.Request {
	return apitest.As("", method, target, body, "Authorization", "Bearer "+token)
}

func (s *site) root(want int, method, target, body string) string {
	s.T.Helper()
	return s.Want(want, bearer(s.admin, method, target, body)).Body.String()
}

// enter logs in and gives the cookie as a header.
func (s *site) enter(user, password string, headers ...string) string {
	s.T.Helper()
	c := apitest.Login(s.T, s.Harness, fmt.Sprintf(`{"user":%q,"password":%q}`, user, password), headers...)
	return c.Name + "=" + c.Value
}

func (s *site) make(request *http.Request) accounts.Token {
	s.T.Helper()
	var token accounts.Token
	apitest.Decode(s.T, s.Want(http.StatusCreated, request), &token)
	return token
}

// A new user logs in, makes a token for a script and takes it away; an admin ends what is left.
func TestUsersAndTheirTokens(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.root(http.StatusCreated, http.MethodPost, "/api/v1/users",
		`{"name":"ann","title":"Ann","role":"viewer","groups":{"reports":"editor"},"password":"`+aPassword+`"}`)
	s.Problem(http.StatusConflict, "exists", "", bearer(s.admin, http.MethodPost, "/api/v1/users", `{"name":"ann"}`))
	s.Problem(http.StatusUnprocessableEntity, "invalid", "body.password",
		bearer(s.admin, http.MethodPost, "/api/v1/users", `{"name":"bob","password":"short"}`))
	s.Problem(http.StatusUnprocessableEntity, "invalid", "body.groups.x",
		bearer(s.admin, http.MethodPost, "/api/v1/users", `{"name":"bob","groups":{"x":"root"}}`))
	s.Problem(http.StatusUnprocessableEntity, "invalid", "body.passwordHash",
		bearer(s.admin, http.MethodPost, "/api/v1/users", `{"name":"bob","passwordHash":"x"}`))

	cookie := s.enter("ann", aPassword)
	ann := func(method, target, body string) *http.Request {
		return apitest.As("", method, target, body, "Cookie", cookie)
	}
	var me accounts.Me
	apitest.Decode(t, s.Want(http.StatusOK, ann(http.MethodGet, "/api/v1/auth/me", "")), &me)
	if me.Name != "ann" || me.User != "ann" || me.Role != access.Viewer || me.Groups["reports"] != access.Editor ||
		!me.Session || me.ExpiresAt == nil {
		t.Errorf("ann is %+v", me)
	}
	s.Problem(http.StatusForbidden, "forbidden", "", ann(http.MethodGet, "/api/v1/users", ""))
	s.Problem(http.StatusUnprocessableEntity, "invalid", "body.role",
		ann(http.MethodPost, "/api/v1/tokens", `{"name":"x","role":"admin"}`))
	s.Problem(http.StatusForbidden, "forbidden", "",
		ann(http.MethodPost, "/api/v1/tokens", `{"name":"x","role":"viewer","user":"bob"}`))
	for body, at := range map[string]string{
		`{"name":"x","role":"viewer","groups":[]}`:        "body.groups",
		`{"name":"x","role":"viewer","expiresIn":"1s"}`:   "body.expiresIn",
		`{"name":"x","role":"viewer","expiresIn":"soon"}`: "body.expiresIn",
		`{"name":"","role":"viewer"}`:                     "body.name",
		`{"name":"x"}`:                                    "body.role",
	} {
		s.Problem(http.StatusUnprocessableEntity, "invalid", at, ann(http.MethodPost, "/api/v1/tokens", body))
	}
	token := s.make(ann(http.MethodPost, "/api/v1/tokens", `{"name":"nightly","role":"operator","groups":["reports"]}`))
	if life := time.Until(*token.ExpiresAt); token.User != "ann" || life < 89*24*time.Hour || life > 91*24*time.Hour ||
		!strings.HasPrefix(token.Token, "car_"+token.ID+"_") {
		t.Errorf("the token is %+v", token)
	}
	me = accounts.Me{}
	apitest.Decode(t, s.Want(http.StatusOK, bearer(token.Token, http.MethodGet, "/api/v1/auth/me", "")), &me)
	if me.Session || me.Role != "" || me.Groups["reports"] != access.Operator {
		t.Errorf("by the token ann is %+v", me)
	}
	s.Problem(http.StatusForbidden, "forbidden", "", bearer(token.Token, http.MethodPost, "/api/v1/tokens",
		`{"name":"x","role":"viewer"}`))
	// Found by another person, it can end itself and nothing else of its user.
	other := s.make(ann(http.MethodPost, "/api/v1/tokens", `{"name":"deploy","role":"editor","groups":["reports"]}`))
	s.Problem(http.StatusForbidden, "forbidden", "",
		bearer(token.Token, http.MethodDelete, "/api/v1/tokens/"+other.ID, ""))
	var sessions core.Page[accounts.Session]
	apitest.Decode(t, s.Want(http.StatusOK, bearer(token.Token, http.MethodGet, "/api/v1/sessions", "")), &sessions)
	s.Problem(http.StatusForbidden, "forbidden", "",
		bearer(token.Token, http.MethodDelete, "/api/v1/sessions/"+sessions.Items[0].ID, ""))
	s.Want(http.StatusNoContent, bearer(other.Token, http.MethodDelete, "/api/v1/tokens/"+other.ID, ""))

	var tokens core.Page[accounts.Token]
	apitest.Decode(t, s.Want(http.StatusOK, ann(http.MethodGet, "/api/v1/tokens", "")), &tokens)
	if len(tokens.Items) != 1 || tokens.Items[0].Token != "" || tokens.Items[0].LastUsedAt == nil {
		t.Errorf("ann sees %+v", tokens)
	}
	if all := s.root(http.StatusOK, http.MethodGet, "/api/v1/tokens", ""); strings.Contains(all, token.Token[25:]) ||
		strings.Count(all, `"id"`) != 2 {
		t.Errorf("an admin sees %s", all)
	}
	s.Want(http.StatusNoContent, ann(http.MethodDelete, "/api/v1/tokens/"+token.ID, ""))
	s.Problem(http.StatusUnauthorized, "unauthenticated", "",
		bearer(token.Token, http.MethodGet, "/api/v1/auth/me", ""))

	// No user sees or changes the tokens and sessions of others.
	robot := s.make(bearer(s.admin, http.MethodPost, "/api/v1/tokens",
		`{"name":"robot","role":"viewer","expiresIn":"never"}`))
	if robot.ExpiresAt != nil || robot.User != "" {
		t.Errorf("the robot's token is %+v", robot)
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		s.Problem(http.StatusNotFound, "not_found", "", ann(method, "/api/v1/tokens/"+robot.ID, ""))
	}
	s.Want(http.StatusOK, bearer(robot.Token, http.MethodGet, "/api/v1/tokens/"+robot.ID, ""))

	sessions = core.Page[accounts.Session]{}
	apitest.Decode(t, s.Want(http.StatusOK, ann(http.MethodGet, "/api/v1/sessions", "")), &sessions)
	if len(sessions.Items) != 1 || !sessions.Items[0].Current || sessions.Items[0].User != "ann" {
		t.Errorf("ann sees the sessions %+v", sessions)
	}
	s.Problem(http.StatusNotFound, "not_found", "",
		bearer(robot.Token, http.MethodDelete, "/api/v1/sessions/"+sessions.Items[0].ID, ""))
	s.root(http.StatusNoContent, http.MethodDelete, "/api/v1/sessions/"+sessions.Items[0].ID, "")
	s.Problem(http.StatusUnauthorized, "unauthenticated", "", ann(http.MethodGet, "/api/v1/auth/me", ""))

	var user accounts.User
	w := s.Want(http.StatusOK, bearer(s.admin, http.MethodGet, "/api/v1/users/ann", ""))
	apitest.Decode(t, w, &user)
	if !user.HasPassword || strings.Contains(w.Body.String(), "argon2") ||
		w.Header().Get("ETag") != core.ETag(user.Version) {
		t.Errorf("an admin sees %s", w.Body)
	}
	s.Problem(http.StatusPreconditionFailed, "stale", "", apitest.As("", http.MethodPatch, "/api/v1/users/ann",
		`{"title":"A"}`,
		"Authorization", "Bearer "+s.admin, "If-Match", `"1"`))
	user = accounts.User{}
	apitest.Decode(t, s.Want(http.StatusOK, bearer(s.admin, http.MethodPatch, "/api/v1/users/ann",
		`{"role":null,"groups":{"reports":"viewer"},"disabled":true,"password":null}`)), &user)
	if user.Role != "" || user.Groups["reports"] != access.Viewer || !user.Disabled || user.HasPassword ||
		user.Title != "Ann" {
		t.Errorf("after the change ann is %+v", user)
	}
	s.root(http.StatusNoContent, http.MethodDelete, "/api/v1/users/ann", "")
	s.Problem(http.StatusNotFound, "not_found", "", bearer(s.admin, http.MethodGet, "/api/v1/users/ann", ""))

	for _, secret := range []string{s.admin, token.Token, robot.Token, aPassword,
		cookie[strings.Index(cookie, "=")+1:]} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log tells of %.12s…", secret)
		}
	}
}

// The new session of a login is never the one that was brought along, and a new password
// ends all the others.
func TestPasswordChange_EndsOtherSessions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.root(http.StatusCreated, http.MethodPost, "/api/v1/users", `{"name":"ann","password":"`+aPassword+`"}`)
	first := s.enter("ann", aPassword)
	second := s.enter("ann", aPassword, "Cookie", first)
	if first == second {
		t.Fatal("a session is taken up again")
	}
	put := func(cookie, body string) *http.Request {
		return apitest.As("", http.MethodPut, "/api/v1/auth/password", body, "Cookie", cookie)
	}
	s.Problem(http.StatusUnprocessableEntity, "invalid", "body.current",
		put(first, `{"current":"`+another+`","new":"`+another+`"}`))
	s.Problem(http.StatusUnprocessableEntity, "invalid", "body.new",
		put(first, `{"current":"`+aPassword+`","new":"short"}`))
	s.Problem(http.StatusConflict, "conflict", "", bearer(s.admin, http.MethodPut, "/api/v1/auth/password",
		`{"current":"`+aPassword+`","new":"`+another+`"}`))
	w := s.Want(http.StatusOK, put(first, `{"current":"`+aPassword+`","new":"`+another+`"}`))
	cookies := w.Result().Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteLaxMode {
		t.Fatalf("the change sets %v", cookies)
	}
	for _, old := range []string{first, second} {
		s.Want(http.StatusUnauthorized, apitest.As("", http.MethodGet, "/api/v1/auth/me", "", "Cookie", old))
	}
	// Without any role there is nothing to see, but the way out.
	now := cookies[0].Name + "=" + cookies[0].Value
	s.Want(http.StatusOK, apitest.As("", http.MethodGet, "/api/v1/auth/me", "", "Cookie", now))
	s.Problem(http.StatusForbidden, "forbidden", "", apitest.As("", http.MethodGet, "/api/v1/jobs", "", "Cookie", now))
	s.Want(http.StatusNoContent, apitest.As("", http.MethodPost, "/api/v1/auth/logout", "", "Cookie", now))
	s.Problem(http.StatusUnauthorized, "unauthenticated", "",
		apitest.As("", http.MethodPost, "/api/v1/auth/login", `{"user":"ann","password":"`+aPassword+`"}`))
	s.enter("ann", another)
}

// Guesses of one user's password are limited whatever their address; logins of other users are not.
func TestLoginIsLimitedByAccount(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	guesses := &guessed{}
	h := apitest.NewHarness(t, func(c *httpapi.Config) {
		c.Now = func() time.Time { return now }
		c.Auth = guesses
	})
	attempt := func(network int, user, password string) *http.Request {
		r := apitest.As("", http.MethodPost, "/api/v1/auth/login",
			fmt.Sprintf(`{"user":%q,"password":%q}`, user, password))
		r.RemoteAddr = fmt.Sprintf("198.51.%d.1:1234", network)
		return r
	}
	for range 20 {
		h.Want(http.StatusOK, attempt(0, "ann", aPassword))
	}
	for i := range 5 {
		h.Want(http.StatusUnauthorized, attempt(i, "ann", another))
	}
	asked := guesses.asked
	w := h.Want(http.StatusTooManyRequests, attempt(6, "ann", aPassword))
	if w.Header().Get("Retry-After") == "" || guesses.asked != asked {
		t.Errorf("Retry-After %q, and the password was looked at: %v", w.Header().Get("Retry-After"),
			guesses.asked != asked)
	}
	h.Want(http.StatusOK, attempt(7, "bob", aPassword))
	// Names that cannot be share one bound, so that they fill nothing.
	for i := range 5 {
		h.Want(http.StatusUnauthorized, attempt(10+i, fmt.Sprintf("No Such %d", i), another))
	}
	h.Want(http.StatusTooManyRequests, attempt(20, "No Such", another))
	now = now.Add(time.Minute)
	h.Want(http.StatusOK, attempt(0, "ann", aPassword))
	for _, body := range []string{`{"user":"ann"}`, `{"password":"x"}`, `{"user":"ann","password":"x","token":"y"}`,
		`{"user":"ann","password":"x","role":"admin"}`} {
		h.Want(http.StatusUnprocessableEntity, apitest.As("", http.MethodPost, "/api/v1/auth/login", body))
	}
}

// A user who logs in repeatedly does not fill etcd with sessions.
func TestLoginsAreBounded(t *testing.T) {
	h := apitest.NewHarness(t, func(c *httpapi.Config) {
		now := c.Now()
		c.Now = func() time.Time { return now }
		c.Auth = &guessed{}
	})
	enter := func(user string) *http.Request {
		return apitest.As("", http.MethodPost, "/api/v1/auth/login",
			fmt.Sprintf(`{"user":%q,"password":%q}`, user, aPassword))
	}
	for range accounts.SessionBurst {
		h.Want(http.StatusOK, enter("ann"))
	}
	h.Problem(http.StatusTooManyRequests, "too_many_requests", "", enter("ann"))
	h.Want(http.StatusOK, enter("bob"))
}

// Others cannot keep a user from logging in from where they have logged in before: not from elsewhere, and not by
// guessing the passwords of others there.
func TestLogin_FromAKnownNetwork_IsNotHeldUpByOthers(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h := apitest.NewHarness(t, func(c *httpapi.Config) {
		c.Now = func() time.Time { return now }
		c.Auth = &guessed{known: map[string]bool{"ann 198.51.0.0/24": true}}
	})
	attempt := func(network int, user, password string) *http.Request {
		r := apitest.As("", http.MethodPost, "/api/v1/auth/login",
			fmt.Sprintf(`{"user":%q,"password":%q}`, user, password))
		r.RemoteAddr = fmt.Sprintf("198.51.%d.1:1234", network)
		return r
	}
	for i := range 20 {
		h.Send(attempt(1+i, "ann", another))
		h.Send(attempt(0, fmt.Sprint("user", i), another))
	}
	h.Want(http.StatusTooManyRequests, attempt(0, "bob", aPassword))
	h.Want(http.StatusTooManyRequests, attempt(30, "ann", aPassword))
	h.Want(http.StatusOK, attempt(0, "ann", aPassword))
	for range 5 { // and what guesses there has no more tries than elsewhere
		h.Want(http.StatusUnauthorized, attempt(0, "ann", another))
	}
	h.Want(http.StatusTooManyRequests, attempt(0, "ann", aPassword))
	now = now.Add(time.Minute)
	h.Want(http.StatusOK, attempt(0, "ann", aPassword))
}

// guessed knows one password for all users.
type guessed struct {
	httpapi.Logins
	asked int
	known map[string]bool // by user and network
}

func (g *guessed) KnownNetwork(_ context.Context, user, network string) bool {
	return g.known[user+" "+network]
}

func (g *guessed) Login(_ context.Context, l access.Login) (access.Session, error) {
	g.asked++
	if l.Password != aPassword {
		return access.Session{}, common.Errorf(common.CodeUnauthenticated, "the user or the password is wrong")
	}
	return access.Session{
		Secret:   access.NewSecret(),
		Identity: access.Identity{Name: l.User, User: l.User, Session: true},
	}, nil
}

// Who may create a token, and for which user: a caller with a token gets no other one that
// outlives it.
func TestCreateToken_PermittedCallers(t *testing.T) {
	ann := access.Identity{Name: "ann", User: "ann", UserID: "1", Role: access.Editor, Session: true}
	byToken, admin, sso := ann, ann, ann
	byToken.Token = "t"
	admin.Role, admin.Session, admin.Token = access.Admin, false, "t"
	sso.UserID = ""
	groupAdmin := ann
	groupAdmin.Role, groupAdmin.Grants = access.Viewer, map[string]access.Role{"reports": access.Admin}
	for _, c := range []struct {
		who           access.Identity
		wished, owner string
		refused       bool
	}{
		{who: ann, owner: "ann"},
		{who: ann, wished: "ann", owner: "ann"},
		{who: ann, wished: "bob", refused: true},
		{who: byToken, refused: true},
		{who: sso, refused: true},
		{who: sso, wished: "ann", refused: true},
		{who: groupAdmin, wished: "bob", refused: true},
		{who: admin, owner: "ann"},
		{who: admin, wished: "bob", owner: "bob"},
		{who: access.Identity{Name: "admin", Role: access.Admin, Token: "t"}},
		{who: access.Identity{Name: "ci", Role: access.Editor, Token: "t"}, refused: true},
		{who: access.Identity{Name: "ci", Role: access.Editor, Token: "t", Session: true}, refused: true},
	} {
		owner, err := accounts.TokenOwner(core.WithVisit(t.Context(), &core.Visit{Caller: &c.who}), c.wished)
		if owner != c.owner || (common.CodeOf(err) == common.CodeForbidden) != c.refused || (err != nil) != c.refused {
			t.Errorf("%+v for %q: %q, %v", c.who, c.wished, owner, err)
		}
	}
}

func TestPagesOfUsers(t *testing.T) {
	people := &apitest.FakeAccess{}
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Access = people })
	var want, got []string
	for i := range 7 {
		name := fmt.Sprintf("u%d", i)
		want = append(want, name)
		h.Want(http.StatusCreated, apitest.As("admin", http.MethodPost, "/api/v1/users", `{"name":"`+name+`"}`))
		people.SessionList = append(people.SessionList, access.SessionRecord{
			ID:        fmt.Sprintf("%016d", i),
			User:      name,
			CreatedAt: time.Unix(int64(i), 0),
			ExpiresAt: time.Unix(9999999999, 0),
		})
	}
	walk := func(path string, add func(json.RawMessage)) {
		t.Helper()
		cursor := ""
		for range 10 {
			var p struct {
				Items      []json.RawMessage
				NextCursor string
			}
			target := path + "?limit=3"
			if cursor != "" {
				target += "&cursor=" + cursor
			}
			apitest.Decode(t, h.Want(http.StatusOK, apitest.As("admin", http.MethodGet, target, "")), &p)
			for _, item := range p.Items {
				add(item)
			}
			if cursor = p.NextCursor; cursor == "" {
				return
			}
		}
		t.Errorf("%s goes on for ever", path)
	}
	walk("/api/v1/users", func(item json.RawMessage) {
		var u accounts.User
		_ = json.Unmarshal(item, &u)
		got = append(got, u.Name)
	})
	if !slices.Equal(got, want) {
		t.Errorf("users %v", got)
	}
	got = nil
	walk("/api/v1/sessions", func(item json.RawMessage) {
		var s accounts.Session
		_ = json.Unmarshal(item, &s)
		got = append(got, s.User)
	})
	slices.Reverse(want)
	if !slices.Equal(got, want) {
		t.Errorf("sessions, the newest first: %v", got)
	}
	h.Problem(http.StatusUnprocessableEntity, "invalid", "query.cursor",
		apitest.As("admin", http.MethodGet, "/api/v1/tokens?cursor=x", ""))
}

// Public requests have small bodies: many of them at once must not fill the memory.
func TestLoginBodyIsSmall(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Problem(http.StatusRequestEntityTooLarge, "too_large", "body",
		apitest.As("", http.MethodPost, "/api/v1/auth/login",
			`{"code":"`+strings.Repeat("x", accounts.MaxLoginBody)+`"}`))
	for _, route := range h.Router.Routes() {
		if h.Router.Public(route.Method, route.Path) && route.Method != http.MethodGet &&
			route.Path != "/api/v1/auth/login" &&
			route.Path != core.HookPath+":key" { // whose body is read only after its key was found
			t.Errorf("%s %s accepts a body without authentication", route.Method, route.Path)
		}
	}
}
