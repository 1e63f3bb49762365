package access

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"carillon/internal/common"
)

// Token is an API token in the clear: car_<id>_<secret>. It is shown once, when it is created.
type Token struct {
	ID     string
	secret string
}

var tokenPattern = regexp.MustCompile(`^car_([a-z2-7]{16})_([a-z2-7]{52})$`)

// NewToken returns a new random token.
func NewToken() Token { return Token{ID: common.NewID(), secret: NewSecret()} }

// ParseToken parses a token; ok is false if the text is malformed.
func ParseToken(text string) (t Token, ok bool) {
	m := tokenPattern.FindStringSubmatch(text)
	if m == nil {
		return Token{}, false
	}
	return Token{ID: m[1], secret: m[2]}, true
}

// Reveal returns the token's text, to be shown to its owner only. (It is not String, so that a
// token logged by mistake stays secret.)
func (t Token) Reveal() string { return "car_" + t.ID + "_" + t.secret }

// String returns the token's id without its secret.
func (t Token) String() string { return "car_" + t.ID }

// GoString keeps the secret out of %#v.
func (t Token) GoString() string { return t.String() }

// TokenLife is the default lifetime of a token.
const TokenLife = 90 * 24 * time.Hour

// TokenRequest is a request for a token.
type TokenRequest struct {
	Name   string
	Role   Role     // upper bound
	Groups []string // limited to these groups; none for all
	User   string   // owner; "" for none
	TTL    time.Duration
}

// Faults returns what is wrong with the request.
func (w *TokenRequest) Faults() (faults common.Faults) {
	if n := utf8.RuneCountInString(w.Name); n == 0 || n > maxTokenName || !utf8.ValidString(w.Name) ||
		strings.ContainsFunc(w.Name, common.Misleads) {
		faults.Add("name", "name", w.Name, "must be 1 to %d characters, without control characters", maxTokenName)
	}
	if !w.Role.Valid() {
		faults = append(faults, roleFault("role", w.Role))
	}
	if len(w.Groups) > maxGroups {
		faults.Add("groups", "too_many", nil, "must be at most %d", maxGroups).With("most", maxGroups)
	}
	for _, group := range w.Groups {
		if !common.ValidGroup(group) {
			faults = append(faults, groupFault("groups", group))
		}
	}
	return faults
}

const maxTokenName = 100

// Record returns the record to store for the token. With a TTL of zero it does not expire; owner
// may be nil.
func (t Token) Record(w TokenRequest, owner *UserRecord, by string, now time.Time) TokenRecord {
	r := TokenRecord{
		ID:        t.ID,
		Name:      w.Name,
		Role:      w.Role,
		Groups:    groupsOf(w.Groups),
		Hash:      Hash(t.secret),
		CreatedAt: now,
		CreatedBy: by,
	}
	if owner != nil {
		r.User, r.UserID = owner.Name, owner.ID
	}
	if w.TTL > 0 {
		r.ExpiresAt = now.Add(w.TTL)
	}
	return r
}

// TokenRecord is the stored form of a token.
type TokenRecord struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Role      Role      `json:"role"`
	Groups    []string  `json:"groups,omitempty"` // limited to these; none for all
	User      string    `json:"user,omitempty"`   // owner
	UserID    string    `json:"userId,omitempty"`
	Hash      string    `json:"hash"`
	CreatedAt time.Time `json:"createdAt"`
	CreatedBy string    `json:"createdBy,omitempty"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"` // zero: does not expire
	LastUse   TokenUse  `json:"-"`                  // stored under a key of its own
	Revision  int64     `json:"-"`                  // etcd revision of its creation
}

// TokenUse holds the time of a token's last use, to the minute, and the client's address.
type TokenUse struct {
	At     time.Time `json:"at"`
	Remote string    `json:"remote,omitempty"`
}

// Verify reports whether the record is that of the token and still valid.
func (r *TokenRecord) Verify(t Token, now time.Time) bool {
	return matches(t.secret, r.Hash) && r.ID == t.ID && r.Alive(now)
}

// Alive reports whether the record has not expired and its role is known.
func (r *TokenRecord) Alive(now time.Time) bool {
	return r.Role.Valid() && (r.ExpiresAt.IsZero() || now.Before(r.ExpiresAt))
}

// Identity returns the identity of the token's holder. A user's token has at most the user's
// rights; ok is false if the owner is not the user it was created for, or is disabled.
func (r *TokenRecord) Identity(owner *UserRecord) (who Identity, ok bool) {
	who = Identity{Name: r.Name, Role: r.Role}
	if r.UserID != "" {
		if owner == nil || owner.ID != r.UserID || owner.Disabled {
			return Identity{}, false
		}
		who = owner.Identity()
	}
	who = who.Within(r.Role, r.Groups)
	if r.UserID == "" { // its groups were granted to the token itself
		who.granted = nil
	}
	who.Token, who.ExpiresAt = r.ID, r.ExpiresAt
	return who, true
}

// Governs reports whether the token guarantees admin access: an admin everywhere, without an owner,
// not expired.
func (r *TokenRecord) Governs(now time.Time) bool {
	return r.Role == Admin && r.UserID == "" && len(r.Groups) == 0 && r.Alive(now)
}

// Redacted returns the record without its hash, for the audit.
func (r TokenRecord) Redacted() TokenRecord {
	r.Hash = ""
	return r
}
