package tail

import (
	"context"
	"errors"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/quota"
)

// Source reads runs and their output.
type Source interface {
	Run(ctx context.Context, id string) (common.Run, error)
	// Output returns the chunks of a run that end after offset, in order of offset, as many as fit into limit
	// bytes, but at least one if there is any.
	Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error)
}

// Config holds the settings of a Hub. Zero values mean the defaults.
type Config struct {
	Every       time.Duration // interval of requests for more output; default 250 ms
	Status      time.Duration // interval of reads of the run; also the shortest for a pending run; default 1 s
	Idle        time.Duration // without output for this long, requests are half as frequent; default 1 min
	Limit       time.Duration // for one request to a store that answers in time; default 5 s
	LimitMost   time.Duration // for one request to a slow store; default 15 s
	Patience    time.Duration // for output that should be present, and for gaps; default 15 s
	Settle      time.Duration // for possible output of a lost run; default 3 s
	Away        time.Duration // how long requests fail before followers are notified; default 2 s
	WindowBytes int           // of the newest output of a run, kept in memory; default 256 KiB
	PieceBytes  int           // read at once; default 128 KiB
	Followers   int           // at a time; one client has at most a quarter of them; default 500
	Waiters     int           // that wait for the end of a run; one client has at most a quarter; default 250
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

// ErrStopped ends the followers of a stopped hub: they may continue at another master.
var ErrStopped = errors.New("the server stops")

// Hub manages the followers of runs. Its methods are safe for concurrent use.
type Hub struct {
	cfg     Config
	src     Source
	stopped chan struct{} // closed by Stop
	stop    sync.Once

	mu      sync.Mutex
	feeds   map[string]*feed     // by run; guarded by mu
	follows quota.Places         // guarded by mu
	waits   quota.Places         // guarded by mu
	hurry   map[*Follower]func() // guarded by mu
}

// New returns a hub. It starts no goroutine before the first follower.
func New(src Source, cfg Config) *Hub {
	cfg.complete()
	return &Hub{
		cfg:     cfg,
		src:     src,
		stopped: make(chan struct{}),
		feeds:   map[string]*feed{},
		hurry:   map[*Follower]func(){},
		follows: quota.New(cfg.Followers),
		waits:   quota.New(cfg.Waiters),
	}
}

// Stop ends all followers, and accepts no more.
func (h *Hub) Stop() {
	h.stop.Do(func() { close(h.stopped) })
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, do := range h.hurry {
		do()
	}
}

// Place is where a follower begins: at an offset, or so many bytes before the present end if Tail is not
// zero.
type Place struct {
	Offset int64
	Tail   int64
}

// Follow starts to follow a run, for a client that is identified by any stable text. It returns
// common.CodeNotFound if there is no such run, and common.CodeTooMany if there are too many followers, in
// total or of this client. The caller closes the follower.
func (h *Hub) Follow(ctx context.Context, id string, from Place, client string) (*Follower, error) {
	run, err := h.src.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := h.enter(&h.follows, client, "too_many_follow",
		"too many clients follow the output of runs at this server",
		"try again later, or read the output page by page"); err != nil {
		return nil, err
	}
	return h.join(run, from, func() { h.exit(&h.follows, client) }), nil
}

// join creates a follower of a run; left is called when it is closed.
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

// leave removes a follower. The last one of a run waits for the run's goroutine.
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
