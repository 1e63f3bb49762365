package notify

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

// Kind is the transport of a channel.
type Kind string

// The kinds.
const (
	KindWebhook Kind = "webhook"
	KindMail    Kind = "mail"
)

// Kinds lists all kinds.
var Kinds = [...]Kind{KindWebhook, KindMail}

// Bounds of channels.
const (
	MaxAddresses = 50
	MaxURL       = 2048
	MaxSecret    = 256
	MaxChannels  = 1000
)

// Channel is a destination of notifications, the value of /cron/settings/channels/<name>.
type Channel struct {
	Name      string    `json:"name"`
	Kind      Kind      `json:"kind"`
	Origin    string    `json:"origin,omitempty"` // scheme and host of a webhook; the rest may be a secret
	Sealed    string    `json:"sealed,omitempty"` // its Target, encrypted
	To        []string  `json:"to,omitempty"`     // mail addresses
	Disabled  bool      `json:"disabled,omitempty"`
	Why       string    `json:"why,omitempty"` // reason for being disabled
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	UpdatedBy string    `json:"updatedBy,omitempty"`

	Version int64 `json:"-"` // the etcd revision of its last change
}

// Target is the secret part of a webhook.
type Target struct {
	URL    string `json:"url"`
	Secret string `json:"secret"`
}

// ChannelDefinition is the desired state of a channel. Empty fields of an existing webhook keep their value.
type ChannelDefinition struct {
	Kind      Kind     `json:"kind" enum:"webhook,mail"`
	URL       string   `json:"url,omitempty" maxLength:"2048" doc:"URL of the webhook."`
	Secret    string   `json:"secret,omitempty" maxLength:"256" doc:"Signs the calls of a webhook: whsec_ and 24 to 64 bytes in base64. Generated for a new webhook if not given." example:"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"`
	NewSecret bool     `json:"newSecret,omitempty" doc:"Generate a new signing secret and return it."`
	To        []string `json:"to,omitempty" nullable:"false" maxItems:"50" doc:"Mail addresses."`
	Disabled  bool     `json:"disabled,omitempty" doc:"Send nothing to the channel."`
}

const secretPrefix = "whsec_"

// NewSecret returns a random signing secret of 256 bits, in the format of Standard Webhooks.
func NewSecret() string {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails (crypto/rand ends the program instead)
	return secretPrefix + base64.StdEncoding.EncodeToString(key[:])
}

// SecretKey decodes a signing secret: 24 to 64 bytes, according to Standard Webhooks.
func SecretKey(secret string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil || !strings.HasPrefix(secret, secretPrefix) || len(key) < 24 || len(key) > 64 {
		return nil, fmt.Errorf("must be %s and 24 to 64 bytes in base64", secretPrefix)
	}
	return key, nil
}

// Faults returns what is wrong with the change. exists reports whether a channel of that kind
// exists.
func (w *ChannelDefinition) Faults(exists bool) (faults common.Faults) {
	switch w.Kind {
	case KindWebhook:
		if len(w.To) > 0 {
			faults.Add("to", "exclusive", nil, "is for mail only")
		}
		if w.URL == "" && !exists {
			faults.Add("url", "required", nil, "is required")
		}
		if w.URL != "" {
			if _, err := OriginOf(w.URL); err != nil {
				faults.Add("url", "url", nil, "%s", err) // without the URL, which may be a secret
			}
		}
		if w.Secret != "" && w.NewSecret {
			faults.Add("secret", "exclusive", nil, "cannot be combined with newSecret")
		}
		if w.Secret != "" {
			if _, err := SecretKey(w.Secret); err != nil {
				faults.Add("secret", "secret", nil, "%s", err)
			}
		}
	case KindMail:
		if w.URL != "" {
			faults.Add("url", "exclusive", nil, "is for webhooks only")
		}
		if w.Secret != "" || w.NewSecret {
			faults.Add("secret", "exclusive", nil, "is for webhooks only")
		}
		faults = append(faults, addressFaults(w.To)...)
	default:
		faults.Add("kind", "enum", nil, "must be webhook or mail")
	}
	return faults
}

func addressFaults(to []string) (faults common.Faults) {
	if len(to) == 0 {
		faults.Add("to", "required", nil, "must contain at least one address")
	}
	if len(to) > MaxAddresses {
		faults.Add("to", "too_many", nil, "must be at most %d", MaxAddresses)
	}
	for i, address := range to {
		location := fmt.Sprintf("to[%d]", i)
		switch {
		case !ValidAddress(address):
			faults.Add(location, "address", address, "must be a plain address, such as ops@example.com")
		case slices.Contains(to[:i], address):
			faults.Add(location, "duplicate", address, "is a duplicate")
		}
	}
	return faults
}

// ValidAddress reports whether a text is a plain mail address.
func ValidAddress(s string) bool {
	parsed, err := mail.ParseAddress(s)
	return err == nil && parsed.Address == s && len(s) <= 254 && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || r == '<' || r == '"'
	})
}

// OriginOf returns scheme and host of a webhook's URL.
func OriginOf(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "":
		return "", fmt.Errorf("must be an http or https URL")
	case len(text) > MaxURL:
		return "", fmt.Errorf("must be at most %d bytes", MaxURL)
	case u.User != nil:
		return "", fmt.Errorf("must not contain a user or password")
	case u.Fragment != "":
		return "", fmt.Errorf("must not contain a fragment")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return "", fmt.Errorf("must be printable ASCII without spaces")
	}
	return u.Scheme + "://" + u.Host, nil
}
