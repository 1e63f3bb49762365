package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

const (
	// The server says every 15 seconds that it lives.
	silence = 45 * time.Second
	// How long the server may be away while a run is followed.
	away = time.Minute
	// An event holds 32 KiB of output, each byte of which may take six.
	maxLine = 1 << 20
)

// live copies what the run prints, as it comes, until the run has ended. After a broken
// connection it goes on where it was.
func (p *printed) live(ctx context.Context, w io.Writer) error {
	var broken time.Time
	for {
		before := p.offset
		err := p.listen(ctx, w)
		switch code := common.CodeOf(err); {
		case p.done:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && code != common.CodeUnavailable && code != common.CodeTooMany:
			return err
		}
		switch now := time.Now(); {
		case broken.IsZero() || p.offset > before:
			broken = now
		case now.Sub(broken) > away:
			return common.Errorf(common.CodeUnavailable, "the connection broke, and the server has been away for a minute")
		}
		if err := pause(ctx, pollEvery, err); err != nil {
			return err
		}
	}
}

// listen reads one stream to its end. Where it came to the end of the run, done is set.
func (p *printed) listen(ctx context.Context, w io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	alive := time.AfterFunc(silence, cancel)
	defer alive.Stop()
	resp, err := p.api.FollowOutput(ctx, p.run, &apiclient.FollowOutputParams{Offset: &p.offset, Stream: set(apiclient.FollowOutputParamsStream(p.stream))})
	body, err := apiclient.Open(resp, err)
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxLine)
	event, id := "", p.offset
	for lines.Scan() {
		alive.Reset(silence)
		field, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))
		switch string(field) {
		case "event":
			event = string(value)
		case "data":
			if err := p.event(event, value, w); err != nil || p.done {
				return err
			}
		case "id":
			if id, err = strconv.ParseInt(string(value), 10, 64); err != nil {
				return common.Errorf(common.CodeUnavailable, "the server does not tell where the output goes on")
			}
		}
		if len(lines.Bytes()) == 0 { // the end of an event, or of an id alone: what lies before that is of the other stream
			event, p.offset = "", max(p.offset, id)
		}
	}
	return nil // broken off; why does not matter
}

// event takes an event of the stream.
func (p *printed) event(name string, data []byte, w io.Writer) error {
	if name != "output" && name != "missing" && name != "end" {
		return nil // how the run is, or something newer
	}
	var e struct {
		Offset, Count int64
		Text          *string
		Base64        []byte
		Complete      bool
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return &common.Error{Code: common.CodeUnavailable, Message: "the server's answer cannot be read", Err: err}
	}
	switch name {
	case "output":
		text := e.Base64
		if e.Text != nil {
			text = []byte(*e.Text)
		}
		return p.write(w, e.Offset, text)
	case "missing":
		line := fmt.Sprintf("[carillon: %d bytes of output are missing here]\n", e.Count)
		if p.inLine {
			line = "\n" + line
		}
		if err := p.write(w, e.Offset, []byte(line)); err != nil {
			return err
		}
		p.offset = e.Offset + e.Count
	case "end":
		p.done = true
		if !e.Complete {
			return incomplete()
		}
	}
	return nil
}

// write copies what was printed from an offset on.
func (p *printed) write(w io.Writer, offset int64, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if _, err := w.Write(text); err != nil {
		return &common.Error{Code: common.CodeInternal, Message: "the output cannot be written", Err: err}
	}
	p.offset = offset + int64(len(text))
	p.inLine = text[len(text)-1] != '\n'
	return nil
}

func incomplete() error {
	return common.Errorf(common.CodeUnavailable, "the run has ended, but the rest of its output has not arrived in the log store")
}
