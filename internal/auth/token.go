package auth

import (
	"regexp"
	"time"

	"carillon/internal/common"
)

// Token is an API token in the clear: car_<id>_<secret>. It is shown once, when it is made.
type Token struct {
	ID     string
	secret string
}

var tokenPattern = regexp.MustCompile(`^car_([a-z2-7]{16})_([a-z2-7]{52})$`)

// NewToken makes a token.
func NewToken() Token { return Token{ID: common.NewID(), secret: NewSecret()} }

// ParseToken reads a token; ok is false where the text has not its form.
func ParseToken(text string) (t Token, ok bool) {
	m := tokenPattern.FindStringSubmatch(text)
	if m == nil {
		return Token{}, false
	}
	return Token{ID: m[1], secret: m[2]}, true
}

// Reveal is the token's text, to be shown to its owner and to nobody else. (It is
// not String, so that a token that gets into a log line by mistake stays secret.)
func (t Token) Reveal() string { return "car_" + t.ID + "_" + t.secret }

// String names the token without its secret.
func (t Token) String() string { return "car_" + t.ID }

// GoString keeps the secret out of %#v as well.
func (t Token) GoString() string { return t.String() }

// Record makes what is stored of the token. A zero ttl means that it does not expire.
func (t Token) Record(name string, role Role, by string, now time.Time, ttl time.Duration) TokenRecord {
	r := TokenRecord{ID: t.ID, Name: name, Role: role, Hash: Hash(t.secret), CreatedAt: now, CreatedBy: by}
	if ttl > 0 {
		r.ExpiresAt = now.Add(ttl)
	}
	return r
}

// TokenRecord is what is stored of a token.
type TokenRecord struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Role      Role      `json:"role"`
	Hash      string    `json:"hash"`
	CreatedAt time.Time `json:"createdAt"`
	CreatedBy string    `json:"createdBy,omitempty"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"` // zero: does not expire
}

// Verify tells whether the token is the one that the record was made of, and still valid.
func (r *TokenRecord) Verify(t Token, now time.Time) bool {
	return matches(t.secret, r.Hash) && r.ID == t.ID && r.Alive(now)
}

// Alive tells whether the record may still be used.
func (r *TokenRecord) Alive(now time.Time) bool {
	return r.Role.Valid() && (r.ExpiresAt.IsZero() || now.Before(r.ExpiresAt))
}

// Identity is who uses the token.
func (r *TokenRecord) Identity() Identity {
	return Identity{Name: r.Name, Role: r.Role, Token: r.ID}
}

// Redacted is the record as it may be seen in the history of changes.
func (r TokenRecord) Redacted() TokenRecord {
	r.Hash = ""
	return r
}
