package jobmgr

import (
	"context"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Outboxes is an index of the outcomes that wait in etcd for the log store, kept by a watch. It
// holds what lists filter and sort by, about 140 bytes for each outcome; all else is read from etcd
// for the outcomes of a page. Before its first list, and after a gap in the watch until the next
// one, it is not complete, and says so. Run is one goroutine; the rest is safe for concurrent use.
type Outboxes struct {
	client *clientv3.Client
	report func(error)
	probe  chan struct{}
	deep   chan struct{} // holds one for the search that reads many values

	mu       sync.Mutex
	rows     *outboxRows
	late     map[string]bool // keys of late ends
	round    uint16          // counts lists
	listing  bool            // a list is being taken in
	revision int64           // up to which all changes were taken in; 0: none yet
	changed  chan struct{}   // closed when revision has grown
}

// NewOutboxes makes an index. report receives why the watch was interrupted, and nil when it is whole.
func NewOutboxes(client *clientv3.Client, report func(error)) *Outboxes {
	return &Outboxes{client: client, report: report, probe: make(chan struct{}, 1), deep: make(chan struct{}, 1),
		rows: newOutboxRows(), late: map[string]bool{}, changed: make(chan struct{})}
}

// Run follows the outboxes until the context ends.
func (o *Outboxes) Run(ctx context.Context) error {
	f := etcdkit.Follower{Client: o.client, Prefix: common.OutboxPrefix, Paged: true, Trouble: o.report, Alive: func() { o.report(nil) }, Probe: o.probe, Progress: o.reached}
	return f.Follow(ctx, func(_ context.Context, u etcdkit.Update) error {
		o.take(u)
		return nil
	})
}

// take takes in a part of a list, or changes.
func (o *Outboxes) take(u etcdkit.Update) {
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

// put takes in an outcome, or the note of a late end. What does not decode is passed over.
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
	if run, err := common.Decode[narrow](kv.Value); err == nil && run.ID == id {
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

// reached takes in how far the watch is.
func (o *Outboxes) reached(revision int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.listing {
		o.advance(revision)
	}
}

// advance notes that all changes up to a revision were taken in.
func (o *Outboxes) advance(revision int64) {
	if revision > o.revision {
		o.revision = revision
		close(o.changed)
		o.changed = make(chan struct{})
	}
}

// small reports whether so few outcomes wait, as far as is known, that they may as well be read.
func (o *Outboxes) small() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rows.count <= directly
}

const (
	// awaitLimit is how long a list waits for the index: most of the time it takes a round trip.
	awaitLimit = 2 * time.Second
	// askAgain is when the watch is asked once more how far it is: etcd does not answer while it
	// has changes to send.
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
		default: // it is about to ask
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
