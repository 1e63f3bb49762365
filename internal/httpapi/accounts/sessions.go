package accounts

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// Sessions manages login sessions.
type Sessions interface {
	// Sessions lists the sessions that have not ended and that wanted accepts.
	Sessions(ctx context.Context, wanted func(*access.SessionRecord) bool) ([]access.SessionRecord, error)
	Session(ctx context.Context, id string) (access.SessionRecord, error)
	EndSession(ctx context.Context, actor common.Actor, id string) error
	// ChangePassword ends the user's sessions, and creates a new one on request.
	ChangePassword(ctx context.Context, actor common.Actor, c access.PasswordChange) (access.Session, error)
}

// Access manages users, tokens and sessions.
type Access interface {
	Users
	Tokens
	Sessions
}

// Logins creates and ends sessions. A wrong credential is CodeUnauthenticated.
type Logins interface {
	Login(ctx context.Context, l access.Login) (access.Session, error)
	// KnownNetwork reports whether a user has signed in with a password from a network before.
	KnownNetwork(ctx context.Context, user, network string) bool
	Logout(ctx context.Context, actor common.Actor, session string) error
}

// Limits of failed logins, per network and per account, or per account and network for known
// networks; and of logins per account and network, since each creates a session that lasts a while.
const (
	loginBurst   = 5
	sessionBurst = 60
	loginWindow  = time.Minute
)

// Resource contains the users, tokens and sessions.
type Resource struct {
	Auth     Logins
	Access   Access
	SSO      SSO // nil: not configured
	External ExternalLogins
	Secure   bool // browsers connect by TLS
	Log      *slog.Logger
	Now      func() time.Time
}

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	limiter := func() *access.Limiter { return access.NewLimiter(loginBurst, loginWindow) }
	sessions := &sessionsResource{
		auth:     s.Auth,
		sessions: s.Access,
		problems: r.Problems,
		networks: limiter(),
		accounts: limiter(),
		known:    limiter(),
		begun:    access.NewLimiter(sessionBurst, loginWindow),
		cookie:   CookieName(s.Secure),
		secure:   s.Secure,
		now:      s.Now,
	}
	sessions.register(r)
	sso := &ssoResource{
		sso:      s.SSO,
		external: s.External,
		sessions: sessions,
		log:      s.Log,
		cookie:   attemptCookie(s.Secure),
	}
	sso.register(r)
	(&usersResource{users: s.Access}).register(r)
	(&tokensResource{tokens: s.Access, now: s.Now}).register(r)
}

type sessionsResource struct {
	auth     Logins
	sessions Sessions
	problems core.Problems
	networks *access.Limiter
	accounts *access.Limiter
	known    *access.Limiter // per account, from networks with an earlier login
	begun    *access.Limiter
	cookie   string
	secure   bool
	now      func() time.Time
}

// Me is the current identity.
type Me struct {
	Name      string                 `json:"name"`
	User      string                 `json:"user,omitempty" doc:"The user; absent for a token without an owner."`
	Role      access.Role            `json:"role,omitempty" enum:"viewer,operator,editor,admin" doc:"Role everywhere; absent for none."`
	Groups    map[string]access.Role `json:"groups,omitempty" doc:"Additional roles by group."`
	Session   bool                   `json:"session" doc:"Authenticated by a session, not by a token."`
	ExpiresAt *time.Time             `json:"expiresAt,omitempty" doc:"Latest end of the session or token."`
}

// Session is a login session.
type Session struct {
	ID        string    `json:"id"`
	Name      string    `json:"name" doc:"Name of the user or token."`
	User      string    `json:"user,omitempty"`
	Token     string    `json:"token,omitempty" doc:"Id of the token used to sign in."`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt" doc:"Latest end; the session ends earlier after eight hours without use."`
	Remote    string    `json:"remote,omitempty" doc:"Client address at the login."`
	Current   bool      `json:"current,omitempty" doc:"The session of this request."`
}

type loginBody struct {
	Code     string `json:"code,omitempty" maxLength:"128" doc:"A one-use login code."`
	Token    string `json:"token,omitempty" maxLength:"128" doc:"An API token."`
	User     string `json:"user,omitempty" maxLength:"128" doc:"User name; requires password." example:"ann"`
	Password string `json:"password,omitempty" doc:"Password of the user." example:"blue horse under a quiet bridge"`
}

type loginInput struct {
	Body loginBody `nameHint:"LoginInput"`
}

type passwordBody struct {
	Current string `json:"current" doc:"The current password."`
	New     string `json:"new" doc:"The new password: at least 12 characters, at most 1024 bytes."`
}

