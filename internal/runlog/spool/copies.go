package spool

import (
	"errors"
	"io/fs"
)

// adopt appends the files in which earlier versions kept copies of output beside the queue. The log store may have
// that output.
func (s *Spool) adopt() error {
	for _, name := range []string{"copies0", "copies1"} {
		info, err := s.root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if info.Size() <= header {
			if err := remove(s.root, name); err != nil {
				return err
			}
			continue
		}
		one := &segment{first: s.next, last: s.next, size: info.Size()}
		if err := s.root.Rename(name, one.name()); err != nil {
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
