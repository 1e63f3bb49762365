package etcd

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/secrets/crypt"
)

// fresh is how long the table counts as current after the watch's last sign of life.
const fresh = 45 * time.Second

// Table is a worker's copy of the secrets.
type Table struct {
	client *clientv3.Client
	box    *crypt.Box
	now    func() time.Time

	mu    sync.Mutex
	known map[string]*mvccpb.KeyValue // by key; guarded by mu
	alive time.Time                   // last sign of life of the watch; guarded by mu
}

// NewTable returns an empty table. Without a box it decrypts nothing.
func NewTable(client *clientv3.Client, box *crypt.Box, now func() time.Time) *Table {
	return &Table{client: client, box: box, now: now, known: map[string]*mvccpb.KeyValue{}}
}

// Follow keeps the table up to date until the context ends. report receives the error of each
// interrupted watch, and nil when the watch is complete again.
func (t *Table) Follow(ctx context.Context, report func(error)) error {
	watch := &etcdkit.Watch{Client: t.client, Prefix: common.SecretsPrefix, Report: func(err error) {
		if err == nil {
			t.mark()
		}
		report(err)
	}}
	return watch.Follow(ctx, func(_ context.Context, u etcdkit.Changes) error {
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

// followed returns a secret from the table; nil if the watch has shown no sign of life within
// fresh.
func (t *Table) followed(name string) *mvccpb.KeyValue {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now().Sub(t.alive) > fresh {
		return nil
	}
	return t.known[common.SecretKey(name)]
}

// Open decrypts a secret for a job of a group; the reason describes why it cannot. A secret that is
// missing or not for the group is read from etcd again: it may have been created just before the
// job that uses it.
func (t *Table) Open(ctx context.Context, name, group string) ([]byte, *common.Reason) {
	if kv := t.followed(name); kv != nil {
		if plain, why := t.open(kv, name, group); why == nil {
			return plain, nil
		}
	}
	if !common.ValidName(name) {
		return nil, refusal(common.ReasonSecretMissing, name, "secret %q not found", common.Shorten(name))
	}
	kv, err := etcdkit.Get(ctx, t.client, common.SecretKey(name))
	if err != nil {
		return nil, refusal(common.ReasonSecretsAway, name, "secret %s could not be read: %v", name, err)
	}
	return t.open(kv, name, group)
}

func (t *Table) open(kv *mvccpb.KeyValue, name, group string) ([]byte, *common.Reason) {
	if kv == nil {
		return nil, refusal(common.ReasonSecretMissing, name, "secret %q not found", name)
	}
	one, err := read(kv)
	if err != nil {
		return nil, refusal(common.ReasonSecretSealed, name, "secret %s is damaged", name)
	}
	if !one.ForGroup(group) {
		why := refusal(common.ReasonSecretNotAllowed, name, "secret %s may not be used by jobs of the group %q",
			name, group)
		why.Data["group"] = group
		return nil, why
	}
	plain, err := t.box.Open(string(kv.Key), one.Sealed)
	if err != nil {
		return nil, refusal(common.ReasonSecretSealed, name,
			"secret %s cannot be decrypted with this worker's secretsKey: %v", name, err)
	}
	return plain, nil
}

func refusal(code, name, format string, args ...any) *common.Reason {
	return &common.Reason{Code: code, Text: fmt.Sprintf(format, args...), Data: map[string]string{"secret": name}}
}
