package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"
)

// refusal is an error of a command, with MongoDB's code.
type refusal struct {
	code int32
	text string
}

func (r *refusal) Error() string { return r.text }

const (
	badValue       = 2
	noSuchSpace    = 26
	noSuchCursor   = 43
	noSuchCommand  = 59
	duplicateKey   = 11000
	largestMessage = 48_000_000
)

func refused(format string, args ...any) error {
	return &refusal{badValue, fmt.Sprintf(format, args...)}
}

type server struct {
	store *store

	mu      sync.Mutex
	cursors map[int64]*cursor
	last    int64 // id of a cursor
}

// cursor is the rest of an answer.
type cursor struct {
	namespace string
	docs      []bsoncore.Document
	show      projection
}

func newServer(s *store) *server { return &server{store: s, cursors: map[int64]*cursor{}} }

// serve answers until the context ends.
func (s *server) serve(ctx context.Context, listener net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	var group sync.WaitGroup
	defer group.Wait()
	for {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		group.Go(func() {
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			defer stop()
			defer conn.Close()
			_ = s.converse(conn) // the client sees that the connection ends
		})
	}
}

func (s *server) converse(conn net.Conn) error {
	in := bufio.NewReaderSize(conn, 64<<10)
	for id := int32(1); ; id++ {
		var head [16]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return err
		}
		length, request, _, op, _, _ := wiremessage.ReadHeader(head[:])
		if length < 16 || length > largestMessage+16 {
			return errors.New("bad length of a message")
		}
		body := make([]byte, length-16)
		if _, err := io.ReadFull(in, body); err != nil {
			return err
		}
		command, silent, err := readCommand(op, body)
		if err != nil {
			return err
		}
		answer := s.answer(command)
		if silent {
			continue
		}
		var out []byte
		var index int32
		if op == wiremessage.OpQuery {
			index, out = wiremessage.AppendHeaderStart(nil, id, request, wiremessage.OpReply)
			out = wiremessage.AppendReplyFlags(out, 0)
			out = wiremessage.AppendReplyCursorID(out, 0)
			out = wiremessage.AppendReplyStartingFrom(out, 0)
			out = wiremessage.AppendReplyNumberReturned(out, 1)
		} else {
			index, out = wiremessage.AppendHeaderStart(nil, id, request, wiremessage.OpMsg)
			out = wiremessage.AppendMsgFlags(out, 0)
			out = wiremessage.AppendMsgSectionType(out, wiremessage.SingleDocument)
		}
		out = append(out, answer...)
		binary.LittleEndian.PutUint32(out[index:], uint32(len(out)))
		if _, err := conn.Write(out); err != nil {
			return err
		}
	}
}

// command is a request: its document, and documents that came beside it.
type command struct {
	bsoncore.Document
	name   string
	beside map[string][]bsoncore.Document
}

func readCommand(op wiremessage.OpCode, body []byte) (c command, silent bool, err error) {
	damaged := errors.New("damaged message")
	c.beside = map[string][]bsoncore.Document{}
	switch op {
	case wiremessage.OpQuery:
		_, rest, _ := wiremessage.ReadQueryFlags(body)
		_, rest, _ = wiremessage.ReadQueryFullCollectionName(rest)
		_, rest, _ = wiremessage.ReadQueryNumberToSkip(rest)
		_, rest, _ = wiremessage.ReadQueryNumberToReturn(rest)
		doc, _, ok := wiremessage.ReadQueryQuery(rest)
		if !ok {
			return c, false, damaged
		}
		c.Document = doc
	case wiremessage.OpMsg:
		flags, rest, ok := wiremessage.ReadMsgFlags(body)
		silent = flags&wiremessage.MoreToCome != 0
		for ok && len(rest) > 0 {
			var kind wiremessage.SectionType
			if kind, rest, ok = wiremessage.ReadMsgSectionType(rest); !ok {
				break
			}
			if kind == wiremessage.SingleDocument {
				c.Document, rest, ok = wiremessage.ReadMsgSectionSingleDocument(rest)
				continue
			}
			var name string
			var docs []bsoncore.Document
			name, docs, rest, ok = wiremessage.ReadMsgSectionDocumentSequence(rest)
			c.beside[name] = docs
		}
		if !ok {
			return c, false, damaged
		}
	default:
		return c, false, fmt.Errorf("unsupported message %v", op)
	}
	first, err := c.IndexErr(0)
	if err != nil {
		return c, false, err
	}
	c.name = first.Key()
	return c, silent, nil
}

// list is an array of documents, which may have come beside the command.
func (c *command) list(name string) ([]bsoncore.Document, error) {
	if docs, there := c.beside[name]; there {
		return docs, nil
	}
	return documents(c.Lookup(name))
}

func (c *command) namespace() string {
	collection, _ := c.Lookup(c.name).StringValueOK()
	return c.database() + "." + collection
}

func (c *command) database() string {
	database, _ := c.Lookup("$db").StringValueOK()
	return database
}

func (c *command) number(name string, missing int) int {
	if n, ok := c.Lookup(name).AsInt64OK(); ok {
		return int(n)
	}
	return missing
}

func (c *command) document(name string) bsoncore.Document {
	if doc, ok := c.Lookup(name).DocumentOK(); ok {
		return doc
	}
	return bsoncore.NewDocumentBuilder().Build()
}
