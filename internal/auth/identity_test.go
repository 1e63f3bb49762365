package auth_test

import (
	"testing"

	"carillon/internal/auth"
)

func TestGrants(t *testing.T) {
	who := auth.Identity{Role: auth.Operator, Grants: map[string]auth.Role{"reports": auth.Editor, "billing": auth.Viewer, "": auth.Admin}}
	nobody := auth.Identity{Grants: map[string]auth.Role{"reports": auth.Editor, "odd": "owner"}}
	for _, c := range []struct {
		who   auth.Identity
		group string
		want  auth.Role
	}{
		{who, "", auth.Operator},
		{who, "reports", auth.Editor},
		{who, "billing", auth.Operator},
		{who, "other", auth.Operator},
		{nobody, "", ""},
		{nobody, "reports", auth.Editor},
		{nobody, "other", ""},
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
		{nobody, auth.Viewer, true}, {nobody, auth.Editor, true}, {nobody, auth.Admin, false},
		{auth.Identity{}, auth.Viewer, false},
	} {
		if got := c.who.Somewhere(c.need); got != c.want {
			t.Errorf("%+v somewhere %s: %v", c.who, c.need, got)
		}
	}
	if nobody.May(auth.Viewer, "odd") || nobody.May(auth.Viewer, "") || !nobody.May(auth.Operator, "reports") {
		t.Error("a role that is not ours counts, or one that is does not")
	}
}
