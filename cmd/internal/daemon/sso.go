package daemon

import (
	"strings"

	"carillon/internal/auth"
	"carillon/internal/config"
	"carillon/internal/httpapi"
	"carillon/internal/oidc"
)

// newSSO makes the way to log in at an issuer; nil where there is none.
func newSSO(c *config.OIDC, public string) (httpapi.SSO, error) {
	if !c.Configured() {
		return nil, nil
	}
	roots, err := c.Roots()
	if err != nil {
		return nil, err
	}
	rules := make([]oidc.Rule, len(c.Roles))
	for i, r := range c.Roles {
		rules[i] = oidc.Rule{Claimed: r.Claimed, Group: r.Group, Role: auth.Role(r.Role)}
	}
	return oidc.New(oidc.Config{Title: c.Title, Issuer: c.Issuer, ClientID: c.ClientID, ClientSecret: c.ClientSecret.Reveal(),
		RedirectURL: strings.TrimSuffix(public, "/") + httpapi.SSOCallback, Scopes: c.Scopes, NameClaim: c.NameClaim, GroupsClaim: c.GroupsClaim,
		Rules: rules, Roots: roots, Now: WallClock}), nil
}
