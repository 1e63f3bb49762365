package auth

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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

// TokenLife is how long a token lives where nothing else is said.
const TokenLife = 90 * 24 * time.Hour

// TokenWish says what a token is to be.
type TokenWish struct {
	Name   string
	Role   Role     // at most
	Groups []string // only of these; none for all
	User   string   // whose it is; "" for nobody's
	TTL    time.Duration
}

// Faults are what is wrong with the wish.
func (w *TokenWish) Faults() (faults []common.Fault) {
	if n := utf8.RuneCountInString(w.Name); n == 0 || n > maxTokenName || !utf8.ValidString(w.Name) || strings.ContainsFunc(w.Name, unicode.IsControl) {
		faults = append(faults, common.Fault{Location: "name", Code: "name", Value: common.Excerpt(w.Name),
			Message: fmt.Sprintf("must be 1 to %d characters, without control characters", maxTokenName)})
	}
	if !w.Role.Valid() {
		faults = append(faults, roleFault("role", w.Role))
	}
	if len(w.Groups) > maxGroups {
		faults = append(faults, common.Fault{Location: "groups", Code: "too_many", Message: fmt.Sprintf("must be at most %d", maxGroups), Data: common.WordsOf("most", maxGroups)})
	}
	for _, group := range w.Groups {
		if !common.ValidName(group) {
			faults = append(faults, groupFault("groups", group))
		}
	}
	return faults
}

const maxTokenName = 100

// Record makes what is stored of the token. A zero ttl means that it does not expire;
// owner is the user it belongs to, nil for nobody.
func (t Token) Record(w TokenWish, owner *UserRecord, by string, now time.Time) TokenRecord {
	r := TokenRecord{ID: t.ID, Name: w.Name, Role: w.Role, Groups: groupsOf(w.Groups), Hash: Hash(t.secret), CreatedAt: now, CreatedBy: by}
	if owner != nil {
		r.User, r.UserID = owner.Name, owner.ID
	}
	if w.TTL > 0 {
		r.ExpiresAt = now.Add(w.TTL)
	}
	return r
}

// TokenRecord is what is stored of a token.
type TokenRecord struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Role      Role      `json:"role"`
	Groups    []string  `json:"groups,omitempty"` // that it is good for; none for all
	User      string    `json:"user,omitempty"`   // whose it is
	UserID    string    `json:"userId,omitempty"`
	Hash      string    `json:"hash"`
	CreatedAt time.Time `json:"createdAt"`
	CreatedBy string    `json:"createdBy,omitempty"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"` // zero: does not expire
	LastUse   TokenUse  `json:"-"`                  // stored apart
}

// TokenUse says when a token was last used, to the minute, and from where.
type TokenUse struct {
	At     time.Time `json:"at"`
	Remote string    `json:"remote,omitempty"`
}

// Verify tells whether the token is the one that the record was made of, and still valid.
func (r *TokenRecord) Verify(t Token, now time.Time) bool {
	return matches(t.secret, r.Hash) && r.ID == t.ID && r.Alive(now)
}

// Alive tells whether the record may still be used.
func (r *TokenRecord) Alive(now time.Time) bool {
	return r.Role.Valid() && (r.ExpiresAt.IsZero() || now.Before(r.ExpiresAt))
}

// Identity is who uses the token. The token of a user has no more rights than the user
// has; ok is false where the owner is not the one it was made for, or is disabled.
func (r *TokenRecord) Identity(owner *UserRecord) (who Identity, ok bool) {
	who = Identity{Name: r.Name, Role: r.Role}
	if r.UserID != "" {
		if owner == nil || owner.ID != r.UserID || owner.Disabled {
			return Identity{}, false
		}
		who = owner.Identity()
	}
	who = who.Within(r.Role, r.Groups)
	who.Token, who.ExpiresAt = r.ID, r.ExpiresAt
	return who, true
}

// Governs tells whether the token is one of those by which an admin can always come in.
func (r *TokenRecord) Governs(now time.Time) bool {
	return r.Role == Admin && r.UserID == "" && len(r.Groups) == 0 && r.Alive(now)
}

// Redacted is the record as it may be seen in the history of changes.
func (r TokenRecord) Redacted() TokenRecord {
	r.Hash = ""
	return r
}
