package spool

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"carillon/internal/common"
)

// segment is one file of the queue. It covers the numbers from first to last: one, or several whose output
// was dropped.
type segment struct {
	first, last uint64
	size        int64 // readable; more may be in flight to the disk
	dense       bool  // dropping output from it frees no space
	gaps        bool  // it holds only records of missing bytes
	corrupt     bool  // the part after size cannot be read
	hurt        bool  // nor can a part before that, which is skipped
}

const (
	suffix = ".out"
	aside  = ".bad"
	draft  = "draft" // a file that is to replace others
)

func (s *segment) name() string { return fmt.Sprintf("%010d-%010d%s", s.first, s.last, suffix) }

// begin and end return the positions of its first byte and after its last.
func (s *segment) begin() Place { return place(s.last, 0) }
func (s *segment) end() Place   { return place(s.last, s.size) }

// Place is a position in the queue; a larger one comes later.
type Place uint64

func place(segment uint64, offset int64) Place { return Place(segment<<32 | uint64(offset)) }

func (p Place) segment() uint64 { return uint64(p) >> 32 }
func (p Place) offset() int64   { return int64(p & (1<<32 - 1)) }

func parseName(name string) (s segment, ok bool) {
	if !strings.HasSuffix(name, suffix) {
		return s, false
	}
	if _, err := fmt.Sscanf(name, "%010d-%010d"+suffix, &s.first, &s.last); err != nil {
		return s, false
	}
	return s, s.name() == name && 0 < s.first && s.first <= s.last && s.last < 1<<31
}

// list returns the segments in a directory, in order. A file that covers several numbers replaces those that
// cover some of them: a crash may have left both.
func list(root *os.Root) (segments []*segment, err error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	entries, err := dir.ReadDir(-1)
	if err = errors.Join(err, dir.Close()); err != nil {
		return nil, err
	}
	for _, e := range entries {
		if s, ok := parseName(e.Name()); ok && e.Type().IsRegular() {
			info, err := e.Info()
			if err != nil {
				return nil, err
			}
			s.size = info.Size()
			segments = append(segments, &s)
		}
	}
	slices.SortFunc(segments, func(a, b *segment) int {
		if a.last != b.last {
			return int(a.last) - int(b.last)
		}
		return int(b.first) - int(a.first) // the one that covers more comes last
	})
	kept := segments[:0]
	for _, s := range segments {
		for len(kept) > 0 && kept[len(kept)-1].last >= s.first {
			if err := remove(root, kept[len(kept)-1].name()); err != nil {
				return nil, err
			}
			kept = kept[:len(kept)-1]
		}
		kept = append(kept, s)
	}
	return kept, nil
}

func remove(root *os.Root, name string) error {
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// each visits the chunks of a segment from an offset on, with the positions after them, until there are no
// more or want returns false. An unreadable part is skipped, or ends the segment if nothing follows it.
func (s *segment) each(root *os.Root, from int64, want func(c common.Chunk, until int64) bool) error {
	f, err := root.Open(s.name())
	if err != nil {
		return err
	}
	err = s.scan(f, from, want)
	if errors.Is(err, errCorrupt) {
		s.corrupt, err = true, nil
	}
	return errors.Join(err, f.Close())
}

func (s *segment) scan(f *os.File, from int64, want func(c common.Chunk, until int64) bool) error {
	if from < header {
		start := make([]byte, header)
		if _, err := f.ReadAt(start, 0); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if string(start) != magic {
			s.size = 0
			return errCorrupt
		}
		from = header
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f, from, s.size-from), 64<<10)
	for from < s.size {
		c, n, err := readFrame(r)
		if errors.Is(err, errCorrupt) {
			next, found := findFrame(f, from, s.size)
			if !found {
				s.size = from
				return err
			}
			s.hurt, from = true, next
			r.Reset(io.NewSectionReader(f, from, s.size-from))
			continue
		}
		if err != nil {
			return err
		}
		from += n
		if !want(c, from) {
			break
		}
	}
	return nil
}
