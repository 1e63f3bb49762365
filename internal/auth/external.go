package auth

import (
	"maps"
	"time"
)

// External is somebody whom an issuer of logins vouches for, with what our rules let them do.
type External struct {
	Issuer  string          `json:"issuer"`
	Subject string          `json:"subject"` // the issuer's own name of them, which never becomes another's
	Name    string          `json:"name"`    // for people
	Role    Role            `json:"role,omitempty"`
	Groups  map[string]Role `json:"groups,omitempty"`
	// Once names the login: it makes one session only.
	Once string `json:"-"`
}

// externalPrefix keeps them apart from our own users, whose names hold no colon.
const externalPrefix = "oidc:"

// Identity is who they are here. They are a user without a record of ours.
func (e *External) Identity() Identity {
	return Identity{Name: externalPrefix + e.Name, User: externalPrefix + e.Subject, Role: e.Role, Grants: maps.Clone(e.Groups)}
}

// IssuerAnswer is what an issuer has somebody's browser bring to us.
type IssuerAnswer struct {
	Code   string
	State  string
	Error  string
	Issuer string
}

// ExternalLoginLife is how long somebody may take to log in at an issuer.
const ExternalLoginLife = 10 * time.Minute
