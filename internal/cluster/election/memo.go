package election

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Memo is a value that the elected master stores for its successors under a key without a lease. It is safe for
// concurrent use.
type Memo[T any] struct {
	elector *Elector
	key     string
}

// NewMemo returns a memo that this elector may write while it is elected.
func NewMemo[T any](elector *Elector, key string) *Memo[T] {
	return &Memo[T]{elector: elector, key: key}
}

// Read returns the stored value; the zero value if there is none or it cannot be decoded.
func (m *Memo[T]) Read(ctx context.Context) (left T, err error) {
	cfg := &m.elector.cfg
	kv, err := etcdkit.Get(ctx, cfg.Client, m.key)
	if err != nil || kv == nil {
		return left, err
	}
	value, err := common.Decode[T](kv.Value)
	if err != nil {
		cfg.Log.Warn("memo_unreadable", "key", m.key, "error", err)
		return left, nil
	}
	return value, nil
}

// Write stores a value. It returns ErrNotElected if this master is not elected.
func (m *Memo[T]) Write(ctx context.Context, value T) error {
	return m.elector.write(ctx, m.key, value, clientv3.NoLease)
}
