package auth

import (
	"regexp"
	"time"

	"carillon/internal/common"
)

// Bounds of a session and of a login code.
const (
	SessionIdle     = 8 * time.Hour
	SessionAbsolute = 24 * time.Hour
	LoginCodeLife   = 15 * time.Minute
)

// Credential is what a request carries: a token in the clear or the secret of a session.
type Credential struct {
	Token   string
	Session string
	Remote  string // where it came from
}

// Login is an attempt to get a session: by a one-use code, by a token, or by a user's
// name and password.
type Login struct {
	Code     string
	Token    string
	User     string
	Password string
	Remote   string
}

// PasswordChange is a user's own change of the password.
type PasswordChange struct {
	User    string
	UserID  string
	Current string
	New     string
	// Session asks for a new session, since those of before are over.
	Session bool
	Remote  string
}

// Faults are what is wrong with the new password.
func (c *PasswordChange) Faults() []common.Fault {
	if fault := passwordFault(c.User, c.New); fault != nil {
		fault.Location = "new"
		return []common.Fault{*fault}
	}
	return nil
}

// Session is a session just made. Its secret is shown once, in a cookie.
type Session struct {
	Secret    string
	Identity  Identity
	ExpiresAt time.Time
}

// SessionRecord is what is stored of a session, under the hash of its secret. What
// it allows is what its token or user may, so that it ends with them.
type SessionRecord struct {
	Name      string    `json:"name,omitempty"`  // who has logged in
	Token     string    `json:"token,omitempty"` // the token that it came from
	User      string    `json:"user,omitempty"`
	UserID    string    `json:"userId,omitempty"`
	Epoch     string    `json:"epoch,omitempty"`    // the user's, when the session was made
	External  *External `json:"external,omitempty"` // of somebody of whom we have no record
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"` // absolute; the idle bound is the lease
	Remote    string    `json:"remote,omitempty"`
	ID        string    `json:"-"` // the first digits of its hash
}

// SessionID names a session, by the hash of its secret.
func SessionID(hash string) string { return hash[:min(len(hash), sessionIDLength)] }

const sessionIDLength = 16

var sessionIDPattern = regexp.MustCompile(`^[0-9a-f]{16}$`)

// ValidSessionID tells whether a text has the form of a session's id.
func ValidSessionID(s string) bool { return sessionIDPattern.MatchString(s) }

// Holds tells whether the session is still good for the user it is of.
func (r *SessionRecord) Holds(u *UserRecord) bool {
	return u.ID == r.UserID && u.Epoch == r.Epoch && !u.Disabled
}

// Of tells whether the session is of the one who asks.
func (r *SessionRecord) Of(who *Identity) bool {
	if who.User != "" {
		return r.User == who.User && r.UserID == who.UserID
	}
	return r.User == "" && who.Token != "" && r.Token == who.Token
}

// CodeRecord is what is stored of a login code, under its hash.
type CodeRecord struct {
	Token     string    `json:"token"` // whose session it gives
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
}
