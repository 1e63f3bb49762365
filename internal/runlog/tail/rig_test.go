package tail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"carillon/internal/common"
	"carillon/internal/platform/quota"
	"carillon/internal/platform/virtualtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a store, and runs that print into it.
type world struct {
	mu     sync.Mutex
	runs   map[string]common.Run
	chunks map[string][]common.Chunk
	away   error
	blind  error         // error of reads of the run
	slow   time.Duration // duration of a read
	looks  int           // reads of runs
	reads  int           // reads of output
	hang   bool          // no request is answered
}

func (w *world) Run(ctx context.Context, id string) (common.Run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	if err := cmp.Or(w.away, w.blind); err != nil {
		return common.Run{}, err
	}
	r, ok := w.runs[id]
	if !ok {
		return r, common.Errorf(common.CodeNotFound, "no run %s", id)
	}
	return r, nil
}

func (w *world) Output(ctx context.Context, run string, offset int64, limit int) (found []common.Chunk, err error) {
	w.mu.Lock()
	slow, hang := w.slow, w.hang
	w.mu.Unlock()
	if hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	if w.away != nil {
		return nil, w.away
	}
	size, all := 0, w.chunks[run]
	first := sort.Search(len(all), func(i int) bool { return all[i].End() > offset })
	for _, c := range all[first:] {
		if len(found) > 0 && size+len(c.Data) > limit {
			break
		}
		size += len(c.Data)
		found = append(found, c)
	}
	return found, nil
}

func (w *world) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// asked returns how often output was read.
func (w *world) asked() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reads
}

// looked returns how often runs were read.
func (w *world) looked() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looks
}

// print appends a text to the output of a run.
func (w *world) print(run string, text string) {
	w.set(func() {
		all := w.chunks[run]
		at := int64(0)
		if len(all) > 0 {
			at = all[len(all)-1].End()
		}
		w.chunks[run] = append(all, common.Chunk{
			Run:    run,
			Offset: at,
			Stream: common.Stdout,
			At:     time.Now(),
			Data:   []byte(text),
		})
	})
}

func (w *world) be(run string, status common.Status, printed int64) {
	w.set(func() {
		r := common.Run{ID: run, Status: status, OutputBytes: printed}
		if status.Terminal() {
			r.EndedAt = new(time.Now())
		}
		w.runs[run] = r
	})
}

// rig is a hub over a world, in virtual time.
type rig struct {
	*world
	t       *testing.T
	hub     *Hub
	clients atomic.Int64 // number of clients: each follower is a separate client
}

func bubble(t *testing.T, cfg Config, story func(r *rig)) {
	t.Helper()
	virtualtime.Test(t, func(t *testing.T) {
		w := &world{runs: map[string]common.Run{}, chunks: map[string][]common.Chunk{}}
		r := &rig{world: w, t: t, hub: New(w, cfg)}
		r.be("a", common.StatusRunning, 0)
		story(r)
		virtualtime.Wait()
		r.hub.mu.Lock()
		defer r.hub.mu.Unlock()
		for _, p := range []quota.Places{r.hub.follows, r.hub.waits} {
			if len(r.hub.feeds) != 0 || p.Taken() != 0 {
				t.Errorf("%d feeds and %d places are left", len(r.hub.feeds), p.Taken())
			}
		}
	})
}

// reader is a follower that records what it receives.
type reader struct {
	*rig
	*Follower
	text    string // missing output is written as <n>
	at      int64
	away    []bool
	runs    []common.Status
	end     *End
	err     error
	largest int // bytes of one part
}

func (r *rig) follow(from Place) *reader {
	r.t.Helper()
	f, err := r.hub.Follow(r.t.Context(), "a", from, fmt.Sprint("client ", r.clients.Add(1)))
	if err != nil {
		r.t.Fatal(err)
	}
	return &reader{rig: r, Follower: f, at: -1}
}

// read receives parts for a time, or until the end.
func (r *reader) read(d time.Duration) *reader {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), d)
	defer cancel()
	for r.end == nil {
		part, err := r.Next(ctx)
		if err != nil {
			if !errors.Is(err, context.DeadlineExceeded) {
				r.err = err
			}
			return r
		}
		r.take(part)
	}
	return r
}

func (r *reader) take(part Part) {
	r.t.Helper()
	size := 0
	var text strings.Builder
	for _, c := range part.Chunks {
		if r.at >= 0 && c.Offset != r.at {
			r.t.Fatalf("a chunk at %d follows %d", c.Offset, r.at)
		}
		r.at = c.End()
		size += len(c.Data)
		if c.Missing > 0 {
			fmt.Fprintf(&text, "<%d>", c.Missing)
		}
		text.Write(c.Data)
	}
	r.text += text.String()
	r.largest = max(r.largest, size)
	if part.Run != nil {
		r.runs = append(r.runs, part.Run.Status)
	}
	if part.Away != nil {
		r.away = append(r.away, *part.Away)
	}
	r.end = part.End
}

func (r *reader) want(text string) *reader {
	r.t.Helper()
	if r.text != text {
		r.t.Fatalf("read %q, want %q", r.text, text)
	}
	return r
}

func (r *reader) ended(status common.Status, offset int64, complete bool) {
	r.t.Helper()
	if r.end == nil {
		r.t.Fatal("it has not ended")
	}
	if r.end.Run.Status != status || r.end.Offset != offset || r.end.Complete != complete {
		r.t.Fatalf("ended %s at %d, complete %v; want %s at %d, %v", r.end.Run.Status, r.end.Offset, r.end.Complete,
			status, offset, complete)
	}
	r.Close()
}
