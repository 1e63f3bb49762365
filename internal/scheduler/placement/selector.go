package placement

import (
	"slices"
	"strings"
)

// Selector is an expression that matches labels, created by ParseSelector. It is immutable; a nil Selector matches all
// labels.
type Selector struct{ all []requirement }

// requirement is one part of a selector.
type requirement struct {
	key    string
	op     operator
	values []string
}

type operator int

const (
	exists operator = iota
	absent
	in    // also key=value
	notIn // also key!=value
)

// Matches reports whether labels meet all requirements of the selector. An absent label meets != and notin.
func (s *Selector) Matches(labels map[string]string) bool {
	return s.unmet(labels) == nil
}

// unmet returns the first requirement that labels do not meet, or nil.
func (s *Selector) unmet(labels map[string]string) *requirement {
	if s == nil {
		return nil
	}
	for i := range s.all {
		if !s.all[i].met(labels) {
			return &s.all[i]
		}
	}
	return nil
}

func (r *requirement) met(labels map[string]string) bool {
	value, has := labels[r.key]
	switch r.op {
	case exists:
		return has
	case absent:
		return !has
	case in:
		return has && slices.Contains(r.values, value)
	default:
		return !has || !slices.Contains(r.values, value)
	}
}

// String returns the selector in its normal form, without unnecessary spaces.
func (s *Selector) String() string {
	if s == nil {
		return ""
	}
	parts := make([]string, len(s.all))
	for i := range s.all {
		parts[i] = s.all[i].String()
	}
	return strings.Join(parts, ",")
}

func (r *requirement) String() string {
	switch {
	case r.op == exists:
		return r.key
	case r.op == absent:
		return "!" + r.key
	case r.op == in && len(r.values) == 1:
		return r.key + "=" + r.values[0]
	case r.op == in:
		return r.key + " in (" + strings.Join(r.values, ",") + ")"
	case len(r.values) == 1:
		return r.key + "!=" + r.values[0]
	default:
		return r.key + " notin (" + strings.Join(r.values, ",") + ")"
	}
}
