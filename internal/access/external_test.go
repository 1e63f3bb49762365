package access

import (
	"maps"
	"slices"
	"testing"

	"carillon/internal/common"
)

func TestIssuerIdentity_AppliesRules(t *testing.T) {
	issuer := &Issuer{
		URL: "https://id.example.com",
		Rules: []Rule{{Claimed: "ops", Role: Operator}, {Claimed: "ops", Group: "reports", Role: Viewer},
			{Claimed: "data", Group: "reports", Role: Editor}, {Claimed: "lead", Role: Viewer}},
	}
	open := &Issuer{URL: issuer.URL, Rules: []Rule{{Claimed: "ops", Role: Admin}, {Claimed: AllUsers, Role: Viewer}}}
	for name, c := range map[string]struct {
		by      *Issuer
		from    string
		claimed []string
		role    Role
		grants  map[string]Role
		none    bool
	}{
		"in a group": {by: issuer, claimed: []string{"data"}, grants: map[string]Role{"reports": Editor}},
		"the higher of two": {
			by:      issuer,
			claimed: []string{"lead", "ops", "data"},
			role:    Operator,
			grants:  map[string]Role{"reports": Editor},
		},
		"in no group with a rule": {by: issuer, claimed: []string{"admin"}, none: true},
		"in no group":             {by: issuer, none: true},
		"all users":               {by: open, role: Viewer},
		"rule for all users":      {by: open, claimed: []string{"ops"}, role: Admin},
		"a group called *":        {by: issuer, claimed: []string{"*"}, none: true},
		"of another issuer": {
			by:      open,
			from:    "https://id.example.com/other",
			claimed: []string{"ops"},
			none:    true,
		},
		"no issuer":          {by: nil, claimed: []string{"ops"}, none: true},
		"issuer without URL": {by: &Issuer{Rules: open.Rules}, from: "-", claimed: []string{"ops"}, none: true},
	} {
		e := &External{Issuer: issuer.URL, Subject: "1", Name: "ann", Claimed: c.claimed}
		switch c.from {
		case "":
		case "-":
			e.Issuer = ""
		default:
			e.Issuer = c.from
		}
		who, ok := c.by.Identity(e)
		if ok == c.none || ok && (who.Role != c.role || !maps.Equal(who.Grants, c.grants)) {
			t.Errorf("%s: %+v, %v", name, who, ok)
		}
	}
	if got := issuer.Named([]string{"x", "ops", "data", "*"}); !slices.Equal(got, []string{"data", "ops"}) {
		t.Errorf("Named returned %q", got)
	}
}

// The same name at another issuer is a different user, and no user of an issuer is one of our
// users.
func TestIssuerIdentity_TwoIssuers_DifferentUsers(t *testing.T) {
	names := map[string]bool{}
	for _, issuer := range []string{"https://a.example.com", "https://b.example.com"} {
		for _, subject := range []string{"ann", "a:ann"} {
			who, ok := (&Issuer{
				URL:   issuer,
				Rules: []Rule{{Claimed: AllUsers, Role: Viewer}},
			}).Identity(&External{Issuer: issuer, Subject: subject, Name: "ann"})
			if !ok || names[who.User] || common.ValidName(who.User) || common.ValidName(who.Name) || who.UserID != "" {
				t.Errorf("%s at %s: %+v, %v", subject, issuer, who, ok)
			}
			names[who.User] = true
		}
	}
}
