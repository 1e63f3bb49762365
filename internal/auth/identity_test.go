package auth_test

import (
	"testing"
	"time"

	"carillon/internal/auth"
)

func TestGrants(t *testing.T) {
	who := auth.Identity{Role: auth.Operator, Grants: map[string]auth.Role{"reports": auth.Editor, "billing": auth.Viewer, "": auth.Admin}}
	groupsOnly := auth.Identity{Grants: map[string]auth.Role{"reports": auth.Editor, "odd": "owner"}}
	for _, c := range []struct {
		who   auth.Identity
		group string
		want  auth.Role
	}{
		{who, "", auth.Operator},
		{who, "reports", auth.Editor},
		{who, "billing", auth.Operator},
		{who, "other", auth.Operator},
		{groupsOnly, "", ""},
		{groupsOnly, "reports", auth.Editor},
		{groupsOnly, "other", ""},
	} {
		if got := c.who.In(c.group); got != c.want {
			t.Errorf("in %q: %q, want %q", c.group, got, c.want)
		}
	}
	for _, c := range []struct {
		who  auth.Identity
		need auth.Role
		want bool
	}{
		{who, auth.Editor, true}, {who, auth.Admin, false},
		{groupsOnly, auth.Viewer, true}, {groupsOnly, auth.Editor, true}, {groupsOnly, auth.Admin, false},
		{auth.Identity{}, auth.Viewer, false},
	} {
		if got := c.who.Somewhere(c.need); got != c.want {
			t.Errorf("%+v somewhere %s: %v", c.who, c.need, got)
		}
	}
	if groupsOnly.May(auth.Viewer, "odd") || groupsOnly.May(auth.Viewer, "") || !groupsOnly.May(auth.Operator, "reports") {
		t.Error("an unknown role counts, or a known one does not")
	}
}

func TestWithin(t *testing.T) {
	ann := auth.Identity{Name: "ann", Role: auth.Operator, Grants: map[string]auth.Role{"reports": auth.Editor, "billing": auth.Viewer}}
	bob := auth.Identity{Name: "bob", Grants: map[string]auth.Role{"reports": auth.Editor}}
	root := auth.Identity{Name: "root", Role: auth.Admin}
	for _, c := range []struct {
		who    auth.Identity
		role   auth.Role
		groups []string
		in     map[string]auth.Role // what is left, by group; "" for none
	}{
		{ann, auth.Admin, nil, map[string]auth.Role{"": auth.Operator, "reports": auth.Editor, "billing": auth.Operator, "other": auth.Operator}},
		{ann, auth.Viewer, nil, map[string]auth.Role{"": auth.Viewer, "reports": auth.Viewer, "billing": auth.Viewer}},
		{ann, auth.Editor, []string{"reports", "other", ""}, map[string]auth.Role{"": "", "reports": auth.Editor, "other": auth.Operator, "billing": ""}},
		{bob, auth.Editor, nil, map[string]auth.Role{"": "", "reports": auth.Editor, "other": ""}},
		{bob, auth.Admin, []string{"other"}, map[string]auth.Role{"": "", "reports": "", "other": ""}},
		{root, auth.Editor, []string{"reports"}, map[string]auth.Role{"": "", "reports": auth.Editor, "other": ""}},
		{root, "owner", nil, map[string]auth.Role{"": "", "reports": ""}},
		{root, "", []string{"reports"}, map[string]auth.Role{"": "", "reports": ""}},
	} {
		left := c.who.Within(c.role, c.groups)
		for group, want := range c.in {
			if got := left.In(group); got != want {
				t.Errorf("%s within %s of %v has %q in %q, want %q", c.who.Name, c.role, c.groups, got, group, want)
			}
		}
		if left.Name != c.who.Name {
			t.Errorf("name is %s, want %s", left.Name, c.who.Name)
		}
	}
	if ann.In("billing") != auth.Operator || len(ann.Grants) != 2 {
		t.Errorf("the original has changed: %+v", ann)
	}
}

// A token has the rights of its owner at most, whatever its own role is.
func TestTokensOfUsers(t *testing.T) {
	now := time.Now()
	ann := &auth.UserRecord{ID: "1", Name: "ann", Groups: map[string]auth.Role{"reports": auth.Operator}}
	record := auth.NewToken().Record(auth.TokenWish{Name: "ci", Role: auth.Admin, Groups: []string{"reports", "billing", "reports"}}, ann, "ann", now)
	who, ok := record.Identity(ann)
	if !ok || who.Name != "ann" || who.User != "ann" || who.UserID != "1" || who.Token != record.ID || who.In("reports") != auth.Operator || who.In("billing") != "" || who.Role != "" {
		t.Errorf("identity is %+v, %v", who, ok)
	}
	if len(record.Groups) != 2 {
		t.Errorf("the groups are %v", record.Groups)
	}
	for _, other := range []*auth.UserRecord{nil, {ID: "2", Name: "ann", Role: auth.Admin}, {ID: "1", Name: "ann", Role: auth.Admin, Disabled: true}} {
		if who, ok := record.Identity(other); ok || who.Somewhere(auth.Viewer) {
			t.Errorf("token is valid with owner %+v", other)
		}
	}
	ownerless := auth.NewToken().Record(auth.TokenWish{Name: "ci", Role: auth.Editor, Groups: []string{"reports"}}, nil, "admin", now)
	if who, ok := ownerless.Identity(nil); !ok || who.Name != "ci" || who.User != "" || who.In("reports") != auth.Editor || who.In("") != "" {
		t.Errorf("identity of a token without owner: %+v, %v", who, ok)
	}
}
