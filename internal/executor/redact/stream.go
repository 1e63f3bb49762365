package redact

import "slices"

// Stream masks a text in pieces. A nil Stream passes everything through.
type Stream struct {
	masker  *Masker
	begun   []int  // by secret: length of its prefix at the end of the text so far
	held    []byte // end of the text that may be the beginning of a secret
	found   []span // occurrences within held, unordered
	covered int    // bytes of held that are already masked
	named   []int  // secrets named for the covered bytes
}

// Write adds the next piece and returns the masked text that is complete; it may be a part of p.
func (s *Stream) Write(p []byte) []byte {
	if s == nil {
		return p
	}
	text, from := p, 0
	if len(s.held) > 0 {
		text, from = slices.Concat(s.held, p), len(s.held)
	}
	s.find(text, from)
	return s.release(text, len(text)-slices.Max(s.begun))
}

// Flush returns the text that was held back. The next piece begins another text.
func (s *Stream) Flush() []byte {
	if s == nil {
		return nil
	}
	clear(s.begun)
	return s.release(s.held, len(s.held))
}

// find finds secrets that end in text[from:], including overlapping ones.
func (s *Stream) find(text []byte, from int) {
	idle := slices.Max(s.begun) == 0
	for at := from; at < len(text); at++ {
		if idle {
			if at = s.masker.candidate(text, at); at >= len(text) {
				return
			}
		}
		idle = true
		for i := range s.begun {
			p := &s.masker.patterns[i]
			n := p.step(s.begun[i], text[at])
			if n == len(p.value) {
				s.found = append(s.found, span{i, at + 1 - n, at + 1})
				n = p.border[n-1]
			}
			s.begun[i] = n
			idle = idle && n == 0
		}
	}
}

// step returns the length of the secret's prefix at the end of the text after one more byte; before it,
// the length was n.
func (p *pattern) step(n int, c byte) int {
	for n > 0 && p.value[n] != c {
		n = p.border[n-1]
	}
	if p.value[n] == c {
		n++
	}
	return n
}

// release returns text[:limit] masked and holds back the rest. Later occurrences begin at limit or after
// it.
func (s *Stream) release(text []byte, limit int) []byte {
	s.held = slices.Clone(text[limit:])
	if len(s.found) == 0 && s.covered == 0 {
		return text[:limit]
	}
	var out []byte
	done, later := s.covered, len(s.found)
	sorted(s.found)
	for i, f := range s.found {
		if f.from >= limit {
			later = i
			break
		}
		if f.from >= done {
			out = append(out, text[done:f.from]...)
			s.named = s.named[:0]
		} else if f.to <= done {
			continue
		}
		if !slices.Contains(s.named, f.pattern) {
			out = append(out, s.masker.patterns[f.pattern].label...)
			s.named = append(s.named, f.pattern)
		}
		done = f.to
	}
	if done < limit {
		out = append(out, text[done:limit]...)
		done = limit
	}
	s.covered = done - limit
	s.found = slices.Delete(s.found, 0, later)
	for i := range s.found {
		s.found[i].from -= limit
		s.found[i].to -= limit
	}
	return out
}
