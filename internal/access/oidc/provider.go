package oidc

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"carillon/internal/access"
	"carillon/internal/common"
)

// Config describes the issuer and the rules that map its groups to roles.
type Config struct {
	Title        string // of the login button
	Issuer       string
	ClientID     string
	ClientSecret string // "" for a public client, which is authenticated by PKCE alone
	RedirectURL  string // of our callback, as browsers reach it
	Scopes       []string
	NameClaim    string
	GroupsClaim  string
	Rules        []access.Rule
	Roots        *x509.CertPool // nil: the system's
	Now          func() time.Time
}

// Provider is a client of the issuer. It fetches the issuer's discovery document at the first
// login, so that a daemon starts without it.
type Provider struct {
	cfg    Config
	issuer access.Issuer
	client *http.Client
	asking chan struct{} // held during discovery

	mu         sync.Mutex
	discovered *discovered // guarded by mu; nil until discovery succeeded
	failed     error       // error of the last discovery; guarded by mu
	failedAt   time.Time   // guarded by mu
}

// discovered is the content of the discovery document.
type discovered struct {
	provider *oidc.Provider
	verifier *oidc.IDTokenVerifier
	oauth    oauth2.Config
	// namesItself reports whether the issuer's redirects name the issuer (RFC 9207).
	namesItself bool
}

// algorithms are the accepted signature algorithms of ID tokens, all asymmetric.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256,
	oidc.PS384, oidc.PS512, oidc.EdDSA}

const (
	askTimeout = 10 * time.Second
	maxAnswer  = 1 << 20
	maxConns   = 8
	// askAgain is how long a failed discovery is not repeated.
	askAgain = time.Second
)

// New returns a provider. It does not contact the issuer.
func New(cfg Config) *Provider {
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   askTimeout,
		ResponseHeaderTimeout: askTimeout,
		IdleConnTimeout:       time.Minute,
		MaxIdleConnsPerHost:   2,
		MaxConnsPerHost:       maxConns,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.Roots},
	}
	return &Provider{
		cfg:    cfg,
		issuer: access.Issuer{URL: cfg.Issuer, Rules: cfg.Rules},
		asking: make(chan struct{}, 1),
		client: &http.Client{Transport: bounded{transport}, Timeout: askTimeout,
			// Redirects are not followed, so that requests go only to the endpoints of the discovery
			// document.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// Title returns the text of the sign-in button.
func (p *Provider) Title() string { return p.cfg.Title }

// Close closes idle connections to the issuer.
func (p *Provider) Close() { p.client.CloseIdleConnections() }

// bounded limits the size of responses.
type bounded struct{ next *http.Transport }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, maxAnswer)
	return resp, nil
}

// CloseIdleConnections is called by http.Client.
func (b bounded) CloseIdleConnections() { b.next.CloseIdleConnections() }

// discover fetches the discovery document until it has succeeded once. One caller does so at a
// time, and the waiting callers share its result, since anyone may begin a login.
func (p *Provider) discover(ctx context.Context) (*discovered, error) {
	if have, err := p.cached(); have != nil || err != nil {
		return have, err
	}
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-ctx.Done():
		return nil, errAway(context.Cause(ctx))
	}
	if have, err := p.cached(); have != nil || err != nil {
		return have, err
	}
	now, err := p.fetchDiscovery(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.discovered = now
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) { // a cancelled request says nothing about the issuer
		p.failed, p.failedAt = err, p.cfg.Now()
	}
	return now, err
}

// cached returns the discovery result that is known without a request: the document, or the error of
// a failure less than askAgain ago.
func (p *Provider) cached() (*discovered, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.discovered == nil && p.failed != nil && p.cfg.Now().Sub(p.failedAt) < askAgain {
		return nil, p.failed
	}
	return p.discovered, nil
}

