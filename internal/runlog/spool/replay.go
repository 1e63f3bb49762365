package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"carillon/internal/common"
)

// A chunk takes more than its text, in memory and on the wire: in batches of single lines that is most of it.
const (
	chunkFrame = 256
	mostChunks = 5000 // in a batch
)

// Next returns the oldest output that is not acknowledged: as many chunks as fit into limit bytes, but at
// least one if there is any, and the position after them. It records that the log store may have them from
// now on.
func (s *Spool) Next(limit int) (chunks []common.Chunk, upTo uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, taken := s.marks.acked, 0
	for _, one := range s.segments {
		from := int64(0)
		if at.segment() == one.last {
			from = at.offset()
		}
		if from >= one.size && one.size > 0 {
			continue
		}
		err := s.each(one, from, func(c common.Chunk, until int64) bool {
			chunks = append(chunks, c)
			from, taken = until, taken+len(c.Data)+chunkFrame
			return taken < limit && len(chunks) < mostChunks
		})
		if err != nil {
			return nil, 0, fmt.Errorf("read spooled output: %w", err)
		}
		if at = place(one.last, from); taken >= limit || len(chunks) >= mostChunks {
			break
		}
	}
	if len(chunks) == 0 {
		s.ack(at) // there may be files without a readable frame
		return nil, uint64(at), nil
	}
	if at > s.marks.sent {
		s.marks.sent = at
		s.writeMarks(len(s.segments) > 1)
	}
	return chunks, uint64(at), nil
}

// Ack records that the log store has everything before a position that Next returned.
func (s *Spool) Ack(upTo uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ack(Place(upTo))
}

// ack does not fail if a file cannot be removed: that is tried again, and until then nothing more is accepted.
func (s *Spool) ack(upTo Place) {
	s.marks.acked = max(s.marks.acked, upTo)
	s.marks.sent = max(s.marks.sent, upTo)
	if err := s.forgetAcked(); err != nil {
		s.failing = true
		s.refuse(fmt.Errorf("remove stored output: %w", err))
	}
	s.tell()
}

// forgetAcked removes the files that are acknowledged completely. One that could not be read to its end is
// set aside.
func (s *Spool) forgetAcked() error {
	for len(s.segments) > 0 {
		one := s.segments[0]
		if s.marks.acked < one.end() {
			return nil
		}
		if len(s.segments) == 1 {
			if err := s.closeActive(); err != nil {
				return err
			}
		}
		if one.corrupt || one.hurt {
			if err := s.setAside(one); err != nil {
				return err
			}
		} else if err := remove(s.root, one.name()); err != nil {
			return err
		}
		s.segments = s.segments[1:]
	}
	return nil
}

// each visits the chunks of a file, and logs once if a part cannot be read.
func (s *Spool) each(one *segment, from int64, want func(c common.Chunk, until int64) bool) error {
	known, whole, read := one.corrupt || one.hurt, one.size, from
	err := one.each(s.root, from, func(c common.Chunk, until int64) bool {
		read = until
		return want(c, until)
	})
	if unreadable(err) {
		one.size, one.corrupt, err = read, true, nil
	}
	if (one.corrupt || one.hurt) && !known {
		s.cfg.Log.Error("spool_file_corrupt", "file", one.name(), "size", whole, "read", one.size)
	}
	return err
}

// unreadable reports whether an error is caused by another program or the disk.
func unreadable(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EIO) }
