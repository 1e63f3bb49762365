package secretstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/seal"
)

// fresh is for how long what was followed counts after the watch has last shown that it is whole.
const fresh = 45 * time.Second

// Table is a worker's view of the secrets.
type Table struct {
	client *clientv3.Client
	box    *seal.Box
	now    func() time.Time

	mu    sync.Mutex
	known map[string]*mvccpb.KeyValue // by key; guarded by mu
	alive time.Time                   // when the watch last showed that it is whole; guarded by mu
}

// NewTable makes an empty table. Without a box it opens nothing.
func NewTable(client *clientv3.Client, box *seal.Box, now func() time.Time) *Table {
	return &Table{client: client, box: box, now: now, known: map[string]*mvccpb.KeyValue{}}
}

// Follow keeps the table up to date until the context ends. report receives the error of each interrupted watch, and
// nil when the watch is whole.
func (t *Table) Follow(ctx context.Context, report func(error)) error {
	follower := &etcdkit.Follower{Client: t.client, Prefix: common.SecretsPrefix, Trouble: report,
		Alive: func() { t.mark(); report(nil) }}
	return follower.Follow(ctx, func(_ context.Context, u etcdkit.Update) error {
		t.mu.Lock()
		defer t.mu.Unlock()
		if u.Whole {
			clear(t.known)
		}
		for _, kv := range u.Puts {
			t.known[string(kv.Key)] = kv
		}
		for _, kv := range u.Deletes {
			delete(t.known, string(kv.Key))
		}
		return nil
	})
}

func (t *Table) mark() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.alive = t.now()
}

// followed gives what the watch has brought; nil where it has not lately shown that it is whole.
func (t *Table) followed(name string) *mvccpb.KeyValue {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now().Sub(t.alive) > fresh {
		return nil
	}
	return t.known[common.SecretKey(name)]
}

// Open opens a secret for a job of a group; the reason says why it cannot be had. What seems to
// be missing, or not to be for the group, is looked at in etcd itself: a secret may have been made a moment
// before the job that wants it.
func (t *Table) Open(ctx context.Context, name, group string) ([]byte, *common.Reason) {
	if kv := t.followed(name); kv != nil {
		if plain, why := t.open(kv, name, group); why == nil {
			return plain, nil
		}
	}
	if !common.ValidName(name) {
		return nil, refusal(common.ReasonSecretMissing, name, "there is no secret %s", common.Excerpt(name))
	}
	kv, err := get(ctx, t.client, name)
	if err != nil {
		return nil, refusal(common.ReasonSecretsAway, name, "the secret %s could not be read: %v", name, err)
	}
	return t.open(kv, name, group)
}

func (t *Table) open(kv *mvccpb.KeyValue, name, group string) ([]byte, *common.Reason) {
	if kv == nil {
		return nil, refusal(common.ReasonSecretMissing, name, "there is no secret %s", name)
	}
	one, err := read(kv)
	if err != nil {
		return nil, refusal(common.ReasonSecretSealed, name, "the secret %s is damaged", name)
	}
	if !one.ForGroup(group) {
		why := refusal(common.ReasonSecretNotAllowed, name, "the secret %s is not for jobs of the group %q", name, group)
		why.Data["group"] = group
		return nil, why
	}
	plain, err := t.box.Open(string(kv.Key), one.Sealed)
	if err != nil {
		return nil, refusal(common.ReasonSecretSealed, name, "the secret %s does not open with this worker's secretsKey: %v", name, err)
	}
	return plain, nil
}

func refusal(code, name, format string, args ...any) *common.Reason {
	return &common.Reason{Code: code, Text: fmt.Sprintf(format, args...), Data: map[string]string{"secret": name}}
}
