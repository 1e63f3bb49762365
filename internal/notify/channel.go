package notify

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
)

// Bounds of channels.
const (
	MaxAddresses = 50
	MaxURL       = 2048
	MaxSecret    = 256
	MaxChat      = 128
	MaxChannels  = 1000
)

// Channel is a destination of notifications, the value of /cron/settings/channels/<name>.
type Channel struct {
	Name      string    `json:"name"`
	Kind      Kind      `json:"kind"`
	Origin    string    `json:"origin,omitempty"` // scheme and host of the URL; the rest may be a secret
	Sealed    string    `json:"sealed,omitempty"` // its Target, encrypted
	To        []string  `json:"to,omitempty"`     // mail addresses
	Language  Language  `json:"language,omitempty"`
	Disabled  bool      `json:"disabled,omitempty"`
	Why       string    `json:"why,omitempty"` // reason for being disabled
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	UpdatedBy string    `json:"updatedBy,omitempty"`

	Version int64 `json:"-"` // the etcd revision of its last change
}

// Target is the secret part of a channel. The URL is always set, since versions that know webhooks only take a target
// without one for a value that they cannot decrypt.
type Target struct {
	URL    string `json:"url"`
	Secret string `json:"secret"`
	Key    string `json:"key,omitempty"`
	Chat   string `json:"chat,omitempty"`
}

// ChannelDefinition is the desired state of a channel. Empty fields of an existing channel of the same kind keep their
// value if they are part of its Target.
type ChannelDefinition struct {
	Kind      Kind     `json:"kind" enum:"webhook,mail,slack,pagerduty,teams,discord,mattermost,telegram,dingtalk,feishu,wecom,ntfy,opsgenie,ping"`
	URL       string   `json:"url,omitempty" maxLength:"2048" doc:"URL that is called. Treated as a secret."`
	Secret    string   `json:"secret,omitempty" maxLength:"256" doc:"Signs the calls. For a webhook, whsec_ and 24 to 64 bytes in base64, generated if not given." example:"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"`
	NewSecret bool     `json:"newSecret,omitempty" doc:"Generate a new signing secret of a webhook and return it."`
	Key       string   `json:"key,omitempty" maxLength:"256" doc:"Key or token that the receiver has issued. Treated as a secret."`
	Chat      string   `json:"chat,omitempty" maxLength:"128" doc:"Chat that a bot writes to. Treated as a secret."`
	Language  Language `json:"language,omitempty" enum:"en,zh" doc:"Language of messages; en if not given. Webhooks have none."`
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

const secretRule = "must be " + secretPrefix + " and 24 to 64 bytes in base64"

// SecretKey decodes a signing secret: 24 to 64 bytes, according to Standard Webhooks.
func SecretKey(secret string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil || !strings.HasPrefix(secret, secretPrefix) || len(key) < 24 || len(key) > 64 {
		return nil, errors.New(secretRule)
	}
	return key, nil
}

func isSecret(text string) bool {
	_, err := SecretKey(text)
	return err == nil
}

// Faults returns what is wrong with the change. exists reports whether a channel of that kind
// exists. No fault shows a value that may be a secret.
func (w *ChannelDefinition) Faults(exists bool) (faults common.Faults) {
	rules, known := rulesOf(w.Kind)
	if !known {
		faults.Add("kind", "enum", nil, "must be one of %s", kindNames())
		return faults
	}
	if w.Kind == KindMail {
		faults = append(faults, addressFaults(w.To)...)
	} else if len(w.To) > 0 {
		faults.Add("to", "exclusive", nil, "is for mail only")
	}
	if _, err := OriginOf(w.URL); err != nil && w.URL != "" && rules.url.need != never {
		faults.Add("url", "url", nil, "%s", err)
	} else {
		rules.url.check(&faults, w.Kind, "url", w.URL, exists)
	}
	rules.secret.check(&faults, w.Kind, "secret", w.Secret, exists)
	rules.key.check(&faults, w.Kind, "key", w.Key, exists)
	rules.chat.check(&faults, w.Kind, "chat", w.Chat, exists)
	switch {
	case w.NewSecret && w.Kind != KindWebhook:
		faults.Add("secret", "exclusive", nil, "is generated for webhooks only")
	case w.NewSecret && w.Secret != "":
		faults.Add("secret", "exclusive", nil, "cannot be combined with newSecret")
	}
	switch {
	case w.Language == "":
	case !rules.worded:
		faults.Add("language", "exclusive", nil, "is not a field of channels of kind %s", w.Kind)
	case w.Language != English && w.Language != Chinese:
		faults.Add("language", "enum", nil, "must be %s or %s", English, Chinese)
	}
	return faults
}

// Retargets reports whether the change contains a part of the target.
func (w *ChannelDefinition) Retargets() bool {
	return w.URL != "" || w.Secret != "" || w.NewSecret || w.Key != "" || w.Chat != ""
}

// With returns the target after a change, before a signing secret is generated, and whether all that the receiver
// needs is given, so that nothing of the old one is left.
func (w *ChannelDefinition) With(t Target) (after Target, whole bool) {
	rules, _ := rulesOf(w.Kind)
	whole = true
	for _, field := range []struct {
		rule  rule
		given string
		to    *string
	}{{rules.url, w.URL, &t.URL}, {rules.secret, w.Secret, &t.Secret}, {rules.key, w.Key, &t.Key},
		{rules.chat, w.Chat, &t.Chat}} {
		if field.given != "" {
			*field.to = field.given
		} else if field.rule.need != never && (field.to != &t.URL || rules.base == "") {
			whole = whole && field.to == &t.Secret && w.NewSecret
		}
	}
	t.URL = cmp.Or(t.URL, rules.base)
	return t, whole
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
		case !common.ValidAddress(address):
			faults.Add(location, "address", address, "must be a plain address, such as ops@example.com")
		case slices.Contains(to[:i], address):
			faults.Add(location, "duplicate", address, "is a duplicate")
		}
	}
	return faults
}

// OriginOf returns scheme and host of a channel's URL.
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
