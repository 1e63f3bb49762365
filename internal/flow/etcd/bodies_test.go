package etcd

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/flow"
)

// large returns a flow that has several parts even if it is compressed; each seed gives another one.
func large(seed uint64, steps, bytesEach int) *common.Job {
	random := rand.New(rand.NewPCG(seed, 1))
	job := &common.Job{Name: "f"}
	for i := range steps {
		text := make([]byte, bytesEach)
		for n := range text {
			text[n] = byte('a' + random.IntN(26))
		}
		job.Steps = append(job.Steps, common.Step{Name: fmt.Sprintf("s%d", i), Command: string(text)})
	}
	return job
}

func save(t *testing.T, client *clientv3.Client, uid string, job *common.Job) (digest string, parts int) {
	t.Helper()
	all, digest, err := flow.Encode(job)
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range all {
		if _, err := client.Put(t.Context(), common.FlowPartKey(uid, digest, i), string(part)); err != nil {
			t.Fatal(err)
		}
	}
	return digest, len(all)
}

func TestLoad_ReturnsTheDefinition(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	digest, parts := save(t, client, "u", large(1, 60, 30<<10))
	if parts < 5 {
		t.Fatalf("%d parts: they fit into one page", parts)
	}
	bodies := NewBodies(client)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			def, graph, err := bodies.Load(t.Context(), "u", digest)
			if err != nil || len(def.Job.Steps) != 60 || graph.Len() != 60 || def.Job.Name != "f" {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
	// what was parsed needs no etcd
	if _, err := client.Delete(t.Context(), common.FlowOf("u"), clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := bodies.Load(t.Context(), "u", digest); err != nil {
		t.Error(err)
	}
}

func TestLoad_MissingAndDamagedBodies_DifferFromAnEtcdThatIsAway(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	digest, parts := save(t, client, "u", large(1, 30, 30<<10))
	if parts < 3 {
		t.Fatalf("%d parts", parts)
	}
	load := func(digest string) error {
		_, _, err := NewBodies(client).Load(t.Context(), "u", digest)
		return err
	}
	if err := load(digest); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"absent": load("0123"), "one part more": load("9")} {
		if !errors.Is(err, flow.ErrDefinition) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string]func(){
		"another part": func() {
			part, _ := client.Get(t.Context(), common.FlowPartKey("u", digest, 0))
			_, _ = client.Put(t.Context(), common.FlowPartKey("u", digest, 1), string(part.Kvs[0].Value))
		},
		"no gzip": func() { _, _ = client.Put(t.Context(), common.FlowPartKey("u", digest, 0), "x") },
		"a gap":   func() { _, _ = client.Delete(t.Context(), common.FlowPartKey("u", digest, 1)) },
	} {
		change()
		if err := load(digest); !errors.Is(err, flow.ErrDefinition) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_ = client.Close()
	if err := load(digest); err == nil || errors.Is(err, flow.ErrDefinition) {
		t.Errorf("etcd is away: %v", err)
	}
}

func TestBodies_KeepThoseThatWereUsedLast(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	bodies := NewBodies(client)
	bodies.maxSize = 1 << 20
	var digests []string
	for seed := range uint64(12) {
		digest, _ := save(t, client, "u", large(seed, 20, 6<<10)) // about 120 KiB
		digests = append(digests, digest)
		if _, _, err := bodies.Load(t.Context(), "u", digest); err != nil {
			t.Fatal(err)
		}
		if bodies.get(digests[0]) == nil {
			t.Fatal("the first one is gone, although it is used")
		}
	}
	if bodies.size > bodies.maxSize || len(bodies.known) != bodies.order.Len() || len(bodies.known) < 5 {
		t.Errorf("%d bodies of %d bytes are kept", len(bodies.known), bodies.size)
	}
	if bodies.get(digests[1]) != nil || bodies.get(digests[11]) == nil {
		t.Error("not those that were used last are kept")
	}
}