type passwordInput struct {
	Body passwordBody `nameHint:"PasswordInput"`
}

type loginOutput struct {
	SetCookie string `header:"Set-Cookie"`
	Body      Me
}

type logoutOutput struct {
	SetCookie string `header:"Set-Cookie"`
}

// SessionPath names a session.
type SessionPath struct {
	ID string `path:"id" pattern:"^[0-9a-f]{16}$" doc:"Id of the session."`
}

// maxLoginBody has room for the longest password in any encoding: unauthenticated clients may send
// it.
const maxLoginBody = 16 << 10

func (s *sessionsResource) register(r *core.Router) {
	op := core.NewOperations("access", "/api/v1")
	login := op.Post("login", "/auth/login", "Sign in", core.Public)
	login.MaxBody = maxLoginBody
	core.Register(r, login, s.login)
	core.Register(r, op.Post("logout", "/auth/logout", "Sign out", core.Authenticated), s.logout)
	core.Register(r, op.Get("me", "/auth/me", "Get the current identity", core.Authenticated), s.me)
	core.Register(r, op.Put("change-password", "/auth/password", "Change your password",
		core.Authenticated), s.password)
	core.Register(r, op.Get("list-sessions", "/sessions", "List sessions, newest first", core.Authenticated), s.list)
	core.Register(r, op.Delete("delete-session", "/sessions/{id}", "End a session", core.Authenticated), s.end)
}

func (s *sessionsResource) login(ctx context.Context, in *loginInput) (*loginOutput, error) {
	b := &in.Body
	ways := 0
	for _, way := range []string{b.Code, b.Token, b.User} {
		if way != "" {
			ways++
		}
	}
	if ways != 1 {
		return nil, common.Invalid("the login is not valid", common.NewFault("code", "exclusive", nil,
			"send either code, token, or user and password"))
	}
	if (b.User == "") != (b.Password == "") {
		return nil, common.Invalid("the login is not valid", common.NewFault("password", "required", nil,
			"requires user"))
	}
	remote := core.VisitOf(ctx).Remote
	done, err := s.attempt(ctx, b.User)
	if err != nil {
		return nil, err
	}
	session, err := s.auth.Login(ctx, access.Login{
		Code:     b.Code,
		Token:    b.Token,
		User:     b.User,
		Password: b.Password,
		Remote:   remote,
	})
	if err != nil {
		return nil, err
	}
	done()
	return s.begin(&session), nil
}

// attempt counts a login attempt; done removes it from the count. An account and a network with an
// earlier login have a count of their own: failures from elsewhere, and of other accounts, do not
// lock out the user.
func (s *sessionsResource) attempt(ctx context.Context, user string) (done func(), err error) {
	now, network := s.now(), access.Network(core.VisitOf(ctx).Remote)
	account := user
	if !common.ValidName(user) {
		account = "" // one for all that cannot be
	}
	type count struct {
		limiter *access.Limiter
		key     string
	}
	counts := []count{{s.networks, network}}
	switch {
	case account != "" && s.auth.KnownNetwork(ctx, account, network):
		counts = []count{{s.known, network + " " + account}}
	case user != "":
		counts = append(counts, count{s.accounts, account})
	}
	for _, c := range append(slices.Clone(counts), count{s.begun, network + " " + account}) {
		if wait, ok := c.limiter.Take(now, c.key); !ok {
			problem := s.problems.Refuse(ctx, common.CodeTooMany, "too many login attempts")
			problem.Reason = "login_attempts"
			problem.Hint = "wait a minute, then retry"
			problem.RetryAfter(wait.Truncate(time.Second) + time.Second)
			return nil, problem
		}
	}
	return func() {
		for _, c := range counts {
			c.limiter.GiveBack(now, c.key)
		}
	}, nil
}

// begin returns a session's cookie.
func (s *sessionsResource) begin(session *access.Session) *loginOutput {
	cookie := s.newCookie(session.Secret)
	cookie.Expires = session.ExpiresAt
	return &loginOutput{SetCookie: cookie.String(), Body: meOf(&session.Identity)}
}

func (s *sessionsResource) logout(ctx context.Context, _ *struct{}) (*logoutOutput, error) {
	if session := core.VisitOf(ctx).Session; session != "" {
		if err := s.auth.Logout(ctx, core.Actor(ctx), session); err != nil {
			return nil, err
		}
	}
	cookie := s.newCookie("")
	cookie.MaxAge = -1
	return &logoutOutput{SetCookie: cookie.String()}, nil
}

