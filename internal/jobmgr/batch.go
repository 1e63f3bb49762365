package jobmgr

import (
	"context"
	"slices"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/etcdkit"
)

// Bounds of a batch, which shares one transaction.
const (
	// maxBatch bounds the members; etcd's limit of 128 operations counts the members and the operations
	// within each.
	maxBatch = 64
	// maxOps bounds the operations, and the compares, of one member.
	maxOps = 32
	// maxBatchBytes bounds the size of their values; etcd's default limit is 1.5 MiB.
	maxBatchBytes = 512 << 10
	// maxInFlight bounds the batches in flight: while one is synced to disk, the next one is prepared.
	maxInFlight = 2
)

// batches commits small transactions of different jobs together (group commit): those that arrive while others
// are in flight share one Raft entry. It has no goroutine: the callers take turns in sending the queued
// transactions.
type batches struct {
	client *clientv3.Client

	mu       sync.Mutex
	queue    []*request // guarded by mu
	inFlight int        // guarded by mu
}

// request is a transaction that waits for its batch.
type request struct {
	job   string // no two of one job go together: etcd evaluates all compares before the first write
	cmps  []clientv3.Cmp
	ops   []clientv3.Op
	bytes int
	inbox chan message // holds one
}

// message is sent to a waiting caller: its result, or its turn to send a batch that contains its own
// transaction.
type message struct {
	result result
	batch  []*request
}

// result is the outcome of a transaction.
type result struct {
	revision int64
	done     bool // its compares held
	err      error
	unsure   bool // it is unknown whether it was applied
	unsent   bool // it was not sent in time
}

// fits reports whether a transaction is small enough to share a batch.
func fits(cmps []clientv3.Cmp, ops []clientv3.Op) bool {
	return len(cmps) <= maxOps && len(ops) <= maxOps && !slices.ContainsFunc(ops, clientv3.Op.IsTxn)
}

// commit queues a transaction and waits for its result. If the context ends, a transaction that is not in
// flight is withdrawn.
func (b *batches) commit(ctx context.Context, job string, cmps []clientv3.Cmp, ops []clientv3.Op) result {
	own := &request{job: job, cmps: cmps, ops: ops, inbox: make(chan message, 1)}
	for i := range ops {
		own.bytes += len(ops[i].KeyBytes()) + len(ops[i].ValueBytes())
	}
	b.mu.Lock()
	b.queue = append(b.queue, own)
	if b.inFlight < maxInFlight {
		b.inFlight++
		b.next()
	}
	b.mu.Unlock()
	gone := ctx.Done()
	for {
		select {
		case n := <-own.inbox:
			if n.batch == nil {
				return n.result
			}
			b.send(ctx, n.batch)
		case <-gone:
			if b.withdraw(own) {
				return result{err: context.Cause(ctx), unsent: true}
			}
			gone = nil // it is in flight, which is bounded in time
		}
	}
}

// next gives the first caller in the queue the turn to send a batch. The caller of next holds mu.
func (b *batches) next() {
	if len(b.queue) == 0 {
		b.inFlight--
		return
	}
	var batch, rest []*request
	bytes, jobs := 0, map[string]bool{}
	for _, m := range b.queue {
		if len(batch) > 0 && (len(batch) == maxBatch || bytes+m.bytes > maxBatchBytes || jobs[m.job]) {
			rest = append(rest, m)
			continue
		}
		batch, bytes = append(batch, m), bytes+m.bytes
		jobs[m.job] = true
	}
	b.queue = rest
	batch[0].inbox <- message{batch: batch}
}

func (b *batches) withdraw(own *request) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.Index(b.queue, own)
	if at >= 0 {
		b.queue = slices.Delete(b.queue, at, at+1)
	}
	return at >= 0
}

// send commits a batch, sends its members their results, and passes the turn on.
func (b *batches) send(ctx context.Context, batch []*request) {
	results := b.sendAll(context.WithoutCancel(ctx), batch)
	b.mu.Lock()
	b.next()
	b.mu.Unlock()
	for i, m := range batch {
		m.inbox <- message{result: results[i]}
	}
}

// sendAll commits a batch. A batch that etcd refuses permanently is split, so that one bad member does not
// affect the others.
func (b *batches) sendAll(ctx context.Context, batch []*request) []result {
	txn, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var resp *clientv3.TxnResponse
	var err error
	if len(batch) == 1 {
		resp, err = b.client.Txn(txn).If(batch[0].cmps...).Then(batch[0].ops...).Commit()
	} else {
		nested := make([]clientv3.Op, len(batch))
		for i, m := range batch {
			nested[i] = clientv3.OpTxn(m.cmps, m.ops, nil)
		}
		resp, err = b.client.Txn(txn).Then(nested...).Commit()
	}
	if err != nil && len(batch) > 1 && !etcdkit.Ambiguous(err) {
		half := len(batch) / 2
		return append(b.sendAll(ctx, batch[:half]), b.sendAll(ctx, batch[half:])...)
	}
	results := make([]result, len(batch))
	for i := range results {
		switch {
		case err != nil:
			results[i].err, results[i].unsure = err, etcdkit.MayBeDone(err)
		case len(batch) == 1:
			results[i] = result{revision: resp.Header.Revision, done: resp.Succeeded}
		default:
			results[i] = result{revision: resp.Header.Revision, done: resp.Responses[i].GetResponseTxn().Succeeded}
		}
	}
	return results
}
