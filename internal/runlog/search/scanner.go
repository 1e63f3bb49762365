package search

import (
	"bytes"
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"carillon/internal/common"
)

// Bounds of lines, in bytes.
const (
	maxLine = 32 << 10
	overlap = 1 << 10 // of the pieces of a longer one
	maxSpan = 1 << 20 // how much output of the other stream a line may span
)

// Bounds of the text shown around a match, in bytes.
const (
	shownBefore = 160
	shownMatch  = 512
	shownAfter  = 320
)

// Match is a line in which the pattern was found.
type Match struct {
	Offset int64 // of the first byte of the match
	Length int64 // in bytes of the output
	Line   int64 // offset of the line, or of its piece
	Stream common.Stream
	At     time.Time // when it was read from the command
	// The visible text of the line: before the match, the match, and after it. Invalid UTF-8 becomes U+FFFD.
	Before, Text, After string
	Cut                 bool // these are not the complete line
}

// place is the origin of bytes of a line: those from at on, until the next place.
type place struct {
	at     int
	offset int64
	stream common.Stream
	time   time.Time
}

// scanner searches output in order as it is fed. It stops after the wanted number of matches.
type scanner struct {
	pattern *Pattern
	stream  common.Stream // only this one, or both
	most    int           // matches

	next    int64 // end of all output searched
	bytes   int64 // searched
	matches []Match

	line   []byte // the current, unfinished line
	places []place
	carry  int // number of its bytes that belong to the previous piece
	full   bool
	resume int64 // where to continue once it is full
	heavy  bool  // the context ended during the search of a line
}

// feed searches the next chunk, or a part of it.
func (s *scanner) feed(ctx context.Context, c *common.Chunk) error {
	if c.End() <= s.next {
		return nil
	}
	if c.Missing > 0 || c.Offset > s.next {
		if err := s.end(ctx, s.next); err != nil {
			return err
		}
	}
	if s.full {
		return nil
	}
	data, offset := c.Data, c.Offset
	if c.Missing == 0 && offset < s.next {
		data, offset = data[s.next-offset:], s.next
	}
	s.next = c.End()
	s.bytes += int64(len(data))
	if c.Missing > 0 {
		return nil
	}
	if s.stream != "" && s.stream != c.Stream {
		return s.part(ctx, s.next)
	}
	if err := s.part(ctx, offset); err != nil {
		return err
	}
	for len(data) > 0 && !s.full {
		if err := ctx.Err(); err != nil {
			s.next, s.bytes = offset, s.bytes-int64(len(data)) // the position reached
			return context.Cause(ctx)
		}
		n, err := s.take(ctx, data, place{offset: offset, stream: c.Stream, time: c.At})
		if err != nil {
			return err
		}
		data, offset = data[n:], offset+int64(n)
	}
	return nil
}

// part ends the current line, if output of the other stream lies between it and what may follow at an offset,
// and that is too far away.
func (s *scanner) part(ctx context.Context, offset int64) error {
	n := len(s.places)
	if n == 0 || offset-s.places[0].offset <= maxSpan {
		return nil
	}
	last := s.places[n-1]
	if end := last.offset + int64(len(s.line)-last.at); end != offset {
		return s.end(ctx, end)
	}
	return nil
}

// take searches the first lines of the data, or adds it to the current line.
func (s *scanner) take(ctx context.Context, data []byte, from place) (int, error) {
	if len(s.places) == 0 {
		if n := s.pattern.barren(data); n > 0 {
			return n, nil
		}
	}
	room := maxLine - len(s.line)
	n := bytes.IndexByte(data[:min(len(data), room+1)], '\n')
	switch {
	case n >= 0 && len(s.places) == 0: // without a copy
		return n + 1, s.searchLine(ctx, trim(data[:n]), []place{from}, 0, false, from.offset+int64(n)+1)
	case n >= 0:
		s.add(data[:n], from)
		s.line = trim(s.line)
		return n + 1, s.end(ctx, from.offset+int64(n)+1)
	case len(data) <= room:
		s.add(data, from)
		return len(data), nil
	}
	s.add(data[:room], from)
	return room, s.cut(ctx)
}