func (s *sessionsResource) me(ctx context.Context, _ *struct{}) (*core.Body[Me], error) {
	who, _ := core.Identity(ctx)
	return core.Reply(meOf(&who))
}

func meOf(who *access.Identity) Me {
	me := Me{Name: who.Name, User: who.User, Role: who.Role, Groups: who.Grants, Session: who.Session}
	if !who.ExpiresAt.IsZero() {
		me.ExpiresAt = &who.ExpiresAt
	}
	return me
}

func (s *sessionsResource) password(ctx context.Context, in *passwordInput) (*loginOutput, error) {
	who, _ := core.Identity(ctx)
	if who.UserID == "" {
		return nil, common.Errorf(common.CodeConflict, "you have no password").WithReason("no_password").
			WithHint("sign in as a user with a password: you are using a token without an owner, or single sign-on")
	}
	v := core.VisitOf(ctx)
	change := access.PasswordChange{
		User:    who.User,
		UserID:  who.UserID,
		Current: in.Body.Current,
		New:     in.Body.New,
		Session: v.Session != "",
		Remote:  v.Remote,
	}
	if faults := change.Faults(); len(faults) > 0 {
		return nil, common.Invalid("the password cannot be changed", faults...) // not a guess
	}
	done, err := s.attempt(ctx, who.User)
	if err != nil {
		return nil, err
	}
	session, err := s.sessions.ChangePassword(ctx, core.Actor(ctx), change)
	if err != nil {
		return nil, err
	}
	done()
	if session.Secret == "" {
		return &loginOutput{Body: meOf(&who)}, nil
	}
	return s.begin(&session), nil
}

func ownsSession(ctx context.Context, r *access.SessionRecord) bool {
	who, ok := core.Identity(ctx)
	return ok && (who.May(access.Admin, "") || r.Of(&who))
}

func (s *sessionsResource) list(ctx context.Context, in *core.Paging) (*core.Body[core.Page[Session]], error) {
	found, err := s.sessions.Sessions(ctx, func(r *access.SessionRecord) bool { return ownsSession(ctx, r) })
	if err != nil {
		return nil, err
	}
	// Older sessions have greater keys.
	key := func(r *access.SessionRecord) string {
		return common.TimeKey(distant.Add(-time.Duration(r.CreatedAt.UnixNano()))) + r.ID
	}
	slices.SortFunc(found, func(a, b access.SessionRecord) int { return cmp.Compare(key(&a), key(&b)) })
	found, next, err := core.Cut("sessions", found, key, in)
	if err != nil {
		return nil, err
	}
	current := ""
	if v := core.VisitOf(ctx); v.Session != "" {
		current = access.SessionID(access.Hash(v.Session))
	}
	items := make([]Session, len(found))
	for i, r := range found {
		items[i] = Session{
			ID:        r.ID,
			Name:      r.Name,
			User:      r.User,
			Token:     r.Token,
			CreatedAt: r.CreatedAt,
			ExpiresAt: r.ExpiresAt,
			Remote:    r.Remote,
			Current:   r.ID == current,
		}
	}
	return core.Reply(core.NewPage(items, next))
}

// distant is later than any session; keys count down from it.
var distant = time.Unix(0, 1<<62)

func (s *sessionsResource) end(ctx context.Context, in *SessionPath) (*struct{}, error) {
	r, err := s.sessions.Session(ctx, in.ID)
	if err == nil && !ownsSession(ctx, &r) {
		err = common.Errorf(common.CodeNotFound, "session %q not found", in.ID) // sessions of others are not disclosed
	}
	if err == nil {
		err = notByToken(ctx, r.Token)
	}
	if err != nil {
		return nil, err
	}
	return nil, s.sessions.EndSession(ctx, core.Actor(ctx), in.ID)
}

func (s *sessionsResource) newCookie(value string) *http.Cookie {
	return &http.Cookie{
		Name:     s.cookie,
		Value:    value,
		Path:     "/",
		Secure:   s.secure,
		HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
	}
}

// The prefix makes browsers refuse the cookie from any other host and without TLS; on plain loopback it cannot be used.
const hostOnly = "__Host-"

const sessionCookie = "carillon"

// CookieName returns the name of the session cookie.
func CookieName(secure bool) string {
	if secure {
		return hostOnly + sessionCookie
	}
	return sessionCookie
}

// attemptCookie returns the name of the cookie of a login at an issuer.
func attemptCookie(secure bool) string { return CookieName(secure) + "-sso" }
