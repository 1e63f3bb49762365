package master

import (
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/access"
	accessetcd "carillon/internal/access/etcd"
	"carillon/internal/access/oidc"
	"carillon/internal/httpapi/accounts"
	"carillon/internal/platform/config"
	"carillon/internal/platform/wallclock"
)

// NewAccess creates the store of users, tokens and sessions.
func NewAccess(client *clientv3.Client, c *config.OIDC) *accessetcd.Store {
	return accessetcd.New(client, wallclock.Now, issuerOf(c))
}

// issuerOf returns the issuer that authenticates users; nil if there is none.
func issuerOf(c *config.OIDC) *access.Issuer {
	if !c.Configured() {
		return nil
	}
	rules := make([]access.Rule, len(c.Roles))
	for i, r := range c.Roles {
		rules[i] = access.Rule{Claimed: r.Claimed, Group: r.Group, Role: access.Role(r.Role)}
	}
	return &access.Issuer{URL: c.Issuer, Rules: rules}
}

// newSSO creates the login at an issuer; nil if there is none.
func newSSO(c *config.OIDC, public string) (accounts.SSO, error) {
	if !c.Configured() {
		return nil, nil
	}
	roots, err := c.Roots()
	if err != nil {
		return nil, err
	}
	return oidc.New(oidc.Config{
		Title:        c.Title,
		Issuer:       c.Issuer,
		ClientID:     c.ClientID,
		ClientSecret: c.ClientSecret.Reveal(),
		RedirectURL:  strings.TrimSuffix(public, "/") + accounts.SSOCallback,
		Scopes:       c.Scopes,
		NameClaim:    c.NameClaim,
		GroupsClaim:  c.GroupsClaim,
		Rules:        issuerOf(c).Rules,
		Roots:        roots,
		Now:          wallclock.Now,
	}), nil
}
