package leader

import (
	"context"
	"encoding/json"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// Memo is what the elected one leaves to whoever is elected after it: one value under a key, which
// no lease takes away. It is safe for concurrent use.
type Memo[T any] struct {
	elector *Elector
	key     string
}

// NewMemo makes a memo that this elector writes when it is elected.
func NewMemo[T any](elector *Elector, key string) *Memo[T] {
	return &Memo[T]{elector: elector, key: key}
}

// Read gives what was left; the zero value where nothing was, or nobody can read it.
func (m *Memo[T]) Read(ctx context.Context) (left T, err error) {
	cfg := &m.elector.cfg
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := cfg.Client.Get(ctx, m.key)
	if err != nil {
		return left, fmt.Errorf("read %s: %w", m.key, err)
	}
	for _, kv := range resp.Kvs {
		said, err := common.Decode[T](kv.Value)
		if err != nil {
			cfg.Log.Warn("memo_unreadable", "key", m.key, "error", err)
			continue
		}
		left = said
	}
	return left, nil
}

// Write leaves a value. It is for the elected one.
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
