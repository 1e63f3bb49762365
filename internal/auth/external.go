package auth

import (
	"slices"
	"time"
)

// External is somebody whom an issuer of logins vouches for.
type External struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"` // the issuer's own name of them, which never becomes another's
	Name    string `json:"name"`    // for people
	// Claimed are the groups that the issuer says they are in: those that a rule named then.
	Claimed []string `json:"claimed,omitempty"`
	// Once names the login: it makes one session only.
	Once string `json:"-"`
}

// Everybody stands for all whom the issuer lets in, in the place of a group of theirs.
const Everybody = "*"

// Rule gives those who are in a group of the issuer's a role: with the jobs of a group of
// ours, or everywhere.
type Rule struct {
	Claimed string // the issuer's name of the group, or Everybody
	Group   string // ours; "" for everywhere
	Role    Role
}

// Issuer is who may vouch for people, and what our rules let those do.
type Issuer struct {
	URL   string
	Rules []Rule
}

const (
	// externalPrefix keeps them apart from our own users, whose names hold no colon.
	externalPrefix = "oidc:"
	// issuerDigits are how many of the issuer's hash keep those of two issuers apart.
	issuerDigits = 12
)

// Identity is who somebody is here, and what the rules let them do now: a user without a
// record of ours. It is not ok for those of another issuer, of none (nil), and whom no rule
// gives a role.
func (i *Issuer) Identity(e *External) (who Identity, ok bool) {
	if i == nil || e.Issuer != i.URL || e.Issuer == "" || e.Subject == "" {
		return Identity{}, false
	}
	who = Identity{Name: externalPrefix + e.Name, User: externalPrefix + Hash(e.Issuer)[:issuerDigits] + ":" + e.Subject}
	for _, r := range i.Rules {
		if r.Claimed != Everybody && !slices.Contains(e.Claimed, r.Claimed) {
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

// Named are those of the groups that a rule names: others are nobody's business here.
func (i *Issuer) Named(groups []string) (named []string) {
	for _, r := range i.Rules {
		if r.Claimed != Everybody && slices.Contains(groups, r.Claimed) {
			named = append(named, r.Claimed)
		}
	}
	return groupsOf(named)
}

// higher is the higher of two roles, of which each may be none.
func higher(a, b Role) Role {
	if a.Includes(b) {
		return a
	}
	return b
}

// IssuerAnswer is what an issuer has somebody's browser bring to us.
type IssuerAnswer struct {
	Code   string
	State  string
	Error  string
	Issuer string
}

// ExternalLoginLife is how long somebody may take to log in at an issuer.
const ExternalLoginLife = 10 * time.Minute
