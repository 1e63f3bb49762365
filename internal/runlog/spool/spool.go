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

// Config holds the location and bounds of a queue.
type Config struct {
	Dir     string // the data directory; the queue is its subdirectory "spool"
	Max     int64  // maximum size on the disk in bytes
	Segment int64  // bytes of one file; default 8 MiB, and at most an eighth of Max
	Log     *slog.Logger
	// Free returns the free and the total size of the disk; default: the statistics of the file system.
	Free func() (free, total uint64, err error)
}

// ErrInUse reports that another process uses the queue.
var ErrInUse = errors.New("the spool is in use by another process")

// Spool is the queue.
type Spool struct {
	cfg  Config
	root *os.Root
	lock *os.File

	mu       sync.Mutex
	segments []*segment // guarded by mu; in order
	active   *os.File   // guarded by mu; the last segment, if it is open for appending
	next     uint64     // guarded by mu; number of the next segment
	marks    marks      // guarded by mu
	dropped  int64      // guarded by mu; bytes of output in this incarnation

	synced  int64  // guarded by mu; how much of the last segment is on the disk
	buf     []byte // guarded by mu; of Append
	refused error  // guarded by mu; why nothing is accepted
	failing bool   // guarded by mu; and that this lasts until Check finds that the disk writes again

	seen  sync.Mutex
	state runlog.SpoolState // guarded by seen: the state that is available without waiting for the disk
}

// Open opens the queue, with the output of earlier incarnations. It returns ErrInUse if another process uses
// it.
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

// begin takes over the existing files.
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
	// The numbers go on even if the queue is empty: a new file must not have a number that the marks acknowledge.
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
	if len(s.segments) > 0 {
		s.marks.sent = max(s.marks.sent, s.segments[0].end()) // it may have been sent since the marks were synced
	}
	if err := s.forgetAcked(); err != nil {
		return err
	}
	s.tell()
	return nil
}

// cutTail removes an incomplete tail that a crash left at the end of the newest file. A file that is
// unreadable for another reason is left as it is: it is read as far as possible, and set aside then.
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

// Close releases the queue. All accepted output stays.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := errors.Join(s.sync(), s.closeActive())
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

// bytes returns the size of the queue on the disk. The caller holds mu.
func (s *Spool) bytes() (n int64) {
	for _, one := range s.segments {
		n += one.size
	}
	return n
}

// end returns the position after all output. The caller holds mu.
func (s *Spool) end() Place {
	if n := len(s.segments); n > 0 {
		return s.segments[n-1].end()
	}
	return s.marks.acked
}

// tell updates the result of State. The caller holds mu.
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
	s.state = runlog.SpoolState{
		Waiting: waiting,
		Bytes:   s.bytes(),
		Max:     s.cfg.Max,
		Acked:   uint64(s.marks.acked),
		End:     uint64(s.end()),
		Dropped: s.dropped,
		Refused: s.refused,
	}
}

// State returns the size of the backlog, and whether more would be accepted.
func (s *Spool) State() runlog.SpoolState {
	s.seen.Lock()
	defer s.seen.Unlock()
	return s.state
}
