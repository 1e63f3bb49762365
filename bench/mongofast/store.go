package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// store holds all collections, by database and name, and the journal that they are read from.
type store struct {
	mu          sync.RWMutex
	collections map[string]*collection
	journal     *os.File
	pending     []byte // records that are not in the journal yet
}

// The records of the journal: length of what follows, operation, length of the namespace,
// namespace, document.
const (
	opInsert = 'i'
	opDelete = 'd' // the document has the encoded id as a binary
	opIndex  = 'x'
	opDrop   = 'z' // all of a database
)

func openStore(dir string) (*store, error) {
	f, err := os.OpenFile(filepath.Join(dir, "journal"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	s := &store{collections: map[string]*collection{}, journal: f}
	whole, err := s.replay(bufio.NewReaderSize(f, 1<<20))
	if err == nil { // what a kill cut off was not acknowledged
		if err = f.Truncate(whole); err == nil {
			_, err = f.Seek(whole, io.SeekStart)
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return s, nil
}

func (s *store) close() { _ = s.journal.Close() } // all that was acknowledged is synced

// replay returns the length of the whole records.
func (s *store) replay(from io.Reader) (whole int64, err error) {
	for {
		var size [4]byte
		if _, err := io.ReadFull(from, size[:]); err != nil {
			return whole, unlessEnd(err)
		}
		record := make([]byte, binary.LittleEndian.Uint32(size[:]))
		if _, err := io.ReadFull(from, record); err != nil {
			return whole, unlessEnd(err)
		}
		if err := s.apply(record); err != nil {
			return whole, err
		}
		whole += int64(len(size) + len(record))
	}
}

func unlessEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

func (s *store) apply(record []byte) error {
	if len(record) < 3 {
		return errors.New("the journal is damaged")
	}
	end := 3 + int(binary.LittleEndian.Uint16(record[1:]))
	namespace, doc := string(record[3:end]), bsoncore.Document(record[end:])
	switch record[0] {
	case opInsert:
		s.collection(namespace).insert(doc)
	case opDelete:
		_, id := doc.Lookup("id").Binary()
		s.collection(namespace).remove(string(id))
	case opIndex:
		_, err := s.collection(namespace).addIndex(doc)
		return err
	case opDrop:
		s.drop(namespace)
	}
	return nil
}

func (s *store) collection(namespace string) *collection {
	c := s.collections[namespace]
	if c == nil {
		c = newCollection()
		s.collections[namespace] = c
	}
	return c
}

func (s *store) drop(database string) {
	for name := range s.collections {
		if strings.HasPrefix(name, database+".") {
			delete(s.collections, name)
		}
	}
}

// note adds a record; the caller holds the lock.
func (s *store) note(op byte, namespace string, doc bsoncore.Document) {
	s.pending = binary.LittleEndian.AppendUint32(s.pending, uint32(3+len(namespace)+len(doc)))
	s.pending = binary.LittleEndian.AppendUint16(append(s.pending, op), uint16(len(namespace)))
	s.pending = append(append(s.pending, namespace...), doc...)
}

// write changes something, and returns once the journal has it on disk.
func (s *store) write(change func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := change()
	if len(s.pending) > 0 {
		_, failed := s.journal.Write(s.pending)
		err = errors.Join(err, failed, s.journal.Sync())
		s.pending = s.pending[:0]
	}
	return err
}
