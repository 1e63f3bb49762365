package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
)

// Sessions are those who are logged in.
type Sessions interface {
	// Sessions lists those that have not ended, of whom are wanted.
	Sessions(ctx context.Context, wanted func(*auth.SessionRecord) bool) ([]auth.SessionRecord, error)
	Session(ctx context.Context, id string) (auth.SessionRecord, error)
	EndSession(ctx context.Context, actor common.Actor, id string) error
	// ChangePassword ends the user's sessions, and gives a new one where that is asked for.
	ChangePassword(ctx context.Context, actor common.Actor, c auth.PasswordChange) (auth.Session, error)
}

// Access keeps users, tokens and sessions.
type Access interface {
	Users
	Tokens
	Sessions
}

// Failed attempts to log in: of a network and for an account, or for an account from a network that it is known from;
// and logins of an account from a network, since each is a session that stays for a while.
const (
	loginBurst   = 5
	sessionBurst = 60
	loginWindow  = time.Minute
)

type sessionsResource struct {
	auth     Auth
	sessions Sessions
	problems problems
	networks *auth.Limiter
	accounts *auth.Limiter
	known    *auth.Limiter // for an account from a network from which it has logged in before
	begun    *auth.Limiter
	cookie   string
	secure   bool
	now      func() time.Time
}

// Me is who is logged in.
type Me struct {
	Name      string               `json:"name"`
	User      string               `json:"user,omitempty" doc:"The user; absent for a token that is nobody's."`
	Role      auth.Role            `json:"role,omitempty" enum:"viewer,operator,editor,admin" doc:"What they may do everywhere; absent for nothing."`
	Groups    map[string]auth.Role `json:"groups,omitempty" doc:"What they may do besides with the jobs of a group, by its name."`
	Session   bool                 `json:"session" doc:"Logged in with a session, and not with a token."`
	ExpiresAt *time.Time           `json:"expiresAt,omitempty" doc:"When the session or the token ends at the latest."`
}

// Session is somebody who is logged in.
type Session struct {
	ID        string    `json:"id"`
	Name      string    `json:"name" doc:"Who is logged in: the name of the user, or of the token."`
	User      string    `json:"user,omitempty"`
	Token     string    `json:"token,omitempty" doc:"Id of the token that the session came from."`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt" doc:"When it ends at the latest; it ends earlier when nobody uses it for eight hours."`
	Remote    string    `json:"remote,omitempty" doc:"The address that it was begun from."`
	Current   bool      `json:"current,omitempty" doc:"It is the one that asks."`
}

type loginBody struct {
	Code     string `json:"code,omitempty" maxLength:"128" doc:"A one-use login code."`
	Token    string `json:"token,omitempty" maxLength:"128" doc:"An API token."`
	User     string `json:"user,omitempty" maxLength:"128" doc:"The name of a user, with the password." example:"ann"`
	Password string `json:"password,omitempty" doc:"The password of the user." example:"blue horse under a quiet bridge"`
}

type loginInput struct {
	Body loginBody `nameHint:"LoginInput"`
}

type passwordBody struct {
	Current string `json:"current" doc:"The password as it is."`
	New     string `json:"new" doc:"The new one: at least 12 characters, at most 1024 bytes."`
}

type passwordInput struct {
	Body passwordBody `nameHint:"PasswordInput"`
}

type meOutput struct{ Body Me }

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

type sessionsOutput struct{ Body Page[Session] }

// maxLoginBody leaves room for the longest password, however it is written: anybody may send one.
const maxLoginBody = 16 << 10

func (s *sessionsResource) register(r *router) {
	op := func(id, method, path, summary, description string) huma.Operation {
		return huma.Operation{OperationID: id, Method: method, Path: "/api/v1" + path, Summary: summary, Description: description, Tags: []string{"access"}}
	}
	register(r, route{access: public, maxBody: maxLoginBody, Operation: op("login", http.MethodPost, "/auth/login", "Get a session",
		"By a user's name and password, by a token, or by a login code. The answer sets a cookie, which ends when it is not used for eight hours, and after a day. Five failures a minute, for a user or from a network, are followed by 429; a user has five more from each network of an earlier login.")}, s.login)
	register(r, route{access: anyone, Operation: op("logout", http.MethodPost, "/auth/logout", "End the session", "Ends the session that asks, and takes its cookie away.")}, s.logout)
	register(r, route{access: anyone, Operation: op("me", http.MethodGet, "/auth/me", "Who is logged in", "Tells who asks, and what they may do.")}, s.me)
	register(r, route{access: anyone, Operation: op("change-password", http.MethodPut, "/auth/password", "Change one's own password",
		"All sessions of the user are over; one that asks gets a new cookie.")}, s.password)
	register(r, route{access: anyone, Operation: op("list-sessions", http.MethodGet, "/sessions", "Sessions, the newest first",
		"One's own; for admins everywhere, all of them.")}, s.list)
	end := op("delete-session", http.MethodDelete, "/sessions/{id}", "End a session", "One's own; for admins everywhere, any. It is refused by all masters within seconds.")
	end.DefaultStatus = http.StatusNoContent
	register(r, route{access: anyone, Operation: end}, s.end)
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
		return nil, common.Invalid("the login is not valid", common.Fault{Location: "code", Code: "exclusive", Message: "give either a code, a token, or a user with a password"})
	}
	if (b.User == "") != (b.Password == "") {
		return nil, common.Invalid("the login is not valid", common.Fault{Location: "password", Code: "required", Message: "belongs to a user"})
	}
	remote := visitOf(ctx).remote
	done, err := s.attempt(ctx, b.User)
	if err != nil {
		return nil, err
	}
	session, err := s.auth.Login(ctx, auth.Login{Code: b.Code, Token: b.Token, User: b.User, Password: b.Password, Remote: remote})
	if err != nil {
		return nil, err
	}
	done()
	return s.begin(&session), nil
}

