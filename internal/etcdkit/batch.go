package etcdkit

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Bounds of a batch, which shares one transaction.
const (
	// maxGroup bounds the members; etcd's limit of 128 operations counts the members and the operations
	// within each.
	maxGroup = 64
	// maxOwn bounds the operations, and the compares, of one member.
	maxOwn = 32
	// maxGroupBytes bounds the size of their values; etcd's default limit is 1.5 MiB.
	maxGroupBytes = 512 << 10
	// maxFlying bounds the batches in flight: while one is synced to disk, the next one is prepared.
	maxFlying = 2
)

// Batch commits small transactions of different objects together (group commit): those that arrive while
// others are in flight share one Raft entry. It has no goroutine: the callers take turns in sending the queued
// transactions. It is safe for concurrent use.
type Batch struct {
	client *clientv3.Client

	mu     sync.Mutex
	queue  []*member // guarded by mu
	flying int       // guarded by mu
}

// NewBatch returns an empty batch.
func NewBatch(client *clientv3.Client) *Batch { return &Batch{client: client} }

// member is a transaction of a batch.
type member struct {
	subject string // no two of one object go together: etcd evaluates all compares before the first write
	txn     *Txn
	bytes   int
	news    chan news // holds one
}

// news is sent to a waiting caller: its outcome, or its turn to send a batch that contains its own
// transaction.
type news struct {
	outcome outcome
	batch   []*member
}

// outcome is the result of a transaction.
type outcome struct {
	revision int64
	done     bool // its compares held
	err      error
	unsent   bool // it was not sent in time
}

// fits reports whether a transaction is small enough to share a batch.
func fits(t *Txn) bool {
	return len(t.cmps) <= maxOwn && len(t.ops) <= maxOwn && !slices.ContainsFunc(t.ops, clientv3.Op.IsTxn)
}

// commit queues a transaction and waits for its outcome. If the context ends, a transaction that is not in
// flight is withdrawn.
func (b *Batch) commit(ctx context.Context, subject string, t *Txn) outcome {
	own := &member{subject: subject, txn: t, bytes: t.Size(), news: make(chan news, 1)}
	b.mu.Lock()
	b.queue = append(b.queue, own)
	if b.flying < maxFlying {
		b.flying++
		b.next()
	}
	b.mu.Unlock()
	gone := ctx.Done()
	for {
		select {
		case n := <-own.news:
			if n.batch == nil {
				return n.outcome
			}
			b.send(ctx, n.batch)
		case <-gone:
			if b.takeBack(own) {
				return outcome{err: context.Cause(ctx), unsent: true}
			}
			gone = nil // it is in flight, which is bounded in time
		}
	}
}

// next gives the first caller in the queue the turn to send a batch. The caller of next holds mu.
func (b *Batch) next() {
	if len(b.queue) == 0 {
		b.flying--
		return
	}
	var batch, rest []*member
	bytes, subjects := 0, map[string]bool{}
	for _, m := range b.queue {
		if len(batch) > 0 && (len(batch) == maxGroup || bytes+m.bytes > maxGroupBytes || subjects[m.subject]) {
			rest = append(rest, m)
			continue
		}
		batch, bytes = append(batch, m), bytes+m.bytes
		subjects[m.subject] = true
	}
	b.queue = rest
	batch[0].news <- news{batch: batch}
}

func (b *Batch) takeBack(own *member) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.Index(b.queue, own)
	if at >= 0 {
		b.queue = slices.Delete(b.queue, at, at+1)
	}
	return at >= 0
}

// send commits a batch, sends its members their outcomes, and passes the turn on.
func (b *Batch) send(ctx context.Context, batch []*member) {
	txns := make([]*Txn, len(batch))
	for i, m := range batch {
		txns[i] = m.txn
	}
	outcomes := commit(context.WithoutCancel(ctx), b.client, txns)
	b.mu.Lock()
	b.next()
	b.mu.Unlock()
	for i, m := range batch {
		m.news <- news{outcome: outcomes[i]}
	}
}

// commit sends transactions as one. A batch that etcd refuses permanently, or that is too large, is split, so
// that one bad member does not affect the others.
func commit(ctx context.Context, client *clientv3.Client, txns []*Txn) []outcome {
	call, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	outcomes := make([]outcome, len(txns))
	if len(txns) == 1 {
		resp, err := client.Txn(call).If(txns[0].cmps...).Then(txns[0].ops...).Commit()
		if outcomes[0].err = err; err == nil {
			outcomes[0] = outcome{revision: resp.Header.Revision, done: resp.Succeeded}
		}
		return outcomes
	}
	nested := make([]clientv3.Op, len(txns))
	for i, t := range txns {
		nested[i] = clientv3.OpTxn(t.cmps, t.ops, nil)
	}
	resp, err := client.Txn(call).Then(nested...).Commit()
	if err != nil && !Ambiguous(err) {
		half := len(txns) / 2
		return append(commit(ctx, client, txns[:half]), commit(ctx, client, txns[half:])...)
	}
	for i := range outcomes {
		if outcomes[i].err = err; err == nil {
			outcomes[i] = outcome{revision: resp.Header.Revision, done: resp.Responses[i].GetResponseTxn().Succeeded}
		}
	}
	return outcomes
}

// DeleteSeen deletes keys that have not changed since they were read, a hundred in each transaction.
func DeleteSeen(ctx context.Context, client *clientv3.Client, seen []*mvccpb.KeyValue) error {
	for part := range slices.Chunk(seen, perTxn) {
		ops := make([]clientv3.Op, len(part))
		for i, kv := range part {
			key := string(kv.Key)
			ops[i] = clientv3.OpTxn([]clientv3.Cmp{Unchanged(key, kv.ModRevision)},
				[]clientv3.Op{clientv3.OpDelete(key)}, nil)
		}
		if _, err := execute(ctx, client, ops); err != nil {
			return Wrap(fmt.Errorf("delete %d keys: %w", len(part), err))
		}
	}
	return nil
}
