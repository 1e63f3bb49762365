package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"time"

	"carillon/internal/common"
)

// A file consists of the magic, then frames: length and CRC-32C of the body, each four bytes little-endian,
// then the body: a chunk.
const (
	magic     = "CRLSPL1\n"
	header    = int64(len(magic))
	frameHead = 8
	maxFrame  = 16 << 20 // a longer one is invalid
)

var errCorrupt = errors.New("it cannot be read")

func checksum(body []byte) uint32 { return crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) }

// appendFrame appends a chunk to buf.
func appendFrame(buf []byte, c *common.Chunk) []byte {
	at := len(buf)
	buf = append(buf, make([]byte, frameHead)...)
	buf = binary.AppendUvarint(buf, uint64(len(c.Run)))
	buf = append(buf, c.Run...)
	buf = binary.AppendUvarint(buf, uint64(c.Offset))
	buf = binary.AppendUvarint(buf, uint64(len(c.Stream)))
	buf = append(buf, c.Stream...)
	var nanos int64 // 0: no time
	if !c.At.IsZero() {
		nanos = c.At.UnixNano()
	}
	buf = binary.AppendVarint(buf, nanos)
	buf = binary.AppendUvarint(buf, uint64(c.Missing))
	buf = append(buf, c.Data...)
	body := buf[at+frameHead:]
	binary.LittleEndian.PutUint32(buf[at:], uint32(len(body)))
	binary.LittleEndian.PutUint32(buf[at+4:], checksum(body))
	return buf
}

// readFrame reads a frame, and returns its size. A truncated or damaged one is errCorrupt.
func readFrame(from io.Reader) (c common.Chunk, size int64, err error) {
	var head [frameHead]byte
	if err := fill(from, head[:]); err != nil {
		return c, 0, err
	}
	length := binary.LittleEndian.Uint32(head[:])
	if length == 0 || length > maxFrame {
		return c, 0, errCorrupt
	}
	body := make([]byte, length)
	if err := fill(from, body); err != nil {
		return c, 0, err
	}
	if checksum(body) != binary.LittleEndian.Uint32(head[4:]) {
		return c, 0, errCorrupt
	}
	r := reader{rest: body}
	c.Run = string(r.bytes())
	c.Offset = int64(r.number())
	c.Stream = common.Stream(r.bytes())
	if nanos := r.signed(); nanos != 0 {
		c.At = time.Unix(0, nanos).UTC()
	}
	c.Missing = int64(r.number())
	if r.bad || c.Offset < 0 || c.Missing < 0 {
		return common.Chunk{}, 0, errCorrupt
	}
	if len(r.rest) > 0 {
		c.Data = r.rest
	}
	return c, frameHead + int64(length), nil
}

// findFrame finds the next frame after a position where an expected one is missing. It searches for no larger
// frames than are written, which bounds the work.
func findFrame(f io.ReaderAt, from, end int64) (at int64, found bool) {
	const most = common.MaxChunk + 4096
	rest := make([]byte, end-from)
	if _, err := f.ReadAt(rest, from); err != nil {
		return 0, false
	}
	for i := 1; i+frameHead < len(rest); i++ {
		length := binary.LittleEndian.Uint32(rest[i:])
		if length == 0 || length > most || int(length) > len(rest)-i-frameHead {
			continue
		}
		if _, _, err := readFrame(bytes.NewReader(rest[i:])); err == nil {
			return from + int64(i), true
		}
	}
	return 0, false
}

func fill(from io.Reader, buf []byte) error {
	_, err := io.ReadFull(from, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCorrupt
	}
	return err
}

// reader decodes the fields of a body.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	return v * r.skip(n)
}

func (r *reader) signed() int64 {
	v, n := binary.Varint(r.rest)
	return v * int64(r.skip(n))
}

// skip skips a field of n bytes; it returns 0 if there was none.
func (r *reader) skip(n int) uint64 {
	if n <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return 1
}

func (r *reader) bytes() []byte {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return nil
	}
	field := r.rest[:n]
	r.rest = r.rest[n:]
	return field
}
