package accounts

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// SSO is an external issuer of logins.
type SSO interface {
	Title() string
	// Begin returns the cookie and the issuer's address that begin a login; to is the console path
	// to return to.
	Begin(ctx context.Context, to string) (cookie, location string, err error)
	// Begun reports whether an answer with the state belongs to the login of the cookie.
	Begun(cookie, state string) bool
	// Finish returns the user and the path to return to. Errors: CodeUnauthenticated for an invalid
	// answer, CodeForbidden for a user without a role, CodeUnavailable if the issuer does not
	// respond.
	Finish(ctx context.Context, cookie string, answer access.IssuerAnswer) (who access.External, to string, err error)
}

// ExternalLogins creates sessions for external users.
type ExternalLogins interface {
	// LoginExternal creates one session per login; a second use is CodeUnauthenticated.
	LoginExternal(ctx context.Context, e access.External, remote string) (access.Session, error)
	// LoginRefused records a refused login.
	LoginRefused(ctx context.Context, remote string)
}

// ssoResource implements logins at an issuer. Both routes are for browsers: they always redirect to
// the console, which shows the result.
type ssoResource struct {
	sso      SSO // nil: not configured
	external ExternalLogins
	sessions *sessionsResource
	log      *slog.Logger
	cookie   string
}

// maxCause bounds the issuer's error text in the log.
const maxCause = 500

const ssoPath = "/api/v1/auth/oidc"

// SSOCallback is the path to which the issuer redirects browsers.
const SSOCallback = ssoPath + "/callback"

// LoginMethods lists the ways to sign in.
type LoginMethods struct {
	Password bool       `json:"password" doc:"User name and password."`
	OIDC     *SSOMethod `json:"oidc,omitempty" doc:"OpenID Connect; absent if not configured."`
}

// SSOMethod describes single sign-on.
type SSOMethod struct {
	Title string `json:"title" doc:"Text of the button." example:"Single sign-on"`
	Start string `json:"start" doc:"Address for the browser; to=/path selects the console path to return to." example:"/api/v1/auth/oidc/start"`
}

func (s *ssoResource) register(r *core.Router) {
	op := core.NewOperations("access", "/api/v1")
	core.Register(r, op.Get("login-methods", "/auth/methods", "List login methods", core.Public), s.methods)
	r.Redirect(core.Public, &huma.Operation{OperationID: "oidc-start", Method: http.MethodGet, Path: ssoPath + "/start",
		Summary: "Begin a login at the issuer", Tags: []string{"access"},
		Parameters: []*huma.Param{queryText("to", "Path of the console to return to after the login; / where it is "+
			"no such path.")},
		Responses: map[string]*huma.Response{"302": redirection("To the issuer, or back to the console with the "+
			"reason why not.",
			"The cookie of the attempt; absent where the attempt failed.")}}, http.HandlerFunc(s.start))
	r.Redirect(core.Public, &huma.Operation{OperationID: "oidc-callback", Method: http.MethodGet, Path: SSOCallback,
		Summary: "Complete a login at the issuer", Tags: []string{"access"},
		Parameters: []*huma.Param{queryText("state", "As the attempt sent it to the issuer."),
			queryText("code", "The authorization code."),
			queryText("error", "The issuer's reason for a refusal (RFC 6749, section 4.1.2.1)."),
			queryText("iss", "The issuer (RFC 9207), where it sends it.")},
		Responses: map[string]*huma.Response{"302": redirection("To the console, signed in or with the reason why not.",
			"The cookie of the session, and the end of the attempt's; absent where the answer belongs to no attempt "+
				"of this browser.")}}, http.HandlerFunc(s.callback))
}

// queryText describes an optional query parameter.
func queryText(name, doc string) *huma.Param {
	return &huma.Param{
		Name:        name,
		In:          "query",
		Description: doc,
		Schema:      &huma.Schema{Type: huma.TypeString, Description: doc},
	}
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

func (s *ssoResource) methods(context.Context, *struct{}) (*core.Body[LoginMethods], error) {
	m := LoginMethods{Password: true}
	if s.sso != nil {
		m.OIDC = &SSOMethod{Title: s.sso.Title(), Start: ssoPath + "/start"}
	}
	return core.Reply(m)
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
	cookie.MaxAge = int(access.ExternalLoginLife.Seconds())
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
		// Any page can send a browser here with any query: that does not end the user's attempt.
		s.failed(w, r, common.Errorf(common.CodeUnauthenticated, "the login expired, or was begun in another browser"))
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
	remote := core.VisitOf(ctx).Remote
	who, to, err := s.sso.Finish(ctx, kept, access.IssuerAnswer{
		Code:   q.Get("code"),
		State:  q.Get("state"),
		Error:  q.Get("error"),
		Issuer: q.Get("iss"),
	})
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
	s.sessions.problems.Write(w, r, s.sessions.problems.Refuse(r.Context(), common.CodeNotFound,
		"single sign-on is not configured"))
	return true
}

// failed redirects to the console with the reason; the log has the cause.
func (s *ssoResource) failed(w http.ResponseWriter, r *http.Request, err error) {
	reason := "unavailable"
	switch s.sessions.problems.Of(r.Context(), err).Code {
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
	s.log.LogAttrs(r.Context(), slog.LevelWarn, "sso_failed",
		slog.String("request_id", core.VisitOf(r.Context()).RequestID),
		slog.String("reason", reason),
		slog.String("error", cause), slog.String("remote", core.VisitOf(r.Context()).Remote))
	redirect(w, "/#sso="+reason)
}

func (s *ssoResource) newCookie(value string) *http.Cookie {
	cookie := s.sessions.newCookie(value)
	cookie.Name = s.cookie
	return cookie
}

// redirect sends a redirect. The address does not come from the request.
func redirect(w http.ResponseWriter, location string) {
	w.Header().Set("Location", location)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusFound)
}
