package events

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/quota"
)

// Errors of a stream.
var (
	// ErrGone means that the changes after a revision are no longer available.
	ErrGone = errors.New("the changes since that revision are no longer available")
	// ErrStopped means that the hub has stopped.
	ErrStopped = errors.New("the event stream has stopped")
)

// Config holds the settings of a hub. Zero values mean the defaults.
type Config struct {
	Source Source
	Log    *slog.Logger
	Keep   int           // events in memory; default 8192
	Linger time.Duration // how long to watch without followers; default 1 min
	Catch  int           // most events read again for a returning follower; default 4096
	Wait   time.Duration // how long a new follower waits for etcd; default 5 s
	Health Health        // may be nil
	// Followers is the maximum number of followers; one client has at most a quarter of them;
	// default 500.
	Followers int
}

// Health is notified of the watch's state: it begins, it was interrupted or (nil) made progress, it
// ends on purpose.
type Health interface {
	Begin()
	Done(err error)
	End()
}

// unwatched is used if Health is nil.
type unwatched struct{}

func (unwatched) Begin()     {}
func (unwatched) Done(error) {}
func (unwatched) End()       {}

// Hub distributes the latest changes to followers.
type Hub struct {
	cfg    Config
	wanted chan struct{} // there is a follower

	mu        sync.Mutex
	ring      []Batch      // guarded by mu; its first batch has the position first
	first     int64        // guarded by mu
	events    int          // guarded by mu; in the ring
	floor     int64        // guarded by mu; the ring contains all batches after this revision
	revision  int64        // guarded by mu; complete up to it; 0 without a watch
	followers int          // guarded by mu
	places    quota.Places // guarded by mu
	left      time.Time
	changed   chan struct{} // guarded by mu; closed when anything above changes
	stopped   bool          // guarded by mu
}

// Backoff of a broken watch, and interval of the check for followers.
const (
	retryFirst = 100 * time.Millisecond
	retryMost  = 5 * time.Second
	idleCheck  = time.Second
)

// NewHub returns a hub. Followers receive events once it runs.
func NewHub(cfg Config) *Hub {
	if cfg.Keep == 0 {
		cfg.Keep = 8192
	}
	if cfg.Linger == 0 {
		cfg.Linger = time.Minute
	}
	if cfg.Catch == 0 {
		cfg.Catch = 4096
	}
	if cfg.Wait == 0 {
		cfg.Wait = 5 * time.Second
	}
	if cfg.Health == nil {
		cfg.Health = unwatched{}
	}
	if cfg.Followers == 0 {
		cfg.Followers = 500
	}
	return &Hub{
		cfg:     cfg,
		wanted:  make(chan struct{}, 1),
		changed: make(chan struct{}),
		places:  quota.New(cfg.Followers),
	}
}

// Run watches while there are followers, until the context ends.
func (h *Hub) Run(ctx context.Context) error {
	defer h.stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-h.wanted:
		}
		h.serve(ctx)
	}
}

// Stop ends all subscriptions. It is called at the end of the process, before Run ends.
func (h *Hub) Stop() { h.stop() }

func (h *Hub) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	h.wakeFollowers()
}

// wakeFollowers wakes all waiting followers; mu is held.
func (h *Hub) wakeFollowers() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// serve watches until there has been no follower for Linger.
func (h *Hub) serve(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { h.watch(ctx) })
	tick := time.NewTicker(idleCheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
		case <-tick.C:
			if !h.idle() {
				continue
			}
		}
		cancel()
		watching.Wait()
		h.forget()
		return
	}
}

// idle reports whether there has been no follower for Linger.
func (h *Hub) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.followers == 0 && time.Since(h.left) >= h.cfg.Linger
}

// forget clears the ring after the watch has ended. A follower that arrived meanwhile starts a new
// one.
func (h *Hub) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.skip(0)
	select {
	case <-h.wanted: // by a follower that has left meanwhile
	default:
	}
	if h.followers > 0 {
		h.want()
	}
}

