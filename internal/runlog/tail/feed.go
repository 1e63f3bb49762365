package tail

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
)

// oldEnd is how long after its end the output of a run is awaited.
const oldEnd = time.Minute

// feed is a followed run. One goroutine reads the store for all followers.
type feed struct {
	hub       *Hub
	id        string
	followers int // guarded by hub.mu
	cancel    context.CancelFunc
	done      chan struct{} // closed when the goroutine has ended
	reads     reads         // by followers behind the window

	mu      sync.Mutex
	changed chan struct{} // closed and replaced with each change of the fields below
	view    view
	limit   time.Duration // for one request; grows while the store is slow; guarded by mu
	waited  time.Duration // for the last request, if it timed out; otherwise zero; guarded by mu

	// owned by the goroutine
	pace     pace
	asked    time.Time // when the run was last read
	blind    error     // error of the last read of the run
	moved    time.Time // when there was new output, or the run changed
	hole     time.Time // since when output is missing before the next chunk; zero if none is
	failing  time.Time // since when requests fail; zero while they succeed
	vanished time.Time // since when the run is not found; zero while it is
}

// view is the known state of a run.
type view struct {
	run      common.Run
	version  int            // of the run, counted from 1
	ready    bool           // the end of the output is known
	window   []common.Chunk // from start to head, without gaps
	start    int64
	head     int64
	bytes    int // in the window
	away     bool
	ended    bool // no output follows head
	complete bool // and all known output of the run is present
	err      error
}

func newFeed(h *Hub, run common.Run) *feed {
	ctx, cancel := context.WithCancel(context.Background())
	f := &feed{
		hub:     h,
		id:      run.ID,
		cancel:  cancel,
		done:    make(chan struct{}),
		changed: make(chan struct{}),
		asked:   time.Now(),
		moved:   time.Now(),
	}
	f.view.run, f.view.version, f.pace = run, 1, newPace(h.cfg.PieceBytes)
	f.limit = h.cfg.Limit
	f.reads.under = map[int64]*reading{}
	go func() {
		defer close(f.done)
		f.follow(ctx)
	}()
	return f
}

// change updates the view, and wakes the followers.
func (f *feed) change(do func(v *view)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do(&f.view)
	close(f.changed)
	f.changed = make(chan struct{})
}

// current returns the view, and a channel that is closed when it changes.
func (f *feed) current() (view, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.view, f.changed
}

func (f *feed) follow(ctx context.Context) {
	for {
		again, err := f.step(ctx)
		if ctx.Err() != nil {
			return
		}
		f.answered(cmp.Or(err, f.blind))
		if v, _ := f.current(); v.ended || v.err != nil {
			return
		}
		if again {
			continue
		}
		pause := time.NewTimer(f.pause(err))
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
		}
	}
}

// pause returns the time until the next request to the store.
func (f *feed) pause(err error) time.Duration {
	cfg, v := &f.hub.cfg, &f.view // only this goroutine writes it
	switch {
	case err != nil:
		return min(max(cfg.Every, time.Since(f.failing)/4), 5*time.Second)
	case v.run.Status == common.StatusWaiting:
		return cfg.Status
	case time.Since(f.moved) > cfg.Idle:
		return 2 * cfg.Every
	}
	return cfg.Every
}

// answered notifies the followers when requests have failed for some time, and when they succeed again.
func (f *feed) answered(err error) {
	switch {
	case err == nil:
		f.failing = time.Time{}
	case f.failing.IsZero():
		f.failing = time.Now()
	}
	// A slow store gets more time before it counts as unavailable.
	slow := errors.Is(err, context.DeadlineExceeded) && f.patient()
	if away := err != nil && !slow && time.Since(f.failing) >= f.hub.cfg.Away; away || err == nil {
		if f.view.away != away {
			f.change(func(v *view) { v.away = away })
		}
	}
}

// step reads the run, then its output: output that was printed before the run ended is present when the end
// is seen, unless it is still in flight. Output is read even while the state of the run cannot be.
func (f *feed) step(ctx context.Context) (again bool, err error) {
	f.status(ctx)
	if f.view.err != nil {
		return false, nil
	}
	if !f.view.ready {
		if err := f.begin(ctx); err != nil {
			return false, err
		}
	}
	ended := f.view.run.Status.Terminal()
	taken, more, err := f.read(ctx)
	if err != nil || more {
		return more, err
	}
	if ended && taken == 0 {
		f.finish()
	}
	return ended && taken > 0, nil
}

// status reads the run, if that may bring news.
func (f *feed) status(ctx context.Context) {
	cfg, was := &f.hub.cfg, f.view.run.Status
	wait := cfg.Status - cfg.Every/2
	if f.blind != nil {
		wait = max(wait, min(time.Since(f.failing), cfg.Limit)) // each try may delay the output
	}
	if was.Terminal() || time.Since(f.asked) < wait {
		return
	}
	limited, cancel := context.WithTimeout(ctx, min(2*cfg.Status, cfg.Limit))
	defer cancel()
	run, err := f.hub.src.Run(limited, f.id)
	f.asked, f.blind = time.Now(), nil
	if common.CodeOf(err) == common.CodeNotFound {
		// While it moves between two keys it may be in neither.
		if f.vanished.IsZero() {
			f.vanished = time.Now()
		}
		if time.Since(f.vanished) >= cfg.Patience {
			f.change(func(v *view) { v.err = err })
		}
		return
	}
	if f.blind = err; err != nil {
		return
	}
	f.vanished = time.Time{}
	if run.Status != was {
		f.moved = time.Now()
		f.change(func(v *view) { v.run, v.version = run, v.version+1 })
	}
}

