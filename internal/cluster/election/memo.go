package election

import (
	"context"
	"encoding/json"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
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
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := cfg.Client.Get(ctx, m.key)
	if err != nil {
		return left, fmt.Errorf("read %s: %w", m.key, err)
	}
	for _, kv := range resp.Kvs {
		value, err := common.Decode[T](kv.Value)
		if err != nil {
			cfg.Log.Warn("memo_unreadable", "key", m.key, "error", err)
			continue
		}
		left = value
	}
	return left, nil
}

// Write stores a value. It returns ErrNotElected if this master is not elected.
func (m *Memo[T]) Write(ctx context.Context, value T) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", m.key, err)
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := m.elector.cfg.Client.Txn(ctx).If(m.elector.Held()).Then(clientv3.OpPut(m.key, string(data))).Commit()
	switch {
	case err != nil:
		return fmt.Errorf("write %s: %w", m.key, err)
	case !resp.Succeeded:
		return ErrNotElected
	}
	return nil
}
