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
)

// place is where etcd holds a run.
type place struct {
	kind        placeKind
	key         string
	modRevision int64
	run         common.Run
	trigger     common.Trigger // of a run that waits
}

type placeKind int

const (
	inTrigger placeKind = iota
	inRecord
	inOutbox
)

// LiveRuns gives every run that etcd still has, as of one revision.
func (s *Store) LiveRuns(ctx context.Context) ([]common.Run, error) {
	return s.live(ctx, common.TriggersPrefix, common.RunsPrefix, common.KillerPrefix, common.OutboxPrefix)
}

// OpenRuns gives those of them that have not come to an end. It costs no more while the log
// store is away, when the outboxes are full.
func (s *Store) OpenRuns(ctx context.Context) ([]common.Run, error) {
	return s.live(ctx, common.TriggersPrefix, common.RunsPrefix, common.KillerPrefix)
}

func (s *Store) live(ctx context.Context, prefixes ...string) ([]common.Run, error) {
	ops := make([]clientv3.Op, len(prefixes))
	for i, prefix := range prefixes {
		ops[i] = clientv3.OpGet(prefix, clientv3.WithPrefix())
	}
	places, err := s.places(ctx, ops...)
	if err != nil {
		return nil, err
	}
	s.explain(places)
	runs := make([]common.Run, len(places))
	for i := range places {
		runs[i] = places[i].run
	}
	return runs, nil
}

// LiveRun finds one of them.
func (s *Store) LiveRun(ctx context.Context, id string) (common.Run, bool, error) {
	where, found, err := s.locate(ctx, id)
	return where.run, found, err
}

// locate finds a run by its id. The id holds the job's uid; the catalog tells the
// name, and only for a job that is gone all are looked at. In the outboxes, which
// hold little unless the log store is away, only keys are read.
func (s *Store) locate(ctx context.Context, id string) (place, bool, error) {
	triggers, records := common.TriggersPrefix, common.RunsPrefix
	if job, known := s.cfg.Catalog.Name(uidOf(id)); known {
		triggers, records = common.TriggersOf(job), common.RecordsOf(job)
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	keys, err := s.cfg.Client.Get(ctx, common.OutboxPrefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return place{}, false, etcdkit.Wrap(fmt.Errorf("look for run %s: %w", id, err))
	}
	ops := []clientv3.Op{clientv3.OpGet(triggers, clientv3.WithPrefix()), clientv3.OpGet(records, clientv3.WithPrefix()),
		clientv3.OpGet(common.KillerPrefix, clientv3.WithPrefix())}
	outbox := outboxKeyOf(keys.Kvs, id)
	if outbox != "" {
		ops = append(ops, clientv3.OpGet(outbox))
	}
	places, err := s.places(ctx, ops...)
	if err != nil {
		return place{}, false, err
	}
	s.explain(places)
	for _, p := range places {
		if p.run.ID == id {
			return p, true, nil
		}
	}
	if outbox != "" {
		return place{}, false, nil // delivered since
	}
	// It may have finished between the two reads.
	keys, err = s.cfg.Client.Get(ctx, common.OutboxPrefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return place{}, false, etcdkit.Wrap(fmt.Errorf("look for run %s: %w", id, err))
	}
	if outbox = outboxKeyOf(keys.Kvs, id); outbox == "" {
		return place{}, false, nil
	}
	places, err = s.places(ctx, clientv3.OpGet(outbox))
	if err != nil || len(places) == 0 || places[0].run.ID != id {
		return place{}, false, err
	}
	return places[0], true, nil
}

// LateEnds gives the notes of late ends that wait in the outboxes. What does not decode
// is passed over.
func (s *Store) LateEnds(ctx context.Context) ([]common.LateEnd, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	keys, err := s.cfg.Client.Get(ctx, common.OutboxPrefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return nil, etcdkit.Wrap(fmt.Errorf("look for late ends: %w", err))
	}
	var gets []clientv3.Op
	for _, kv := range keys.Kvs {
		if common.IsLateKey(string(kv.Key)) {
			gets = append(gets, clientv3.OpGet(string(kv.Key)))
		}
	}
	var found []common.LateEnd
	for part := range slices.Chunk(gets, 2*cursorsPerTxn) {
		resp, err := s.cfg.Client.Txn(ctx).Then(part...).Commit()
		if err != nil {
			return nil, etcdkit.Wrap(fmt.Errorf("read late ends: %w", err))
		}
		for _, r := range resp.Responses {
			for _, kv := range r.GetResponseRange().Kvs {
				late, err := common.Decode[common.LateEnd](kv.Value)
				worker, _, badKey := common.SplitKey(common.OutboxPrefix, string(kv.Key))
				if err == nil && badKey == nil && common.LateKey(worker, late.Run) == string(kv.Key) {
					found = append(found, late)
				}
			}
		}
	}
	return found, nil
}

func outboxKeyOf(keys []*mvccpb.KeyValue, id string) string {
	for _, kv := range keys {
		if strings.HasSuffix(string(kv.Key), "/"+id) {
			return string(kv.Key)
		}
	}
	return ""
}

// places reads values of the three prefixes at one revision, and the wishes to kill what runs. What does not
// decode is passed over.
func (s *Store) places(ctx context.Context, ops ...clientv3.Op) ([]place, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := s.cfg.Client.Txn(ctx).Then(ops...).Commit()
	if err != nil {
		return nil, etcdkit.Wrap(fmt.Errorf("read live runs: %w", err))
	}
	var places []place
	wishes := map[string]*common.Ending{} // by key
	for _, r := range resp.Responses {
		for _, kv := range r.GetResponseRange().Kvs {
			if key := string(kv.Key); strings.HasPrefix(key, common.KillerPrefix) {
				if kill, err := common.Decode[common.Kill](kv.Value); err == nil {
					wishes[key] = kill.Ending()
				}
			} else if p, ok := placeOf(kv); ok {
				places = append(places, p)
			}
		}
	}
	for i := range places {
		if p := &places[i]; p.kind == inRecord {
			p.run.Ending = wishes[common.KillKey(p.run.Worker, p.run.ID)]
		}
	}
	return places, nil
}

// placeOf reads a value. One that is not its key's is not believed.
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
