package auth

import (
	"cmp"
	"slices"
	"time"
)

// Identity is who somebody has shown to be, and what they may do.
type Identity struct {
	Name   string // of the user, or of the token
	User   string // the user who stands behind it; "" for a token that belongs to nobody
	UserID string // of the user's record; "" where there is none, as of those who come from elsewhere
	Token  string // id of the token that stands behind it; "" for none
	// Role is what they may do everywhere; "" for nothing. Grants are what they may do
	// besides with the jobs of a group, by its name.
	Role      Role
	Grants    map[string]Role
	Session   bool      // came with a session and not with the token itself
	ExpiresAt time.Time // of the session or the token; zero for one that does not expire
}

// In is the highest role that somebody has for the jobs of a group; those that are in no
// group ("") have none of their own.
func (i *Identity) In(group string) Role {
	granted := i.Grants[group]
	if group == "" || !granted.Includes(i.Role) && i.Role != "" {
		return i.Role
	}
	return granted
}

// May tells whether somebody may do what needs a role with a job of a group.
func (i *Identity) May(need Role, group string) bool { return i.In(group).Includes(need) }

// Somewhere tells whether there is any group for which somebody has a role, or all of them:
// whether a route that needs it is for them at all.
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

// Within is what is left of somebody's rights under a bound: a role at most, and where
// groups are named, nothing beside them.
func (i Identity) Within(role Role, groups []string) Identity {
	all := i
	i.Role, i.Grants = "", map[string]Role{}
	if len(groups) > 0 {
		for _, group := range groups {
			if least := lower(role, all.In(group)); group != "" && least != "" {
				i.Grants[group] = least
			}
		}
		return i
	}
	i.Role = lower(role, all.Role)
	for group := range all.Grants {
		if least := lower(role, all.In(group)); group != "" && least != "" && least != i.Role {
			i.Grants[group] = least
		}
	}
	return i
}

// lower is the lower of two roles, "" where one of them is not ours.
func lower(a, b Role) Role {
	switch {
	case a.Includes(b):
		return b
	case b.Includes(a):
		return a
	}
	return ""
}

// groupsOf sorts groups and leaves out what stands twice.
func groupsOf(groups []string) []string {
	groups = slices.Clone(groups)
	slices.SortFunc(groups, cmp.Compare[string])
	return slices.Compact(groups)
}
