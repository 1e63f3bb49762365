package tail

import (
	"context"
	"errors"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/places"
)

// Source is where runs and their output are read.
type Source interface {
	Run(ctx context.Context, id string) (common.Run, error)
	// Output gives the chunks of a run that end after offset, in order of offset,
	// as many as hold limit bytes, but at least one if there is any.
	Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error)
}

// Config says how runs are followed. Zero values mean the defaults.
type Config struct {
	Every       time.Duration // the store is asked for more output this often; default 250 ms
	Status      time.Duration // and how the run is; a run that waits is looked at no more often; default 1 s
	Idle        time.Duration // with nothing printed for this long, the store is asked half as often; default 1 min
	Limit       time.Duration // for one question to a store that answers in time; default 5 s
	LimitMost   time.Duration // for one question to a store that is slow; default 15 s
	Patience    time.Duration // for output that should be there, and for what is missing in its middle; default 15 s
	Settle      time.Duration // for output that may be there: of a run that was lost; default 3 s
	Away        time.Duration // how long questions fail before followers are told; default 2 s
	WindowBytes int           // of the newest output of a run, kept in memory; default 256 KiB
	PieceBytes  int           // read at once; default 128 KiB
	Followers   int           // at a time; one client has at most a quarter of them; default 500
	Waiters     int           // that wait for the end of a run, likewise; default 250
}

func (c *Config) complete() {
	set(&c.Every, 250*time.Millisecond)
	set(&c.Status, time.Second)
	set(&c.Idle, time.Minute)
	set(&c.Limit, 5*time.Second)
	set(&c.LimitMost, 15*time.Second)
	set(&c.Patience, 15*time.Second)
	set(&c.Settle, 3*time.Second)
	set(&c.Away, 2*time.Second)
	set(&c.WindowBytes, 256<<10)
	set(&c.PieceBytes, 128<<10)
	set(&c.Followers, 500)
	set(&c.Waiters, 250)
}

func set[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// ErrStopped ends the followers of a hub that was stopped: elsewhere they may go on.
var ErrStopped = errors.New("the server stops")

// Hub knows who follows what. Its methods are safe for concurrent use.
type Hub struct {
	cfg     Config
	src     Source
	stopped chan struct{} // closed by Stop
	stop    sync.Once

	mu      sync.Mutex
	feeds   map[string]*feed     // by run; guarded by mu
	follows places.Places        // guarded by mu
	waits   places.Places        // guarded by mu
	hurry   map[*Follower]func() // guarded by mu
}

// New makes a hub. Nothing runs before somebody follows.
func New(src Source, cfg Config) *Hub {
	cfg.complete()
	return &Hub{cfg: cfg, src: src, stopped: make(chan struct{}), feeds: map[string]*feed{}, hurry: map[*Follower]func(){},
		follows: places.New(cfg.Followers), waits: places.New(cfg.Waiters)}
}

// Stop ends all followers, and takes no more.
func (h *Hub) Stop() {
	h.stop.Do(func() { close(h.stopped) })
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, do := range h.hurry {
		do()
	}
}

// Place is where a follower begins: at an offset, or so many bytes before the end of what
// is there, if Tail is not zero.
type Place struct {
	Offset int64
	Tail   int64
}

// Follow begins to follow a run, for a client that is identified by any stable text. A run that is not there is an
// error with common.CodeNotFound, too many followers, of all clients or of this one, is one with common.CodeTooMany.
// The caller closes the follower.
func (h *Hub) Follow(ctx context.Context, id string, from Place, client string) (*Follower, error) {
	run, err := h.src.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := h.enter(&h.follows, client, "too_many_follow", "too many follow the output of runs at this server just now",
		"ask again later, or read it piece by piece"); err != nil {
		return nil, err
	}
	return h.join(run, from, func() { h.exit(&h.follows, client) }), nil
}

// join makes a follower of a run; left is called when it has left.
func (h *Hub) join(run common.Run, from Place, left func()) *Follower {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[run.ID]
	if f == nil {
		f = newFeed(h, run)
		h.feeds[run.ID] = f
	}
	f.followers++
	return &Follower{hub: h, feed: f, at: from.Offset, tail: from.Tail, pace: newPace(h.cfg.PieceBytes), left: left}
}

// leave is the end of a follower. The last one of a run waits for the run's goroutine.
func (h *Hub) leave(who *Follower) {
	f := who.feed
	h.mu.Lock()
	delete(h.hurry, who)
	f.followers--
	last := f.followers == 0
	if last {
		delete(h.feeds, f.id)
	}
	h.mu.Unlock()
	if last {
		f.cancel()
		<-f.done
	}
	if who.left != nil {
		who.left()
	}
}
