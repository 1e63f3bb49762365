package embedded

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// compactEvery is how often the compactor looks at the revision.
	compactEvery = time.Second
	// keepFor is how long revisions are kept. No watcher in this process is ever that far behind.
	keepFor = 10 * time.Second
	// A compaction reads all keys. It is worth that for compactFrom revisions at least, and for half as many as there
	// are keys; of fewer it removes those of the last idleEvery.
	compactFrom = 1000
	idleEvery   = 10 * time.Minute
	// compactBatch is the number of revisions that a compaction deletes at a time. Writes wait meanwhile: with etcd's
	// default of 1,000 they take up to half a second. Between batches it sleeps for compactSleep.
	compactBatch = 200
	compactSleep = 2 * time.Millisecond
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

// due returns the revision to compact to; 0: none yet. It is called every compactEvery with the current revision. keys
// returns the number of keys.
func (h *history) due(now time.Time, rev int64, keys func() int64) int64 {
	h.marks = append(h.marks, mark{now, rev})
	for len(h.marks) > 1 && now.Sub(h.marks[1].at) >= keepFor {
		h.marks = h.marks[1:]
	}
	old := h.marks[0]
	grown := old.rev - h.compacted.rev
	if now.Sub(old.at) < keepFor || grown <= 0 {
		return 0
	}
	if h.compacted.at.IsZero() {
		h.compacted.at = now
	}
	if now.Sub(h.compacted.at) < idleEvery && (grown < compactFrom || grown < keys()/2) {
		return 0
	}
	h.compacted = mark{now, old.rev}
	return old.rev
}

// compact compacts the keyspace periodically until the context ends.
//
// etcd's own compactor works at most every 30 s or keeps revisions for hours, whatever there is to compact. Each run
// leaves eight revisions in memory and in the quota until they are compacted, and claims iterate over the keys of runs
// deleted long ago.
func (e *Etcd) compact(ctx context.Context) {
	var h history
	tick := time.NewTicker(compactEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// If a compaction fails, the next one does its work.
			_ = e.compactDue(ctx, &h, time.Now())
		}
	}
}

func (e *Etcd) compactDue(ctx context.Context, h *history, now time.Time) error {
	rev := h.due(now, e.server.Server.KV().Rev(), keys)
	if rev == 0 {
		return nil
	}
	_, err := e.client.Compact(ctx, rev, clientv3.WithCompactPhysical())
	return err
}

// keys returns the number of keys that etcd counts among its metrics; 0 if it does not.
func keys() int64 {
	families, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		return 0
	}
	for _, family := range families {
		if family.GetName() == "etcd_debugging_mvcc_keys_total" && len(family.GetMetric()) == 1 {
			return int64(family.GetMetric()[0].GetGauge().GetValue())
		}
	}
	return 0
}
