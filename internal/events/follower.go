package events

import (
	"context"
	"errors"
	"slices"
	"sort"
	"time"
)

// Part is the next part of a follower's stream.
type Part struct {
	Revision int64 // up to which the stream is complete with this part
	Batches  []Batch
	// Reset means that events were missed and the lists have to be read again. A reset part has no
	// batches.
	Reset bool
}

// partBatches bounds the batches of a part.
const partBatches = 256

// Follower is a subscription to the stream.
type Follower struct {
	hub   *Hub
	want  func(*Event) bool
	place int64   // position of the next batch in the ring
	since int64   // events up to this revision have been delivered
	ahead []Batch // batches from before the ring, delivered first
	reset bool    // a reset is delivered first

	client string // whose share of the followers it counts for
}

// begin finds the position to start at.
func (f *Follower) begin(ctx context.Context, since int64) error {
	h := f.hub
	if err := h.begun(ctx); err != nil {
		return err
	}
	h.mu.Lock()
	revision, floor := h.revision, h.floor
	f.place, f.since = h.first+int64(len(h.ring)), revision
	if since > 0 && since >= floor {
		f.place = h.first + int64(sort.Search(len(h.ring), func(i int) bool { return h.ring[i].Revision > since }))
		f.since = since
	} else {
		// The ring's batches follow those that are read again.
		f.place = h.first
		if since == 0 {
			f.place += int64(len(h.ring))
		}
	}
	h.mu.Unlock()
	switch {
	case since == 0:
		return nil
	case since > revision:
		return f.future(ctx, since)
	case since < floor:
		return f.catchUp(ctx, since, floor)
	}
	return nil
}

// future handles a revision that this hub has not seen: another master has, or etcd was restored.
func (f *Follower) future(ctx context.Context, since int64) error {
	latest, err := f.hub.cfg.Source.Revision(ctx)
	if err != nil {
		return err
	}
	if since > latest {
		f.reset, f.since = true, latest
	}
	return nil
}

// catchUp reads the changes after a revision that have left the ring.
func (f *Follower) catchUp(ctx context.Context, since, floor int64) error {
	f.since = since
	ctx, cancel := context.WithTimeout(ctx, f.hub.cfg.Wait)
	defer cancel()
	count := 0
	enough := errors.New("enough")
	reading, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err := f.hub.cfg.Source.Watch(reading, since, func(b Batch) {
		if context.Cause(reading) != nil {
			return
		}
		if b.Revision <= floor {
			if len(b.Events) > 0 {
				f.ahead = append(f.ahead, b)
			}
			count += len(b.Events)
		}
		switch {
		case count > f.hub.cfg.Catch:
			stop(ErrGone)
		case b.Revision >= floor:
			stop(enough)
		}
	})
	if cause := context.Cause(reading); cause != nil {
		err = cause
	}
	switch {
	case errors.Is(err, enough):
		return nil
	case errors.Is(err, ErrGone), errors.Is(err, context.DeadlineExceeded):
		f.missed()
		return nil
	}
	return err
}

// missed schedules a reset and continues with new events.
func (f *Follower) missed() {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	f.leap()
}

// leap is missed with mu held.
func (f *Follower) leap() {
	f.place, f.since = f.hub.first+int64(len(f.hub.ring)), f.hub.revision
	f.ahead, f.reset = nil, true
}

// Next waits for the next part. If the context ends first, the part contains the revision up to
// which the stream is complete.
func (f *Follower) Next(ctx context.Context) (Part, error) {
	for {
		part, changed, err := f.available()
		if err != nil || part.Reset || len(part.Batches) > 0 {
			return part, err
		}
		if changed == nil {
			continue // more batches, none so far for this follower
		}
		select {
		case <-changed:
			continue
		case <-ctx.Done():
		}
		part, _, err = f.available()
		if err == nil && !part.Reset && len(part.Batches) == 0 {
			err = context.Cause(ctx)
		}
		return part, err
	}
}

// available returns the available part, and what to wait for if there is none.
func (f *Follower) available() (part Part, changed <-chan struct{}, err error) {
	h := f.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.stopped:
		return part, nil, ErrStopped
	case h.revision == 0 || f.place < h.first && !f.reset:
		if h.revision == 0 {
			return Part{Revision: f.since}, h.changed, nil // the watch starts again
		}
		f.leap()
	}
	if f.reset {
		f.reset = false
		return Part{Revision: f.since, Reset: true}, nil, nil
	}
	if len(f.ahead) > 0 {
		n := min(len(f.ahead), partBatches)
		part.Batches, part.Revision = f.pick(f.ahead[:n]), f.ahead[n-1].Revision
		f.ahead = f.ahead[n:]
		return part, nil, nil
	}
	from := h.ring[f.place-h.first:]
	n := min(len(from), partBatches)
	part.Batches = f.pick(from[:n])
	f.place += int64(n)
	if n < len(from) {
		part.Revision = from[n-1].Revision
		return part, nil, nil
	}
	part.Revision = max(h.revision, f.since)
	return part, h.changed, nil
}

// pick returns the events for this follower.
func (f *Follower) pick(batches []Batch) (mine []Batch) {
	for _, b := range batches {
		if b.Revision <= f.since {
			continue
		}
		if f.want != nil {
			b.Events = slices.DeleteFunc(slices.Clone(b.Events), func(e Event) bool { return !f.want(&e) })
		}
		if len(b.Events) > 0 {
			mine = append(mine, b)
		}
	}
	return mine
}

// Revision returns the revision after which it follows.
func (f *Follower) Revision() int64 { return f.since }

// Close ends the subscription.
func (f *Follower) Close() {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	f.hub.followers--
	f.hub.places.GiveBack(f.client)
	f.hub.left = time.Now()
}
