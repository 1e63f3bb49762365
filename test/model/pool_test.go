package model

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"carillon/internal/common"
)

var poolSeeds = flag.Int("poolseeds", 2, "how many seeds to try with a pool")

const (
	poolName  = "db"
	poolSlots = 3 // at the beginning
)

// usePool makes a job use the pool.
func (s *script) usePool(j *common.Job) {
	j.Pool, j.PoolSlots = poolName, pick(s, 0, 0, 1, 2)
	j.StartDeadline = pick[common.Duration](s, "10s", "30s", "2m")
	if s.world.isCalm() { // each fire runs as soon as it has slots
		j.CronExpr, j.Overlap, j.Jitter, j.After, j.CatchUp = "@every 13s", common.OverlapAllow, "", nil, nil
		j.StartDeadline, j.PoolSlots = "2m", 1 // one that needs more keeps others waiting
	}
}

// setSlots changes the number of slots of the pool.
func (w *world) setSlots(slots int) {
	value := fmt.Sprintf(`{"name":%q,"slots":%d}`, poolName, slots)
	w.atEtcd("operator", func(s *server) {
		put := &pb.PutRequest{Key: []byte(common.PoolKey(poolName)), Value: []byte(value)}
		if _, err := s.kv.Put(context.Background(), put); err != nil {
			panic(err)
		}
	})
}

// playPool lets a cluster whose jobs use one pool live through its disturbances.
func playPool(ctx context.Context, w *world) (until time.Time) {
	w.pooled = true
	skews := make([]time.Duration, workers)
	return run(ctx, w, []string{"a", "b", "c", "d", "e", "f", "g", "h"}, skews, func(ctx context.Context, s *script) {
		for began := time.Now(); time.Since(began) < chaos; {
			time.Sleep(s.between(100*time.Millisecond, 6*time.Second))
			if s.random.IntN(4) == 0 {
				w.setSlots(2 + s.random.IntN(3))
			} else {
				s.disturb(ctx)
			}
		}
	})
}

func TestPools(t *testing.T) {
	servers := newPool(t, runtime.GOMAXPROCS(0))
	tally := tally{counts: map[string]int{}}
	t.Run("seeds", func(t *testing.T) {
		for i := range *poolSeeds {
			seed := 2*(*from+uint64(i)) + 1 // all clocks are right
			t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) {
				t.Parallel()
				servers.use(t, func(s *server) {
					for _, broken := range tally.trial(t, s, seed, nothing, playPool) {
						t.Error(broken)
					}
				})
			})
		}
	})
	t.Logf("model: %d runs, %d changes of etcd; %s", tally.runs.Load(), tally.changes.Load(), tally.text())
}

const (
	takesTaken     mutation = "a claim does not compare the slots that it takes"
	ignoresLowered mutation = "a claim does not compare the pool, nor what was taken since its slots were counted"
	finishKeeps    mutation = "a finish does not free the slots"
	recoveryKeeps  mutation = "a recovery does not free the slots"
)

var poolMutations = []mutation{takesTaken, ignoresLowered, finishKeeps, recoveryKeeps}

// atPools makes a worker break the rule.
func (m mutation) atPools(l *link) {
	switch m {
	case takesTaken:
		l.rewrite = func(r *pb.TxnRequest) {
			everyTxn(r, func(n *pb.TxnRequest) {
				n.Compare = slices.DeleteFunc(n.Compare, func(c *pb.Compare) bool {
					return under(c.Key, common.PoolSlotsPrefix) && c.Target == pb.Compare_CREATE
				})
			})
		}
	case ignoresLowered:
		l.rewrite = func(r *pb.TxnRequest) {
			everyTxn(r, func(n *pb.TxnRequest) {
				n.Compare = slices.DeleteFunc(n.Compare, func(c *pb.Compare) bool {
					return under(c.Key, common.PoolsPrefix) ||
						under(c.Key, common.PoolSlotsPrefix) && c.Target == pb.Compare_MOD
				})
			})
		}
	case finishKeeps:
		l.rewrite = func(r *pb.TxnRequest) { eachNested(r, keepSlots) }
	case recoveryKeeps:
		l.rewrite = func(r *pb.TxnRequest) {
			if len(r.Compare) > 0 && under(r.Compare[0].Key, common.RunsPrefix) {
				keepSlots(r)
			}
		}
	}
}

// everyTxn visits a transaction and all those within it.
func everyTxn(r *pb.TxnRequest, visit func(*pb.TxnRequest)) {
	visit(r)
	for _, op := range slices.Concat(r.Success, r.Failure) {
		if n := op.GetRequestTxn(); n != nil {
			everyTxn(n, visit)
		}
	}
}

