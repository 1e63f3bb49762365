package spool

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// marks are positions in the queue: the log store has all before acked, and may have what is before sent.
type marks struct{ acked, sent Place }

const marksFile = "marks"

func (m marks) encode() []byte {
	buf := binary.LittleEndian.AppendUint64(nil, uint64(m.acked))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(m.sent))
	return binary.LittleEndian.AppendUint32(buf, checksum(buf))
}

// readMarks reads the marks of an earlier incarnation. Without them all is sent again, which changes nothing.
func (s *Spool) readMarks() (m marks, err error) {
	f, err := s.root.OpenFile(marksFile, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return m, err
	}
	buf := make([]byte, 20)
	n, err := io.ReadFull(f, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	if n == len(buf) && checksum(buf[:16]) == binary.LittleEndian.Uint32(buf[16:]) {
		m.acked, m.sent = Place(binary.LittleEndian.Uint64(buf)), Place(binary.LittleEndian.Uint64(buf[8:]))
	}
	return m, errors.Join(err, f.Close())
}

// writeMarks writes the marks. They fit into one sector, which is written as a whole. While the queue is short they
// are not synced: begin takes into account that those of the oldest file may be older.
func (s *Spool) writeMarks(sync bool) {
	if err := s.storeMarks(sync); err != nil {
		s.cfg.Log.Warn("spool_marks_not_written", "error", err)
	}
}

func (s *Spool) storeMarks(sync bool) error {
	f, err := s.root.OpenFile(marksFile, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(s.marks.encode(), 0); err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