// trim removes the \r of a line end.
func trim(line []byte) []byte { return bytes.TrimSuffix(line, []byte("\r")) }

func (s *scanner) add(data []byte, from place) {
	if len(data) == 0 {
		return
	}
	from.at = len(s.line)
	s.places = append(s.places, from)
	s.line = append(s.line, data...)
}

// end ends the current line; after is the offset of what follows.
func (s *scanner) end(ctx context.Context, after int64) error {
	if len(s.places) > 0 {
		if err := s.searchLine(ctx, s.line, s.places, s.carry, false, after); err != nil {
			return err
		}
	}
	s.line, s.places, s.carry = s.line[:0], s.places[:0], 0
	return nil
}

// cut ends a piece of a long line. The next one begins with its end.
func (s *scanner) cut(ctx context.Context) error {
	keep := len(s.line) - overlap
	from := whence(s.places, keep)
	if err := s.searchLine(ctx, s.line, s.places, s.carry, true, from.offset); err != nil {
		return err
	}
	kept := []place{from}
	kept[0].at = 0
	for _, p := range s.places {
		if p.at > keep {
			p.at -= keep
			kept = append(kept, p)
		}
	}
	s.line = s.line[:copy(s.line, s.line[keep:])]
	s.places, s.carry = kept, overlap
	return nil
}

// whence returns the origin of the byte at a position of the line.
func whence(places []place, at int) place {
	i := len(places) - 1
	for i > 0 && places[i].at > at {
		i--
	}
	p := places[i]
	p.offset += int64(at - p.at)
	p.at = at
	return p
}

// searchLine searches a line, or a piece of one: matches in its first carry bytes were reported before, and more
// indicates that another piece follows. after is where to continue after it. If the context ends meanwhile,
// nothing from the beginning of the line on counts as searched.
func (s *scanner) searchLine(ctx context.Context, line []byte, places []place, carry int, more bool,
	after int64) error {
	text, seams := plain(line)
	from, to, found, err := s.pattern.find(ctx, text, seen(seams, carry))
	if err != nil {
		begun := places[0].offset
		s.bytes -= s.next - begun
		s.next, s.heavy = begun, true
		s.line, s.places, s.carry = s.line[:0], s.places[:0], 0
		return err
	}
	if !found {
		return nil
	}
	first := whence(places, raw(seams, from))
	m := Match{
		Offset: first.offset,
		Line:   places[0].offset,
		Stream: first.stream,
		At:     first.time,
		Cut:    carry > 0 || more,
	}
	if to > from {
		m.Length = whence(places, raw(seams, to-1)).offset + 1 - first.offset
	}
	begin, middle, end := 0, to, len(text)
	if from > shownBefore {
		begin, m.Cut = whole(text, from-shownBefore), true
	}
	if to-from > shownMatch {
		middle, m.Cut = max(from, whole(text, from+shownMatch)), true
	}
	if end-to > shownAfter {
		end, m.Cut = max(to, whole(text, to+shownAfter)), true
	}
	m.Before, m.Text, m.After = valid(text[begin:from]), valid(text[from:middle]), valid(text[to:end])
	s.matches = append(s.matches, m)
	if len(s.matches) >= s.most {
		s.full, s.resume = true, max(after, m.Offset+1)
	}
	return nil
}

func valid(text []byte) string { return strings.ToValidUTF8(string(text), string(utf8.RuneError)) }

// whole moves a position back to the beginning of its character.
func whole(text []byte, at int) int {
	for back := at; back > 0 && back > at-utf8.UTFMax && back < len(text); back-- {
		if utf8.RuneStart(text[back]) {
			return back
		}
	}
	return at
}

// begun returns the offset of the current line, or of the next output.
func (s *scanner) begun() int64 {
	if len(s.places) == 0 {
		return s.next
	}
	return s.places[0].offset
}