// attempt counts an attempt to show who one is; done takes it out of the count again. Where the account has logged in
// from this network before, the two have a count of their own: failures elsewhere, and of others here, do not keep its
// user out.
func (s *sessionsResource) attempt(ctx context.Context, user string) (done func(), err error) {
	now, network := s.now(), auth.Network(visitOf(ctx).remote)
	account := user
	if !common.ValidName(user) {
		account = "" // one for all that cannot be
	}
	type count struct {
		limiter *auth.Limiter
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
			problem := s.problems.refuse(ctx, common.CodeTooMany, "too many attempts to log in")
			problem.Reason = "login_attempts"
			problem.Hint = "wait a minute, then try again"
			problem.again(wait.Truncate(time.Second) + time.Second)
			return nil, problem
		}
	}
	return func() {
		for _, c := range counts {
			c.limiter.GiveBack(now, c.key)
		}
	}, nil
}

// begin answers with a session's cookie.
func (s *sessionsResource) begin(session *auth.Session) *loginOutput {
	cookie := s.newCookie(session.Secret)
	cookie.Expires = session.ExpiresAt
	return &loginOutput{SetCookie: cookie.String(), Body: meOf(&session.Identity)}
}

func (s *sessionsResource) logout(ctx context.Context, _ *struct{}) (*logoutOutput, error) {
	if session := visitOf(ctx).session; session != "" {
		if err := s.auth.Logout(ctx, actor(ctx), session); err != nil {
			return nil, err
		}
	}
	cookie := s.newCookie("")
	cookie.MaxAge = -1
	return &logoutOutput{SetCookie: cookie.String()}, nil
}

func (s *sessionsResource) me(ctx context.Context, _ *struct{}) (*meOutput, error) {
	who, _ := identity(ctx)
	return &meOutput{Body: meOf(&who)}, nil
}

func meOf(who *auth.Identity) Me {
	me := Me{Name: who.Name, User: who.User, Role: who.Role, Groups: who.Grants, Session: who.Session}
	if !who.ExpiresAt.IsZero() {
		me.ExpiresAt = &who.ExpiresAt
	}
	return me
}

func (s *sessionsResource) password(ctx context.Context, in *passwordInput) (*loginOutput, error) {
	who, _ := identity(ctx)
	if who.UserID == "" {
		return nil, &common.Error{Code: common.CodeConflict, Reason: "no_password", Message: "you have no password here", Hint: "you came with a token that is nobody's, or by way of another system"}
	}
	v := visitOf(ctx)
	change := auth.PasswordChange{User: who.User, UserID: who.UserID, Current: in.Body.Current, New: in.Body.New, Session: v.session != "", Remote: v.remote}
	if faults := change.Faults(); len(faults) > 0 {
		return nil, common.Invalid("the password cannot be changed", faults...) // and is no guess
	}
	done, err := s.attempt(ctx, who.User)
	if err != nil {
		return nil, err
	}
	session, err := s.sessions.ChangePassword(ctx, actor(ctx), change)
	if err != nil {
		return nil, err
	}
	done()
	if session.Secret == "" {
		return &loginOutput{Body: meOf(&who)}, nil
	}
	return s.begin(&session), nil
}

func ownsSession(ctx context.Context, r *auth.SessionRecord) bool {
	who, ok := identity(ctx)
	return ok && (who.May(auth.Admin, "") || r.Of(&who))
}

func (s *sessionsResource) list(ctx context.Context, in *Paging) (*sessionsOutput, error) {
	found, err := s.sessions.Sessions(ctx, func(r *auth.SessionRecord) bool { return ownsSession(ctx, r) })
	if err != nil {
		return nil, err
	}
	// The older, the greater the key.
	key := func(r *auth.SessionRecord) string {
		return common.TimeKey(distant.Add(-time.Duration(r.CreatedAt.UnixNano()))) + r.ID
	}
	slices.SortFunc(found, func(a, b auth.SessionRecord) int { return cmp.Compare(key(&a), key(&b)) })
	found, next, err := cut("sessions", found, key, in)
	if err != nil {
		return nil, err
	}
	current := ""
	if v := visitOf(ctx); v.session != "" {
		current = auth.SessionID(auth.Hash(v.session))
	}
	items := make([]Session, len(found))
	for i, r := range found {
		items[i] = Session{ID: r.ID, Name: r.Name, User: r.User, Token: r.Token, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt,
			Remote: r.Remote, Current: r.ID == current}
	}
	return &sessionsOutput{Body: page(items, next)}, nil
}

// distant is later than any session; times before it count down.
var distant = time.Unix(0, 1<<62)

func (s *sessionsResource) end(ctx context.Context, in *SessionPath) (*struct{}, error) {
	r, err := s.sessions.Session(ctx, in.ID)
	if err == nil && !ownsSession(ctx, &r) {
		err = common.Errorf(common.CodeNotFound, "there is no session %q", in.ID) // nobody learns of others'
	}
	if err == nil {
		err = notByToken(ctx, r.Token)
	}
	if err != nil {
		return nil, err
	}
	return nil, s.sessions.EndSession(ctx, actor(ctx), in.ID)
}

func (s *sessionsResource) newCookie(value string) *http.Cookie {
	return &http.Cookie{Name: s.cookie, Value: value, Path: "/", Secure: s.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}
