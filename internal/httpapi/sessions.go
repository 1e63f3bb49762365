package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
)

// Attempts to log in per network.
const (
	loginBurst  = 5
	loginWindow = time.Minute
)

type sessionsResource struct {
	auth     Auth
	problems problems
	limiter  *auth.Limiter
	cookie   string
	secure   bool
	now      func() time.Time
}

// Me is who is logged in.
type Me struct {
	Name    string    `json:"name"`
	Role    auth.Role `json:"role" enum:"viewer,operator,editor,admin"`
	Session bool      `json:"session" doc:"Logged in with a session, and not with a token."`
}

type loginBody struct {
	Code  string `json:"code,omitempty" maxLength:"128" doc:"A one-use login code."`
	Token string `json:"token,omitempty" maxLength:"128" doc:"An API token."`
}

type loginInput struct {
	Body loginBody `nameHint:"LoginInput"`
}

type meOutput struct{ Body Me }

type loginOutput struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      Me
}

type logoutOutput struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

func (s *sessionsResource) register(r *router) {
	op := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{OperationID: id, Method: method, Path: "/api/v1/auth" + path, Summary: summary, Tags: []string{"access"}}
	}
	register(r, route{access: public, Operation: op("login", http.MethodPost, "/login", "Get a session, by a login code or a token")}, s.login)
	register(r, route{access: needs(auth.Viewer), Operation: op("logout", http.MethodPost, "/logout", "End the session")}, s.logout)
	register(r, route{access: needs(auth.Viewer), Operation: op("me", http.MethodGet, "/me", "Who is logged in")}, s.me)
}

func (s *sessionsResource) login(ctx context.Context, in *loginInput) (*loginOutput, error) {
	if (in.Body.Code == "") == (in.Body.Token == "") {
		return nil, common.Invalid("the login is not valid", common.Fault{Location: "code", Code: "exclusive", Message: "give either a code or a token"})
	}
	remote := visitOf(ctx).remote
	if wait, ok := s.limiter.Take(s.now(), remote); !ok {
		problem := s.problems.refuse(ctx, common.CodeTooMany, "too many attempts to log in")
		problem.Hint = "wait a minute, then try again"
		problem.headers = http.Header{"Retry-After": {strconv.Itoa(int(wait/time.Second) + 1)}}
		return nil, problem
	}
	session, err := s.auth.Login(ctx, auth.Login{Code: in.Body.Code, Token: in.Body.Token, Remote: remote})
	if err != nil {
		return nil, err
	}
	s.limiter.GiveBack(s.now(), remote)
	cookie := s.newCookie(session.Secret)
	cookie.Expires = session.ExpiresAt
	return &loginOutput{SetCookie: cookie, Body: Me{Name: session.Identity.Name, Role: session.Identity.Role, Session: true}}, nil
}

func (s *sessionsResource) logout(ctx context.Context, _ *struct{}) (*logoutOutput, error) {
	if session := visitOf(ctx).session; session != "" {
		if err := s.auth.Logout(ctx, actor(ctx), session); err != nil {
			return nil, err
		}
	}
	cookie := s.newCookie("")
	cookie.MaxAge = -1
	return &logoutOutput{SetCookie: cookie}, nil
}

func (s *sessionsResource) me(ctx context.Context, _ *struct{}) (*meOutput, error) {
	who, _ := identity(ctx)
	return &meOutput{Body: Me{Name: who.Name, Role: who.Role, Session: who.Session}}, nil
}

func (s *sessionsResource) newCookie(value string) http.Cookie {
	return http.Cookie{Name: s.cookie, Value: value, Path: "/", Secure: s.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}
