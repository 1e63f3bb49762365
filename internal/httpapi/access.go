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
}

func (g *gate) check(_ http.ResponseWriter, r *http.Request) *core.Problem {
	v, open := core.VisitOf(r.Context()), g.public(r)
	credential, given := g.credential(r)
	if core.CallsHook(r) { // its path is its credential
		credential, given = access.Credential{}, false
	}
	credential.Remote = v.Remote
	pass := ticket{rates: g.rates}
	if alive := health(r); given || !alive {
		var wait time.Duration
		var ok bool
		pass, wait, ok = g.rates.admit(credential, given, v.Remote)
		switch {
		case ok:
		case alive: // a refused health check would count as a dead process, so it is answered without identity
			given = false
		default:
			return g.refused.problem(g.problems, r, "rate", "too many requests",
				"wait for the time in Retry-After; the setting apiRate limits the requests per second of a token, "+
					"session or address", wait)
		}
	}
	err := core.ErrNoCredentials()
	if given {
		var who access.Identity
		who, err = g.auth.Authenticate(r.Context(), credential)
		if code := common.CodeOf(err); err == nil || code == common.CodeUnauthenticated {
			pass.judged(err == nil) // otherwise it is unknown
		}
		if err == nil {
			v.Caller, v.Session = &who, credential.Session
			v.Reauthenticate = func(ctx context.Context) (access.Identity, error) {
				return g.auth.Authenticate(ctx, credential)
			}
		}
	}
	if err != nil && !open { // an invalid credential on a public route counts as none
		return g.problems.Of(r.Context(), err)
	}
	return nil
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

// newCrossSite returns the check that refuses requests that a page of another site makes a browser send. For older
// browsers, which send only the page's origin, the check compares hosts, so a page without TLS of the same host passes.
// own is the console's public address, "" if unknown: its pages are accepted whatever Host a proxy sends.
func newCrossSite(p core.Problems, secure bool, own string) (check, error) {
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
	return func(_ http.ResponseWriter, r *http.Request) *core.Problem {
		origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
		plain := secure && site == "" && strings.HasPrefix(origin, "http://") &&
			r.Method != http.MethodGet && r.Method != http.MethodHead
		if !plain && protection.Check(r) == nil || core.CallsHook(r) { // which takes no cookies
			return nil
		}
		problem := p.Refuse(r.Context(), common.CodeForbidden, "the request comes from another site")
		problem.Reason = "other_site"
		if origin != "" && site == "" {
			host, origin := common.Excerpt(r.Host), common.Excerpt(origin)
			problem.Data = common.WordsOf("origin", origin, "host", host)
			problem.Detail = fmt.Sprintf("the request comes from another site: from a page of %s, while its header "+
				"Host is %q", origin, common.Shorten(r.Host))
			problem.Hint = "if the page is the console, let the proxy pass on the header Host (nginx: " +
				"proxy_set_header Host $http_host), or set publicURL to the console's address"
		}
		return problem
	}, nil
}

// plainPaths refuses encoded characters in API paths: no name needs them, and %2F, %2E%2E and %00
// could be misused.
func plainPaths(p core.Problems) check {
	return func(_ http.ResponseWriter, r *http.Request) *core.Problem {
		if !isAPI(r.URL.Path) || !strings.Contains(r.URL.EscapedPath(), "%") {
			return nil
		}
		return p.Refuse(r.Context(), common.CodeInvalid, "the request is not valid", common.NewFault("path", "name",
			core.ShownPath(r.URL.EscapedPath()),
			"names consist of a–z, 0–9, '.', '_' and '-'; encoded characters are not accepted"))
	}
}

func isAPI(path string) bool { return path == "/api" || strings.HasPrefix(path, "/api/") }
