package jobmgr

import (
	"context"
	"slices"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/etcdkit"
)

// Bounds of what shares one transaction.
const (
	// maxGroup is how many; etcd's limit of 128 operations counts them and the ones within one.
	maxGroup = 64
	// maxOwn is how many operations, or compares, one of them has.
	maxOwn = 32
	// maxGroupBytes is what their values weigh; etcd's default limit is 1.5 MiB.
	maxGroupBytes = 512 << 10
	// maxFlying are under way at a time: while one is synced to disk, the next one is made ready.
	maxFlying = 2
)

// group commits small transactions of different jobs together: those that come while others are
// under way share one Raft entry. It has no goroutine: the callers themselves take turns in sending
// what has come, for all of those.
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

// news is for who waits: the outcome, or that it is their turn to send a batch, their own in it.
type news struct {
	outcome outcome
	batch   []*member
}

// outcome is what became of a transaction.
type outcome struct {
	revision int64
	done     bool // its compares held
	err      error
	unsure   bool // err does not tell whether it was applied
	unsent   bool // its turn did not come in time
}

// fits tells whether a transaction is small enough to go with others.
func fits(cmps []clientv3.Cmp, ops []clientv3.Op) bool {
	return len(cmps) <= maxOwn && len(ops) <= maxOwn && !slices.ContainsFunc(ops, clientv3.Op.IsTxn)
}

// commit has a transaction committed. A context that ends takes back what is not under way.
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
			gone = nil // it is under way, and not for long
		}
	}
}

// next gives the first in the queue the turn to send what goes along. mu is held.
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

// send commits a batch, tells its members, and gives the turn to somebody else.
func (g *group) send(ctx context.Context, batch []*member) {
	outcomes := g.sendAll(context.WithoutCancel(ctx), batch)
	g.mu.Lock()
	g.next()
	g.mu.Unlock()
	for i, m := range batch {
		m.news <- news{outcome: outcomes[i]}
	}
}

// sendAll commits a batch. One that etcd refuses for good is split, so that one bad member does
// not take the others with it.
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