// fetchDiscovery fetches the discovery document.
func (p *Provider) fetchDiscovery(ctx context.Context) (*discovered, error) {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.cfg.Issuer)
	if err != nil {
		return nil, errAway(err)
	}
	var document struct {
		JWKS        string   `json:"jwks_uri"`
		Algorithms  []string `json:"id_token_signing_alg_values_supported"`
		NamesItself bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := provider.Claims(&document); err != nil {
		return nil, errAway(err)
	}
	endpoint := provider.Endpoint()
	for _, one := range []string{endpoint.AuthURL, endpoint.TokenURL, document.JWKS} {
		if !p.private(one) {
			return nil, errAway(fmt.Errorf("the issuer's endpoint %q does not use https", common.Shorten(one)))
		}
	}
	allowed := slices.Clone(algorithms)
	if len(document.Algorithms) > 0 {
		allowed = slices.DeleteFunc(allowed, func(one string) bool {
			return !slices.Contains(document.Algorithms, one)
		})
	}
	if len(allowed) == 0 {
		return nil, errAway(errors.New("the issuer supports no accepted signature algorithm"))
	}
	return &discovered{provider: provider, namesItself: document.NamesItself,
		verifier: provider.VerifierContext(oidc.ClientContext(context.WithoutCancel(ctx), p.client),
			&oidc.Config{ClientID: p.cfg.ClientID, SupportedSigningAlgs: allowed, Now: p.cfg.Now}),
		oauth: oauth2.Config{
			ClientID:     p.cfg.ClientID,
			ClientSecret: p.cfg.ClientSecret,
			Endpoint:     endpoint,
			RedirectURL:  p.cfg.RedirectURL,
			Scopes:       p.cfg.Scopes,
		}}, nil
}

// private reports whether an endpoint of the issuer is protected from eavesdropping: https, or http
// if the issuer itself uses http, which the configuration allows only on this machine.
func (p *Provider) private(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" &&
		(u.Scheme == "https" || u.Scheme == "http" && strings.HasPrefix(p.cfg.Issuer, "http://"))
}

