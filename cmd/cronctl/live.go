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
	// The server sends a keep-alive every 15 seconds.
	silence = 45 * time.Second
	// How long the server may be unavailable while a run is followed.
	away = time.Minute
	// An event contains 32 KiB of output, each byte of which may be escaped as six.
	maxLine = 1 << 20
)

// live copies the output of the run as it arrives, until the run has ended. After a broken connection it
// continues from the same offset.
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
			return common.Errorf(common.CodeUnavailable,
				"connection lost, and the server has been unavailable for a minute")
		}
		if err := pause(ctx, pollEvery, err); err != nil {
			return err
		}
	}
}

// listen reads one stream to its end. It sets done if the stream reached the end of the run.
func (p *printed) listen(ctx context.Context, w io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	alive := time.AfterFunc(silence, cancel)
	defer alive.Stop()
	resp, err := p.api.FollowOutput(ctx, p.run, &apiclient.FollowOutputParams{
		Offset: &p.offset,
		Stream: set(apiclient.FollowOutputParamsStream(p.stream)),
	})
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
				return common.Errorf(common.CodeUnavailable, "the server did not send the offset of the next output")
			}
		}
		if len(lines.Bytes()) == 0 { // end of an event, or of a lone id: the output before it is of the other stream
			event, p.offset = "", max(p.offset, id)
		}
	}
	return nil // interrupted; the reason does not matter
}

// event handles an event of the stream.
func (p *printed) event(name string, data []byte, w io.Writer) error {
	if name != "output" && name != "missing" && name != "end" {
		return nil // state of the run, or an event of a newer server
	}
	var e struct {
		Offset, Count int64
		Text          *string
		Base64        []byte
		Complete      bool
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return unreadable(err)
	}
	switch name {
	case "output":
		text := e.Base64
		if e.Text != nil {
			text = []byte(*e.Text)
		}
		return p.write(w, e.Offset, text)
	case "missing":
		line := fmt.Sprintf("[carillon: %s missing here]\n",
			common.Count(e.Count, "byte of output is", "bytes of output are"))
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

// write copies output that begins at an offset.
func (p *printed) write(w io.Writer, offset int64, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if _, err := w.Write(text); err != nil {
		return &common.Error{Code: common.CodeInternal, Message: "cannot write the output", Err: err}
	}
	p.offset = offset + int64(len(text))
	p.inLine = text[len(text)-1] != '\n'
	return nil
}

func incomplete() error {
	return common.Errorf(common.CodeUnavailable,
		"the run has ended, but the rest of its output has not arrived in the log store")
}
