package tail

import (
	"context"
	"sort"
	"time"

	"carillon/internal/common"
)

// Part is what a follower gets next: one of its fields is set.
type Part struct {
	Run    *common.Run    // how the run is: at first, and each time that its status has changed
	Chunks []common.Chunk // output, without holes: each begins where the one before it ended. The data is not to be changed.
	Away   *bool          // the store, or etcd, does not answer; or does again
	End    *End           // nothing comes after it
}

// End is how it ended.
type End struct {
	Run      common.Run
	Offset   int64 // where the output ends
	Complete bool  // all is there that the run printed; of a lost one: as far as anybody knows
}

// Follower is somebody who follows a run. Its methods are for one goroutine.
type Follower struct {
	hub  *Hub
	feed *feed

	at      int64 // the place of what comes next
	tail    int64 // the place is so far before the end; 0 once it is known
	version int   // of the run that was given
	away    bool  // that was told
	pace    pace
	left    func() // called by Close; nil for nothing
}

// Next waits for what comes next. What was given is not given again, also after an error of
// the context, after which it may be called again.
func (f *Follower) Next(ctx context.Context) (Part, error) {
	for {
		v, changed := f.feed.look()
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

// rest waits after a question that failed.
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

// output gives what comes next, of which there is some.
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
	chunks, err := f.feed.reads.at(ctx, f.at, func(ctx context.Context) ([]common.Chunk, error) { return f.feed.ask(ctx, f.at, f.pace.limit) })
	if err != nil {
		return nil, err
	}
	f.pace.read(chunks)
	if chunks = join(chunks, f.at, nil); len(chunks) == 0 {
		chunks = []common.Chunk{{Run: f.feed.id, Offset: f.at, Missing: v.start - f.at}} // it was deleted meanwhile
	}
	return chunks, nil
}

// OnStop has something done when the hub is stopped, for who may be busy with something else
// than Next. It is not done after Close, and must not wait.
func (f *Follower) OnStop(do func()) {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	f.hub.hurry[f] = do
}

// Close ends the following.
func (f *Follower) Close() { f.hub.leave(f) }
