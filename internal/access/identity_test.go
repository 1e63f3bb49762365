package access_test

import (
	"testing"
	"time"

	"carillon/internal/access"
)

func TestIdentity_GrantsAndRole_Combine(t *testing.T) {
	who := access.Identity{
		Role:   access.Operator,
		Grants: map[string]access.Role{"reports": access.Editor, "billing": access.Viewer, "": access.Admin},
	}
	groupsOnly := access.Identity{Grants: map[string]access.Role{"reports": access.Editor, "odd": "owner"}}
	for _, c := range []struct {
		who   access.Identity
		group string
		want  access.Role
	}{
		{who, "", access.Operator},
		{who, "reports", access.Editor},
		{who, "billing", access.Operator},
		{who, "other", access.Operator},
		{groupsOnly, "", ""},
		{groupsOnly, "reports", access.Editor},
		{groupsOnly, "other", ""},
	} {
		if got := c.who.In(c.group); got != c.want {
			t.Errorf("in %q: %q, want %q", c.group, got, c.want)
		}
	}
	for _, c := range []struct {
		who  access.Identity
		need access.Role
		want bool
	}{
		{who, access.Editor, true}, {who, access.Admin, false},
		{groupsOnly, access.Viewer, true}, {groupsOnly, access.Editor, true}, {groupsOnly, access.Admin, false},
		{access.Identity{}, access.Viewer, false},
	} {
		if got := c.who.Somewhere(c.need); got != c.want {
			t.Errorf("%+v somewhere %s: %v", c.who, c.need, got)
		}
	}
	if groupsOnly.May(access.Viewer, "odd") || groupsOnly.May(access.Viewer, "") ||
		!groupsOnly.May(access.Operator, "reports") {
		t.Error("an unknown role counts, or a known one does not")
	}
}

func TestIdentity_Within(t *testing.T) {
	ann := access.Identity{
		Name:   "ann",
		Role:   access.Operator,
		Grants: map[string]access.Role{"reports": access.Editor, "billing": access.Viewer},
	}
	bob := access.Identity{Name: "bob", Grants: map[string]access.Role{"reports": access.Editor}}
	root := access.Identity{Name: "root", Role: access.Admin}
	for _, c := range []struct {
		who    access.Identity
		role   access.Role
		groups []string
		in     map[string]access.Role // what is left, by group; "" for none
	}{
		{ann, access.Admin, nil, map[string]access.Role{
			"":        access.Operator,
			"reports": access.Editor,
			"billing": access.Operator,
			"other":   access.Operator,
		}},
		{ann, access.Viewer, nil, map[string]access.Role{
			"":        access.Viewer,
			"reports": access.Viewer,
			"billing": access.Viewer,
		}},
		{ann, access.Editor, []string{"reports", "other", ""}, map[string]access.Role{
			"":        "",
			"reports": access.Editor,
			"other":   access.Operator,
			"billing": "",
		}},
		{bob, access.Editor, nil, map[string]access.Role{"": "", "reports": access.Editor, "other": ""}},
		{bob, access.Admin, []string{"other"}, map[string]access.Role{"": "", "reports": "", "other": ""}},
		{root, access.Editor, []string{"reports"}, map[string]access.Role{"": "", "reports": access.Editor,
			"other": ""}},
		{root, "owner", nil, map[string]access.Role{"": "", "reports": ""}},
		{root, "", []string{"reports"}, map[string]access.Role{"": "", "reports": ""}},
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
	if ann.In("billing") != access.Operator || len(ann.Grants) != 2 {
		t.Errorf("the original has changed: %+v", ann)
	}
}

// A token has the rights of its owner at most, whatever its own role is.
func TestToken_HasAtMostTheRightsOfItsOwner(t *testing.T) {
	now := time.Now()
	ann := &access.UserRecord{ID: "1", Name: "ann", Groups: map[string]access.Role{"reports": access.Operator}}
	record := access.NewToken().Record(access.TokenRequest{
		Name:   "ci",
		Role:   access.Admin,
		Groups: []string{"reports", "billing", "reports"},
	}, ann, "ann", now)
	who, ok := record.Identity(ann)
	if !ok || who.Name != "ann" || who.User != "ann" || who.UserID != "1" || who.Token != record.ID ||
		who.In("reports") != access.Operator || who.In("billing") != "" || who.Role != "" {
		t.Errorf("identity is %+v, %v", who, ok)
	}
	if len(record.Groups) != 2 {
		t.Errorf("the groups are %v", record.Groups)
	}
	for _, other := range []*access.UserRecord{nil, {ID: "2", Name: "ann", Role: access.Admin}, {
		ID:       "1",
		Name:     "ann",
		Role:     access.Admin,
		Disabled: true,
	}} {
		if who, ok := record.Identity(other); ok || who.Somewhere(access.Viewer) {
			t.Errorf("token is valid with owner %+v", other)
		}
	}
	ownerless := access.NewToken().Record(access.TokenRequest{
		Name:   "ci",
		Role:   access.Editor,
		Groups: []string{"reports"},
	}, nil, "admin", now)
	if who, ok := ownerless.Identity(nil); !ok || who.Name != "ci" || who.User != "" ||
		who.In("reports") != access.Editor || who.In("") != "" {
		t.Errorf("identity of a token without owner: %+v, %v", who, ok)
	}
}

// A member of a group is who was granted a role in it: a role everywhere makes no one a member, however a token is
// limited.
func TestIdentity_Member(t *testing.T) {
	ann := access.UserRecord{ID: "1", Name: "ann", Role: access.Operator,
		Groups: map[string]access.Role{"finance": access.Editor, "reports": access.Viewer}}
	of := func(owner *access.UserRecord, role access.Role, groups ...string) access.Identity {
		record := access.TokenRecord{ID: "t", Name: "t", Role: role, Groups: groups}
		if owner != nil {
			record.User, record.UserID = owner.Name, owner.ID
		}
		who, ok := record.Identity(owner)
		if !ok {
			t.Fatal("the token is not valid")
		}
		return who
	}
	for name, c := range map[string]struct {
		who   access.Identity
		group string
		want  access.Role
	}{
		"granted":                          {ann.Identity(), "finance", access.Editor},
		"a lower one than everywhere":      {ann.Identity(), "reports", access.Viewer},
		"everywhere":                       {ann.Identity(), "other", ""},
		"her token":                        {of(&ann, access.Operator), "finance", access.Operator},
		"her token, everywhere":            {of(&ann, access.Operator), "other", ""},
		"her token of a group":             {of(&ann, access.Editor, "finance"), "finance", access.Editor},
		"her token, of another":            {of(&ann, access.Editor, "finance"), "reports", ""},
		"her token of a group, everywhere": {of(&ann, access.Operator, "other"), "other", ""},
		"her token, a lower one":           {of(&ann, access.Operator, "reports"), "reports", access.Viewer},
		"a token of no user":               {of(nil, access.Admin), "finance", ""},
		"a token of no user, of a group":   {of(nil, access.Operator, "finance"), "finance", access.Operator},
	} {
		if got := c.who.Member(c.group); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
