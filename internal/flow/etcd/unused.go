package etcd

import (
	"bytes"
	"context"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
)

// mostHeads is the number of flow runs of a job, and of its triggers, that are read to delete a body: while there are
// more, it stays.
const mostHeads = 100

// Stored lists the bodies that etcd holds, by uid and digest.
func (b *Bodies) Stored(ctx context.Context) (all []flow.Stored, err error) {
	_, err = etcdkit.Each(ctx, b.client, common.FlowsPrefix, func(kv *mvccpb.KeyValue) error {
		uid, rest, _ := strings.Cut(string(kv.Key[len(common.FlowsPrefix):]), "/")
		digest, _, _ := strings.Cut(rest, "/")
		if one := (flow.Stored{UID: uid, Digest: digest}); len(all) == 0 || all[len(all)-1] != one {
			all = append(all, one)
		}
		return nil
	}, clientv3.WithKeysOnly())
	return all, err
}

// promisedPage is the number of values that Promised reads at once: each may have several hundred KiB.
const promisedPage = 50

// Promised returns which of some bodies nested flow runs are to go on with: triggers and live flow runs of other jobs
// name them for steps that have not started. A name is found in whatever field it is, so that none is overlooked.
func (b *Bodies) Promised(ctx context.Context, some []flow.Stored) (map[flow.Stored]bool, error) {
	found := map[flow.Stored]bool{}
	for _, prefix := range []string{common.TriggersPrefix, common.FlowRunsPrefix} {
		if _, err := etcdkit.Each(ctx, b.client, prefix, func(kv *mvccpb.KeyValue) error {
			if !bytes.Contains(kv.Value, []byte(`"nested":{`)) {
				return nil
			}
			for _, of := range some {
				if names([]*mvccpb.KeyValue{kv}, of) {
					found[of] = true
				}
			}
			return nil
		}, clientv3.WithLimit(promisedPage)); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Delete deletes a body, unless the job, one of its flow runs or one of its triggers names it, or keep reports that it
// is needed otherwise. The name of the job may be empty if no job has the uid and the body is not readable. It reports
// whether the body was deleted.
func (b *Bodies) Delete(ctx context.Context, job string, of flow.Stored, keep func() (bool, error)) (done bool,
	err error) {
	parts := common.FlowPartsOf(of.UID, of.Digest)
	reads := []clientv3.Op{clientv3.OpGet(parts, clientv3.WithPrefix(), clientv3.WithCountOnly())}
	if job != "" {
		reads = append(reads, clientv3.OpGet(common.JobKey(job)),
			clientv3.OpGet(common.FlowRunsOf(job), clientv3.WithPrefix(), clientv3.WithLimit(mostHeads)),
			clientv3.OpGet(common.TriggersOf(job), clientv3.WithPrefix(), clientv3.WithLimit(mostHeads)))
	}
	results, err := etcdkit.Read(ctx, b.client, reads...)
	if err != nil {
		return false, err
	}
	for _, r := range results[1:] {
		if r.More || names(r.Kvs, of) {
			return false, nil
		}
	}
	if kept, err := keep(); err != nil || kept {
		return false, err
	}
	store := &etcdkit.Store{Client: b.client}
	t, revision := store.Txn(), results[0].Header.Revision
	if job != "" {
		seen := int64(0)
		if kvs := results[1].Kvs; len(kvs) > 0 {
			seen = kvs[0].ModRevision
		}
		t.If(etcdkit.Unchanged(common.JobKey(job), seen), etcdkit.NoneNewer(common.FlowRunsOf(job), revision),
			etcdkit.NoneNewer(common.TriggersOf(job), revision))
	}
	t.If(etcdkit.NoneNewer(parts, revision))
	t.Then(clientv3.OpDelete(parts, clientv3.WithPrefix()))
	_, done, err = store.Commit(ctx, "definition "+of.Digest, t)
	return done, err
}

// names reports whether one of the values names a body, in whatever fields.
func names(kvs []*mvccpb.KeyValue, of flow.Stored) bool {
	for _, kv := range kvs {
		if bytes.Contains(kv.Value, []byte(of.Digest)) && bytes.Contains(kv.Value, []byte(of.UID)) {
			return true
		}
	}
	return false
}
