package common

import (
	"net/mail"
	"strings"
)

// ValidAddress reports whether a text is a plain mail address.
func ValidAddress(s string) bool {
	parsed, err := mail.ParseAddress(s)
	return err == nil && parsed.Address == s && len(s) <= 254 && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || r == '<' || r == '"'
	})
}
