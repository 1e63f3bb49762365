package access

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

// Credential is what authenticates a request: a token in the clear or the secret of a session.
type Credential struct {
	Token   string
	Session string
	Remote  string // client address
}

// Login is a request for a session: by one-use code, token, or user name and password.
type Login struct {
	Code     string
	Token    string
	User     string
	Password string
	Remote   string
}

// PasswordChange is a user's change of their own password.
type PasswordChange struct {
	User    string
	UserID  string
	Current string
	New     string
	// Session requests a new session, since the change ends the existing ones.
	Session bool
	Remote  string
}

// Faults returns what is wrong with the new password.
func (c *PasswordChange) Faults() []common.Fault {
	if fault := passwordFault(c.User, c.New); fault != nil {
		fault.Location = "new"
		return []common.Fault{*fault}
	}
	return nil
}

// Session is a session that was just created. Its secret is shown once, in a cookie.
type Session struct {
	Secret    string
	Identity  Identity
	ExpiresAt time.Time
}

// SessionRecord is the stored form of a session, under the hash of its secret. It has the rights of
// its token or user, and ends with them.
type SessionRecord struct {
	Name      string    `json:"name,omitempty"`  // of the user or token
	Token     string    `json:"token,omitempty"` // id of the token used to sign in
	User      string    `json:"user,omitempty"`
	UserID    string    `json:"userId,omitempty"`
	Epoch     string    `json:"epoch,omitempty"`    // the user's at the login
	External  *External `json:"external,omitempty"` // for a user of an external issuer
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"` // absolute; the idle bound is the lease
	Remote    string    `json:"remote,omitempty"`
	ID        string    `json:"-"` // SessionID of the key
}

// SessionID returns the public id of a session: the first digits of the hash of its secret.
func SessionID(hash string) string { return hash[:min(len(hash), sessionIDLength)] }

const sessionIDLength = 16

var sessionIDPattern = regexp.MustCompile(`^[0-9a-f]{16}$`)

// ValidSessionID reports whether a text has the format of a session id.
func ValidSessionID(s string) bool { return sessionIDPattern.MatchString(s) }

// Holds reports whether the session is still valid for its user.
func (r *SessionRecord) Holds(u *UserRecord) bool {
	return u.ID == r.UserID && u.Epoch == r.Epoch && !u.Disabled
}

// Of reports whether the session belongs to an identity.
func (r *SessionRecord) Of(who *Identity) bool {
	if who.User != "" {
		return r.User == who.User && r.UserID == who.UserID
	}
	return r.User == "" && who.Token != "" && r.Token == who.Token
}

// CodeRecord is the stored form of a login code, under its hash.
type CodeRecord struct {
	Token     string    `json:"token"` // id of the token whose session it creates
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
}
