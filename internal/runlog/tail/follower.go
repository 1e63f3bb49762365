package tail

import (
	"context"
	"sort"
	"time"

	"carillon/internal/common"
)

// Part is the next item for a follower: one of its fields is set.
type Part struct {
	Run *common.Run // the run: at first, and after each change of its status
	// output, without gaps: each begins where the previous one ended. The data must not be modified.
	Chunks []common.Chunk
	Away   *bool // the store, or etcd, does not answer; false: it does again
	End    *End  // the last part
}

// End is the end of the output.
type End struct {
	Run      common.Run
	Offset   int64 // where the output ends
	Complete bool  // all output is present; of a lost run: all known output
}

// Follower follows a run for one client. Its methods are for one goroutine.
type Follower struct {
	hub  *Hub
	feed *feed

	at      int64 // the position of the next output
	tail    int64 // distance of the start from the end; 0 once the position is known
	version int   // of the run that was delivered
	away    bool  // the state that was delivered
	pace    pace
	left    func() // called by Close; may be nil
}

// Next waits for the next part. A part is delivered once; after an error of the context Next may be called
// again.
func (f *Follower) Next(ctx context.Context) (Part, error) {
	for {
		v, changed := f.feed.current()
		select {
		case <-f.hub.stopped:
			return Part{}, ErrStopped
		default:
		}
		if v.version != f.version && !v.run.Status.Terminal() || f.version == 0 {
			f.version = v.version
			return Part{Run: &v.run}, nil
		}
		if v.ready && f.tail > 0 {
			f.at, f.tail = max(0, v.head-f.tail), 0
		}
		if v.ready && f.at < v.head {
			chunks, err := f.output(ctx, &v)
			switch {
			case err == nil:
				f.at = chunks[len(chunks)-1].End()
				return Part{Chunks: chunks}, nil
			case ctx.Err() != nil:
				return Part{}, ctx.Err()
			case !f.rest(ctx):
				return Part{}, ctx.Err()
			}
			continue
		}
		switch {
		case v.away != f.away:
			f.away = v.away
			return Part{Away: &v.away}, nil
		case v.err != nil:
			return Part{}, v.err
		case v.ended:
			return Part{End: &End{Run: v.run, Offset: v.head, Complete: v.complete}}, nil
		}
		select {
		case <-ctx.Done():
			return Part{}, ctx.Err()
		case <-f.hub.stopped:
		case <-changed:
		}
	}
}

// rest waits after a failed request.
func (f *Follower) rest(ctx context.Context) bool {
	pause := time.NewTimer(2 * f.hub.cfg.Every)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-f.hub.stopped:
	case <-pause.C:
	}
	return true
}

// output returns the next output, if there is any.
func (f *Follower) output(ctx context.Context, v *view) ([]common.Chunk, error) {
	if f.at >= v.start {
		i := sort.Search(len(v.window), func(i int) bool { return v.window[i].End() > f.at })
		n, size := i, 0
		for n < len(v.window) && size < f.hub.cfg.PieceBytes {
			size += cost(&v.window[n])
			n++
		}
		return join(v.window[i:n], f.at, nil), nil
	}
	chunks, err := f.feed.reads.at(ctx, f.at, func(ctx context.Context) ([]common.Chunk, error) {
		return f.feed.ask(ctx, f.at, f.pace.limit)
	})
	if err != nil {
		return nil, err
	}
	f.pace.read(chunks)
	if chunks = join(chunks, f.at, nil); len(chunks) == 0 {
		chunks = []common.Chunk{{Run: f.feed.id, Offset: f.at, Missing: v.start - f.at}} // it was deleted meanwhile
	}
	return chunks, nil
}

// OnStop registers a function that is called when the hub is stopped, for callers that may be blocked
// elsewhere than in Next. It is not called after Close, and must not block.
func (f *Follower) OnStop(do func()) {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	f.hub.hurry[f] = do
}

// Close ends the following.
func (f *Follower) Close() { f.hub.leave(f) }
