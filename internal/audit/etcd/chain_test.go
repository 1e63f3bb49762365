package etcd_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/audit"
	auditetcd "carillon/internal/audit/etcd"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/runlog"
	"carillon/internal/runlog/sqlitelog"
)

const termKey = "/cron/leader/test"

// put creates an audit entry and returns it.
func put(t *testing.T, client *clientv3.Client, name string) common.Change {
	t.Helper()
	c, err := common.NewChange(time.Now(), common.Actor{Name: "ada"}, "replace", "job", name, nil,
		map[string]string{"name": name})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(c)
	if err == nil {
		_, err = client.Put(t.Context(), common.ChangeKey(c.ID), string(data))
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestChain(t *testing.T) {
	client := etcdtest.Start(t)
	held := func() clientv3.Cmp { return etcdkit.Absent(termKey) }
	chain := auditetcd.New(client, held)
	ctx := t.Context()
	head, revision, err := chain.Head(ctx)
	if err != nil || revision != 0 || head.Seq != 0 {
		t.Fatalf("%+v at %d, %v", head, revision, err)
	}
	var ids []string
	for i := range 150 {
		ids = append(ids, put(t, client, fmt.Sprint(i)).ID)
	}
	first, err := chain.Waiting(ctx, "", 20)
	if err != nil || !slices.Equal(first, ids[:20]) {
		t.Fatalf("%d wait, %v", len(first), err)
	}
	if rest, err := chain.Waiting(ctx, ids[20], 1000); err != nil || !slices.Equal(rest, ids[20:]) {
		t.Fatalf("%d wait from there on, %v", len(rest), err)
	}
	waiting, err := chain.Find(ctx, first)
	if err != nil || len(waiting) != 20 || waiting[0].Revision == 0 {
		t.Fatalf("%d were found, %v", len(waiting), err)
	}
	head = audit.Head{
		Format: audit.Format,
		Seq:    20,
		Hash:   "ab",
		Batch:  []audit.Sealed{{ID: ids[19], Hash: "ab"}},
		Kept:   audit.Anchor{Seq: 3, Hash: "cd"},
	}
	if err := chain.Put(ctx, head, 0); err != nil {
		t.Fatal(err)
	}
	// Neither over a changed head, nor by a master that is not elected.
	if err := chain.Put(ctx, head, 0); common.CodeOf(err) != common.CodeConflict {
		t.Errorf("over another head: %v", err)
	}
	got, revision, err := chain.Head(ctx)
	if err != nil || got.Seq != 20 || len(got.Batch) != 1 || got.Kept != head.Kept {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := client.Put(ctx, termKey, "another"); err != nil {
		t.Fatal(err)
	}
	if err := chain.Put(ctx, head, revision); common.CodeOf(err) != common.CodeConflict {
		t.Errorf("when not elected: %v", err)
	}
	if found, err := chain.Find(ctx, append(ids, "none")); err != nil || len(found) != 150 {
		t.Errorf("%d found, %v", len(found), err)
	}
	// An entry that was written again since it was read stays.
	if _, err := client.Put(ctx, common.ChangeKey(ids[5]), "{}"); err != nil {
		t.Fatal(err)
	}
	if err := chain.Remove(ctx, waiting); err != nil {
		t.Fatal(err)
	}
	found, err := chain.Find(ctx, ids[:20])
	if err != nil || len(found) != 1 || found[0].ID != ids[5] {
		t.Errorf("left: %d, %v", len(found), err)
	}
}

// With a real etcd and log store: entries written during sealing are sealed once.
func TestSealing(t *testing.T) {
	client := etcdtest.Start(t)
	store, err := sqlitelog.Open(t.Context(), filepath.Join(t.TempDir(), "runs.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	chain := auditetcd.New(client, func() clientv3.Cmp { return etcdkit.Absent(termKey) })
	const many = 700
	delivered := make(chan int, many)
	sealer := audit.NewSealer(audit.Config{
		Chain:     chain,
		Store:     store,
		Alone:     func() bool { return true },
		Log:       slog.New(slog.DiscardHandler),
		Delivered: func(n int) { delivered <- n },
		Failed:    func() {},
	})
	ctx, cancel := context.WithCancel(t.Context())
	var sealing, putting sync.WaitGroup
	sealing.Go(func() { _ = sealer.Run(ctx) })
	for w := range 2 {
		putting.Go(func() {
			for i := range many / 2 {
				put(t, client, fmt.Sprint(w, "-", i))
				sealer.Wake()
			}
		})
	}
	putting.Wait()
	for n := 0; n < many; n += <-delivered {
	}
	cancel()
	sealing.Wait()
	verifier, checked := audit.NewVerifier(chain, store), 0
	for from := int64(1); ; {
		step, err := verifier.Verify(t.Context(), from, 100)
		if err != nil || len(step.Faults) > 0 || step.Waiting > 0 {
			t.Fatalf("%+v, %v", step.Faults, err)
		}
		if checked += step.Checked; !step.More {
			break
		}
		from = step.To + 1
	}
	all, err := store.Changes(t.Context(), runlog.ChangeQuery{})
	if err != nil || len(all) != many || checked != many {
		t.Errorf("%d entries, %d verified, %v", len(all), checked, err)
	}
}
