package live

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/runlog"
)

// MasterOutbox is the masters' outbox: the outcomes that changes of jobs accounted for, on their way to the log
// store. It implements runlog.Source. Every master delivers; storing is idempotent, and delivered keys are
// deleted. The audit entries of the changes are delivered by the elected master alone, which seals them.
type MasterOutbox struct {
	client *clientv3.Client
}

// NewMasterOutbox returns the source.
func NewMasterOutbox(client *clientv3.Client) *MasterOutbox { return &MasterOutbox{client: client} }

// Pending reads up to limit outcomes.
func (c *MasterOutbox) Pending(ctx context.Context, limit int) (runlog.Pending, error) {
	outcomes, err := etcdkit.Range(ctx, c.client, common.OutboxOf(common.MasterOutbox), clientv3.WithPrefix(),
		clientv3.WithLimit(int64(limit)))
	if err != nil {
		return runlog.Pending{}, err
	}
	pending := runlog.Pending{More: outcomes.More}
	var good []*mvccpb.KeyValue
	for _, kv := range outcomes.Kvs {
		run, err := common.Decode[common.Run](kv.Value)
		if err == nil && common.OutboxKey(common.MasterOutbox, run.ID) != string(kv.Key) {
			err = errors.New("it holds another run")
		}
		if err != nil {
			pending.Bad = append(pending.Bad, fmt.Errorf("decode %s: %w", kv.Key, err))
			continue
		}
		pending.Batch.Runs, good = append(pending.Batch.Runs, run), append(good, kv)
	}
	pending.Ack = func(ctx context.Context) error { return etcdkit.DeleteSeen(ctx, c.client, good) }
	return pending, nil
}
