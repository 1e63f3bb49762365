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

	"carillon/internal/auth"
	"carillon/internal/common"
)

// Config says where people log in, and what they may do then.
type Config struct {
	Title        string // of the button that leads there
	Issuer       string
	ClientID     string
	ClientSecret string // "" for a public client: PKCE stands in for it
	RedirectURL  string // of our callback, as browsers reach it
	Scopes       []string
	NameClaim    string
	GroupsClaim  string
	Rules        []auth.Rule
	Roots        *x509.CertPool // nil: the system's
	Now          func() time.Time
}

// Provider is the issuer as we know it. What it says of itself is asked for when somebody
// logs in for the first time, so that a daemon starts without it.
type Provider struct {
	cfg    Config
	issuer auth.Issuer
	client *http.Client
	asking chan struct{} // held by the one who asks the issuer what it is

	mu       sync.Mutex
	known    *known    // guarded by mu; nil before the issuer has answered
	failed   error     // what came of it when the issuer was asked last; guarded by mu
	failedAt time.Time // guarded by mu
}

// known is what the issuer has said of itself.
type known struct {
	provider *oidc.Provider
	verifier *oidc.IDTokenVerifier
	oauth    oauth2.Config
	// namesItself says that answers to us name their issuer (RFC 9207).
	namesItself bool
}

// algorithms are those by which an ID token may be signed: with a key that only the issuer has.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA}

const (
	askTimeout = 10 * time.Second
	maxAnswer  = 1 << 20
	maxConns   = 8
	// askAgain is how long after a failure nobody asks what the issuer is.
	askAgain = time.Second
)

// New makes a provider. It asks nobody.
func New(cfg Config) *Provider {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: askTimeout, ResponseHeaderTimeout: askTimeout,
		IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 2, MaxConnsPerHost: maxConns, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.Roots}}
	return &Provider{cfg: cfg, issuer: auth.Issuer{URL: cfg.Issuer, Rules: cfg.Rules}, asking: make(chan struct{}, 1), client: &http.Client{Transport: bounded{transport}, Timeout: askTimeout,
		// Nothing that the issuer's own document names leads elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Title is the text of the button that leads there.
func (p *Provider) Title() string { return p.cfg.Title }

// Close gives connections to the issuer up.
func (p *Provider) Close() { p.client.CloseIdleConnections() }

// bounded keeps answers from being larger than they may be.
type bounded struct{ next *http.Transport }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, maxAnswer)
	return resp, nil
}

// CloseIdleConnections is asked for by http.Client.
func (b bounded) CloseIdleConnections() { b.next.CloseIdleConnections() }

// discover asks the issuer what it is, until it has answered once. One asks at a time, and
// those who wait hear what that one hears: everybody may begin a login.
func (p *Provider) discover(ctx context.Context) (*known, error) {
	if have, err := p.heard(); have != nil || err != nil {
		return have, err
	}
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-ctx.Done():
		return nil, errAway(context.Cause(ctx))
	}
	if have, err := p.heard(); have != nil || err != nil {
		return have, err
	}
	now, err := p.ask(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = now
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) { // who went away has learned nothing
		p.failed, p.failedAt = err, p.cfg.Now()
	}
	return now, err
}

// heard is what is known without asking: what the issuer is, or that it did not answer just now.
func (p *Provider) heard() (*known, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil && p.failed != nil && p.cfg.Now().Sub(p.failedAt) < askAgain {
		return nil, p.failed
	}
	return p.known, nil
}

// ask asks the issuer what it is.
func (p *Provider) ask(ctx context.Context) (*known, error) {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.cfg.Issuer)
	if err != nil {
		return nil, errAway(err)
	}
	var says struct {
		JWKS        string   `json:"jwks_uri"`
		Algorithms  []string `json:"id_token_signing_alg_values_supported"`
		NamesItself bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := provider.Claims(&says); err != nil {
		return nil, errAway(err)
	}
	endpoint := provider.Endpoint()
	for _, one := range []string{endpoint.AuthURL, endpoint.TokenURL, says.JWKS} {
		if !p.private(one) {
			return nil, errAway(fmt.Errorf("the issuer names %q, which is not https", common.Excerpt(one)))
		}
	}
	allowed := slices.Clone(algorithms)
	if len(says.Algorithms) > 0 {
		allowed = slices.DeleteFunc(allowed, func(one string) bool { return !slices.Contains(says.Algorithms, one) })
	}
	if len(allowed) == 0 {
		return nil, errAway(errors.New("the issuer signs by no algorithm that can be trusted"))
	}
	return &known{provider: provider, namesItself: says.NamesItself,
		verifier: provider.VerifierContext(oidc.ClientContext(context.WithoutCancel(ctx), p.client),
			&oidc.Config{ClientID: p.cfg.ClientID, SupportedSigningAlgs: allowed, Now: p.cfg.Now}),
		oauth: oauth2.Config{ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, Endpoint: endpoint, RedirectURL: p.cfg.RedirectURL, Scopes: p.cfg.Scopes}}, nil
}

// private tells whether an address of the issuer is one that nobody can listen to: https, or
// plain where the issuer itself is plain, which only an issuer on this machine may be.
func (p *Provider) private(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && strings.HasPrefix(p.cfg.Issuer, "http://"))
}

// Begin gives what the browser keeps in a cookie, and where it goes; to is the path of the
// console that it comes back to.
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
	return a.cookie(), issuer.oauth.AuthCodeURL(a.state(), oidc.Nonce(a.nonce()), oauth2.S256ChallengeOption(a.verifier())), nil
}

