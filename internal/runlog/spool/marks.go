package spool

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// marks are places in the queue: before acked the log store has all, before sent it may have it.
type marks struct{ acked, sent Place }

const marksFile = "marks"

func (m marks) encode() []byte {
	buf := binary.LittleEndian.AppendUint64(nil, uint64(m.acked))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(m.sent))
	return binary.LittleEndian.AppendUint32(buf, checksum(buf))
}

// readMarks reads what an earlier life noted. Without it all is sent again, which changes nothing.
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

// writeMarks notes the marks on the disk. It is one sector: it is there or it is not.
func (s *Spool) writeMarks() error {
	f, err := s.root.OpenFile(marksFile, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(s.marks.encode(), 0)
	return errors.Join(err, f.Sync(), f.Close())
}