// skip discards the ring; the next batch is after the revision. mu is held.
func (h *Hub) skip(revision int64) {
	// One position more, so that followers at the end have missed something as well.
	h.first += int64(len(h.ring)) + 1
	h.ring, h.events, h.floor, h.revision = nil, 0, revision, revision
	h.wakeFollowers()
}

func (h *Hub) want() {
	select {
	case h.wanted <- struct{}{}:
	default: // already signalled
	}
}

// watch reads the source until the context ends, with exponential backoff after errors.
func (h *Hub) watch(ctx context.Context) {
	h.cfg.Health.Begin()
	defer h.cfg.Health.End()
	for retry := retryFirst; ; {
		began := time.Now()
		err := h.once(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > retryMost {
			retry = retryFirst
		}
		h.cfg.Health.Done(err)
		h.cfg.Log.Warn("watch_interrupted", "watch", "events", "error", err)
		timer := time.NewTimer(retry)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		retry = min(2*retry, retryMost)
	}
}

// once reads the source until the watch breaks. It continues where the last one ended.
func (h *Hub) once(ctx context.Context) error {
	h.mu.Lock()
	from := h.revision
	h.mu.Unlock()
	if from == 0 {
		var err error
		if from, err = h.cfg.Source.Revision(ctx); err != nil {
			return err
		}
		h.mu.Lock()
		h.skip(from)
		h.mu.Unlock()
	}
	err := h.cfg.Source.Watch(ctx, from, h.take)
	if errors.Is(err, ErrGone) {
		h.mu.Lock()
		h.skip(0) // all followers get a reset
		h.mu.Unlock()
	}
	return err
}

// take adds a batch to the ring.
func (h *Hub) take(b Batch) {
	h.cfg.Health.Done(nil)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.revision = b.Revision
	if len(b.Events) == 0 {
		return
	}
	h.ring = append(h.ring, b)
	h.events += len(b.Events)
	for h.events > h.cfg.Keep && len(h.ring) > 1 {
		h.events -= len(h.ring[0].Events)
		h.floor = h.ring[0].Revision
		h.ring[0] = Batch{}
		h.ring = h.ring[1:]
		h.first++
	}
	h.wakeFollowers()
}

// Follow returns a subscription to the events after a revision, or from now on if it is zero. want
// selects the events for this follower; nil for all. client is any stable text that identifies the
// client. Too many followers, in total or of this client, are an error with common.CodeTooMany.
func (h *Hub) Follow(ctx context.Context, since int64, want func(*Event) bool, client string) (*Follower, error) {
	if err := h.enter(client); err != nil {
		return nil, err
	}
	f := &Follower{hub: h, want: want, client: client}
	if err := f.begin(ctx, since); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// retryAfter is the suggested delay after too many followers.
const retryAfter = 5 * time.Second

// enter counts a follower of a client.
func (h *Hub) enter(client string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.places.Take(client) {
		return &common.Error{
			Code:       common.CodeTooMany,
			Reason:     "too_many_follow_events",
			Message:    "too many event streams on this server, or of this client",
			Hint:       "close unused streams, or retry later",
			RetryAfter: retryAfter,
		}
	}
	h.followers++
	h.want()
	return nil
}

// begun waits until the watch has begun.
func (h *Hub) begun(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, h.cfg.Wait)
	defer cancel()
	for {
		h.mu.Lock()
		revision, changed, stopped := h.revision, h.changed, h.stopped
		h.mu.Unlock()
		switch {
		case stopped:
			return unavailable(ErrStopped)
		case revision != 0:
			return nil
		}
		select {
		case <-ctx.Done():
			return unavailable(context.Cause(ctx))
		case <-changed:
		}
	}
}

func unavailable(err error) error {
	return common.Errorf(common.CodeUnavailable, "etcd does not answer").WithReason("etcd_away").WithCause(err).
		WithHint("retry in a few seconds")
}
