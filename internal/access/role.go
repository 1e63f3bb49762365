package access

import "slices"

// Role is a set of permissions. Each role includes the ones before it.
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

// Valid reports whether the role is one of Roles; "" is not.
func (r Role) Valid() bool { return slices.Contains(Roles[:], r) }

// Includes reports whether role r is at least the role need. Unknown roles include nothing and are
// included in nothing.
func (r Role) Includes(need Role) bool {
	mine, needed := slices.Index(Roles[:], r), slices.Index(Roles[:], need)
	return mine >= 0 && needed >= 0 && mine >= needed
}
