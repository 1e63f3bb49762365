package etcd

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/runlog"
)

// Bounds of reading undelivered changes: each contains an object twice, up to 64 KiB.
const (
	changesPerRead = 200
	// changesReaders read at a time; others wait.
	changesReaders = 2
	// changesLimit bounds the time of one read; what it has found by then is part of the answer.
	changesLimit = 10 * time.Second
	// firstPeriod is the period whose changes are read first. The next periods are sized by the number of
	// changes found.
	firstPeriod = time.Second
	leastPeriod = time.Millisecond
)

// Unsealed lists the changes that are not yet sealed and delivered to the log store.
type Unsealed struct {
	client *clientv3.Client
	now    func() time.Time
	sem    chan struct{} // a semaphore of the readers
}

// NewUnsealed returns the list.
func NewUnsealed(client *clientv3.Client, now func() time.Time) *Unsealed {
	return &Unsealed{client: client, now: now, sem: make(chan struct{}, changesReaders)}
}

// LiveChanges returns the newest of the undelivered changes that match q and that keep accepts, the newest
// first, at most q.Limit. partial reports that there was no time to read all. A change that does not decode
// is skipped.
func (u *Unsealed) LiveChanges(ctx context.Context, q runlog.ChangeQuery,
	keep func(*common.Change) bool) (found []common.Change, partial bool, err error) {
	select {
	case u.sem <- struct{}{}:
		defer func() { <-u.sem }()
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	oldest, waits, err := u.oldestChange(ctx)
	if err != nil || !waits {
		return nil, false, err
	}
	least := common.ChangesPrefix
	if q.From.After(oldest) {
		oldest, least = q.From, common.ChangeKey(common.TimeKey(q.From))
	}
	named, err := json.Marshal(q.Name)
	if err != nil {
		return nil, false, err
	}
	named = append([]byte(`"name":`), named...)
	kinded, err := json.Marshal(q.Kind)
	if err != nil {
		return nil, false, err
	}
	kinded = append([]byte(`"kind":`), kinded...)
	began := time.Now()
	w := changesWalk{
		client: u.client,
		end:    clientv3.GetPrefixRangeEnd(common.ChangesPrefix),
		from:   u.now(),
		oldest: oldest,
		least:  least,
		width:  firstPeriod,
		limit:  changesPerRead,
	}
	w.before(q.Before)
	if !q.To.IsZero() && q.To.Before(u.now()) {
		w.before(common.TimeKey(q.To))
	}
	for !w.over {
		kvs, err := w.next(ctx)
		if err != nil {
			return nil, false, err
		}
		for _, kv := range slices.Backward(kvs) {
			if q.Name != "" && !bytes.Contains(kv.Value, named) || q.Kind != "" && !bytes.Contains(kv.Value, kinded) {
				continue // most do not match, and need not be decoded
			}
			change, err := common.Decode[common.Change](kv.Value)
			if err != nil || common.ChangeKey(change.ID) != string(kv.Key) || !q.Matches(&change) || !keep(&change) {
				continue
			}
			change.Revision = kv.ModRevision
			if found = append(found, change); len(found) == q.Limit {
				return found, false, nil
			}
		}
		if time.Since(began) > changesLimit {
			return found, !w.over, nil
		}
	}
	return found, false, nil
}

// oldestChange returns the time of the first undelivered change. The ids of changes begin with it.
func (u *Unsealed) oldestChange(ctx context.Context) (at time.Time, waits bool, err error) {
	resp, err := etcdkit.Range(ctx, u.client, common.ChangesPrefix, clientv3.WithPrefix(), clientv3.WithLimit(1),
		clientv3.WithKeysOnly())
	if err != nil || len(resp.Kvs) == 0 {
		return time.Time{}, false, err
	}
	return changedAt(resp.Kvs[0].Key), true, nil
}

// changedAt returns the time that a key begins with, or the earliest time for other keys.
func changedAt(key []byte) time.Time {
	id := key[len(common.ChangesPrefix):]
	if len(id) >= len(common.TimeKey(time.Time{})) {
		if at, err := common.ParseTimeKey(string(id[:len(common.TimeKey(time.Time{}))])); err == nil {
			return at
		}
	}
	return time.Unix(0, 0)
}

// changesWalk reads the changes from the newest on. For each page of a descending list, etcd would sort a
// whole range with its values: so it reads one period after the other.
type changesWalk struct {
	client *clientv3.Client
	end    string    // the key before which it reads next
	from   time.Time // about the time of the key
	oldest time.Time // of all that it reads
	least  string    // the first key that it reads
	width  time.Duration
	limit  int64
	over   bool
}

// before makes it begin before an id, if it would begin after it.
func (w *changesWalk) before(id string) {
	if key := common.ChangeKey(id); id != "" && key < w.end {
		w.end, w.from = key, changedAt([]byte(key))
	}
}

// next reads a period, in the order of the keys.
func (w *changesWalk) next(ctx context.Context) ([]*mvccpb.KeyValue, error) {
	for {
		key, begin := w.least, w.from.Add(-w.width)
		if begin.After(w.oldest) {
			key = common.ChangeKey(common.TimeKey(begin))
		}
		if key >= w.end {
			if key == w.least {
				w.over = true
				return nil, nil
			}
			w.from = begin
			continue
		}
		resp, err := etcdkit.Range(ctx, w.client, key, clientv3.WithRange(w.end), clientv3.WithLimit(w.limit))
		if err != nil {
			return nil, err
		}
		switch {
		case resp.More && w.width > leastPeriod:
			share := float64(w.limit) / float64(2*resp.Count)
			w.width = max(leastPeriod, time.Duration(float64(w.width)*share))
			continue
		case resp.More: // many within one instant
			w.limit = resp.Count
			continue
		case resp.Count < w.limit/4:
			w.width = min(4*w.width, w.from.Sub(w.oldest)+firstPeriod)
		}
		w.end, w.from, w.limit = key, begin, changesPerRead
		w.over = key == w.least
		return resp.Kvs, nil
	}
}
