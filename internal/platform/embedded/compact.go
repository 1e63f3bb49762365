package embedded

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// compactEvery is how often the compactor looks at the revision.
	compactEvery = time.Second
	// keepFor is how long revisions are kept. No watcher in this process is ever that far behind.
	keepFor = 10 * time.Second
	// compactFrom is the number of revisions that make a compaction worth it before idleEvery is over.
	compactFrom = 1000
	idleEvery   = 30 * time.Second
	// compactBatch is the number of revisions that a compaction deletes at a time. Writes wait meanwhile: with etcd's
	// default of 1,000 they take up to half a second. Between batches it sleeps for compactSleep.
	compactBatch = 200
	compactSleep = 5 * time.Millisecond
	// compactShare limits compactions to one part in that many of the time, or to one every idleEvery, since each reads
	// all live keys.
	compactShare = 16
)

// mark is the revision at a time.
type mark struct {
	at  time.Time
	rev int64
}

// history decides which revisions to compact.
type history struct {
	marks     []mark // of the last keepFor, and the one before them
	compacted mark
}

// due returns the revision to compact to; 0: none yet. It is called every compactEvery with the current revision.
func (h *history) due(now time.Time, rev int64) int64 {
	h.marks = append(h.marks, mark{now, rev})
	for len(h.marks) > 1 && now.Sub(h.marks[1].at) >= keepFor {
		h.marks = h.marks[1:]
	}
	old := h.marks[0]
	grown := old.rev - h.compacted.rev
	if now.Sub(old.at) < keepFor || grown <= 0 || grown < compactFrom && now.Sub(h.compacted.at) < idleEvery {
		return 0
	}
	h.compacted = mark{now, old.rev}
	return old.rev
}

// compact compacts the keyspace periodically until the context ends.
//
// etcd's own compactor works at most every 30 s or keeps revisions for hours. Each run leaves eight revisions in memory
// and in the quota until they are compacted, and claims iterate over the keys of runs deleted long ago.
func (e *Etcd) compact(ctx context.Context) {
	var h history
	for pause := compactEvery; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		began := time.Now()
		// If a compaction fails, the next one does its work.
		_ = e.compactDue(ctx, &h, began)
		pause = min(max(compactEvery, (compactShare-1)*time.Since(began)), idleEvery)
	}
}

func (e *Etcd) compactDue(ctx context.Context, h *history, now time.Time) error {
	rev := h.due(now, e.server.Server.KV().Rev())
	if rev == 0 {
		return nil
	}
	_, err := e.client.Compact(ctx, rev, clientv3.WithCompactPhysical())
	return err
}
