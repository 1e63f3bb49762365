package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/runlog"
)

// drawnOutcome is one of a few: they share chains, and recur.
func drawnOutcome(random *rand.Rand) (owner string, run common.Run) {
	at := time.Date(2026, 1, 1, 0, 0, random.IntN(40), 0, time.UTC)
	run = common.Run{
		Job:       "a",
		JobUID:    "uid",
		PlannedAt: at,
		Attempt:   random.IntN(3),
		Status:    common.StatusFailed,
		Cause:     common.CauseCron,
	}
	switch random.IntN(5) {
	case 0:
		run.Fire = common.TriggeredFire("uid", fmt.Sprint(random.IntN(10)))
	case 1:
		run.ID, run.Attempt = common.GapID("uid", at), 0
		run.Fire = run.ID
	case 2:
		run.Fire = common.NodeFire("uid", "uid.f.1", fmt.Sprint(random.IntN(10)))
		run.Flow = &common.FlowNode{Run: fmt.Sprint("uid.f.", random.IntN(2))}
	default:
		run.Fire = common.PlannedFire("uid", at)
	}
	if run.ID == "" {
		run.ID = common.RunID(run.Fire, run.Attempt)
	}
	return fmt.Sprint("w", random.IntN(2)), run
}

// The index holds what the outboxes hold after any sequence of puts, repeated puts, deletions, and new lists
// after a gap.
func TestOutboxes_AnySequence_MatchEtcd(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	o, there, revision := NewOutboxes(nil, nil), map[string]*mvccpb.KeyValue{}, int64(0)
	kvs := func() []*mvccpb.KeyValue { return slices.Collect(maps.Values(there)) }
	o.take(etcdkit.Changes{Whole: true})
	for range 3000 {
		revision++
		owner, run := drawnOutcome(random)
		key := common.OutboxKey(owner, run.ID)
		switch random.IntN(12) {
		case 0, 1, 2, 3, 4:
			delete(there, key)
			o.take(etcdkit.Changes{Revision: revision, Deletes: []*mvccpb.KeyValue{{Key: []byte(key)}}})
		case 5: // a gap: some were deleted, some were added, and the list has two parts
			for k := range there {
				if random.IntN(2) == 0 {
					delete(there, k)
				}
			}
			all := kvs()
			half := len(all) / 2
			before := o.revision
			o.take(etcdkit.Changes{Whole: true, More: true, Revision: revision, Puts: all[:half]})
			if o.reached(revision + 1); o.revision != before {
				t.Fatal("a part of a list is taken for all")
			}
			o.take(etcdkit.Changes{Revision: revision, Puts: all[half:]})
		default:
			data, err := json.Marshal(run)
			if err != nil {
				t.Fatal(err)
			}
			there[key] = &mvccpb.KeyValue{Key: []byte(key), Value: data}
			o.take(etcdkit.Changes{Revision: revision, Puts: []*mvccpb.KeyValue{there[key]}})
		}
		for _, q := range []runlog.Query{{}, {FlowRun: "uid.f.1"}} {
			var want []string
			for key, kv := range there {
				if run, err := common.Decode[common.Run](kv.Value); err == nil && q.Matches(&run) {
					want = append(want, key)
				}
			}
			found := o.find(&runlog.LiveQuery{Query: q})
			if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(found.keys)), want) {
				t.Fatalf("%+v: it finds %q\nwant %q", q, found.keys, want)
			}
		}
		found := o.find(&runlog.LiveQuery{Query: runlog.Query{Limit: mostOutcomes, Nodes: true}})
		want := slices.Sorted(maps.Keys(there))
		if slices.Sort(found.keys); !slices.Equal(found.keys, want) || o.rows.count != len(want) ||
			o.revision != revision {
			t.Fatalf("it holds %q\nwant %q", found.keys, want)
		}
		if at := o.keyOf(run.ID); (at != "") != (there[common.OutboxKey("w0", run.ID)] != nil ||
			there[common.OutboxKey("w1", run.ID)] != nil) {
			t.Fatalf("%s is at %q", run.ID, at)
		}
	}
	if n := len(o.rows.blocks); n != 1 {
		t.Errorf("there are %d blocks of rows", n)
	}
	if size := unsafe.Sizeof(outboxRow{}); size > 56 {
		t.Errorf("a row takes %d bytes", size)
	}
}
