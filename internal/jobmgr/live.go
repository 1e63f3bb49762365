package jobmgr

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/runlog"
)

// place is a run and its key in etcd.
type place struct {
	kind        placeKind
	key         string
	modRevision int64
	run         common.Run
	trigger     common.Trigger // of a pending run
}

type placeKind int

const (
	inTrigger placeKind = iota
	inRecord
	inOutbox
)

// directly is the number of outcomes up to which they are read together with pending and active runs, without
// a look-up in the index.
const directly = 500

// LiveRuns returns the runs that etcd holds: all pending and active ones, and of the outcomes in the outboxes
// those that the list wants. If there are few outcomes, all are read at the same revision as the runs.
// Otherwise the index selects them, once it has all changes up to that revision.
func (s *Store) LiveRuns(ctx context.Context, q *runlog.LiveQuery) (runlog.Lives, error) {
	o := s.cfg.Outboxes
	if o == nil || o.small() {
		most := int64(directly)
		if o == nil {
			most = 0 // unlimited
		}
		places, _, more, err := s.places(ctx,
			append(openOps(), clientv3.OpGet(common.OutboxPrefix, clientv3.WithPrefix(), clientv3.WithLimit(most)))...)
		if err != nil || !more {
			return runlog.Lives{Runs: s.runsOf(places)}, err
		}
	}
	places, revision, _, err := s.places(ctx, openOps()...)
	if err != nil {
		return runlog.Lives{}, err
	}
	whole := o.await(ctx, revision)
	outcomes, edge, err := o.outcomes(ctx, q)
	if err != nil {
		return runlog.Lives{}, err
	}
	return runlog.Lives{Runs: s.runsOf(append(outcomes, places...)), Edge: edge, Narrowed: true, Partial: !whole}, nil
}

// OpenRuns returns the runs that have not ended. Its cost does not depend on the size of the outboxes, which
// are full while the log store is unavailable.
func (s *Store) OpenRuns(ctx context.Context) ([]common.Run, error) {
	places, _, _, err := s.places(ctx, openOps()...)
	return s.runsOf(places), err
}

// openOps returns the operations that read the pending and active runs and the kill requests.
func openOps() []clientv3.Op {
	return []clientv3.Op{clientv3.OpGet(common.TriggersPrefix, clientv3.WithPrefix()),
		clientv3.OpGet(common.RunsPrefix, clientv3.WithPrefix()),
		clientv3.OpGet(common.KillerPrefix, clientv3.WithPrefix())}
}

func (s *Store) runsOf(places []place) []common.Run {
	s.explain(places)
	runs := make([]common.Run, len(places))
	for i := range places {
		runs[i] = places[i].run
	}
	return runs
}

// LiveRun returns one of the runs that etcd holds.
func (s *Store) LiveRun(ctx context.Context, id string) (common.Run, bool, error) {
	where, found, err := s.locate(ctx, id)
	return where.run, found, err
}

// locate finds a run by its id. The id contains the job's uid, for which the catalog has the name; only for a
// deleted job all runs are read. Pending and active runs are read before the outboxes, since a run moves from
// there to an outbox.
func (s *Store) locate(ctx context.Context, id string) (place, bool, error) {
	triggers, records := common.TriggersPrefix, common.RunsPrefix
	if job, known := s.cfg.Catalog.Name(uidOf(id)); known {
		triggers, records = common.TriggersOf(job), common.RecordsOf(job)
	}
	places, revision, _, err := s.places(ctx, clientv3.OpGet(triggers, clientv3.WithPrefix()),
		clientv3.OpGet(records, clientv3.WithPrefix()),
		clientv3.OpGet(common.KillerPrefix, clientv3.WithPrefix()))
	if err != nil {
		return place{}, false, err
	}
	s.explain(places)
	for _, p := range places {
		if p.run.ID == id {
			return p, true, nil
		}
	}
	key, err := s.outboxKey(ctx, id, revision)
	if err != nil || key == "" {
		return place{}, false, err
	}
	places, _, _, err = s.places(ctx, clientv3.OpGet(key))
	if err != nil || len(places) == 0 || places[0].run.ID != id { // delivered since
		return place{}, false, err
	}
	return places[0], true, nil
}

// outboxKey returns the key at which an outbox had the outcome of a run at a revision or later; empty if none
// had it. If the index is incomplete, all keys are read.
func (s *Store) outboxKey(ctx context.Context, id string, revision int64) (string, error) {
	if o := s.cfg.Outboxes; o != nil && !o.small() && o.await(ctx, revision) {
		return o.keyOf(id), nil
	}
	keys, err := s.outboxKeys(ctx)
	if err != nil {
		return "", err
	}
	return outboxKeyOf(keys, id), nil
}

