package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"carillon/internal/common"
)

// copies are two files beside the queue with copies of output that is in memory only, so that it outlives the
// process: one is written until it is large, while the other one waits to be deleted. They are not synced.
// They are used by one goroutine at a time.
type copies struct {
	files [2]copyFile
	now   int // the one that is written
}

type copyFile struct {
	file *os.File // nil until it is needed
	size int64
	last uint64 // the number of the newest chunk that may be in it
}

const (
	copyLarge = 1 << 20  // above this the other file is written
	copyMost  = 32 << 20 // maximum size of a file
)

func copyName(i int) string { return fmt.Sprintf("copies%d", i) }

// Keep writes copies of chunks. They survive the end of the process, but not of the machine. It waits for no
// other call.
func (s *Spool) Keep(chunks []common.Chunk, last uint64) error {
	var buf []byte
	for i := range chunks {
		buf = appendFrame(buf, &chunks[i])
	}
	c := &s.copies
	if other := 1 - c.now; c.files[c.now].size >= copyLarge && c.files[other].size == 0 {
		c.now = other
	}
	f := &c.files[c.now]
	if f.size+int64(len(buf)) > copyMost {
		return fmt.Errorf("copy output: backlog of more than %d MiB", copyMost>>20)
	}
	if err := s.writeCopy(f, copyName(c.now), buf); err != nil {
		return fmt.Errorf("copy output: %w", err)
	}
	f.last = last
	return nil
}

func (s *Spool) writeCopy(f *copyFile, name string, frames []byte) (err error) {
	if err := s.checkFree(int64(len(frames))); err != nil {
		return err
	}
	if f.file == nil {
		if f.file, err = s.root.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600); err != nil {
			f.file = nil
			return err
		}
	}
	if f.size == 0 {
		frames = append([]byte(magic), frames...)
	}
	if _, err := f.file.WriteAt(frames, f.size); err != nil {
		return errors.Join(err, f.file.Truncate(f.size))
	}
	f.size += int64(len(frames))
	return nil
}

// Release discards the copies of chunks up to a number.
func (s *Spool) Release(upTo uint64) {
	for i := range s.copies.files {
		f := &s.copies.files[i]
		if f.size == 0 || f.last > upTo {
			continue
		}
		if err := f.file.Truncate(0); err != nil {
			s.cfg.Log.Warn("spool_copies_stay", "error", err) // they are stored again, which changes nothing
			continue
		}
		f.size = 0
	}
}

// adopt appends the copies that an earlier incarnation left to the queue. The log store may have them.
func (s *Spool) adopt() error {
	for i := range s.copies.files {
		info, err := s.root.Stat(copyName(i))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if info.Size() <= header {
			continue
		}
		one := &segment{first: s.next, last: s.next, size: info.Size()}
		if err := s.root.Rename(copyName(i), one.name()); err != nil {
			return err
		}
		s.next++
		s.segments = append(s.segments, one)
		if err := s.cutTail(one); err != nil {
			return err
		}
		s.marks.sent = max(s.marks.sent, s.end())
	}
	return nil
}

func (s *Spool) closeCopies() (err error) {
	for i := range s.copies.files {
		if f := &s.copies.files[i]; f.file != nil {
			err = errors.Join(err, f.file.Close())
			f.file = nil
		}
	}
	return err
}
