package jobmgr

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/runlog"
)

// Bounds of looking through the changes that wait: each holds a thing twice, up to 64 KiB.
const (
	changesPerRead = 200
	// changesReaders look at a time; the others wait.
	changesReaders = 2
	// changesLimit is how long one of them looks; what it has by then is part of the answer.
	changesLimit = 10 * time.Second
	// firstStretch is the time whose changes are read first. The next ones are as long as these were many.
	firstStretch = time.Second
	leastStretch = time.Millisecond
)

// LiveChanges gives the newest of the changes that wait to be delivered, match q and are to be kept, the
// newest first, q.Limit of them at most. It is partial where there was no time to look at all. What does not
// decode is passed over.
func (s *Store) LiveChanges(ctx context.Context, q runlog.ChangeQuery, keep func(*common.Change) bool) (found []common.Change, partial bool, err error) {
	select {
	case s.readers <- struct{}{}:
		defer func() { <-s.readers }()
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	oldest, waits, err := s.oldestChange(ctx)
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
	began := time.Now()
	w := changesWalk{client: s.cfg.Client, end: clientv3.GetPrefixRangeEnd(common.ChangesPrefix), from: s.cfg.Now(), oldest: oldest, least: least, width: firstStretch, limit: changesPerRead}
	w.before(q.Before)
	if !q.To.IsZero() && q.To.Before(s.cfg.Now()) {
		w.before(common.TimeKey(q.To))
	}
	for !w.over {
		kvs, err := w.next(ctx)
		if err != nil {
			return nil, false, etcdkit.Wrap(fmt.Errorf("list changes: %w", err))
		}
		for _, kv := range slices.Backward(kvs) {
			if q.Name != "" && !bytes.Contains(kv.Value, named) {
				continue // most are others': they need not be decoded
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

// oldestChange is the time of the first of the changes that wait. Their ids begin with it.
func (s *Store) oldestChange(ctx context.Context) (at time.Time, waits bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := s.cfg.Client.Get(ctx, common.ChangesPrefix, clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly())
	if err != nil {
		return time.Time{}, false, etcdkit.Wrap(fmt.Errorf("list changes: %w", err))
	}
	if len(resp.Kvs) == 0 {
		return time.Time{}, false, nil
	}
	return changedAt(resp.Kvs[0].Key), true, nil
}

// changedAt is the time that a key begins with; the first there is, where it begins otherwise.
func changedAt(key []byte) time.Time {
	id := key[len(common.ChangesPrefix):]
	if len(id) >= len(common.TimeKey(time.Time{})) {
		if at, err := common.ParseTimeKey(string(id[:len(common.TimeKey(time.Time{}))])); err == nil {
			return at
		}
	}
	return time.Unix(0, 0)
}

// changesWalk goes through the changes from the newest on. etcd would sort a whole range, values and all,
// for each page of a list that descends: so it reads one stretch of time after the other.
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

// before has it begin before an id, if it would begin after it.
func (w *changesWalk) before(id string) {
	if key := common.ChangeKey(id); id != "" && key < w.end {
		w.end, w.from = key, changedAt([]byte(key))
	}
}

// next reads a stretch, in the order of the keys.
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
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := w.client.Get(callCtx, key, clientv3.WithRange(w.end), clientv3.WithLimit(w.limit))
		cancel()
		if err != nil {
			return nil, err
		}
		switch {
		case resp.More && w.width > leastStretch:
			share := float64(w.limit) / float64(2*resp.Count)
			w.width = max(leastStretch, time.Duration(float64(w.width)*share))
			continue
		case resp.More: // many at one moment
			w.limit = resp.Count
			continue
		case resp.Count < w.limit/4:
			w.width = min(4*w.width, w.from.Sub(w.oldest)+firstStretch)
		}
		w.end, w.from, w.limit = key, begin, changesPerRead
		w.over = key == w.least
		return resp.Kvs, nil
	}
}
