package redact

import (
	"bytes"
	"cmp"
	"slices"
)

// Lengths of a secret in bytes. Shorter texts also occur in harmless output.
const (
	MinSecret = 8
	MaxSecret = 4096
)

// Secret is a text that must not be printed, and the name that is printed instead.
type Secret struct {
	Name  string
	Value []byte
}

// Masker replaces secrets. A nil Masker replaces nothing.
type Masker struct {
	secrets  []Secret
	patterns []pattern
	// leap allows skipping most of a text without secrets (Wu and Manber's shift table): for each pair of
	// bytes at the end of a window, how far the first width bytes of any secret are away at least.
	width int
	leap  *[1 << 16]uint8
}

// pattern is a secret, prepared for the search.
type pattern struct {
	label []byte
	value []byte
	// border[i] is the length of the longest proper suffix of the first i+1 bytes that is also a prefix of
	// the secret (Knuth, Morris and Pratt's failure function).
	border []int
}

// New returns a Masker; nil if there is no secret.
func New(secrets []Secret) *Masker {
	m := new(Masker)
	for _, s := range secrets {
		if len(s.Value) > 0 {
			m.secrets = append(m.secrets, s)
			m.patterns = append(m.patterns, pattern{
				label:  []byte("[secret:" + s.Name + "]"),
				value:  slices.Clone(s.Value),
				border: borders(s.Value),
			})
		}
	}
	if len(m.patterns) == 0 {
		return nil
	}
	m.width = maxWidth
	for i := range m.patterns {
		m.width = min(m.width, len(m.patterns[i].value))
	}
	m.leap = new([1 << 16]uint8)
	for i := range m.leap {
		m.leap[i] = uint8(max(0, m.width-1))
	}
	for i := range m.patterns {
		v := m.patterns[i].value
		for end := 1; end < m.width; end++ {
			at := pair(v[end-1], v[end])
			m.leap[at] = min(m.leap[at], uint8(m.width-1-end))
		}
	}
	return m
}

// With returns a Masker for additional secrets.
func (m *Masker) With(more []Secret) *Masker {
	switch {
	case len(more) == 0:
		return m
	case m == nil:
		return New(more)
	}
	return New(slices.Concat(m.secrets, more))
}

// maxWidth bounds the prefix of a secret that is compared at each candidate.
const maxWidth = 32

func pair(a, b byte) uint16 { return uint16(a) | uint16(b)<<8 }

// candidate returns the next position at which the first width bytes of a secret occur, or the first one
// with fewer than width bytes after it.
func (m *Masker) candidate(text []byte, at int) int {
	if m.width < 2 {
		return at
	}
	for end := at + m.width - 1; end < len(text); {
		if leap := int(m.leap[pair(text[end-1], text[end])]); leap > 0 {
			end += leap
			continue
		}
		begin := end - m.width + 1
		for i := range m.patterns {
			if bytes.Equal(m.patterns[i].value[:m.width], text[begin:end+1]) {
				return begin
			}
		}
		end++
	}
	return max(at, len(text)-m.width+1)
}

func borders(v []byte) []int {
	b := make([]int, len(v))
	for i, n := 1, 0; i < len(v); i++ {
		for n > 0 && v[n] != v[i] {
			n = b[n-1]
		}
		if v[n] == v[i] {
			n++
		}
		b[i] = n
	}
	return b
}

// Text masks a complete text.
func (m *Masker) Text(text string) string {
	if m == nil {
		return text
	}
	s := m.Stream()
	out := slices.Clone(s.Write([]byte(text)))
	return string(append(out, s.Flush()...))
}

// Stream returns a stream for a text in pieces; nil if there is no secret.
func (m *Masker) Stream() *Stream {
	if m == nil {
		return nil
	}
	return &Stream{masker: m, begun: make([]int, len(m.patterns))}
}

// span is an occurrence of a secret.
type span struct{ pattern, from, to int }

// sorted sorts spans by their begin; at the same begin, the longest comes first.
func sorted(spans []span) {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(a.from-b.from, b.to-a.to, a.pattern-b.pattern) })
}
