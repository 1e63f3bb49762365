package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"carillon/internal/common"
	"carillon/internal/runlog/tail"
)

const (
	maxEvent  = 32 << 10 // bytes of output in one event
	maxGather = 64 << 10 // bytes of events that are written at once, about
	// Chunks that were printed within this time are one event.
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

// events turns what a follower gets into server-sent events.
type events struct {
	out    bytes.Buffer  // to be sent
	stream common.Stream // only this one, or both
	at     int64         // the place behind what was taken
	told   int64         // the last id that was written
	known  bool          // at is a place, not yet to be found
	held   common.Chunk  // the beginning of a character, whose rest is to come; not told
}

func (e *events) retry(after time.Duration) {
	fmt.Fprintf(&e.out, "retry: %d\n\n", after.Milliseconds())
}

// sent forgets what was sent; a buffer that has grown much is given back.
func (e *events) sent() {
	if e.out.Reset(); e.out.Cap() > 4*maxGather {
		e.out = bytes.Buffer{}
	}
}

// patience is how long to wait for the next part.
func (e *events) patience() time.Duration {
	if len(e.held.Data) > 0 {
		return halfChar
	}
	return beat
}

// idle is for when nothing has come: what was held back goes out, or else a comment, with
// the place where to go on, where events of another stream have moved it.
func (e *events) idle() {
	if len(e.held.Data) > 0 {
		e.release()
		return
	}
	if e.known && e.at != e.told {
		fmt.Fprintf(&e.out, "id: %d\n", e.at)
		e.told = e.at
	}
	e.out.WriteString(": alive\n\n")
}

// part writes what a follower got. When much is gathered it is sent.
func (e *events) part(p *tail.Part, send func() error) error {
	switch {
	case p.Run != nil:
		if sized(p.Run) { // who begins behind the end begins at it
			e.at, e.told = min(e.at, p.Run.OutputBytes), min(e.told, p.Run.OutputBytes)
		}
		e.event("run", e.told, p.Run)
	case p.Away != nil && *p.Away:
		e.event("away", e.told, struct{}{})
	case p.Away != nil:
		e.event("back", e.told, struct{}{})
	case p.End != nil:
		e.release()
		e.known = true
		e.event("end", p.End.Offset, endEvent{Run: p.End.Run, Offset: p.End.Offset, Complete: p.End.Complete})
	}
	for i := 0; i < len(p.Chunks); {
		i += e.output(p.Chunks[i:])
		if e.out.Len() >= maxGather {
			if err := send(); err != nil {
				return err
			}
		}
	}
	return nil
}

// output writes the first of the chunks, with those after it that are one with it. It tells how many these were.
func (e *events) output(chunks []common.Chunk) int {
	c := chunks[0]
	if !e.known {
		e.known, e.told = true, c.Offset
	}
	if c.Missing > 0 {
		e.release()
		e.at = c.End()
		e.event("missing", e.at, missingEvent{Offset: c.Offset, Count: c.Missing})
		return 1
	}
	n := 1
	for n < len(chunks) && chunks[n].Missing == 0 && chunks[n].Stream == c.Stream && chunks[n].At.Sub(c.At) < together &&
		len(c.Data)+len(chunks[n].Data) <= maxEvent {
		if n == 1 {
			c.Data = slices.Clip(c.Data) // it is not ours to append to
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
			e.held.Data = bytes.Clone(c.Data) // the rest of the chunk may go
			return n
		}
		e.print(&piece)
		c.Offset, c.Data = piece.End(), c.Data[len(piece.Data):]
	}
	return n
}

// release writes what was held back as it is.
func (e *events) release() {
	if len(e.held.Data) > 0 {
		e.print(&e.held)
		e.held = common.Chunk{}
	}
}

func (e *events) print(c *common.Chunk) {
	out := outputEvent{Offset: c.Offset, Stream: c.Stream, At: c.At}
	if utf8.Valid(c.Data) && bytes.IndexByte(c.Data, 0) < 0 {
		out.Text = new(string(c.Data))
	} else {
		out.Base64 = c.Data
	}
	e.event("output", c.End(), out)
}

// event writes an event with the id that stands for the place behind it.
func (e *events) event(name string, id int64, data any) {
	if e.known {
		fmt.Fprintf(&e.out, "id: %d\n", id)
		e.told = id
	}
	fmt.Fprintf(&e.out, "event: %s\ndata: ", name)
	enc := json.NewEncoder(&e.out) // one line, with its end
	enc.SetEscapeHTML(false)
	_ = enc.Encode(data) // of such values none is refused
	e.out.WriteByte('\n')
}

// unfinished is how many bytes at the end of a text are the beginning of a character.
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
