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

// group commits small transactions of different jobs together (group commit): those that arrive while others
// are in flight share one Raft entry. It has no goroutine: the callers take turns in sending the queued
// transactions.
type group struct {
	client *clientv3.Client

	mu     sync.Mutex
	queue  []*member // guarded by mu
	flying int       // guarded by mu
}

// member is a transaction of the group.
type member struct {
	job   string // no two of one job go together: etcd evaluates all compares before the first write
	cmps  []clientv3.Cmp
	ops   []clientv3.Op
	bytes int
	news  chan news // holds one
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
	unsure   bool // it is unknown whether it was applied
	unsent   bool // it was not sent in time
}

// fits reports whether a transaction is small enough to share a batch.
func fits(cmps []clientv3.Cmp, ops []clientv3.Op) bool {
	return len(cmps) <= maxOwn && len(ops) <= maxOwn && !slices.ContainsFunc(ops, clientv3.Op.IsTxn)
}

// commit queues a transaction and waits for its outcome. If the context ends, a transaction that is not in
// flight is withdrawn.
func (g *group) commit(ctx context.Context, job string, cmps []clientv3.Cmp, ops []clientv3.Op) outcome {
	own := &member{job: job, cmps: cmps, ops: ops, news: make(chan news, 1)}
	for i := range ops {
		own.bytes += len(ops[i].KeyBytes()) + len(ops[i].ValueBytes())
	}
	g.mu.Lock()
	g.queue = append(g.queue, own)
	if g.flying < maxFlying {
		g.flying++
		g.next()
	}
	g.mu.Unlock()
	gone := ctx.Done()
	for {
		select {
		case n := <-own.news:
			if n.batch == nil {
				return n.outcome
			}
			g.send(ctx, n.batch)
		case <-gone:
			if g.takeBack(own) {
				return outcome{err: context.Cause(ctx), unsent: true}
			}
			gone = nil // it is in flight, which is bounded in time
		}
	}
}

// next gives the first caller in the queue the turn to send a batch. The caller of next holds mu.
func (g *group) next() {
	if len(g.queue) == 0 {
		g.flying--
		return
	}
	var batch, rest []*member
	bytes, jobs := 0, map[string]bool{}
	for _, m := range g.queue {
		if len(batch) > 0 && (len(batch) == maxGroup || bytes+m.bytes > maxGroupBytes || jobs[m.job]) {
			rest = append(rest, m)
			continue
		}
		batch, bytes = append(batch, m), bytes+m.bytes
		jobs[m.job] = true
	}
	g.queue = rest
	batch[0].news <- news{batch: batch}
}

func (g *group) takeBack(own *member) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.Index(g.queue, own)
	if at >= 0 {
		g.queue = slices.Delete(g.queue, at, at+1)
	}
	return at >= 0
}

// send commits a batch, sends its members their outcomes, and passes the turn on.
func (g *group) send(ctx context.Context, batch []*member) {
	outcomes := g.sendAll(context.WithoutCancel(ctx), batch)
	g.mu.Lock()
	g.next()
	g.mu.Unlock()
	for i, m := range batch {
		m.news <- news{outcome: outcomes[i]}
	}
}

// sendAll commits a batch. A batch that etcd refuses permanently is split, so that one bad member does not
// affect the others.
func (g *group) sendAll(ctx context.Context, batch []*member) []outcome {
	txn, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var resp *clientv3.TxnResponse
	var err error
	if len(batch) == 1 {
		resp, err = g.client.Txn(txn).If(batch[0].cmps...).Then(batch[0].ops...).Commit()
	} else {
		nested := make([]clientv3.Op, len(batch))
		for i, m := range batch {
			nested[i] = clientv3.OpTxn(m.cmps, m.ops, nil)
		}
		resp, err = g.client.Txn(txn).Then(nested...).Commit()
	}
	if err != nil && len(batch) > 1 && !etcdkit.Ambiguous(err) {
		half := len(batch) / 2
		return append(g.sendAll(ctx, batch[:half]), g.sendAll(ctx, batch[half:])...)
	}
	outcomes := make([]outcome, len(batch))
	for i := range outcomes {
		switch {
		case err != nil:
			outcomes[i].err, outcomes[i].unsure = err, etcdkit.MayBeDone(err)
		case len(batch) == 1:
			outcomes[i] = outcome{revision: resp.Header.Revision, done: resp.Succeeded}
		default:
			outcomes[i] = outcome{revision: resp.Header.Revision, done: resp.Responses[i].GetResponseTxn().Succeeded}
		}
	}
	return outcomes
}
