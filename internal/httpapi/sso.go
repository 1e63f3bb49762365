package httpapi

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
)

// SSO is an issuer where people may log in.
type SSO interface {
	Title() string
	// Begin gives what the browser keeps in a cookie and where it goes; to is the path of
	// the console that it comes back to.
	Begin(ctx context.Context, to string) (cookie, location string, err error)
	// Begun tells whether an answer with the state is that to the login that the cookie is of.
	Begun(cookie, state string) bool
	// Finish tells who has come back, and where to. It is CodeUnauthenticated for an answer
	// that cannot be theirs, CodeForbidden for somebody who may do nothing, CodeUnavailable
	// where the issuer does not answer.
	Finish(ctx context.Context, cookie string, answer auth.IssuerAnswer) (who auth.External, to string, err error)
}

// ExternalLogins make sessions for those whom an issuer vouches for.
type ExternalLogins interface {
	// LoginExternal makes one session for a login; for its second use it is CodeUnauthenticated.
	LoginExternal(ctx context.Context, e auth.External, remote string) (auth.Session, error)
	// LoginRefused writes down that somebody was not let in.
	LoginRefused(ctx context.Context, remote string)
}

// ssoResource is the way through an issuer. Its two stations are for browsers: whatever
// happens, they lead back to the console, which says what became of it.
type ssoResource struct {
	sso      SSO // nil: there is none
	external ExternalLogins
	sessions *sessionsResource
	log      *slog.Logger
	cookie   string
}

// Names of the cookie that an attempt is kept in; as of the session's.
const (
	secureAttemptCookie = "__Host-carillon-sso"
	plainAttemptCookie  = "carillon-sso"
)

// maxCause bounds what the log says of what an issuer says.
const maxCause = 500

const ssoPath = "/api/v1/auth/oidc"

// SSOCallback is the path that an issuer sends browsers back to.
const SSOCallback = ssoPath + "/callback"

// LoginMethods are the ways to log in.
type LoginMethods struct {
	Password bool       `json:"password" doc:"By a user's name and password."`
	OIDC     *SSOMethod `json:"oidc,omitempty" doc:"At an issuer of OpenID Connect; absent where there is none."`
}

// SSOMethod is the way by an issuer.
type SSOMethod struct {
	Title string `json:"title" doc:"Text of the button." example:"Single sign-on"`
	Start string `json:"start" doc:"Where the browser goes; to=/path says where in the console it comes back to." example:"/api/v1/auth/oidc/start"`
}

type methodsOutput struct{ Body LoginMethods }

func (s *ssoResource) register(r *router) {
	register(r, route{access: public, Operation: huma.Operation{OperationID: "login-methods", Method: http.MethodGet, Path: "/api/v1/auth/methods",
		Summary: "The ways to log in", Tags: []string{"access"},
		Description: "What the console's login page offers. A browser that goes to `start` comes back to the console logged in, or with the reason why not in the fragment: " +
			"`#sso=refused`, `not_allowed` (no role is given to them), `unavailable` or `busy`."}}, s.methods)
	r.redirect(public, &huma.Operation{OperationID: "oidc-start", Method: http.MethodGet, Path: ssoPath + "/start",
		Summary: "Begin a login at the issuer", Tags: []string{"access"},
		Description: "For browsers. It sets the cookie of the attempt, which ends after ten minutes, and redirects to the issuer; where the issuer does not answer, back to the console " +
			"with the reason in the fragment, as at `GET /api/v1/auth/methods`. Parameters that are not listed are ignored.",
		Parameters: []*huma.Param{queryText("to", "Path of the console to return to after the login; / where it is no such path.")},
		Responses: map[string]*huma.Response{"302": redirection("To the issuer, or back to the console with the reason why not.",
			"The cookie of the attempt; absent where the attempt failed.")}}, http.HandlerFunc(s.start))
	r.redirect(public, &huma.Operation{OperationID: "oidc-callback", Method: http.MethodGet, Path: SSOCallback,
		Summary: "Complete a login at the issuer", Tags: []string{"access"},
		Description: "The redirect URI of the client at the issuer. It checks the issuer's answer against the attempt of the browser's cookie, sets the cookie of the session, and redirects to the console; a login that " +
			"fails redirects there as well, with the reason in the fragment, as at `GET /api/v1/auth/methods`. Parameters that are not listed are ignored, since issuers add some of their own.",
		Parameters: []*huma.Param{queryText("state", "As the attempt sent it to the issuer."), queryText("code", "The authorization code."),
			queryText("error", "The issuer's reason for a refusal (RFC 6749, section 4.1.2.1)."), queryText("iss", "The issuer (RFC 9207), where it sends it.")},
		Responses: map[string]*huma.Response{"302": redirection("To the console, logged in or with the reason why not.",
			"The cookie of the session, and the end of the attempt's; absent where the answer belongs to no attempt of this browser.")}}, http.HandlerFunc(s.callback))
}

