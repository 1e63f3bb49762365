package config

import (
	"crypto/x509"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"carillon/internal/common"
)

// OIDC configures the login at an issuer of OpenID Connect, in addition to local users and tokens. Without an
// issuer it is off.
type OIDC struct {
	Issuer       string
	ClientID     string
	ClientSecret Secret
	Title        string // text of the button
	Scopes       []string
	NameClaim    string
	GroupsClaim  string
	Roles        []OIDCRole
	CA           string
}

// OIDCRole grants a role to the members of a group of the issuer.
type OIDCRole struct {
	Claimed string // the issuer's name of the group; * for all users
	Group   string // group of jobs; "" for all
	Role    string
}

// Configured reports whether login at an issuer is configured.
func (o *OIDC) Configured() bool { return o.Issuer != "" }

func (o *OIDC) declare(s *settings) {
	s.text(&o.Issuer, "oidc.issuer", "url", "",
		"OpenID Connect issuer for logins, such as https://id.example.com/realms/ops; needs publicURL", issuer)
	s.text(&o.ClientID, "oidc.clientId", "name", "",
		"client id at the issuer; the redirect URI is publicURL with /api/v1/auth/oidc/callback")
	s.secret(&o.ClientSecret, "oidc.clientSecret", "client secret; none for a public client.",
		func(string) error { return nil })
	s.text(&o.Title, "oidc.title", "text", "Single sign-on", "text of the sign-in button", title)
	listOf(s, &o.Scopes, "oidc.scopes", "list", "openid,profile,email",
		"requested scopes; some issuers need an additional one for groups", scope)
	s.text(&o.NameClaim, "oidc.nameClaim", "name", "preferred_username", "claim with the displayed name of a user",
		claim)
	s.text(&o.GroupsClaim, "oidc.groupsClaim", "name", "groups",
		"claim with the groups of a user; dots select nested fields, as in realm_access.roles", claim)
	listOf(s, &o.Roles, "oidc.roles", "list", "",
		"roles of issuer groups: issuer group=role, or issuer group=group of jobs:role, with * for all users, such "+
			"as platform=admin,data=reports:editor,*=viewer; without any no user can sign in", oidcRole)
	s.text(&o.CA, "oidc.ca", "file", "", "CA certificates to verify the issuer (default: the system's)")
}

func (o *OIDC) check(public string) (faults common.Faults) {
	if !o.Configured() {
		if o.ClientID != "" || len(o.Roles) > 0 {
			faults.Add("oidc.issuer", "pair", nil, "is required if oidc.clientId or oidc.roles is set")
		}
		return faults
	}
	if o.ClientID == "" {
		faults.Add("oidc.clientId", "required", nil, "is required with oidc.issuer")
	}
	if len(o.Roles) == 0 {
		faults.Add("oidc.roles", "required", nil, "is required with oidc.issuer: without roles no user could sign in")
	}
	if u, err := url.Parse(public); public == "" || err != nil || u.Scheme != "https" && !localHost(u.Hostname()) {
		faults.Add("publicURL", "required", nil,
			"is required with oidc.issuer, and must begin with https://: the issuer redirects to it")
	}
	if _, err := o.Roots(); err != nil {
		faults.Add("oidc.ca", "tls", nil, "%s", err)
	}
	return faults
}

// Roots returns the CAs to verify the issuer; nil for the system's.
func (o *OIDC) Roots() (*x509.CertPool, error) {
	if o.CA == "" {
		return nil, nil
	}
	return loadPool(o.CA)
}

func localHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

func issuer(text string) error {
	if text == "" {
		return nil
	}
	const example = "https://id.example.com/realms/ops"
	u, err := webURL(text, example)
	if err == nil && u.Scheme != "https" && !localHost(u.Hostname()) {
		err = fmt.Errorf("%q must look like %s", common.Shorten(text), example)
	}
	return err
}

func title(text string) error {
	if len(text) == 0 || len(text) > 80 || strings.ContainsFunc(text,
		func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("must be 1 to 80 bytes, on one line")
	}
	return nil
}

func scope(text string) (string, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
		return "", fmt.Errorf("%q is not a scope", common.Shorten(text))
	}
	return text, nil
}

func claim(text string) error {
	if text == "" || len(text) > 256 {
		return fmt.Errorf("must name a claim, such as groups")
	}
	return nil
}

func oidcRole(text string) (OIDCRole, error) {
	i := strings.LastIndex(text, "=")
	if i <= 0 {
		return OIDCRole{}, fmt.Errorf("%q must look like platform=admin or data=reports:editor", common.Shorten(text))
	}
	r := OIDCRole{Claimed: text[:i], Role: text[i+1:]}
	if group, role, inGroup := strings.Cut(r.Role, ":"); inGroup {
		r.Group, r.Role = group, role
		if !common.ValidGroup(group) {
			return OIDCRole{}, fmt.Errorf("%q is not a valid name of a group of jobs", common.Shorten(group))
		}
	}
	if err := oneOf("viewer", "operator", "editor", "admin")(r.Role); err != nil {
		return OIDCRole{}, fmt.Errorf("the role of %q %w", common.Shorten(r.Claimed), err)
	}
	if r.Claimed == "*" && r.Role == "admin" {
		return OIDCRole{}, fmt.Errorf("%q would make all users of the issuer admins", common.Shorten(text))
	}
	return r, nil
}
