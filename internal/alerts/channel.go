package alerts

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
)

// Kind is how a channel tells.
type Kind string

// The kinds.
const (
	KindWebhook Kind = "webhook"
	KindMail    Kind = "mail"
)

// Kinds lists them all.
var Kinds = [...]Kind{KindWebhook, KindMail}

// Bounds of channels.
const (
	MaxAddresses = 50
	MaxURL       = 2048
	MaxSecret    = 256
	MaxChannels  = 1000
)

// Channel is the value of /cron/settings/channels/<name>: somebody who can be told.
type Channel struct {
	Name      string    `json:"name"`
	Kind      Kind      `json:"kind"`
	Origin    string    `json:"origin,omitempty"` // scheme and host of a webhook; the rest may be a secret
	Sealed    string    `json:"sealed,omitempty"` // its Target
	To        []string  `json:"to,omitempty"`     // addresses of mail
	Disabled  bool      `json:"disabled,omitempty"`
	Why       string    `json:"why,omitempty"` // it is disabled
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	UpdatedBy string    `json:"updatedBy,omitempty"`

	Version int64 `json:"-"` // the etcd revision of its last change
}

// Target is what of a webhook must not be seen.
type Target struct {
	URL    string `json:"url"`
	Secret string `json:"secret"`
}

// Wish is what somebody wants a channel to be. Of a webhook that exists, what is empty stays.
type Wish struct {
	Kind      Kind
	URL       string
	Secret    string
	NewSecret bool // one is made
	To        []string
	Disabled  bool
}

const secretPrefix = "whsec_"

// NewSecret makes a signing secret of 256 bits, in the form of the specification.
func NewSecret() string {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails (crypto/rand ends the program instead)
	return secretPrefix + base64.StdEncoding.EncodeToString(key[:])
}

// SecretKey is the key that a signing secret stands for: 24 to 64 bytes, as the
// specification has it.
func SecretKey(secret string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil || !strings.HasPrefix(secret, secretPrefix) || len(key) < 24 || len(key) > 64 {
		return nil, fmt.Errorf("must be %s and 24 to 64 bytes in base64", secretPrefix)
	}
	return key, nil
}

// Faults tells what is wrong with a wish. exists says that there is a channel of that kind.
func (w *Wish) Faults(exists bool) (faults []common.Fault) {
	add := func(location, code, message string) {
		faults = append(faults, common.Fault{Location: location, Code: code, Message: message})
	}
	switch w.Kind {
	case KindWebhook:
		if len(w.To) > 0 {
			add("to", "exclusive", "is for mail")
		}
		if w.URL == "" && !exists {
			add("url", "required", "is required")
		}
		if w.URL != "" {
			if _, err := OriginOf(w.URL); err != nil {
				add("url", "url", err.Error()) // the URL may be a secret, and is not shown
			}
		}
		if w.Secret != "" && w.NewSecret {
			add("secret", "exclusive", "cannot stand beside newSecret")
		}
		if w.Secret != "" {
			if _, err := SecretKey(w.Secret); err != nil {
				add("secret", "secret", err.Error())
			}
		}
	case KindMail:
		if w.URL != "" {
			add("url", "exclusive", "is for webhooks")
		}
		if w.Secret != "" || w.NewSecret {
			add("secret", "exclusive", "is for webhooks")
		}
		faults = append(faults, addressFaults(w.To)...)
	default:
		add("kind", "enum", "must be webhook or mail")
	}
	return faults
}

func addressFaults(to []string) (faults []common.Fault) {
	if len(to) == 0 {
		faults = append(faults, common.Fault{Location: "to", Code: "required", Message: "is required: at least one address"})
	}
	if len(to) > MaxAddresses {
		faults = append(faults, common.Fault{Location: "to", Code: "too_many", Message: fmt.Sprintf("must be at most %d", MaxAddresses)})
	}
	for i, address := range to {
		location := fmt.Sprintf("to[%d]", i)
		switch {
		case !ValidAddress(address):
			faults = append(faults, common.Fault{Location: location, Code: "address", Value: common.Excerpt(address), Message: "must be a plain address, such as ops@example.com"})
		case slices.Contains(to[:i], address):
			faults = append(faults, common.Fault{Location: location, Code: "duplicate", Value: common.Excerpt(address), Message: "stands twice"})
		}
	}
	return faults
}

// ValidAddress tells whether a text is a mail address and nothing else.
func ValidAddress(s string) bool {
	parsed, err := mail.ParseAddress(s)
	return err == nil && parsed.Address == s && len(s) <= 254 && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '<' || r == '"' })
}

// OriginOf is the scheme and host of a webhook's URL.
func OriginOf(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "":
		return "", fmt.Errorf("must be an http or https URL")
	case len(text) > MaxURL:
		return "", fmt.Errorf("must be at most %d bytes", MaxURL)
	case u.User != nil:
		return "", fmt.Errorf("must hold no user and no password")
	case u.Fragment != "":
		return "", fmt.Errorf("must have no fragment")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return "", fmt.Errorf("must be printable ASCII without blanks")
	}
	return u.Scheme + "://" + u.Host, nil
}
