package common

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// SecretPrefix begins a value of a job's env that refers to a named secret: secret:<name>.
const SecretPrefix = "secret:"

// Bounds of a named secret. A shorter one would also be masked in harmless texts.
const (
	MinSecretBytes  = 8
	MaxSecretBytes  = 4096
	MaxSecretGroups = 64
	// MaxSecretsOfJob bounds the number of secrets that a run's output is searched for.
	MaxSecretsOfJob = 32
)

// Secret describes a named secret, without its value.
type Secret struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Groups      []string `json:"groups,omitempty"` // groups whose jobs may use it; any if empty
	// SetAt is the time at which its value was last set.
	SetAt     time.Time `json:"setAt"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	UpdatedBy string    `json:"updatedBy,omitempty"`
	Version   int64     `json:"-"` // the etcd revision of its last change
}

// ForGroup reports whether jobs of a group may use the secret.
func (s *Secret) ForGroup(group string) bool {
	return len(s.Groups) == 0 || slices.Contains(s.Groups, group)
}

// SecretDefinition is the desired state of a secret.
type SecretDefinition struct {
	Value       string   `json:"value,omitempty" writeOnly:"true" doc:"The secret: 8 to 4096 bytes of UTF-8 without NUL. An existing value is kept if none is given. Never returned." example:"correct horse battery staple"`
	Description string   `json:"description,omitempty" doc:"Purpose; at most 200 characters." example:"password of the reporting database"`
	Groups      []string `json:"groups,omitempty" nullable:"false" doc:"Groups whose jobs may use it, at most 64. Default: all jobs."`
}

// Faults returns the faults of the request; known reports that the secret has a value already.
func (w *SecretDefinition) Faults(known bool) []Fault {
	c := &checker{}
	switch {
	case w.Value == "" && !known:
		c.add("value", "required", nil, "is required for a new secret")
	case w.Value == "":
	case !utf8.ValidString(w.Value):
		c.add("value", "utf8", nil, "is not valid UTF-8")
	case strings.ContainsRune(w.Value, 0):
		c.add("value", "nul", nil, "must not contain a NUL character")
	case len(w.Value) < MinSecretBytes || len(w.Value) > MaxSecretBytes:
		c.add("value", "length", nil,
			"must be %d to %d bytes: a shorter one would be found, and masked, in harmless texts", MinSecretBytes,
			MaxSecretBytes)
	}
	c.line("description", w.Description, MaxTitle)
	c.most("groups", len(w.Groups), MaxSecretGroups)
	for i, group := range w.Groups {
		location := fmt.Sprintf("groups[%d]", i)
		switch {
		case !ValidGroup(group):
			c.add(location, "name", group, "is not a name of a group")
		case slices.Contains(w.Groups[:i], group):
			c.add(location, "twice", group, "is named twice")
		}
	}
	return c.faults
}

// SecretOf returns the name of the secret that a value of env refers to.
func SecretOf(value string) (name string, found bool) {
	return strings.CutPrefix(value, SecretPrefix)
}

// SecretRefs returns the variables of the job's env that refer to secrets, with the names of these, and the locations
// in with that do, such as with.headers.Authorization.
func (j *Job) SecretRefs() map[string]string { return j.With.secretsIn(SecretRefs(j.Env)) }

// SecretRefs returns what in the step refers to secrets, as that of a job does.
func (s *Step) SecretRefs() map[string]string { return s.With.secretsIn(SecretRefs(s.Env)) }

// SecretAt returns the location of a reference to a secret, of a key of SecretRefs.
func SecretAt(key string) string {
	if strings.HasPrefix(key, "with.") {
		return key
	}
	return "env." + Excerpt(key)
}

// SecretRefs returns the variables of an env that refer to secrets, with the names of these.
func SecretRefs(env map[string]string) map[string]string {
	var refs map[string]string
	for variable, value := range env {
		if name, found := SecretOf(value); found {
			if refs == nil {
				refs = map[string]string{}
			}
			refs[variable] = name
		}
	}
	return refs
}

// secretFaults adds the faults of invalid references.
func (j *Job) secretFaults(c *checker) {
	refs := j.SecretRefs()
	for _, variable := range slices.Sorted(maps.Keys(refs)) {
		if name := refs[variable]; !ValidName(name) {
			c.add(SecretAt(variable), "secret_name", name,
				"must name a secret, as in secret:db-password; a plain text cannot begin with secret:")
		}
	}
	if len(refs) > MaxSecretsOfJob {
		c.add("env", "too_many", len(refs), "must refer to at most %d secrets", MaxSecretsOfJob).
			With("most", MaxSecretsOfJob)
	}
}