func keepSlots(n *pb.TxnRequest) {
	n.Success = slices.DeleteFunc(n.Success, func(op *pb.RequestOp) bool {
		return under(op.GetRequestDeleteRange().GetKey(), common.PoolSlotsPrefix)
	})
}

// TestPoolMutations_BreakAPromise leaves out one rule at a time.
func TestPoolMutations_BreakAPromise(t *testing.T) {
	servers := newPool(t, runtime.GOMAXPROCS(0))
	tally := tally{counts: map[string]int{}}
	for _, m := range poolMutations {
		t.Run(strings.ReplaceAll(string(m), " ", "-"), func(t *testing.T) {
			t.Parallel()
			tally.breaks(t, servers, m, *patience, playPool)
		})
	}
}

// rawSlot is the value of a slot in use.
type rawSlot struct{ Job, Run string }

// pools checks P-1 and P-2: the slots in use at each revision.
func (c *checker) pools() {
	slots, used, records := 0, map[string]rawSlot{}, map[string]bool{}
	history := c.world.history
	for len(history) > 0 {
		n := 1
		for n < len(history) && history[n].rev == history[0].rev {
			n++
		}
		r := revision{history[0].at, history[:n]}
		history = history[n:]
		for _, e := range r.under("/cron/pools/") {
			slots = decode[struct{ Slots int }](e.value).Slots
		}
		for _, e := range r.under("/cron/runs/") {
			records[e.key[len("/cron/runs/"):]] = e.created != 0
		}
		taken := false
		for _, e := range r.under("/cron/pool/") {
			if e.created == 0 {
				delete(used, e.key)
				continue
			}
			if _, before := used[e.key]; before {
				c.breaks("P-1", "%s is taken at %s although it is in use", e.key, wallTime(e.at))
			}
			used[e.key], taken = decode[rawSlot](e.value), true
		}
		if taken && len(used) > slots {
			c.breaks("P-1", "%d slots of %d are in use at %s", len(used), slots, wallTime(r.at))
		}
		for key, slot := range used {
			if !records[slot.Job+"/"+slot.Run] {
				c.breaks("P-2", "%s is in use at %s without the record of %s", key, wallTime(r.at), slot.Run)
				delete(used, key)
			}
		}
	}
}

// Where nothing is disturbed, no fire waits for three seconds while a slot is free, and the slots are used.
func TestPool_FreeSlots_AreUsedWithinThreeSeconds(t *testing.T) {
	s := startServer(t)
	s.wipe(t)
	w := newWorld(s, 1, nothing)
	w.pooled = true
	w.beCalm()
	w.last(4 * time.Second)
	inBubble(t, func(t *testing.T) {
		run(t.Context(), w, []string{"a", "b", "c", "d", "e", "f", "g", "h"}, level, func(context.Context, *script) {
			time.Sleep(5 * time.Minute)
		})
	})
	for _, broken := range w.idlePool(t) {
		t.Error(broken)
	}
}

// idlePool returns the fires that waited although slots were free.
func (w *world) idlePool(t *testing.T) (broken []string) {
	const most = 3 * time.Second
	type change struct {
		at   time.Time
		used int
	}
	steps, used, checked := []change{{w.history[0].at, 0}}, 0, 0
	for i := 0; i < len(w.history); {
		n := i + 1
		for n < len(w.history) && w.history[n].rev == w.history[i].rev {
			n++
		}
		r := revision{w.history[i].at, w.history[i:n]}
		i = n
		taken, slots := 0, r.under("/cron/pool/")
		for _, e := range slots {
			if e.created != 0 {
				taken++
			}
		}
		runs := r.under("/cron/runs/")
		if taken > 0 && len(runs) == 1 {
			record := decode[rawRecord](runs[0].value)
			checked++
			for k, step := range steps { // up to now
				end := r.at
				if k+1 < len(steps) {
					end = steps[k+1].at
				}
				from := step.at
				if record.PlannedAt.After(from) {
					from = record.PlannedAt
				}
				if record.Attempt == 1 && step.used+taken <= poolSlots && end.Sub(from) >= most {
					broken = append(broken, fmt.Sprintf("P-3: %s waited from %s to %s with %d of %d slots in use",
						record.Run, wallTime(from), wallTime(end), step.used, poolSlots))
				}
			}
		}
		if len(slots) > 0 {
			used += 2*taken - len(slots)
			steps = append(steps, change{r.at, used})
		}
	}
	if checked < 50 {
		t.Errorf("only %d claims were checked", checked)
	}
	return broken
}
