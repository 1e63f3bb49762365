package model

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// clusterID is that of all etcds of the model: a restored one is not known by it.
const clusterID = 1

// gate is joblock.Gate as the daemon makes it.
type gate struct {
	*etcdkit.Lineage
	keeper *members.Keeper
}

// Check is joblock.Gate's.
func (g *gate) Check() error {
	if _, why := g.Seen(); why != "" {
		return common.Errorf(common.CodeUnavailable, "etcd was restored from a backup: %s", why)
	}
	return nil
}

// Registered is joblock.Gate's.
func (g *gate) Registered() int64 { return g.keeper.Registered() }

// restored is how often etcd was put back to an older state.
func (w *world) restored() int { w.mu.Lock(); defer w.mu.Unlock(); return w.restores }

// revisionNow is that of the last change.
func (w *world) revisionNow() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.history[len(w.history)-1].rev
}

// restore puts an older state in the place of etcd's, with the revisions that its keys had: spare, which is empty,
// makes the same changes up to a revision. What is on its way, and every watch, is lost.
func (w *world) restore(spare *server, revision int64) {
	w.etcd.Lock()
	defer w.etcd.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := len(w.history)
	for kept > 0 && w.history[kept-1].rev > revision {
		kept--
	}
	w.history = slices.Clone(w.history[:kept])
	spare.do(func() { w.replay(spare) })
	w.server = spare
	w.restores++
	close(w.changed)
	w.changed = make(chan struct{})
}

// replay makes the changes of the history at an etcd that is empty; the caller holds mu.
func (w *world) replay(at *server) {
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	id := func(n int64) int64 { return int64(w.seed)<<20 + n }
	for n := range w.granted {
		_, err := at.etcd.Server.LeaseGrant(ctx, &pb.LeaseGrantRequest{ID: id(n + 1), TTL: 3600})
		must(err)
	}
	for left := w.history; len(left) > 0; {
		txn, rev := &pb.TxnRequest{}, left[0].rev
		for ; len(left) > 0 && left[0].rev == rev; left = left[1:] {
			e := left[0]
			put := &pb.PutRequest{Key: []byte(e.key), Value: []byte(e.value), Lease: e.lease}
			op := &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: put}}
			if e.created == 0 {
				op.Request = &pb.RequestOp_RequestDeleteRange{
					RequestDeleteRange: &pb.DeleteRangeRequest{Key: []byte(e.key)}}
			}
			txn.Success = append(txn.Success, op)
		}
		resp, err := at.kv.Txn(ctx, txn)
		must(err)
		if resp.Header.Revision != rev {
			panic(fmt.Sprintf("revision %d became %d", rev, resp.Header.Revision))
		}
	}
	for n := range w.granted {
		if _, lives := w.leases[clientv3.LeaseID(id(n+1))]; !lives {
			_, err := at.etcd.Server.LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: id(n + 1)})
			must(err)
		}
	}
}

// cursorNow is the cursor of a job.
func (w *world) cursorNow(job string) (at time.Time) {
	events, _ := w.since(0)
	for _, e := range events {
		if e.key == common.CursorKey(job) {
			at = timeOf(e.value)
		}
	}
	return at
}

// etcd is put back to the state before a fire when one worker has run that fire, and the claims of the others have not
// been answered yet: they are tried again until they reach the older state, in which that fire is unclaimed; with the
// first seed before anything else does that would show it to their workers. They write nothing there, and after an
// operator has accepted the older state all goes on.
func TestEtcdRestored_WithClaimsInFlight(t *testing.T) {
	const every = 20 * time.Second
	const often = 4 // seeds that are a multiple of it have registrations written as often as in the product
	twice := func(seed uint64, m mutation) (broken []string) {
		spare := startServer(t)
		var accepted time.Time
		w, all := without(t, m, seed, []time.Duration{0, 0, 0, 0}, func(ctx context.Context, s *script) {
			job := common.Job{Name: "a", Timezone: "UTC", Command: "true", CronExpr: "@every 20s",
				Overlap: common.OverlapAllow, StartDeadline: "1m", LostAfter: "30s",
				Placement: &common.Placement{Strategy: common.StrategyAny}}
			if _, _, err := s.masters[0].store.Put(ctx, modelActor, job, common.Precondition{}); err != nil {
				t.Error(err)
			}
			s.world.last(time.Second)
			time.Sleep(every + every/2)
			fire := s.world.cursorNow("a").Add(every)
			time.Sleep(time.Until(fire.Add(-8 * time.Second))) // each worker writes its registration in that time
			backup := s.world.revisionNow()
			time.Sleep(time.Until(fire.Add(-time.Second)))
			for _, b := range s.boxes[1:] {
				b.with(func(l *life) {
					l.link.cut(5 * time.Second)
					if m == unregistered || seed == often {
						l.link.onlyWrites(9 * time.Second)
					}
				})
			}
			time.Sleep(time.Until(fire.Add(2 * time.Second)))
			s.world.restore(spare, backup)
			time.Sleep(30 * time.Second)
			if _, err := s.masters[0].store.Recover(ctx, modelActor,
				common.RecoverRequest{Restored: true}); err != nil {
				t.Error(err)
			}
			accepted = time.Now()
			for _, b := range s.boxes {
				b.with(func(l *life) { l.gate.Accept() })
			}
			time.Sleep(3 * every)
		})
		if !slices.ContainsFunc(w.diary, func(x *execution) bool { return x.began.After(accepted) }) {
			t.Errorf("seed %d: nothing ran after the older state was accepted", seed)
		}
		// What ran since the backup has no record, and its fire no entry. What is promised is that nothing starts
		// twice.
		return slices.DeleteFunc(all, func(b string) bool {
			return !strings.HasPrefix(b, "G2") || !strings.Contains(b, "was started")
		})
	}
	for seed := uint64(often); seed <= 3*often; seed += often {
		if broken := twice(seed, nothing); len(broken) > 0 {
			t.Errorf("seed %d: %v", seed, broken)
		}
	}
	for seed := uint64(often); seed <= 10*often; seed += often {
		if broken := twice(seed, unregistered); len(broken) > 0 {
			t.Logf("model: %s: seed %d: %s", unregistered, seed, broken[0])
			return
		}
	}
	t.Errorf("no run was started twice where %s", unregistered)
}
