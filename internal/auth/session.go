package auth

import "time"

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
}

// Login is an attempt to get a session: by a one-use code or by a token.
type Login struct {
	Code   string
	Token  string
	Remote string
}

// Session is a session just made. Its secret is shown once, in a cookie.
type Session struct {
	Secret    string
	Identity  Identity
	ExpiresAt time.Time
}

// SessionRecord is what is stored of a session, under the hash of its secret. What
// it allows is what its token allows, so that it ends with the token.
type SessionRecord struct {
	Token     string    `json:"token"`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"` // absolute; the idle bound is the lease
	Remote    string    `json:"remote,omitempty"`
}

// CodeRecord is what is stored of a login code, under its hash.
type CodeRecord struct {
	Token     string    `json:"token"` // whose session it gives
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
}
