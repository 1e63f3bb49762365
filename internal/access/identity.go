package access

import (
	"cmp"
	"slices"
	"time"

	"carillon/internal/common"
)

// Identity is an authenticated user or token with its rights.
type Identity struct {
	Name   string // of the user, or of the token
	User   string // the user; "" for a token without an owner
	UserID string // id of the user's record; "" without one, as for external users
	Token  string // id of the token used; "" for none
	// Role applies everywhere; "" is no role. Grants are additional roles for the jobs of a group,
	// by group name.
	Role      Role
	Grants    map[string]Role
	Session   bool      // authenticated by a session, not by the token itself
	ExpiresAt time.Time // of the session or token; zero if it does not expire

	// granted holds the grants without what follows from the role everywhere; nil if the two are the same.
	granted map[string]Role
}

// Member returns the highest role that was granted for a group by its name, or for one that it is nested in, which
// makes the identity a member of the group; "" for none. A role everywhere does not.
func (i *Identity) Member(group string) Role {
	if i.granted != nil {
		return among(i.granted, group)
	}
	return among(i.Grants, group)
}

// among returns the highest of the roles for a group and for those that it is nested in.
func among(grants map[string]Role, group string) (role Role) {
	if len(grants) == 0 {
		return ""
	}
	for _, g := range common.GroupLine(group) {
		if granted := grants[g]; granted != "" && (role == "" || granted.Includes(role)) {
			role = granted
		}
	}
	return role
}

// In returns the highest role for the jobs of a group. Jobs without a group ("") have no grants of
// their own.
func (i *Identity) In(group string) Role {
	granted := among(i.Grants, group)
	if group == "" || !granted.Includes(i.Role) && i.Role != "" {
		return i.Role
	}
	return granted
}

// May reports whether the identity has at least the role need for the jobs of a group.
func (i *Identity) May(need Role, group string) bool { return i.In(group).Includes(need) }

// Somewhere reports whether the identity has the role everywhere or for at least one group, and so
// may use a route that needs it.
func (i *Identity) Somewhere(need Role) bool {
	if i.Role.Includes(need) {
		return true
	}
	for group, granted := range i.Grants {
		if group != "" && granted.Includes(need) {
			return true
		}
	}
	return false
}

// Within returns the identity with its rights limited to at most a role and, if groups are named,
// to these groups.
func (i Identity) Within(role Role, groups []string) Identity {
	all := i
	i.Role, i.Grants, i.granted = "", map[string]Role{}, map[string]Role{}
	if len(groups) > 0 {
		for _, group := range groups {
			if least := lower(role, all.Member(group)); group != "" && least != "" {
				i.granted[group] = least
			}
			if least := lower(role, all.In(group)); group != "" && least != "" {
				i.Grants[group] = least
			}
		}
		return i
	}
	i.Role = lower(role, all.Role)
	for group := range all.Grants {
		if least := lower(role, all.Member(group)); group != "" && least != "" {
			i.granted[group] = least
		}
		if least := lower(role, all.In(group)); group != "" && least != "" && least != i.Role {
			i.Grants[group] = least
		}
	}
	return i
}

// lower returns the lower of two roles, or "" if one of them is unknown.
func lower(a, b Role) Role {
	switch {
	case a.Includes(b):
		return b
	case b.Includes(a):
		return a
	}
	return ""
}

// groupsOf returns the groups sorted and without duplicates.
func groupsOf(groups []string) []string {
	groups = slices.Clone(groups)
	slices.SortFunc(groups, cmp.Compare[string])
	return slices.Compact(groups)
}
