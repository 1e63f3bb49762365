package auth

import "slices"

// Role is what somebody may do. Each role includes those before it.
type Role string

// The roles.
const (
	Viewer   Role = "viewer"   // reads
	Operator Role = "operator" // runs, kills, pauses
	Editor   Role = "editor"   // defines jobs
	Admin    Role = "admin"    // users, workers, settings
)

// Roles lists them from the lowest to the highest.
var Roles = [...]Role{Viewer, Operator, Editor, Admin}

// Valid tells whether the role is one of ours; the empty one is not.
func (r Role) Valid() bool { return slices.Contains(Roles[:], r) }

// Includes tells whether somebody with role r may do what needs the other role.
// Roles that are not ours include nothing and are included in nothing.
func (r Role) Includes(need Role) bool {
	mine, needed := slices.Index(Roles[:], r), slices.Index(Roles[:], need)
	return mine >= 0 && needed >= 0 && mine >= needed
}
