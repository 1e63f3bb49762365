package spool

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// Config says where output is kept, and how much.
type Config struct {
	Dir     string // the data folder; the queue is the folder "spool" in it
	Max     int64  // bytes of the disk that it takes at most
	Segment int64  // bytes of one file; default 8 MiB, and at most an eighth of Max
	Log     *slog.Logger
	// Free tells how much of how large a disk is free; default: what the file system says.
	Free func() (free, total uint64, err error)
}

// ErrInUse says that another process has the queue.
var ErrInUse = errors.New("the spool is in use by another process")

// Spool is the queue.
type Spool struct {
	cfg  Config
	root *os.Root
	lock *os.File

	mu       sync.Mutex
	segments []*segment // guarded by mu; in order
	active   *os.File   // guarded by mu; of the last segment, if that is appended to
	next     uint64     // guarded by mu; number of the next segment
	marks    marks      // guarded by mu
	dropped  int64      // guarded by mu; bytes of output in this life

	synced  int64 // guarded by mu; how much of that is on the disk
	refused error // guarded by mu; why the last append was not taken

	copies copies // of the caller of Keep and Release

	seen  sync.Mutex
	state runlog.SpoolState // guarded by seen: what is known without waiting for the disk
}

// Open opens the queue, with what an earlier life left in it. A second one on the same folder is ErrInUse.
func Open(cfg Config) (*Spool, error) {
	if cfg.Segment == 0 {
		cfg.Segment = 8 << 20
	}
	cfg.Segment = min(cfg.Segment, cfg.Max/8)
	root, err := open(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	s := &Spool{cfg: cfg, root: root}
	if s.cfg.Free == nil {
		s.cfg.Free = s.statfs
	}
	if err := s.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("open spool: %w", err), s.Close())
	}
	return s, nil
}

func open(dir string) (*os.Root, error) {
	home, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	err = home.Mkdir("spool", 0o700)
	if errors.Is(err, os.ErrExist) {
		err = nil
	}
	if err != nil {
		return nil, errors.Join(err, home.Close())
	}
	root, err := home.OpenRoot("spool")
	return root, errors.Join(err, home.Close())
}

// begin takes over what is there.
func (s *Spool) begin() (err error) {
	s.lock, err = s.root.OpenFile("lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("lock %s: %w", filepath.Join(s.cfg.Dir, "spool"), ErrInUse)
	}
	if err := remove(s.root, draft); err != nil {
		return err
	}
	if s.segments, err = list(s.root); err != nil {
		return err
	}
	if s.marks, err = s.readMarks(); err != nil {
		return err
	}
	s.next = max(s.marks.acked.segment(), s.marks.sent.segment()) + 1
	if n := len(s.segments); n > 0 {
		s.next = max(s.next, s.segments[n-1].last+1)
		if err := s.cutTail(s.segments[n-1]); err != nil {
			return err
		}
	}
	if err := s.adopt(); err != nil {
		return err
	}
	if err := s.forgetAcked(); err != nil {
		return err
	}
	s.tell()
	return nil
}

// cutTail takes off what a crash left half written at the end of the newest file. One that
// does not read for another reason is left as it is: it comes as far as it reads, and is set aside then.
func (s *Spool) cutTail(last *segment) error {
	whole, read := last.size, int64(0)
	err := last.each(s.root, 0, func(_ common.Chunk, until int64) bool {
		read = until
		return true
	})
	switch {
	case unreadable(err):
		last.size, last.corrupt = read, true
		s.cfg.Log.Error("spool_file_corrupt", "file", last.name(), "size", whole, "read", read, "error", err)
		return nil
	case err != nil:
		return err
	}
	if last.hurt {
		s.cfg.Log.Error("spool_file_corrupt", "file", last.name(), "size", whole, "read", last.size)
	}
	if !last.corrupt {
		return nil
	}
	s.cfg.Log.Warn("spool_tail_cut", "file", last.name(), "bytes", whole-last.size)
	if last.size <= header {
		s.segments = s.segments[:len(s.segments)-1]
		if whole > 2*header {
			return s.setAside(last)
		}
		return remove(s.root, last.name())
	}
	if err := s.truncate(last); err != nil {
		s.cfg.Log.Warn("spool_tail_stays", "file", last.name(), "error", err) // nothing is appended to this file
		return nil
	}
	last.corrupt = false
	return nil
}

func (s *Spool) truncate(one *segment) error {
	f, err := s.root.OpenFile(one.name(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(one.size), f.Sync(), f.Close())
}

// Close gives the queue free. All that was taken stays.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := errors.Join(s.closeActive(), s.closeCopies())
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return errors.Join(err, s.root.Close())
}

func (s *Spool) closeActive() error {
	if s.active == nil {
		return nil
	}
	err := s.active.Close()
	s.active = nil
	return err
}

// bytes is what the queue takes of the disk. The caller holds mu.
func (s *Spool) bytes() (n int64) {
	for _, one := range s.segments {
		n += one.size
	}
	return n
}

// end is the place behind all that is there. The caller holds mu.
func (s *Spool) end() Place {
	if n := len(s.segments); n > 0 {
		return s.segments[n-1].end()
	}
	return s.marks.acked
}

// tell notes how things are for State. The caller holds mu.
func (s *Spool) tell() {
	waiting := int64(0)
	for _, one := range s.segments {
		from := min(header, one.size)
		if s.marks.acked.segment() == one.last {
			from = max(from, s.marks.acked.offset())
		}
		waiting += one.size - from
	}
	s.seen.Lock()
	defer s.seen.Unlock()
	s.state = runlog.SpoolState{Waiting: waiting, Bytes: s.bytes(), Max: s.cfg.Max, End: uint64(s.end()), Dropped: s.dropped, Refused: s.refused}
}

// State tells how much waits, and whether more would be taken.
func (s *Spool) State() runlog.SpoolState {
	s.seen.Lock()
	defer s.seen.Unlock()
	return s.state
}
