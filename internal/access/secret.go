package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"regexp"
	"strings"
)

// secretPattern is the format of all secrets: 256 bits in base32.
var secretPattern = regexp.MustCompile(`^[a-z2-7]{52}$`)

// NewSecret returns 256 random bits as 52 characters of a–z and 2–7.
func NewSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand ends the program instead)
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}

// ValidSecret reports whether a text has the format of a secret. Other texts need no lookup.
func ValidSecret(s string) bool { return secretPattern.MatchString(s) }

// Hash returns the SHA-256 of a secret in hex, which may be stored. Secrets are random and long, so
// a slow hash would add nothing.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// matches compares a secret with a stored hash in constant time. An empty hash matches nothing.
func matches(secret, hash string) bool {
	return hash != "" && subtle.ConstantTimeCompare([]byte(Hash(secret)), []byte(hash)) == 1
}