// outboxKeys lists the keys of all outboxes.
func (s *Store) outboxKeys(ctx context.Context) ([]*mvccpb.KeyValue, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := s.cfg.Client.Get(ctx, common.OutboxPrefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return nil, etcdkit.Wrap(fmt.Errorf("list the outboxes: %w", err))
	}
	return resp.Kvs, nil
}

// LateEnds returns the notes of late ends in the outboxes. A note that does not decode is skipped.
func (s *Store) LateEnds(ctx context.Context) (found []common.LateEnd, err error) {
	var late []string
	if o := s.cfg.Outboxes; o != nil && !o.small() {
		late = o.lateKeys()
	} else {
		keys, err := s.outboxKeys(ctx)
		if err != nil {
			return nil, err
		}
		for _, kv := range keys {
			if common.IsLateKey(string(kv.Key)) {
				late = append(late, string(kv.Key))
			}
		}
	}
	for part := range slices.Chunk(late, readsPerTxn) {
		kvs, err := readKeys(ctx, s.cfg.Client, part)
		if err != nil {
			return nil, err
		}
		for _, kv := range kvs {
			late, err := common.Decode[common.LateEnd](kv.Value)
			worker, _, badKey := common.SplitKey(common.OutboxPrefix, string(kv.Key))
			if err == nil && badKey == nil && common.LateKey(worker, late.Run) == string(kv.Key) {
				found = append(found, late)
			}
		}
	}
	return found, nil
}

// readKeys reads up to readsPerTxn values.
func readKeys(ctx context.Context, client *clientv3.Client, keys []string) (kvs []*mvccpb.KeyValue, err error) {
	ops := make([]clientv3.Op, len(keys))
	for i, key := range keys {
		ops[i] = clientv3.OpGet(key)
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := client.Txn(ctx).Then(ops...).Commit()
	if err != nil {
		return nil, etcdkit.Wrap(fmt.Errorf("read the outboxes: %w", err))
	}
	for _, r := range resp.Responses {
		kvs = append(kvs, r.GetResponseRange().Kvs...)
	}
	return kvs, nil
}

func outboxKeyOf(keys []*mvccpb.KeyValue, id string) string {
	for _, kv := range keys {
		if strings.HasSuffix(string(kv.Key), "/"+id) {
			return string(kv.Key)
		}
	}
	return ""
}

// places reads values of the three prefixes at one revision, and the kill requests of active runs. A value
// that does not decode is skipped; more reports whether a limit cut a range short.
func (s *Store) places(ctx context.Context, ops ...clientv3.Op) (places []place, revision int64, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := s.cfg.Client.Txn(ctx).Then(ops...).Commit()
	if err != nil {
		return nil, 0, false, etcdkit.Wrap(fmt.Errorf("read live runs: %w", err))
	}
	kills := map[string]*common.Ending{} // by key
	for _, r := range resp.Responses {
		more = more || r.GetResponseRange().More
		for _, kv := range r.GetResponseRange().Kvs {
			if key := string(kv.Key); strings.HasPrefix(key, common.KillerPrefix) {
				if kill, err := common.Decode[common.Kill](kv.Value); err == nil {
					kills[key] = kill.Ending()
				}
			} else if p, ok := placeOf(kv); ok {
				places = append(places, p)
			}
		}
	}
	for i := range places {
		if p := &places[i]; p.kind == inRecord {
			p.run.Ending = kills[common.KillKey(p.run.Worker, p.run.ID)]
		}
	}
	return places, resp.Header.Revision, more, nil
}

// placeOf decodes a value. A value that does not match its key is ignored.
func placeOf(kv *mvccpb.KeyValue) (place, bool) {
	p := place{key: string(kv.Key), modRevision: kv.ModRevision}
	switch {
	case strings.HasPrefix(p.key, common.TriggersPrefix):
		trigger, err := common.Decode[common.Trigger](kv.Value)
		p.kind, p.run, p.trigger = inTrigger, trigger.AsRun(), trigger
		return p, err == nil && common.TriggerKey(trigger.Job, trigger.ID) == p.key
	case strings.HasPrefix(p.key, common.RunsPrefix):
		record, err := common.Decode[common.Record](kv.Value)
		p.kind, p.run = inRecord, record.AsRun(common.StatusRunning)
		return p, err == nil && common.RecordKey(record.Job, record.Run) == p.key
	default:
		run, err := common.Decode[common.Run](kv.Value)
		p.kind, p.run = inOutbox, run
		_, id, badKey := common.SplitKey(common.OutboxPrefix, p.key)
		return p, err == nil && badKey == nil && id == run.ID
	}
}
