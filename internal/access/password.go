package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"carillon/internal/common"
)

// Bounds of a password.
const (
	MinPassword = 12   // characters
	MaxPassword = 1024 // bytes
)

// cost holds the argon2id parameters: 19 MiB in two passes, the first choice of OWASP's password
// storage cheat sheet (RFC 9106's second choice with less memory).
type cost struct {
	memory  uint32 // KiB
	passes  uint32
	threads uint8
}

var usual = cost{memory: 19 << 10, passes: 2, threads: 1}

const (
	saltBytes = 16
	keyBytes  = 32
	// A hash needs memory, so few are computed at a time; a caller that waits longer than hashWait
	// gets CodeTooMany.
	hashesAtOnce = 2
	hashWait     = 3 * time.Second
)

// Hasher computes and verifies password hashes (argon2id), a bounded number at a time. Safe for
// concurrent use.
type Hasher struct {
	slots  chan struct{}
	wait   time.Duration
	derive func(password, salt []byte, c cost) []byte
}

// NewHasher returns a hasher.
func NewHasher() *Hasher {
	return &Hasher{slots: make(chan struct{}, hashesAtOnce), wait: hashWait,
		derive: func(password, salt []byte, c cost) []byte {
			return argon2.IDKey(password, salt, c.passes, c.memory, c.threads, keyBytes)
		}}
}

// Hash returns the value to store for a password: $argon2id$v=19$m=…,t=…,p=…$salt$hash. The error
// is CodeTooMany if too many passwords are being hashed.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails (crypto/rand ends the program instead)
	key, err := h.work(ctx, password, salt, usual)
	if err != nil {
		return "", err
	}
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, usual.memory, usual.passes, usual.threads,
		b64.EncodeToString(salt), b64.EncodeToString(key)), nil
}

// Verify reports whether a hash was computed from the password. An empty or malformed hash matches
// nothing and takes as much work as any other, so that the response time does not reveal which
// users exist.
func (h *Hasher) Verify(ctx context.Context, password, hash string) (bool, error) {
	c, salt, want, err := parseHash(hash)
	good := err == nil
	if !good {
		c, salt, want = usual, make([]byte, saltBytes), make([]byte, keyBytes)
	}
	if len(password) > MaxPassword {
		password, good = "", false
	}
	key, err := h.work(ctx, password, salt, c)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(key, want) == 1 && good, nil
}

func (h *Hasher) work(ctx context.Context, password string, salt []byte, c cost) ([]byte, error) {
	limit, cancel := context.WithTimeout(ctx, h.wait)
	defer cancel()
	select {
	case h.slots <- struct{}{}:
	case <-limit.Done():
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, common.Errorf(common.CodeTooMany, "too many passwords are being checked").
			WithReason("passwords_busy").WithHint("retry in a few seconds")
	}
	defer func() { <-h.slots }()
	return h.derive([]byte(password), salt, c), nil
}

var errHash = errors.New("malformed password hash")

// Bounds of the cost that a stored hash may request.
const (
	maxMemory = 256 << 10 // KiB
	maxPasses = 16
)

func parseHash(text string) (c cost, salt, key []byte, err error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return c, nil, nil, errHash
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.memory, &c.passes, &c.threads); err != nil {
		return c, nil, nil, errHash
	}
	salt, err1 := base64.RawStdEncoding.Strict().DecodeString(parts[4])
	key, err2 := base64.RawStdEncoding.Strict().DecodeString(parts[5])
	if err1 != nil || err2 != nil || len(salt) < 8 || len(salt) > 64 || len(key) != keyBytes ||
		c.memory < 8 || c.memory > maxMemory || c.passes == 0 || c.passes > maxPasses || c.threads == 0 {
		return c, nil, nil, errHash
	}
	return c, salt, key, nil
}

// passwordFault returns the reason why a text is not acceptable as a user's password, or nil.
func passwordFault(user, password string) *common.Fault {
	fault := &common.Fault{Location: "password", Code: "password"}
	switch {
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		fault.Message = "must be UTF-8, without NUL"
	case utf8.RuneCountInString(password) < MinPassword:
		fault.Message = fmt.Sprintf("must have at least %d characters", MinPassword)
		fault.Hint = "use a few unrelated words: long, and easy to remember"
	case len(password) > MaxPassword:
		fault.Message = fmt.Sprintf("must have at most %d bytes", MaxPassword)
	case strings.EqualFold(password, user):
		fault.Message = "must differ from the user name"
	case distinct(password) < 4:
		fault.Message = "must contain at least 4 different characters"
	default:
		return nil
	}
	return fault
}

func distinct(text string) int {
	seen := map[rune]struct{}{}
	for _, r := range text {
		seen[r] = struct{}{}
	}
	return len(seen)
}
