package spool

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"carillon/internal/common"
)

// makeRoom keeps the queue with n bytes more within its bound: the oldest output is dropped, and replaced by
// a record of the missing bytes. The caller holds mu.
func (s *Spool) makeRoom(n int64) error {
	for s.bytes()+n > s.cfg.Max && len(s.segments) > 0 {
		at := slices.IndexFunc(s.segments, func(one *segment) bool { return !one.dense })
		switch {
		case at < 0:
			// Only records of missing bytes are left, and they take the whole bound.
			s.cfg.Log.Error("spool_truncated", "file", s.segments[0].name(), "bytes", s.segments[0].size)
			s.marks.acked = s.segments[0].end()
			if err := s.forgetAcked(); err != nil {
				return err
			}
			continue
		case at == len(s.segments)-1:
			if err := errors.Join(s.sync(), s.closeActive()); err != nil {
				return err
			}
		}
		if err := s.condense(at); err != nil {
			return err
		}
	}
	return nil
}

// condense replaces a file by a record of its missing output, except for output that the log store may have
// already: that stays. If the previous file contains only such records, they are merged.
func (s *Spool) condense(at int) error {
	one := s.segments[at]
	keep := int64(0)
	if s.marks.sent.segment() == one.last {
		keep = min(s.marks.sent.offset(), one.size)
	} else if s.marks.sent.segment() > one.last {
		keep = one.size
	}
	if keep == one.size {
		one.dense = true
		return nil
	}
	var lost gaps
	before := s.mergeable(at, keep)
	if before != nil {
		if err := s.each(before, 0, lost.take); err != nil {
			return err
		}
	}
	if err := s.each(one, keep, lost.take); err != nil {
		return err
	}
	next := &segment{first: one.first, last: one.last, dense: true, gaps: keep == 0}
	if before != nil {
		next.first = before.first
	}
	size, err := s.replace(next, one, keep, &lost)
	if err != nil {
		return err
	}
	if next.size = size; before != nil {
		if err := remove(s.root, before.name()); err != nil {
			return err
		}
		if err := remove(s.root, one.name()); err != nil {
			return err
		}
		at--
		s.segments = slices.Delete(s.segments, at, at+1)
	}
	s.segments[at] = next
	s.dropped += lost.dropped
	return nil
}

// mergeable returns the previous file, if its content can be merged with that of a file of which nothing is
// to be kept: not if the marks refer to positions in it.
func (s *Spool) mergeable(at int, keep int64) *segment {
	if at == 0 || keep > 0 {
		return nil
	}
	before := s.segments[at-1]
	if !before.gaps || before.corrupt || before.hurt || before.size > s.cfg.Segment/2 || s.marks.sent > before.begin() {
		return nil
	}
	return before
}

// replace replaces a file by another one in one step: its head, unchanged, and the record of what is lost.
func (s *Spool) replace(next, one *segment, keep int64, lost *gaps) (size int64, err error) {
	frames := []byte(magic)
	if keep > 0 {
		frames = make([]byte, keep)
		if err := s.readHead(one, frames); err != nil {
			return 0, err
		}
	}
	for i := range lost.chunks {
		frames = appendFrame(frames, &lost.chunks[i])
	}
	f, err := s.root.OpenFile(draft, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	_, err = f.Write(frames)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return 0, errors.Join(err, remove(s.root, draft))
	}
	if err := s.root.Rename(draft, next.name()); err != nil {
		return 0, err
	}
	return int64(len(frames)), s.syncFolder()
}

func (s *Spool) readHead(one *segment, into []byte) error {
	f, err := s.root.Open(one.name())
	if err != nil {
		return err
	}
	_, err = f.ReadAt(into, 0)
	return errors.Join(err, f.Close())
}

// setAside keeps a file that cannot be read, the latest few of them.
func (s *Spool) setAside(one *segment) error {
	const most = 4
	dir, err := s.root.Open(".")
	if err != nil {
		return err
	}
	names, err := dir.Readdirnames(-1)
	if err = errors.Join(err, dir.Close()); err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, aside) })
	slices.Sort(names)
	for len(names) >= most {
		if err := remove(s.root, names[0]); err != nil {
			return err
		}
		names = names[1:]
	}
	if err := s.root.Rename(one.name(), one.name()+aside); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// gaps collects the lost output of each run, in as few chunks as possible.
type gaps struct {
	chunks  []common.Chunk
	last    map[string]int // by run: the last of its chunks
	dropped int64
}

func (g *gaps) take(c common.Chunk, _ int64) bool {
	if c.RecordsStart() {
		return true // no output is missing
	}
	if g.last == nil {
		g.last = map[string]int{}
	}
	g.dropped += int64(len(c.Data))
	if i, known := g.last[c.Run]; known && g.chunks[i].End() == c.Offset {
		g.chunks[i].Missing += c.End() - c.Offset
		return true
	}
	g.last[c.Run] = len(g.chunks)
	g.chunks = append(g.chunks, common.Chunk{Run: c.Run, Offset: c.Offset, At: c.At, Missing: c.End() - c.Offset})
	return true
}
