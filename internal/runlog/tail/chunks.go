package tail

import (
	"context"
	"sync"

	"carillon/internal/common"
)

// join returns the chunks from a position on without gaps: if one begins after the position reached, a chunk
// records how much is missing; if that may still arrive, the result ends there.
func join(chunks []common.Chunk, at int64, mayFill func() bool) []common.Chunk {
	joined := make([]common.Chunk, 0, len(chunks))
	for _, c := range chunks {
		if c.End() <= at {
			continue
		}
		if c.Offset > at {
			if mayFill != nil && mayFill() {
				break
			}
			joined = append(joined, common.Chunk{Run: c.Run, Offset: at, At: c.At, Missing: c.Offset - at})
		}
		c = from(c, at)
		joined = append(joined, c)
		at = c.End()
	}
	return joined
}

// from returns the rest of a chunk after a position within it.
func from(c common.Chunk, at int64) common.Chunk {
	n := at - c.Offset
	if n <= 0 {
		return c
	}
	if c.Missing > 0 {
		c.Missing -= n
	} else {
		c.Data = c.Data[n:]
	}
	c.Offset = at
	return c
}

// pace is how many bytes are read at once: few for a command that prints byte by byte, since each of its
// chunks takes much more than its text.
type pace struct {
	limit int
	most  int
}

const (
	firstAsk   = 16 << 10
	leastAsk   = 4 << 10
	manyChunks = 1024 // chunks that an answer should hold at most
)

func newPace(most int) pace { return pace{limit: min(firstAsk, most), most: most} }

// read adapts to an answer. It reports whether the limit may have ended it.
func (p *pace) read(chunks []common.Chunk) (full bool) {
	if len(chunks) == 0 {
		return false
	}
	size := 0
	for i := range chunks {
		size += len(chunks[i].Data)
	}
	full = size >= p.limit/2
	p.limit = min(max(size/len(chunks)*manyChunks, leastAsk), p.most)
	return full
}

// Length returns the present length of a run's output, searching from a position that is not after its end:
// with growing steps, then between the last two, each a request for one chunk.
func Length(ctx context.Context, src Source, run string, from int64) (int64, error) {
	low, high, step := from, int64(-1), int64(0) // no output ends after high, once it is known
	for high < 0 || low < high {
		probe := low + step
		if high >= 0 {
			probe = low + (high-low)/2
		}
		chunks, err := src.Output(ctx, run, probe, 1)
		switch {
		case err != nil:
			return 0, err
		case len(chunks) > 0:
			low, step = chunks[0].End(), 2*step+common.MaxChunk
		case probe == low:
			return low, nil
		default:
			high = probe
		}
	}
	return low, nil
}

// reads shares the requests of followers behind the window. Requests for the same position at the same time,
// or a little later, share the answer.
type reads struct {
	mu    sync.Mutex
	under map[int64]*reading // by position; in flight
	last  [4]*reading        // the newest answers
	n     int                // of answers, ever
}

// reading is a request and, once done is closed, its answer.
type reading struct {
	at     int64
	done   chan struct{}
	chunks []common.Chunk
	err    error
	broken bool // by the context of its caller
}

// at returns the output from a position on.
func (r *reads) at(ctx context.Context, place int64, ask func(context.Context) ([]common.Chunk, error)) ([]common.Chunk,
	error) {
	for {
		r.mu.Lock()
		for _, one := range r.last {
			if one != nil && one.at == place {
				r.mu.Unlock()
				return one.chunks, nil
			}
		}
		if other := r.under[place]; other != nil {
			r.mu.Unlock()
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-other.done:
			}
			if other.broken {
				continue
			}
			return other.chunks, other.err
		}
		mine := &reading{at: place, done: make(chan struct{})}
		r.under[place] = mine
		r.mu.Unlock()
		mine.chunks, mine.err = ask(ctx)
		r.mu.Lock()
		delete(r.under, place)
		mine.broken = mine.err != nil && ctx.Err() != nil
		if mine.err == nil {
			r.last[r.n%len(r.last)] = mine
			r.n++
		}
		r.mu.Unlock()
		close(mine.done)
		return mine.chunks, mine.err
	}
}
