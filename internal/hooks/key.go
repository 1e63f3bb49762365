package hooks

import (
	"crypto/subtle"
	"regexp"

	"carillon/internal/access"
)

// Key is the key of a hook in the clear: crnh_<uid of the job>_<secret>. It is shown once, when it is created.
type Key struct {
	JobUID string
	secret string
}

var keyPattern = regexp.MustCompile(`^crnh_([a-z2-7]{16})_([a-z2-7]{52})$`)

// NewKey returns a new random key for a hook of a job.
func NewKey(jobUID string) Key { return Key{JobUID: jobUID, secret: access.NewSecret()} }

// ParseKey parses a key; ok is false if the text is malformed.
func ParseKey(text string) (k Key, ok bool) {
	m := keyPattern.FindStringSubmatch(text)
	if m == nil {
		return Key{}, false
	}
	return Key{JobUID: m[1], secret: m[2]}, true
}

// Reveal returns the text of the key, to be shown once. (It is not String, so that a key logged by mistake stays
// secret.)
func (k Key) Reveal() string { return "crnh_" + k.JobUID + "_" + k.secret }

// String returns the key without its secret.
func (k Key) String() string { return "crnh_" + k.JobUID }

// GoString keeps the secret out of %#v.
func (k Key) GoString() string { return k.String() }

// Hash returns the hash of the key, which may be stored.
func (k Key) Hash() string { return access.Hash(k.secret) }

// Opens reports whether the key is that of a hook, in constant time.
func (k Key) Opens(h *Hook) bool {
	return h.Hash != "" && h.JobUID == k.JobUID && subtle.ConstantTimeCompare([]byte(k.Hash()), []byte(h.Hash)) == 1
}

// Shown is what a change of a hook shows once: the key, if it is new, and the secret of the signature, if it was
// generated.
type Shown struct {
	Key    string
	Secret string
}
