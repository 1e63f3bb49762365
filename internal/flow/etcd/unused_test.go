package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/flow"
)

func TestDelete_BodyThatIsNamed_Stays(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	bodies := NewBodies(client)
	digest, _ := save(t, client, "uid1", large(1, 30, 30<<10))
	other, _ := save(t, client, "uid1", large(2, 1, 10))
	of := flow.Stored{UID: "uid1", Digest: digest}
	if got, err := bodies.Stored(t.Context()); err != nil || len(got) != 2 || !slices.Contains(got, of) {
		t.Fatalf("stored are %v, %v", got, err)
	}
	put := func(key string, value any) { putJSON(t, client, key, value) }
	node := &common.FlowNode{Kind: common.KindFlow, Job: "f", Run: "uid1.1.1", UID: "uid1", Digest: digest}
	for key, value := range map[string]any{
		common.JobKey("f"):                 common.StoredJob{UID: "uid1", Flow: &common.FlowRef{Digest: digest}},
		common.FlowRunKey("f", "uid1.1.1"): common.Head{UID: "uid1", Digest: digest},
		common.TriggerKey("f", "t"):        common.Trigger{ID: "t", Flow: node},
	} {
		put(key, value)
		if done, err := bodies.Delete(t.Context(), "f", of, unneeded); err != nil || done {
			t.Errorf("%s names it: %v, %v", key, done, err)
		}
		if _, err := client.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	put(common.JobKey("f"), common.StoredJob{UID: "uid2", Flow: &common.FlowRef{Digest: digest}}) // created again
	put(common.FlowRunKey("f", "uid1.2.1"), common.Head{UID: "uid1", Digest: other})
	if done, err := bodies.Delete(t.Context(), "f", of, unneeded); err != nil || !done {
		t.Errorf("nothing names it: %v, %v", done, err)
	}
	left := []flow.Stored{{UID: "uid1", Digest: other}}
	if got, err := bodies.Stored(t.Context()); err != nil || !slices.Equal(got, left) {
		t.Errorf("left are %v, %v", got, err)
	}
	last := flow.Stored{UID: "uid1", Digest: other}
	if done, err := bodies.Delete(t.Context(), "", last, unneeded); err != nil || !done {
		t.Errorf("of no job: %v, %v", done, err)
	}
}

func putJSON(t *testing.T, client *clientv3.Client, key string, value any) {
	t.Helper()
	data, err := json.Marshal(value)
	if err == nil {
		_, err = client.Put(t.Context(), key, string(data))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Steps that have not started yet go on in nested flow runs, at any depth, with the definitions of the request.
func TestPromised_BodiesOfNestedFlowRuns(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	base := func(uid string, more *common.Base) *common.Base {
		nested := &common.Nested{UID: uid, Digest: "d" + uid, Keep: more}
		return &common.Base{Run: "r", Nested: map[string]*common.Nested{"etl": nested}}
	}
	putJSON(t, client, common.TriggerKey("outer", "t"), common.Trigger{ID: "t", Keep: base("u1", nil)})
	putJSON(t, client, common.FlowRunKey("outer", "r.2"), common.Head{UID: "o", Base: base("u2", base("u3", nil))})
	putJSON(t, client, common.FlowRunKey("outer", "r.3"), common.Head{UID: "o", Digest: "d4"})
	u1, u2, u3 := flow.Stored{UID: "u1", Digest: "du1"}, flow.Stored{UID: "u2", Digest: "du2"},
		flow.Stored{UID: "u3", Digest: "du3"}
	got, err := NewBodies(client).Promised(t.Context(), []flow.Stored{u1, u2, u3, {UID: "o", Digest: "d4"}})
	if err != nil || !maps.Equal(got, map[flow.Stored]bool{u1: true, u2: true, u3: true}) {
		t.Errorf("%v, %v", got, err)
	}
}

// unneeded reports that a body is not needed otherwise.
func unneeded() (bool, error) { return false, nil }

// saved is a client whose next transaction with writes comes after another one.
type saved struct {
	clientv3.KV
	before func()
}

func (s *saved) Txn(ctx context.Context) clientv3.Txn {
	return &savedTxn{s.KV.Txn(ctx), s}
}

type savedTxn struct {
	clientv3.Txn
	of *saved
}

func (t *savedTxn) If(cmps ...clientv3.Cmp) clientv3.Txn { t.Txn = t.Txn.If(cmps...); return t }

func (t *savedTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	if slices.ContainsFunc(ops, clientv3.Op.IsDelete) && t.of.before != nil {
		t.of.before()
		t.of.before = nil
	}
	t.Txn = t.Txn.Then(ops...)
	return t
}

// What is written after the reads must stop the deletion.
func TestDelete_BodyThatIsNamedMeanwhile_Stays(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"saved": common.JobKey("f"), "claimed": common.FlowRunKey("f", "u.1.1"),
		"requested": common.TriggerKey("f", "t"), "put again": common.FlowPartKey("u", "d", 0)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := shared.Start(t)
			if _, err := client.Put(t.Context(), common.FlowPartKey("u", "d", 0), "x"); err != nil {
				t.Fatal(err)
			}
			plain := client.KV
			client.KV = &saved{client.KV, func() {
				if _, err := plain.Put(t.Context(), key, "u d"); err != nil {
					t.Error(err)
				}
			}}
			done, err := NewBodies(client).Delete(t.Context(), "f", flow.Stored{UID: "u", Digest: "d"}, unneeded)
			if err != nil || done {
				t.Errorf("deleted: %v, %v", done, err)
			}
		})
	}
}

type shelf map[string][][]byte

func (s shelf) Definition(_ context.Context, digest string) ([][]byte, error) {
	switch parts, found := s[digest]; {
	case s == nil:
		return nil, common.Errorf(common.CodeUnavailable, "away")
	case !found:
		return nil, common.Errorf(common.CodeNotFound, "no %s", digest)
	default:
		return parts, nil
	}
}

func TestLoad_BodyThatHasLeftEtcd_IsReadFromTheArchive(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	parts, digest, err := flow.Encode(large(1, 3, 100))
	if err != nil {
		t.Fatal(err)
	}
	def, _, err := NewArchivedBodies(client, shelf{digest: parts}).Load(t.Context(), "u", digest)
	if err != nil || len(def.Job.Steps) != 3 {
		t.Errorf("%v", err)
	}
	if _, _, err := NewArchivedBodies(client, shelf{}).Load(t.Context(), "u",
		digest); !errors.Is(err, flow.ErrDefinition) {
		t.Errorf("in neither: %v", err)
	}
	if _, _, err := NewArchivedBodies(client, shelf{digest: parts[:0]}).Load(t.Context(), "u",
		digest); !errors.Is(err, flow.ErrDefinition) {
		t.Errorf("damaged there: %v", err)
	}
	_, _, err = NewArchivedBodies(client, shelf(nil)).Load(t.Context(), "u", digest)
	if common.CodeOf(err) != common.CodeUnavailable || errors.Is(err, flow.ErrDefinition) {
		t.Errorf("away: %v", err)
	}
	bodies := NewBodies(client)
	save(t, client, "u", large(1, 3, 100))
	for parts, want := range map[int]bool{1: true, 2: false} {
		if got, err := bodies.Has(t.Context(), "u", digest, parts); err != nil || got != want {
			t.Errorf("has %d parts: %v, %v", parts, got, err)
		}
	}
}
