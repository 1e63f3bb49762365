package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

const (
	// newsPoll is the interval of fetches without reports of the server.
	newsPoll = 3 * time.Second
	// newsMost limits the age of what was fetched: some values change with time alone.
	newsMost = 30 * time.Second
	// A slow fetch may take up to a fifth of the time.
	newsShare = 5
)

// errEnded ends the following of something that has ended.
var errEnded = errors.New("it has ended")

// news calls again after each burst of changes that the server reports, at least once every newsMost; it polls if the
// server does not report changes. After a broken connection it continues.
type news struct {
	c      *cli
	params apiclient.FollowEventsParams
	wants  func(event string, data []byte) bool // selects the events of a change; nil: all
	least  time.Duration                        // minimum time between two calls
	again  func(ctx context.Context) error      // errEnded ends the following
	polls  bool                                 // the server does not report changes

	fetched time.Time     // time of the last call
	took    time.Duration // its duration
}

func (n *news) run(ctx context.Context) error {
	api, err := n.c.api()
	if err != nil {
		return err
	}
	var broken time.Time
	for {
		if n.polls {
			err = pause(ctx, newsPoll, nil)
		} else {
			err = n.follow(ctx, api)
		}
		if err == nil {
			err = n.fetch(ctx)
		}
		switch code := common.CodeOf(err); {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			broken = time.Time{}
		case errors.Is(err, errEnded):
			return nil
		case code == common.CodeNotFound && !n.polls:
			n.polls = true // an older server has no events
		case code != common.CodeUnavailable && code != common.CodeTooMany:
			return err
		case broken.IsZero():
			broken = time.Now()
			fmt.Fprintln(n.c.stderr, "note: connection lost; retrying")
		case time.Since(broken) > away:
			return err
		}
		if err := pause(ctx, n.least, err); err != nil {
			return err
		}
	}
}

// follow calls again after each burst of events, until the stream ends.
func (n *news) follow(ctx context.Context, api *apiclient.API) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	alive := time.AfterFunc(silence, cancel)
	defer alive.Stop()
	body, err := apiclient.Open(api.FollowEvents(ctx, &n.params))
	if err != nil {
		return err
	}
	defer body.Close()
	lines, event, stale := bufio.NewReaderSize(body, 64<<10), "", false
	for {
		line, err := lines.ReadSlice('\n')
		alive.Reset(silence)
		if err != nil && err != bufio.ErrBufferFull {
			if ctx.Err() == nil && err != io.EOF {
				return &common.Error{Code: common.CodeUnavailable, Message: "connection lost", Err: err}
			}
			return nil
		}
		switch field, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(": ")); string(field) {
		case "event":
			event = string(value)
		case "data":
			// The first event announces the stream; a change before it may be unknown, as one before a reset.
			stale = stale || event == "ready" || event == "reset" || n.wants == nil
			if n.wants != nil {
				stale = n.wants(event, value) || stale
			}
		}
		if stale = stale || time.Since(n.fetched) > newsMost; !stale || lines.Buffered() > 0 {
			continue // one call for all events that came together
		}
		rest := max(n.least, min(newsShare*n.took, newsMost)) - time.Since(n.fetched)
		if err := pause(ctx, rest, nil); err != nil {
			return err
		}
		if err := n.fetch(ctx); err != nil {
			return err
		}
		stale = false
	}
}

func (n *news) fetch(ctx context.Context) error {
	began := time.Now()
	err := n.again(ctx)
	n.fetched, n.took = time.Now(), time.Since(began)
	return err
}