// Begin returns the cookie and the address at the issuer that begin a login; to is the console path
// to return to.
func (p *Provider) Begin(ctx context.Context, to string) (cookie, location string, err error) {
	if !localPath(to) {
		to = "/"
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	issuer, err := p.discover(ctx)
	if err != nil {
		return "", "", err
	}
	a := newAttempt(p.cfg.Now(), to)
	return a.cookie(), issuer.oauth.AuthCodeURL(a.state(), oidc.Nonce(a.nonce()),
		oauth2.S256ChallengeOption(a.verifier())), nil
}

// Begun reports whether an answer belongs to a recent login begun by the browser with the cookie.
// It does not contact the issuer.
func (p *Provider) Begun(cookie, state string) bool {
	_, ok := p.attempt(cookie, state)
	return ok
}

func (p *Provider) attempt(cookie, state string) (attempt, bool) {
	a, ok := readAttempt(cookie)
	return a, ok && same(a.state(), state) && a.alive(p.cfg.Now())
}

// Finish returns the user of a completed login and the path to return to. Errors:
// CodeUnauthenticated if the answer is invalid, CodeForbidden if no rule grants the user a role,
// CodeUnavailable if the issuer does not answer.
func (p *Provider) Finish(ctx context.Context, cookie string, answer access.IssuerAnswer) (who access.External,
	to string, err error) {
	a, ok := p.attempt(cookie, answer.State)
	if !ok {
		return access.External{}, "", errRefused("the login expired, or was begun in another browser", nil)
	}
	if !localPath(a.to) {
		a.to = "/"
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	issuer, err := p.discover(ctx)
	if err != nil {
		return access.External{}, a.to, err
	}
	if answer.Issuer != p.cfg.Issuer && (answer.Issuer != "" || issuer.namesItself) {
		return access.External{}, a.to, errRefused("the answer comes from another issuer", nil)
	}
	if answer.Error != "" || answer.Code == "" {
		return access.External{}, a.to, errRefused("the issuer refused the login",
			errors.New(common.Excerpt(answer.Error)))
	}
	if who, err = p.identify(ctx, issuer, &a, answer.Code); err != nil {
		return access.External{}, a.to, err
	}
	who.Once = access.Hash(a.state())
	return who, a.to, nil
}

// identify exchanges the code for an ID token and verifies it.
func (p *Provider) identify(ctx context.Context, issuer *discovered, a *attempt, code string) (access.External, error) {
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := issuer.oauth.Exchange(ctx, code, oauth2.VerifierOption(a.verifier()))
	if failed, ok := errors.AsType[*oauth2.RetrieveError](err); ok &&
		failed.Response.StatusCode < http.StatusInternalServerError {
		return access.External{}, errRefused("the issuer rejected the authorization code", err)
	}
	if err != nil {
		return access.External{}, errAway(err)
	}
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return access.External{}, errRefused("the issuer returned no ID token", nil)
	}
	id, err := issuer.verifier.Verify(ctx, raw)
	if err != nil {
		return access.External{}, errRefused("the ID token is invalid", err)
	}
	said := claims{}
	if err := id.Claims(&said); err != nil {
		return access.External{}, errRefused("the ID token cannot be read", err)
	}
	if !same(a.nonce(), id.Nonce) {
		return access.External{}, errRefused("the ID token belongs to another login", nil)
	}
	if party := said.text("azp"); party != p.cfg.ClientID && (party != "" || len(id.Audience) > 1) {
		return access.External{}, errRefused("the ID token was issued for another client", nil)
	}
	if id.Subject == "" || len(id.Subject) > maxSubject {
		return access.External{}, errRefused("the ID token has no valid subject", nil)
	}
	if _, there := said.find(p.cfg.GroupsClaim); !there && issuer.provider.UserInfoEndpoint() != "" {
		// Some issuers return groups only from the user info endpoint, to keep ID tokens small.
		if err := p.addUserInfo(ctx, issuer, token, id.Subject, said); err != nil {
			return access.External{}, err
		}
	}
	who := access.External{
		Issuer:  p.cfg.Issuer,
		Subject: id.Subject,
		Name:    cmp.Or(said.text(p.cfg.NameClaim), said.text("email"), id.Subject),
		Claimed: p.issuer.Named(said.texts(p.cfg.GroupsClaim)),
	}
	if _, ok := p.issuer.Identity(&who); !ok {
		return access.External{}, &common.Error{Code: common.CodeForbidden, Message: "no role is assigned to you",
			Hint: "ask an admin to assign a role to one of your groups in the setting oidc.roles"}
	}
	return who, nil
}

// addUserInfo adds the claims of the user info endpoint; those of the ID token have precedence.
func (p *Provider) addUserInfo(ctx context.Context, issuer *discovered, token *oauth2.Token, subject string,
	said claims) error {
	if !p.private(issuer.provider.UserInfoEndpoint()) {
		return nil
	}
	info, err := issuer.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return errAway(err)
	}
	if info.Subject != subject {
		return errRefused("the issuer returned another user's information", nil)
	}
	besides := claims{}
	if err := info.Claims(&besides); err != nil {
		return errRefused("the issuer's user information cannot be read", err)
	}
	for name, value := range besides {
		if _, there := said[name]; !there {
			said[name] = value
		}
	}
	return nil
}

// claims are the claims of a token.
type claims map[string]any

// find returns a claim by its name, or by its path (realm_access.roles).
func (c claims) find(name string) (any, bool) {
	if value, ok := c[name]; ok {
		return value, true
	}
	first, rest, deeper := strings.Cut(name, ".")
	if inner, ok := c[first].(map[string]any); ok && deeper {
		return claims(inner).find(rest)
	}
	return nil, false
}

const (
	maxName    = 128 // bytes of a user's display name
	maxSubject = 255 // bytes of a subject (OpenID Connect Core, section 2)
)

// text returns a claim that is a name: a short printable text.
func (c claims) text(name string) string {
	value, _ := c.find(name)
	text, _ := value.(string)
	if len(text) > maxName || strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' || r == 0x7f || r == '\uFFFD'
	}) {
		return ""
	}
	return text
}

// texts returns a claim that is a list of names or a single name.
func (c claims) texts(name string) (all []string) {
	value, _ := c.find(name)
	switch value := value.(type) {
	case string:
		return []string{value}
	case []any:
		for _, one := range value {
			if text, ok := one.(string); ok {
				all = append(all, text)
			}
		}
	}
	return all
}

func errRefused(message string, err error) error {
	return &common.Error{Code: common.CodeUnauthenticated, Message: message, Hint: "begin the login again", Err: err}
}

func errAway(err error) error {
	return common.Errorf(common.CodeUnavailable, "the single sign-on issuer does not respond correctly").WithCause(err).
		WithHint("sign in another way, or retry later; see the master's log")
}
