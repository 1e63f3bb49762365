package feed

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/places"
)

// Errors of following.
var (
	// ErrGone says that what came after a revision is not known any more.
	ErrGone = errors.New("what changed since then is not known any more")
	// ErrStopped says that the hub has stopped.
	ErrStopped = errors.New("nothing is followed any more")
)

// Config is what a hub needs. Zero values mean the defaults.
type Config struct {
	Source Source
	Log    *slog.Logger
	Keep   int           // events in memory; default 8192
	Linger time.Duration // how long to watch on when nobody follows; default 1 min
	Catch  int           // most events that are read again for who comes back; default 4096
	Wait   time.Duration // how long who comes waits for etcd; default 5 s
	Health Health        // may be nil
	// Followers is the most that follow at a time; one client has at most a quarter of them; default 500.
	Followers int
}

// Health is notified of how the watch is doing: it begins, it was interrupted or (nil) is whole, it ends on purpose.
type Health interface {
	Begin()
	Done(err error)
	End()
}

// unwatched is for hubs whose health is of no interest.
type unwatched struct{}

func (unwatched) Begin()     {}
func (unwatched) Done(error) {}
func (unwatched) End()       {}

// Hub is what has changed lately.
type Hub struct {
	cfg    Config
	wanted chan struct{} // somebody follows

	mu        sync.Mutex
	ring      []Batch       // guarded by mu; its first one has the place first
	first     int64         // guarded by mu
	events    int           // guarded by mu; in the ring
	floor     int64         // guarded by mu; all that came after this revision is in the ring
	revision  int64         // guarded by mu; up to which all is known; 0 while nothing is watched
	followers int           // guarded by mu
	places    places.Places // guarded by mu
	left      time.Time
	changed   chan struct{} // guarded by mu; closed when anything above changes
	stopped   bool          // guarded by mu
}

// Waits before a watch that broke is begun again, and how often it is looked whether anybody follows.
const (
	retryFirst = 100 * time.Millisecond
	retryMost  = 5 * time.Second
	glance     = time.Second
)

// NewHub makes a hub. Nobody hears anything before it runs.
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
	return &Hub{cfg: cfg, wanted: make(chan struct{}, 1), changed: make(chan struct{}), places: places.New(cfg.Followers)}
}

// Run watches while anybody follows, until the context ends.
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

// Stop sends all followers away. It is for the end of the process, before that of Run.
func (h *Hub) Stop() { h.stop() }

func (h *Hub) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	h.tell()
}

// tell wakes all who wait; mu is held.
func (h *Hub) tell() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// serve watches until nobody has followed for a while.
func (h *Hub) serve(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { h.watch(ctx) })
	tick := time.NewTicker(glance)
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

// idle tells whether nobody has followed for long.
func (h *Hub) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.followers == 0 && time.Since(h.left) >= h.cfg.Linger
}

// forget is for when nothing is watched any more. Who came at the last moment has it begun again.
func (h *Hub) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.skip(0)
	select {
	case <-h.wanted: // by who has gone meanwhile
	default:
	}
	if h.followers > 0 {
		h.want()
	}
}

// skip lets go of all there is: what comes next comes after the revision. mu is held.
func (h *Hub) skip(revision int64) {
	// A place more, so that those who had heard everything have missed something as well.
	h.first += int64(len(h.ring)) + 1
	h.ring, h.events, h.floor, h.revision = nil, 0, revision, revision
	h.tell()
}

func (h *Hub) want() {
	select {
	case h.wanted <- struct{}{}:
	default: // it is known
	}
}

// watch follows the source until the context ends.
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

// once watches until the watch breaks. It goes on where the one before ended.
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
		h.skip(0) // all begin anew
		h.mu.Unlock()
	}
	return err
}

// take puts a batch into the ring.
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
	h.tell()
}

// Follow begins to follow after a revision, or now where that is zero. want tells which events
// are for this follower; nil for all. The client is identified by any stable text; too many followers, of all clients
// or of this one, is an error with common.CodeTooMany.
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

// retryAfter is when a client that found no place may try again.
const retryAfter = 5 * time.Second

// enter takes a place for a client.
func (h *Hub) enter(client string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.places.Take(client) {
		return &common.Error{Code: common.CodeTooMany, Reason: "too_many_follow_events", Message: "too many clients follow the events of this server, or too many of yours do",
			Hint: "close streams that are not needed, or try again later", RetryAfter: retryAfter}
	}
	h.followers++
	h.want()
	return nil
}

// begun waits until something is watched.
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
	return &common.Error{Code: common.CodeUnavailable, Reason: "etcd_away", Message: "etcd does not answer", Hint: "try again in a few seconds", Err: err}
}
