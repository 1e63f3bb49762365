package runs

import (
	"bytes"
	"slices"
	"time"
	"unicode/utf8"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/runlog/tail"
)

const (
	maxEvent = 32 << 10 // bytes of output per event
	// Chunks printed within this time become one event.
	together = 100 * time.Millisecond
)

// Output, missing and end are the data of events.
type (
	outputEvent struct {
		Offset int64         `json:"offset"`
		Stream common.Stream `json:"stream"`
		At     time.Time     `json:"at"`
		Text   *string       `json:"text,omitempty"`
		Base64 []byte        `json:"base64,omitempty"`
	}
	missingEvent struct {
		Offset int64 `json:"offset"`
		Count  int64 `json:"count"`
	}
	endEvent struct {
		Run      common.Run `json:"run"`
		Offset   int64      `json:"offset"`
		Complete bool       `json:"complete"`
	}
)

// eventWriter converts parts of output to server-sent events.
type eventWriter struct {
	out    *core.EventStream
	stream common.Stream // only this one; empty for both
	at     int64         // offset after the last part taken
	lastID int64         // last id written
	known  bool          // at is a known offset, not relative to the end
	held   common.Chunk  // incomplete character at the end, not written yet
}

// patience returns how long to wait for the next part.
func (e *eventWriter) patience() time.Duration {
	if len(e.held.Data) > 0 {
		return halfChar
	}
	return core.Beat
}

// idle is called if there is no part: it writes what was held back, or else a comment, with the
// offset to continue at if parts of the other stream have moved it.
func (e *eventWriter) idle() {
	if len(e.held.Data) > 0 {
		e.release()
		return
	}
	if e.known && e.at != e.lastID {
		e.out.ID(e.at)
		e.lastID = e.at
	}
	e.out.Alive()
}

// part writes a part. When enough is collected, it is sent.
func (e *eventWriter) part(p *tail.Part) error {
	switch {
	case p.Run != nil:
		if sized(p.Run) { // a start after the end begins at the end
			e.at, e.lastID = min(e.at, p.Run.OutputBytes), min(e.lastID, p.Run.OutputBytes)
		}
		run := *p.Run
		view.WithoutRecords(&run)
		e.event("run", e.lastID, run)
	case p.Away != nil && *p.Away:
		e.event("away", e.lastID, struct{}{})
	case p.Away != nil:
		e.event("back", e.lastID, struct{}{})
	case p.End != nil:
		e.release()
		e.known = true
		run := p.End.Run
		view.WithoutRecords(&run)
		e.event("end", p.End.Offset, endEvent{Run: run, Offset: p.End.Offset, Complete: p.End.Complete})
	}
	for i := 0; i < len(p.Chunks); {
		i += e.output(p.Chunks[i:])
		if err := e.out.SendIfMany(); err != nil {
			return err
		}
	}
	return nil
}

// output writes the first of the chunks, merged with following ones, and returns the number of
// chunks written.
func (e *eventWriter) output(chunks []common.Chunk) int {
	c := chunks[0]
	if !e.known {
		e.known, e.lastID = true, c.Offset
	}
	if c.Missing > 0 {
		e.release()
		e.at = c.End()
		e.event("missing", e.at, missingEvent{Offset: c.Offset, Count: c.Missing})
		return 1
	}
	n := 1
	for n < len(chunks) && chunks[n].Missing == 0 && chunks[n].Stream == c.Stream &&
		chunks[n].At.Sub(c.At) < together &&
		len(c.Data)+len(chunks[n].Data) <= maxEvent {
		if n == 1 {
			c.Data = slices.Clip(c.Data) // not owned: append must copy
		}
		c.Data = append(c.Data, chunks[n].Data...)
		n++
	}
	e.at = c.End()
	if e.stream != "" && e.stream != c.Stream {
		return n
	}
	if len(e.held.Data) > 0 {
		if e.held.Stream == c.Stream && e.held.End() == c.Offset {
			c.Offset, c.Data = e.held.Offset, slices.Concat(e.held.Data, c.Data)
			e.held = common.Chunk{}
		} else {
			e.release()
		}
	}
	for len(c.Data) > 0 {
		piece := c
		piece.Data = c.Data[:min(len(c.Data), maxEvent)]
		piece.Data = piece.Data[:len(piece.Data)-unfinished(piece.Data)]
		if len(piece.Data) == 0 {
			e.held = c
			e.held.Data = bytes.Clone(c.Data) // copied, so that the rest of the chunk can be freed
			return n
		}
		e.print(&piece)
		c.Offset, c.Data = piece.End(), c.Data[len(piece.Data):]
	}
	return n
}

// release writes what was held back as it is.
func (e *eventWriter) release() {
	if len(e.held.Data) > 0 {
		e.print(&e.held)
		e.held = common.Chunk{}
	}
}

func (e *eventWriter) print(c *common.Chunk) {
	out := outputEvent{Offset: c.Offset, Stream: c.Stream, At: c.At}
	if utf8.Valid(c.Data) && bytes.IndexByte(c.Data, 0) < 0 {
		out.Text = new(string(c.Data))
	} else {
		out.Base64 = c.Data
	}
	e.event("output", c.End(), out)
}

// event writes an event whose id is the offset after it.
func (e *eventWriter) event(name string, id int64, data any) {
	if e.known {
		e.out.ID(id)
		e.lastID = id
	}
	e.out.Event(name, data)
}

// unfinished returns the number of bytes at the end of a text that are the beginning of a
// character.
func unfinished(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if b := p[len(p)-n:]; utf8.RuneStart(b[0]) {
			if utf8.FullRune(b) {
				return 0
			}
			return n
		}
	}
	return 0
}