// Begun tells whether an answer belongs to a login that the browser with the cookie has begun
// not long ago. It asks nobody.
func (p *Provider) Begun(cookie, state string) bool {
	_, ok := p.attempt(cookie, state)
	return ok
}

func (p *Provider) attempt(cookie, state string) (attempt, bool) {
	a, ok := readAttempt(cookie)
	return a, ok && same(a.state(), state) && a.alive(p.cfg.Now())
}

// Finish tells who somebody is who comes back with an answer, and where to. Where the answer
// cannot be theirs it is CodeUnauthenticated, where they may do nothing CodeForbidden, where
// the issuer does not answer CodeUnavailable.
func (p *Provider) Finish(ctx context.Context, cookie string, answer auth.IssuerAnswer) (who auth.External, to string, err error) {
	a, ok := p.attempt(cookie, answer.State)
	if !ok {
		return auth.External{}, "", errRefused("the login was begun too long ago, or by another browser", nil)
	}
	if !localPath(a.to) {
		a.to = "/"
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	issuer, err := p.discover(ctx)
	if err != nil {
		return auth.External{}, a.to, err
	}
	if answer.Issuer != p.cfg.Issuer && (answer.Issuer != "" || issuer.namesItself) {
		return auth.External{}, a.to, errRefused("the answer is another issuer's", nil)
	}
	if answer.Error != "" || answer.Code == "" {
		return auth.External{}, a.to, errRefused("the issuer did not let you in", errors.New(common.Excerpt(answer.Error)))
	}
	if who, err = p.identify(ctx, issuer, &a, answer.Code); err != nil {
		return auth.External{}, a.to, err
	}
	who.Once = auth.Hash(a.state())
	return who, a.to, nil
}

// identify exchanges the code for an ID token, and believes that.
func (p *Provider) identify(ctx context.Context, issuer *known, a *attempt, code string) (auth.External, error) {
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := issuer.oauth.Exchange(ctx, code, oauth2.VerifierOption(a.verifier()))
	if told, ok := errors.AsType[*oauth2.RetrieveError](err); ok && told.Response.StatusCode < http.StatusInternalServerError {
		return auth.External{}, errRefused("the issuer does not know the code", err)
	}
	if err != nil {
		return auth.External{}, errAway(err)
	}
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return auth.External{}, errRefused("the issuer gave no ID token", nil)
	}
	id, err := issuer.verifier.Verify(ctx, raw)
	if err != nil {
		return auth.External{}, errRefused("the ID token cannot be believed", err)
	}
	said := claims{}
	if err := id.Claims(&said); err != nil {
		return auth.External{}, errRefused("the ID token cannot be read", err)
	}
	if !same(a.nonce(), id.Nonce) {
		return auth.External{}, errRefused("the ID token belongs to another login", nil)
	}
	if party := said.text("azp"); party != p.cfg.ClientID && (party != "" || len(id.Audience) > 1) {
		return auth.External{}, errRefused("the ID token was made for another client", nil)
	}
	if id.Subject == "" || len(id.Subject) > maxSubject {
		return auth.External{}, errRefused("the ID token names nobody", nil)
	}
	if _, there := said.find(p.cfg.GroupsClaim); !there && issuer.provider.UserInfoEndpoint() != "" {
		// Some issuers keep their ID tokens small, and tell groups there only.
		if err := p.more(ctx, issuer, token, id.Subject, said); err != nil {
			return auth.External{}, err
		}
	}
	who := auth.External{Issuer: p.cfg.Issuer, Subject: id.Subject, Name: cmp.Or(said.text(p.cfg.NameClaim), said.text("email"), id.Subject),
		Claimed: p.issuer.Named(said.texts(p.cfg.GroupsClaim))}
	if _, ok := p.issuer.Identity(&who); !ok {
		return auth.External{}, &common.Error{Code: common.CodeForbidden, Message: "no role is given to you here",
			Hint: "an admin can give one to a group that you are in, by the setting oidc.roles"}
	}
	return who, nil
}

// more adds what the issuer tells about the user beside the ID token, whose word counts first.
func (p *Provider) more(ctx context.Context, issuer *known, token *oauth2.Token, subject string, said claims) error {
	if !p.private(issuer.provider.UserInfoEndpoint()) {
		return nil
	}
	info, err := issuer.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return errAway(err)
	}
	if info.Subject != subject {
		return errRefused("the issuer tells of somebody else", nil)
	}
	besides := claims{}
	if err := info.Claims(&besides); err != nil {
		return errRefused("what the issuer tells cannot be read", err)
	}
	for name, value := range besides {
		if _, there := said[name]; !there {
			said[name] = value
		}
	}
	return nil
}

// claims are what a token says.
type claims map[string]any

// find gives a claim by its name, or by the path to it (realm_access.roles).
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
	maxName    = 128 // bytes of what is taken for somebody's name
	maxSubject = 255 // as the issuer's own name of somebody may have
)

// text gives a claim that is a name: a short text that can be printed.
func (c claims) text(name string) string {
	value, _ := c.find(name)
	text, _ := value.(string)
	if len(text) > maxName || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }) {
		return ""
	}
	return text
}

// texts gives a claim that is a list of names, or one of them.
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
	return &common.Error{Code: common.CodeUnauthenticated, Message: message, Hint: "begin the login once more", Err: err}
}

func errAway(err error) error {
	return &common.Error{Code: common.CodeUnavailable, Message: "the issuer of logins does not answer as it should", Err: err,
		Hint: "log in by other means, or try again later; the log says more"}
}
