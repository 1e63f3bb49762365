package live

import (
	"context"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Outboxes is an index of the outcomes in etcd that the log store has not acknowledged, maintained by a
// watch. It holds the fields that lists filter and sort by, about 140 bytes for each outcome; all else is
// read from etcd for the outcomes of a page. Before its first list, and after a gap in the watch until the
// next list, it is incomplete and reports so. Run is one goroutine; the rest is safe for concurrent use.
type Outboxes struct {
	client   *clientv3.Client
	report   func(error)
	probe    chan struct{}
	searches chan struct{} // a semaphore of one for text searches, which read many values

	mu       sync.Mutex
	rows     *outboxRows
	late     map[string]bool // keys of late ends
	round    uint16          // counts lists
	listing  bool            // a list is being received
	revision int64           // up to which all changes were received; 0: none yet
	changed  chan struct{}   // closed when revision has grown
}

// NewOutboxes returns an index. report is called with the error when the watch is interrupted, and with nil
// when it is complete.
func NewOutboxes(client *clientv3.Client, report func(error)) *Outboxes {
	return &Outboxes{client: client, report: report, probe: make(chan struct{}, 1), searches: make(chan struct{}, 1),
		rows: newOutboxRows(), late: map[string]bool{}, changed: make(chan struct{})}
}

// Run follows the outboxes until the context ends.
func (o *Outboxes) Run(ctx context.Context) error {
	f := etcdkit.Watch{
		Client:   o.client,
		Prefix:   common.OutboxPrefix,
		Paged:    true,
		Report:   o.report,
		Probe:    o.probe,
		Progress: o.reached,
	}
	return f.Follow(ctx, func(_ context.Context, u etcdkit.Changes) error {
		o.take(u)
		return nil
	})
}

// take applies a part of a list, or changes.
func (o *Outboxes) take(u etcdkit.Changes) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if u.Whole {
		o.round++
		o.listing = true
		clear(o.late)
	}
	for _, kv := range u.Puts {
		o.put(kv)
	}
	for _, kv := range u.Deletes {
		o.drop(string(kv.Key))
	}
	if u.More {
		return
	}
	if o.listing {
		o.listing = false
		o.rows.sweep(o.round)
	}
	o.advance(u.Revision)
}

// put adds an outcome, or the note of a late end. A value that does not decode is skipped.
func (o *Outboxes) put(kv *mvccpb.KeyValue) {
	key := string(kv.Key)
	if common.IsLateKey(key) {
		o.late[key] = true
		return
	}
	owner, id, err := common.SplitKey(common.OutboxPrefix, key)
	if err != nil {
		return
	}
	if run, err := common.Decode[outcomeFields](kv.Value); err == nil && run.ID == id {
		o.rows.put(owner, &run, o.round)
	} else {
		o.rows.drop(owner, id)
	}
}

func (o *Outboxes) drop(key string) {
	if common.IsLateKey(key) {
		delete(o.late, key)
	} else if owner, id, err := common.SplitKey(common.OutboxPrefix, key); err == nil {
		o.rows.drop(owner, id)
	}
}

// reached records the progress of the watch.
func (o *Outboxes) reached(revision int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.listing {
		o.advance(revision)
	}
}

// advance records that all changes up to a revision were received.
func (o *Outboxes) advance(revision int64) {
	if revision > o.revision {
		o.revision = revision
		close(o.changed)
		o.changed = make(chan struct{})
	}
}

// isSmall reports whether the index holds so few outcomes that all can be read maxDirect.
func (o *Outboxes) isSmall() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rows.count <= maxDirect
}

const (
	// awaitLimit is how long a list waits for the index: usually it takes a round trip.
	awaitLimit = 2 * time.Second
	// askAgain is the interval of progress requests to the watch: etcd does not answer them while it has
	// changes to send.
	askAgain = 20 * time.Millisecond
)

// await waits until the index has all changes up to a revision, and reports whether it has.
func (o *Outboxes) await(ctx context.Context, revision int64) bool {
	patience, again := time.NewTimer(awaitLimit), time.NewTicker(askAgain)
	defer patience.Stop()
	defer again.Stop()
	for {
		o.mu.Lock()
		whole, changed := !o.listing && o.revision >= revision, o.changed
		o.mu.Unlock()
		if whole {
			return true
		}
		select {
		case o.probe <- struct{}{}:
		default: // a request is queued already
		}
		select {
		case <-changed:
		case <-again.C:
		case <-patience.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}
