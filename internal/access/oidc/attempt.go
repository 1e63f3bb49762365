package oidc

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"carillon/internal/access"
)

// maxTo bounds the path to which a login returns.
const maxTo = 1024

// attempt is a login in progress at the issuer. The browser keeps it in a cookie; the values that
// the issuer sees cannot be computed without its secret.
type attempt struct {
	secret string
	at     time.Time
	to     string // path to return to
}

func newAttempt(now time.Time, to string) attempt {
	return attempt{secret: access.NewSecret(), at: now, to: to}
}

// cookie returns the attempt as a cookie value.
func (a *attempt) cookie() string {
	return a.secret + "." + strconv.FormatInt(a.at.Unix(), 10) + "." +
		base64.RawURLEncoding.EncodeToString([]byte(a.to))
}

// readAttempt parses a cookie value.
func readAttempt(text string) (a attempt, ok bool) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 || !access.ValidSecret(parts[0]) || len(parts[2]) > 2*maxTo {
		return attempt{}, false
	}
	seconds, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return attempt{}, false
	}
	to, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return attempt{}, false
	}
	return attempt{secret: parts[0], at: time.Unix(seconds, 0), to: string(to)}, true
}

// derive returns a value bound to the attempt. Time and path are part of it, so that neither can be
// changed in the cookie.
func (a *attempt) derive(purpose string) string {
	mac := hmac.New(sha256.New, []byte(a.secret))
	mac.Write([]byte(purpose + "\x00" + strconv.FormatInt(a.at.Unix(), 10) + "\x00" + a.to))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (a *attempt) state() string    { return a.derive("state") }
func (a *attempt) nonce() string    { return a.derive("nonce") }
func (a *attempt) verifier() string { return a.derive("verifier") }

// alive reports whether the attempt has not expired; the clocks of masters may differ by up to a
// minute.
func (a *attempt) alive(now time.Time) bool {
	age := now.Sub(a.at)
	return age > -time.Minute && age < access.ExternalLoginLife
}

// same compares in constant time. It is false for the empty text.
func same(a, b string) bool { return a != "" && hmac.Equal([]byte(a), []byte(b)) }

// localPath reports whether a text is a path of the console and cannot lead to another host.
func localPath(to string) bool {
	if len(to) > maxTo || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") {
		return false
	}
	// Browsers treat a backslash as a slash and ignore non-printable characters.
	return !strings.ContainsFunc(to, func(r rune) bool { return r == '\\' || r <= ' ' || r >= 0x7f })
}
