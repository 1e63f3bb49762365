package spool

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"carillon/internal/common"
)

// pieceBytes is about how much is written at once.
const pieceBytes = 1 << 20

// Append adds chunks to the end of the queue; the caller has sent the first few of them to the log store
// already. It returns how many it has accepted: all, unless there is an error, which wraps syscall.ENOSPC if the
// disk is too full. They survive the process, and after Sync the machine.
func (s *Spool) Append(chunks []common.Chunk, sent int) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.tell()
	if s.failing {
		return 0, s.refused
	}
	n, err = s.append(chunks, sent)
	if err != nil {
		err = fmt.Errorf("spool output: %w", err)
	}
	s.refuse(err)
	return n, err
}

func (s *Spool) append(chunks []common.Chunk, sent int) (done int, err error) {
	for done < len(chunks) {
		buf, taken := s.buf[:0], done
		for taken < len(chunks) && len(buf) < int(min(pieceBytes, s.cfg.Segment)) && (taken != sent || taken == done) {
			buf = appendFrame(buf, &chunks[taken])
			taken++
		}
		s.buf = buf
		if s.active != nil && s.size() > header && s.size()+int64(len(buf)) > s.cfg.Segment {
			if err := errors.Join(s.sync(), s.closeActive()); err != nil {
				return done, err
			}
		}
		if err := s.write(buf); err != nil {
			return done, err
		}
		if done = taken; done <= sent {
			s.marks.sent = s.end()
		}
	}
	if sent > 0 {
		s.writeMarks(true)
	}
	return done, nil
}

// refuse records why nothing more is accepted, or with nil that it is.
func (s *Spool) refuse(err error) {
	if err != nil && s.refused == nil {
		s.cfg.Log.Warn("output_not_spooled", "error", err)
	}
	s.refused = err
}

// size returns the size of the newest file.
func (s *Spool) size() int64 { return s.segments[len(s.segments)-1].size }

// Sync ensures that all accepted output survives a crash of the machine. If that fails, nothing more is accepted
// until Check has found that the disk writes again.
func (s *Spool) Sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.tell()
	err := s.sync()
	if err != nil {
		err = errors.Join(err, s.closeActive())
		s.failing = true
		s.refuse(fmt.Errorf("sync spooled output: %w", err))
	}
	return err
}

func (s *Spool) sync() error {
	if s.active == nil || s.size() == s.synced {
		return nil
	}
	if err := s.active.Sync(); err != nil {
		return err
	}
	if s.synced == 0 {
		if err := s.syncFolder(); err != nil {
			return err
		}
	}
	s.synced = s.size()
	return nil
}

func (s *Spool) syncFolder() error {
	dir, err := s.root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// write adds whole frames to the newest file, or to a new one.
func (s *Spool) write(frames []byte) error {
	need := header + int64(len(frames))
	if err := s.makeRoom(need); err != nil {
		return err
	}
	if err := s.checkFree(need); err != nil {
		return err
	}
	if s.active == nil {
		if err := s.renumber(); err != nil {
			return err
		}
		one := &segment{first: s.next, last: s.next, size: 0}
		f, err := s.root.OpenFile(one.name(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		s.next++
		s.segments, s.active, s.synced = append(s.segments, one), f, 0
		frames = append([]byte(magic), frames...)
	}
	last := s.segments[len(s.segments)-1]
	if _, err := s.active.WriteAt(frames, last.size); err != nil {
		if last.size == 0 {
			s.segments = s.segments[:len(s.segments)-1]
			return errors.Join(err, s.closeActive(), remove(s.root, last.name()))
		}
		if cut := s.active.Truncate(last.size); cut != nil {
			return errors.Join(err, cut, s.closeActive())
		}
		return err
	}
	last.size += int64(len(frames))
	return nil
}

// numbersEnough is how many numbers are used before they begin again. It is far below the limit of parseName, since
// that needs an empty queue.
const numbersEnough = 1 << 30

// renumber begins the numbers of the files again if that is due and the queue is empty. Before that the marks are
// reset on the disk: they would acknowledge the new files.
func (s *Spool) renumber() error {
	if s.next < numbersEnough || len(s.segments) > 0 {
		return nil
	}
	was := s.marks
	s.marks = marks{}
	if err := s.storeMarks(true); err != nil {
		s.marks = was
		return err
	}
	s.next = 1
	return nil
}

// The part of the disk that stays free: a hundredth, but from 64 MiB to 1 GiB, and of a small disk no more
// than a quarter.
const (
	freeLeast = 64 << 20
	freeMost  = 1 << 30
)

func floorOf(total uint64) uint64 { return min(max(total/100, freeLeast), freeMost, total/4) }

// checkFree reports whether the disk has room for n bytes more. A disk without statistics has.
func (s *Spool) checkFree(n int64) error {
	free, total, err := s.cfg.Free()
	if err != nil || free >= floorOf(total)+uint64(n) {
		return nil
	}
	return fmt.Errorf("%d MiB are free, of which %d MiB are reserved: %w", free>>20, floorOf(total)>>20, syscall.ENOSPC)
}

// Check updates whether the disk has room, and writes.
func (s *Spool) Check() {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.tell()
	room := int64(pieceBytes)
	if s.refused != nil {
		room += 16 << 20 // hysteresis
		if err := s.storeMarks(true); err != nil {
			s.refuse(err) // a disk that refuses writes, whatever is free
			return
		}
	}
	s.failing = false
	s.refuse(s.checkFree(room))
}

func (s *Spool) statfs() (free, total uint64, err error) {
	var stat syscall.Statfs_t
	if err := syscall.Fstatfs(int(s.lock.Fd()), &stat); err != nil {
		return 0, 0, err
	}
	return stat.Bavail * uint64(stat.Bsize), stat.Blocks * uint64(stat.Bsize), nil
}