// queryText describes an optional query parameter.
func queryText(name, doc string) *huma.Param {
	return &huma.Param{Name: name, In: "query", Description: doc, Schema: &huma.Schema{Type: huma.TypeString, Description: doc}}
}

// redirection describes a redirect that may set cookies.
func redirection(doc, cookies string) *huma.Response {
	text := func(doc, format string) *huma.Param {
		return &huma.Param{Description: doc, Schema: &huma.Schema{Type: huma.TypeString, Format: format}}
	}
	return &huma.Response{Description: doc, Headers: map[string]*huma.Param{
		"Location":      text("Where the browser goes.", "uri-reference"),
		"Set-Cookie":    text(cookies, ""),
		"Cache-Control": text("no-store: the answer is for this browser and this attempt alone.", "")}}
}

func (s *ssoResource) methods(context.Context, *struct{}) (*methodsOutput, error) {
	m := LoginMethods{Password: true}
	if s.sso != nil {
		m.OIDC = &SSOMethod{Title: s.sso.Title(), Start: ssoPath + "/start"}
	}
	return &methodsOutput{Body: m}, nil
}

func (s *ssoResource) start(w http.ResponseWriter, r *http.Request) {
	if s.absent(w, r) {
		return
	}
	kept, location, err := s.sso.Begin(r.Context(), r.URL.Query().Get("to"))
	if err != nil {
		s.failed(w, r, err)
		return
	}
	cookie := s.newCookie(kept)
	cookie.MaxAge = int(auth.ExternalLoginLife.Seconds())
	http.SetCookie(w, cookie)
	redirect(w, location)
}

func (s *ssoResource) callback(w http.ResponseWriter, r *http.Request) {
	if s.absent(w, r) {
		return
	}
	ctx, kept := r.Context(), ""
	if cookie, err := r.Cookie(s.cookie); err == nil {
		kept = cookie.Value
	}
	q := r.URL.Query()
	if !s.sso.Begun(kept, q.Get("state")) {
		// Any page can make a browser come here with what it likes: that is no attempt of theirs,
		// and ends none.
		s.failed(w, r, &common.Error{Code: common.CodeUnauthenticated, Message: "the login was begun too long ago, or by another browser"})
		return
	}
	gone := s.newCookie("")
	gone.MaxAge = -1
	http.SetCookie(w, gone)
	done, err := s.sessions.attempt(ctx, "")
	if err != nil {
		s.failed(w, r, err)
		return
	}
	remote := visitOf(ctx).remote
	who, to, err := s.sso.Finish(ctx, kept, auth.IssuerAnswer{Code: q.Get("code"), State: q.Get("state"), Error: q.Get("error"), Issuer: q.Get("iss")})
	if err != nil {
		if common.CodeOf(err) != common.CodeUnavailable {
			s.external.LoginRefused(ctx, remote)
		}
		s.failed(w, r, err)
		return
	}
	session, err := s.external.LoginExternal(ctx, who, remote)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	done()
	cookie := s.sessions.newCookie(session.Secret)
	cookie.Expires = session.ExpiresAt
	http.SetCookie(w, cookie)
	redirect(w, to)
}

func (s *ssoResource) absent(w http.ResponseWriter, r *http.Request) bool {
	if s.sso != nil {
		return false
	}
	s.sessions.problems.write(w, r, s.sessions.problems.refuse(r.Context(), common.CodeNotFound, "there is no issuer of logins here"))
	return true
}

// failed leads back to the console with the reason; the log has the cause.
func (s *ssoResource) failed(w http.ResponseWriter, r *http.Request, err error) {
	reason := "unavailable"
	switch s.sessions.problems.of(r.Context(), err).Code {
	case common.CodeUnauthenticated:
		reason = "refused"
	case common.CodeForbidden:
		reason = "not_allowed"
	case common.CodeTooMany:
		reason = "busy"
	}
	cause := err.Error()
	if len(cause) > maxCause {
		cause = cause[:maxCause]
	}
	s.log.LogAttrs(r.Context(), slog.LevelWarn, "sso_failed", slog.String("request_id", requestID(r.Context())), slog.String("reason", reason),
		slog.String("error", cause), slog.String("remote", visitOf(r.Context()).remote))
	redirect(w, "/#sso="+reason)
}

func (s *ssoResource) newCookie(value string) *http.Cookie {
	cookie := s.sessions.newCookie(value)
	cookie.Name = s.cookie
	return cookie
}

// redirect sends a browser on. The address is not the request's to choose.
func redirect(w http.ResponseWriter, location string) {
	w.Header().Set("Location", location)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusFound)
}
