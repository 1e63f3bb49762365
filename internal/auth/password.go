package auth

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

// cost is what a hash takes: the second choice of RFC 9106 trimmed to what OWASP's
// password storage sheet names first, 19 MiB in two passes.
type cost struct {
	memory  uint32 // KiB
	passes  uint32
	threads uint8
}

var usual = cost{memory: 19 << 10, passes: 2, threads: 1}

const (
	saltBytes = 16
	keyBytes  = 32
	// Work of one hash is memory, so few are made at a time; who waits longer than this is
	// told to come again.
	hashesAtOnce = 2
	hashWait     = 3 * time.Second
)

// Hasher hashes passwords (argon2id) and compares them with their hashes, few at a
// time. Safe for concurrent use.
type Hasher struct {
	slots  chan struct{}
	wait   time.Duration
	derive func(password, salt []byte, c cost) []byte
}

// NewHasher makes a hasher.
func NewHasher() *Hasher {
	return &Hasher{slots: make(chan struct{}, hashesAtOnce), wait: hashWait,
		derive: func(password, salt []byte, c cost) []byte {
			return argon2.IDKey(password, salt, c.passes, c.memory, c.threads, keyBytes)
		}}
}

// Hash is what may be stored of a password: $argon2id$v=19$m=…,t=…,p=…$salt$hash.
// CodeTooMany where too many are being made.
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

// Verify tells whether a password is the one that a hash was made of. A hash that is
// empty, or not one of ours, matches nothing and takes as much work as any other, so
// that the time does not tell who exists.
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
		return nil, &common.Error{Code: common.CodeTooMany, Reason: "passwords_busy", Message: "too many passwords are being checked just now",
			Hint: "try again in a moment"}
	}
	defer func() { <-h.slots }()
	return h.derive([]byte(password), salt, c), nil
}

var errHash = errors.New("not a hash of ours")

// Bounds of the cost that a stored hash may ask for.
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

// passwordFault tells why a text may not be the password of a user, nil where it may.
func passwordFault(user, password string) *common.Fault {
	fault := &common.Fault{Location: "password", Code: "password"}
	switch {
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		fault.Message = "must be UTF-8, without NUL"
	case utf8.RuneCountInString(password) < MinPassword:
		fault.Message = fmt.Sprintf("must have at least %d characters", MinPassword)
		fault.Hint = "a few words that do not belong together are long, and easy to keep in mind"
	case len(password) > MaxPassword:
		fault.Message = fmt.Sprintf("must have at most %d bytes", MaxPassword)
	case strings.EqualFold(password, user):
		fault.Message = "must not be the name of the user"
	case distinct(password) < 4:
		fault.Message = "must not be the same few characters again and again"
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