func (f *feed) ask(ctx context.Context, offset int64, limit int) ([]common.Chunk, error) {
	limited, cancel := context.WithTimeout(ctx, f.allowed())
	defer cancel()
	began := time.Now()
	chunks, err := f.hub.src.Output(limited, f.id, offset, limit)
	f.took(time.Since(began), err)
	return chunks, err
}

// took adapts the limit of the next request to the duration of the last one.
func (f *feed) took(d time.Duration, err error) {
	cfg := &f.hub.cfg
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		f.waited = f.limit
		f.limit = min(f.limit+cfg.Limit, cfg.LimitMost)
	case err == nil:
		f.waited = 0
		if d < cfg.Limit/2 {
			f.limit = cfg.Limit
		}
	}
}

// patient reports whether the next request waits longer than the last one did.
func (f *feed) patient() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waited < f.hub.cfg.LimitMost
}

// allowed returns how long the next request may take.
func (f *feed) allowed() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limit
}

// begin finds the end of the present output, and keeps all of it if it is small.
func (f *feed) begin(ctx context.Context) error {
	run := &f.view.run
	if size := run.OutputBytes; run.Status.Terminal() && size > int64(f.hub.cfg.PieceBytes) {
		last, err := f.ask(ctx, size-1, 1)
		if err != nil {
			return err
		}
		if len(last) > 0 {
			f.change(func(v *view) { v.ready, v.start, v.head = true, size, size })
			return nil
		}
	}
	first, err := f.ask(ctx, 0, f.pace.limit)
	if err != nil {
		return err
	}
	first = join(first, 0, f.mayFill)
	head := int64(0)
	if len(first) > 0 {
		limited, cancel := context.WithTimeout(ctx, f.allowed())
		defer cancel()
		end := first[len(first)-1].End()
		if head, err = Length(limited, f.hub.src, f.id, end); err != nil {
			return err
		}
		if head > end {
			first = nil
		}
	}
	f.change(func(v *view) {
		v.ready, v.start, v.head = true, head, head
		v.push(first, f.hub.cfg.WindowBytes)
	})
	return nil
}

// read reads the next output into the window. more reports whether there may be more at once.
func (f *feed) read(ctx context.Context) (taken int, more bool, err error) {
	head := f.view.head
	chunks, err := f.ask(ctx, head, f.pace.limit)
	if err != nil {
		return 0, false, err
	}
	if len(chunks) == 0 {
		f.hole = time.Time{}
	}
	more = f.pace.read(chunks)
	if chunks = join(chunks, head, f.mayFill); len(chunks) == 0 {
		return 0, false, nil
	}
	f.moved, f.hole = time.Now(), time.Time{}
	f.change(func(v *view) { v.push(chunks, f.hub.cfg.WindowBytes) })
	return len(chunks), more, nil
}

// mayFill reports whether the output that is missing before the next chunk may still arrive.
func (f *feed) mayFill() bool {
	if f.hole.IsZero() {
		f.hole = time.Now()
	}
	return !f.old() && time.Since(f.hole) < f.hub.cfg.Patience
}

// old reports whether the run ended so long ago that no output is in flight.
func (f *feed) old() bool {
	ended := f.view.run.EndedAt
	return f.view.run.Status.Terminal() && ended != nil && time.Since(*ended) > oldEnd
}

// finish ends the feed once all output is present, or none is awaited any more.
func (f *feed) finish() {
	cfg, run := &f.hub.cfg, &f.view.run
	complete, waited := f.view.head >= run.OutputBytes, time.Since(f.moved)
	switch {
	case !f.hole.IsZero():
		return
	case f.old():
	case !complete && waited < cfg.Patience:
		return
	case run.Status == common.StatusLost && waited < cfg.Settle: // the length of its output is unknown
		return
	}
	f.change(func(v *view) { v.ended, v.complete = true, complete })
}

// push appends chunks to the window, whose beginning is dropped if it is too large.
func (v *view) push(chunks []common.Chunk, limit int) {
	if len(chunks) == 0 {
		return
	}
	window := append(slices.Clone(v.window), chunks...) // followers may read the old one
	for _, c := range chunks {
		v.bytes += cost(&c)
		v.head = c.End()
	}
	n := 0
	for n < len(window)-1 && v.bytes > limit {
		v.bytes -= cost(&window[n])
		n++
	}
	v.window, v.start = slices.Clip(window[n:]), window[n].Offset
}

// cost returns the memory that a chunk takes.
func cost(c *common.Chunk) int {
	const frame = 160
	return frame + len(c.Data)
}
