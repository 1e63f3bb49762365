package access

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"carillon/internal/common"
)

// UserRecord is the stored form of a user.
type UserRecord struct {
	// ID is created with the user: a later user of the same name has another, and tokens and
	// sessions of the earlier user do not work for it.
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Title    string          `json:"title,omitempty"`
	Role     Role            `json:"role,omitempty"`   // everywhere
	Groups   map[string]Role `json:"groups,omitempty"` // additional roles by group
	Disabled bool            `json:"disabled,omitempty"`
	Password string          `json:"password,omitempty"` // its hash; "": cannot sign in with a password
	// Epoch ties sessions to the user: it changes with the password, with the roles and when the
	// user is disabled, and sessions of an earlier epoch end.
	Epoch     string    `json:"epoch"`
	CreatedAt time.Time `json:"createdAt"`
	CreatedBy string    `json:"createdBy,omitempty"`
	UpdatedAt time.Time `json:"updatedAt"`
	UpdatedBy string    `json:"updatedBy,omitempty"`
	Version   int64     `json:"-"` // etcd revision of the last change
}

// Identity returns the user's identity.
func (u *UserRecord) Identity() Identity {
	return Identity{Name: u.Name, User: u.Name, UserID: u.ID, Role: u.Role, Grants: maps.Clone(u.Groups)}
}

// Governs reports whether the user guarantees admin access: an admin everywhere who can sign in. At
// least one has to exist.
func (u *UserRecord) Governs() bool { return u.Role == Admin && !u.Disabled && u.Password != "" }

// Redacted returns the record without password hash and epoch, for the audit.
func (u UserRecord) Redacted() UserRecord {
	u.Password, u.Epoch = "", ""
	return u
}

// UserChange is a change of a user; nil fields stay as they are.
type UserChange struct {
	Title    *string
	Role     *Role // "" for none everywhere
	Groups   *map[string]Role
	Disabled *bool
	Password *string // in the clear; "" removes it
}

// Bounds of a user.
const (
	maxTitle  = 200
	maxGroups = 256
)

// Faults returns what is wrong with a change of the user of that name.
func (w *UserChange) Faults(name string) (faults common.Faults) {
	if w.Title != nil && (utf8.RuneCountInString(*w.Title) > maxTitle || !utf8.ValidString(*w.Title)) {
		faults.Add("title", "too_long", nil, "must be at most %d characters", maxTitle).With("characters", maxTitle)
	}
	if w.Title != nil && strings.ContainsFunc(*w.Title, common.Misleads) {
		faults.Add("title", "control", nil, "must be one line without control characters")
	}
	if w.Role != nil && *w.Role != "" && !w.Role.Valid() {
		faults = append(faults, roleFault("role", *w.Role))
	}
	if w.Groups != nil {
		if len(*w.Groups) > maxGroups {
			faults.Add("groups", "too_many", nil, "must be at most %d", maxGroups).With("most", maxGroups)
		}
		for _, group := range slices.Sorted(maps.Keys(*w.Groups)) {
			if !common.ValidGroup(group) {
				faults = append(faults, groupFault("groups", group))
			} else if role := (*w.Groups)[group]; !role.Valid() {
				faults = append(faults, roleFault("groups."+group, role))
			}
		}
	}
	if w.Password != nil && *w.Password != "" {
		if fault := passwordFault(name, *w.Password); fault != nil {
			faults = append(faults, *fault)
		}
	}
	return faults
}

func roleFault(at string, role Role) common.Fault {
	return common.NewFault(at, "enum", string(role), "must be one of viewer, operator, editor, admin")
}

func groupFault(at, group string) common.Fault {
	return common.Fault{Location: at, Code: "name", Value: common.Excerpt(group),
		Message: "must be names of groups: 1 to 128 characters of a–z, 0–9, '.', '_' and '-', without '..'"}
}

// Apply applies the change to a record and reports whether the record changed. hash is that of the
// new password, if there is one.
func (w *UserChange) Apply(u *UserRecord, hash string) (changed bool) {
	before := *u
	if w.Title != nil {
		u.Title = *w.Title
	}
	if w.Role != nil {
		u.Role = *w.Role
	}
	if w.Groups != nil {
		u.Groups = maps.Clone(*w.Groups)
	}
	if w.Disabled != nil {
		u.Disabled = *w.Disabled
	}
	if w.Password != nil {
		u.Password = hash
	}
	if before.Role != u.Role || !maps.Equal(before.Groups, u.Groups) || u.Disabled && !before.Disabled ||
		before.Password != u.Password {
		u.Epoch = common.NewID()
		return true
	}
	return before.Title != u.Title || before.Disabled != u.Disabled
}
