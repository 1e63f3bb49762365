package auth

// Identity is who somebody has shown to be, and what they may do.
type Identity struct {
	Name  string // of the user, or of the token
	User  string // the user who stands behind it; "" for a token that belongs to nobody
	Token string // id of the token that stands behind it; "" for none
	// Role is what they may do everywhere; "" for nothing. Grants are what they may do
	// besides with the jobs of a group, by its name.
	Role    Role
	Grants  map[string]Role
	Session bool // came with a session and not with the token itself
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
