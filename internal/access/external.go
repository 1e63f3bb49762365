package access

import (
	"slices"
	"time"
)

// External is a user authenticated by an external issuer (OpenID Connect).
type External struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"` // the issuer's identifier of the user, never reassigned to another user
	Name    string `json:"name"`    // display name
	// Claimed lists the issuer's groups of the user, limited to those that a rule named at the
	// login.
	Claimed []string `json:"claimed,omitempty"`
	// Once identifies the login, which creates one session only.
	Once string `json:"-"`
}

// AllUsers, in place of an issuer's group, matches all users whom the issuer authenticates.
const AllUsers = "*"

// Rule grants a role to the members of an issuer's group: for the jobs of one of our groups, or
// everywhere.
type Rule struct {
	Claimed string // the issuer's name of the group, or AllUsers
	Group   string // our group; "" for everywhere
	Role    Role
}

// Issuer is an identity provider and the rules that map its groups to roles.
type Issuer struct {
	URL   string
	Rules []Rule
}

const (
	// externalPrefix separates external users from our own users, whose names contain no colon.
	externalPrefix = "oidc:"
	// issuerDigits is the number of hex digits of the issuer's hash that tell the users of two
	// issuers apart.
	issuerDigits = 12
)

// Identity returns the identity of an external user with the rights that the rules grant now. ok is
// false for users of another issuer, without an issuer (nil), and if no rule grants a role.
func (i *Issuer) Identity(e *External) (who Identity, ok bool) {
	if i == nil || e.Issuer != i.URL || e.Issuer == "" || e.Subject == "" {
		return Identity{}, false
	}
	who = Identity{
		Name: externalPrefix + e.Name,
		User: externalPrefix + Hash(e.Issuer)[:issuerDigits] + ":" + e.Subject,
	}
	for _, r := range i.Rules {
		if r.Claimed != AllUsers && !slices.Contains(e.Claimed, r.Claimed) {
			continue
		}
		if r.Group == "" {
			who.Role = higher(who.Role, r.Role)
			continue
		}
		if who.Grants == nil {
			who.Grants = map[string]Role{}
		}
		who.Grants[r.Group] = higher(who.Grants[r.Group], r.Role)
	}
	return who, who.Role != "" || len(who.Grants) > 0
}

// Named returns those of the groups that a rule names; the others are not stored.
func (i *Issuer) Named(groups []string) (named []string) {
	for _, r := range i.Rules {
		if r.Claimed != AllUsers && slices.Contains(groups, r.Claimed) {
			named = append(named, r.Claimed)
		}
	}
	return groupsOf(named)
}

// higher returns the higher of two roles; each may be "" (none).
func higher(a, b Role) Role {
	if a.Includes(b) {
		return a
	}
	return b
}

// IssuerAnswer holds the parameters of the issuer's redirect to our callback.
type IssuerAnswer struct {
	Code   string
	State  string
	Error  string
	Issuer string
}

// ExternalLoginLife is the time limit for a login at an issuer.
const ExternalLoginLife = 10 * time.Minute
