package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// Auth authenticates credentials. A wrong credential is CodeUnauthenticated.
type Auth interface {
	Authenticate(ctx context.Context, c access.Credential) (access.Identity, error)
}

// gate requires valid credentials on all routes that are not public. It precedes the router, so
// that unknown paths are refused as well.
type gate struct {
	auth     Auth
	problems core.Problems
	public   func(r *http.Request) bool
	cookie   string
	rates    *rates
	refused  *refusals
	next     http.Handler
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	open := g.public(r)
	credential, given := g.credential(r)
	credential.Remote = core.VisitOf(r.Context()).Remote
	pass := ticket{rates: g.rates}
	if alive := health(r); given || !alive {
		var wait time.Duration
		var ok bool
		pass, wait, ok = g.rates.admit(credential, given, core.VisitOf(r.Context()).Remote)
		switch {
		case ok:
		case alive: // a refused health check would count as a dead process, so it is answered without identity
			given = false
		default:
			g.problems.Write(w, r, g.refused.problem(g.problems, r, "rate", "too many requests",
				"wait for the time in Retry-After; the setting apiRate limits the requests per second of a token, "+
					"session or address", wait))
			return
		}
	}
	if !given {
		if !open {
			g.problems.Write(w, r, g.problems.Of(r.Context(), core.ErrNoCredentials()))
			return
		}
		g.next.ServeHTTP(w, r)
		return
	}
	who, err := g.auth.Authenticate(r.Context(), credential)
	if code := common.CodeOf(err); err == nil || code == common.CodeUnauthenticated {
		pass.judged(err == nil) // otherwise it is unknown
	}
	if err != nil {
		// An invalid cookie on a public route counts as no credential.
		if !open {
			g.problems.Write(w, r, g.problems.Of(r.Context(), err))
			return
		}
		g.next.ServeHTTP(w, r)
		return
	}
	v := core.VisitOf(r.Context())
	v.Caller, v.Session = &who, credential.Session
	v.Reauthenticate = func(ctx context.Context) (access.Identity, error) {
		return g.auth.Authenticate(ctx, credential)
	}
	g.next.ServeHTTP(w, r)
}

// credential returns the credential of a request. A request with an Authorization header
// is judged by that alone.
func (g *gate) credential(r *http.Request) (c access.Credential, given bool) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return access.Credential{}, true // matches no credential
		}
		return access.Credential{Token: strings.TrimSpace(token)}, true
	}
	cookie, err := r.Cookie(g.cookie)
	if err != nil || cookie.Value == "" {
		return access.Credential{}, false
	}
	return access.Credential{Session: cookie.Value}, true
}

// crossSite refuses requests that a page of another site makes a browser send. For older browsers,
// which send only the page's origin, the check compares hosts, so a page without TLS of the same
// host passes. own is the console's public address, "" if unknown: its pages are accepted whatever
// Host a proxy sends.
func crossSite(p core.Problems, secure bool, own string, next http.Handler) (http.Handler, error) {
	deny := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		problem := p.Refuse(r.Context(), common.CodeForbidden, "the request comes from another site")
		problem.Reason = "other_site"
		if origin := r.Header.Get("Origin"); origin != "" && r.Header.Get("Sec-Fetch-Site") == "" {
			host, origin := common.Excerpt(r.Host), common.Excerpt(origin)
			problem.Data = common.WordsOf("origin", origin, "host", host)
			problem.Detail = fmt.Sprintf("the request comes from another site: from a page of %s, while its header "+
				"Host is %q", origin, host)
			problem.Hint = "if the page is the console, let the proxy pass on the header Host (nginx: " +
				"proxy_set_header Host $http_host), or set publicURL to the console's address"
		}
		p.Write(w, r, problem)
	})
	protection := http.NewCrossOriginProtection()
	if own != "" {
		base, err := url.Parse(own)
		if err != nil {
			return nil, fmt.Errorf("publicURL: %w", err)
		}
		if err := protection.AddTrustedOrigin(base.Scheme + "://" + base.Host); err != nil {
			return nil, fmt.Errorf("publicURL: %w", err)
		}
	}
	protection.SetDenyHandler(deny)
	protected := protection.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if secure && r.Header.Get("Sec-Fetch-Site") == "" && strings.HasPrefix(r.Header.Get("Origin"), "http://") &&
			r.Method != http.MethodGet && r.Method != http.MethodHead {
			deny.ServeHTTP(w, r)
			return
		}
		protected.ServeHTTP(w, r)
	}), nil
}

// plainPaths refuses encoded characters in API paths: no name needs them, and %2F, %2E%2E and %00
// could be misused.
func plainPaths(p core.Problems, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isAPI(r.URL.Path) && strings.Contains(r.URL.EscapedPath(), "%") {
			p.Write(w, r, p.Refuse(r.Context(), common.CodeInvalid, "the request is not valid",
				common.Fault{
					Location: "path",
					Code:     "name",
					Message:  "must not contain encoded characters: names consist of a–z, 0–9, '.', '_' and '-'",
					Value:    common.Excerpt(r.URL.EscapedPath()),
				}))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isAPI(path string) bool { return path == "/api" || strings.HasPrefix(path, "/api/") }
