package tail

import (
	"context"
	"sync"

	"carillon/internal/common"
)

// join gives the chunks from a place on without holes: where one begins behind the place that
// is reached, a chunk says how much is missing; unless that may still come, where it ends.
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

// from is the rest of a chunk after a place within it.
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

// pace is how many bytes are asked for at once: of a command that prints byte by byte few, since
// each of its chunks takes much more than its text.
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

// read learns from an answer. It tells whether the limit may have ended it.
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

// Length finds how long the output of a run is just now, from a place on that is not behind
// its end: with larger and larger steps, then between the last two, each a question for one chunk.
func Length(ctx context.Context, src Source, run string, from int64) (int64, error) {
	low, high, step := from, int64(-1), int64(0) // nothing ends behind high, once it is known
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

// reads are the questions that followers behind the window ask. Who asks for the same place at
// the same time, or a little later, shares the answer.
type reads struct {
	mu    sync.Mutex
	under map[int64]*reading // by place; those without an answer
	last  [4]*reading        // the newest answers
	n     int                // of answers, ever
}

// reading is a question and, once done is closed, its answer.
type reading struct {
	at     int64
	done   chan struct{}
	chunks []common.Chunk
	err    error
	broken bool // by the context of who asked
}

// at gives the output from a place on.
func (r *reads) at(ctx context.Context, place int64, ask func(context.Context) ([]common.Chunk, error)) ([]common.Chunk, error) {
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
