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

// oldEnd is how long after its end a run's output is not waited for any more.
const oldEnd = time.Minute

// feed is a run that is followed. One goroutine reads the store for all followers.
type feed struct {
	hub       *Hub
	id        string
	followers int // guarded by hub.mu
	cancel    context.CancelFunc
	done      chan struct{} // closed when the goroutine has ended
	reads     reads         // by those who are behind the window

	mu      sync.Mutex
	changed chan struct{} // closed, and made anew, with each change of what follows
	view    view
	limit   time.Duration // for one question; grows while the store is slow; guarded by mu
	waited  time.Duration // for the last question, if it was given up; otherwise zero; guarded by mu

	// owned by the goroutine
	pace     pace
	asked    time.Time // when the run was last looked at
	blind    error     // what the last look failed with
	moved    time.Time // when something was last printed, or the run last changed
	hole     time.Time // since when something is missing before what comes next; zero if nothing is
	failing  time.Time // since when questions fail; zero while they do not
	vanished time.Time // since when the run is not found; zero while it is
}

// view is what is known of a run.
type view struct {
	run      common.Run
	version  int            // of the run, counted from 1
	ready    bool           // where the output ends is known
	window   []common.Chunk // from start to head, without holes
	start    int64
	head     int64
	bytes    int // in the window
	away     bool
	ended    bool // nothing comes after head
	complete bool // and all that the run printed, as far as anybody knows, is there
	err      error
}

func newFeed(h *Hub, run common.Run) *feed {
	ctx, cancel := context.WithCancel(context.Background())
	f := &feed{hub: h, id: run.ID, cancel: cancel, done: make(chan struct{}), changed: make(chan struct{}), asked: time.Now(), moved: time.Now()}
	f.view.run, f.view.version, f.pace = run, 1, newPace(h.cfg.PieceBytes)
	f.limit = h.cfg.Limit
	f.reads.under = map[int64]*reading{}
	go func() {
		defer close(f.done)
		f.follow(ctx)
	}()
	return f
}

// change changes what is known, and wakes the followers.
func (f *feed) change(do func(v *view)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do(&f.view)
	close(f.changed)
	f.changed = make(chan struct{})
}

// look gives what is known, and what is closed when that changes.
func (f *feed) look() (view, <-chan struct{}) {
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
		if v, _ := f.look(); v.ended || v.err != nil {
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

// pause is how long the store is left in peace.
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

// answered tells the followers when questions have failed for some time, and when they do not any more.
func (f *feed) answered(err error) {
	switch {
	case err == nil:
		f.failing = time.Time{}
	case f.failing.IsZero():
		f.failing = time.Now()
	}
	// A store that is slow is given more time before it counts as away.
	slow := errors.Is(err, context.DeadlineExceeded) && f.patient()
	if away := err != nil && !slow && time.Since(f.failing) >= f.hub.cfg.Away; away || err == nil {
		if f.view.away != away {
			f.change(func(v *view) { v.away = away })
		}
	}
}

// step looks at the run, then at its output: what the run printed before it ended is
// there when it is seen to have ended, unless it is on its way. Output is read also while nobody
// can tell how the run is.
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

// status looks at the run, where that may tell something new.
func (f *feed) status(ctx context.Context) {
	cfg, was := &f.hub.cfg, f.view.run.Status
	wait := cfg.Status - cfg.Every/2
	if f.blind != nil {
		wait = max(wait, min(time.Since(f.failing), cfg.Limit)) // each try may hold up the output
	}
	if was.Terminal() || time.Since(f.asked) < wait {
		return
	}
	limited, cancel := context.WithTimeout(ctx, min(2*cfg.Status, cfg.Limit))
	defer cancel()
	run, err := f.hub.src.Run(limited, f.id)
	f.asked, f.blind = time.Now(), nil
	if common.CodeOf(err) == common.CodeNotFound {
		// Between two places it may be seen in neither.
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

// took sets the limit of the next question by how long the last one took.
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

// patient reports whether the next question waits longer than the last one did.
func (f *feed) patient() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waited < f.hub.cfg.LimitMost
}

// allowed returns how long the next question may take.
func (f *feed) allowed() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limit
}

// begin finds the end of what is there, and keeps all of it if it is little.
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

// read takes what comes next into the window. more tells that there may be some at once.
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

// mayFill tells whether what is missing before the next chunk may still come.
func (f *feed) mayFill() bool {
	if f.hole.IsZero() {
		f.hole = time.Now()
	}
	return !f.old() && time.Since(f.hole) < f.hub.cfg.Patience
}

// old tells whether the run ended so long ago that nothing is on its way.
func (f *feed) old() bool {
	ended := f.view.run.EndedAt
	return f.view.run.Status.Terminal() && ended != nil && time.Since(*ended) > oldEnd
}

// finish ends the following, once all is there or nothing is to be waited for any more.
func (f *feed) finish() {
	cfg, run := &f.hub.cfg, &f.view.run
	complete, waited := f.view.head >= run.OutputBytes, time.Since(f.moved)
	switch {
	case !f.hole.IsZero():
		return
	case f.old():
	case !complete && waited < cfg.Patience:
		return
	case run.Status == common.StatusLost && waited < cfg.Settle: // who wrote that down knows not how much it printed
		return
	}
	f.change(func(v *view) { v.ended, v.complete = true, complete })
}

// push adds what comes after the window, whose beginning goes when there is too much.
func (v *view) push(chunks []common.Chunk, limit int) {
	if len(chunks) == 0 {
		return
	}
	window := append(slices.Clone(v.window), chunks...) // followers may look at the old one
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

// cost is the memory that a chunk takes.
func cost(c *common.Chunk) int {
	const frame = 160
	return frame + len(c.Data)
}
