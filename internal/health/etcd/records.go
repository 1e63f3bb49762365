package etcd

import (
	"cmp"
	"context"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// orphan is a dead worker process, with the number of records that name it as the owner.
type orphan struct {
	common.Life
	runs int
}

// absent returns the owners that are not alive and were not at the previous check: a worker that has just
// started may become visible here a moment later.
func (s *State) absent(owners map[string]orphan) (lost []orphan) {
	snapshot := s.cfg.Members.Snapshot()
	missing := map[string]orphan{}
	for life, o := range owners {
		if m, alive := snapshot.Member(o.Worker); alive && m.Life.Life == life {
			continue
		}
		missing[life] = o
		if _, was := s.missing[life]; was {
			lost = append(lost, o)
		}
	}
	s.missing = missing
	slices.SortFunc(lost, func(a, b orphan) int { return cmp.Compare(a.Worker+a.Life.Life, b.Worker+b.Life.Life) })
	return lost
}

// pageOfRecords is the number of records per read.
const pageOfRecords = 1000

// owners reads the records and returns their owners and the keys of unreadable ones.
func owners(ctx context.Context, client *clientv3.Client) (found map[string]orphan, unreadable []string, err error) {
	found = map[string]orphan{}
	from, end := common.RunsPrefix, clientv3.GetPrefixRangeEnd(common.RunsPrefix)
	for {
		resp, err := client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(pageOfRecords),
			clientv3.WithSerializable())
		if err != nil {
			return nil, nil, err
		}
		for _, kv := range resp.Kvs {
			record, err := common.Decode[common.Record](kv.Value)
			if err != nil || common.RecordKey(record.Job, record.Run) != string(kv.Key) {
				unreadable = append(unreadable, string(kv.Key))
				continue
			}
			o := found[record.Owner.Life]
			found[record.Owner.Life] = orphan{Life: record.Owner, runs: o.runs + 1}
		}
		if !resp.More {
			return found, unreadable, nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}
