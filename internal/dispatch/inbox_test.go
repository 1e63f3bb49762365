package dispatch

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// What is put comes out once, in the order of each key, in batches of different keys
// that are as full as they can be.
func TestInboxAgainstAList(t *testing.T) {
	type thing struct {
		key string
		n   int
	}
	rapid.Check(t, func(t *rapid.T) {
		box := newInbox[thing]()
		var list []thing
		n := 0
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				for _, key := range rapid.SliceOfN(rapid.StringMatching("[a-e]"), 0, 12).Draw(t, "keys") {
					n++
					box.put(thing{key, n})
					list = append(list, thing{key, n})
				}
			},
			"take": func(t *rapid.T) {
				most := rapid.IntRange(1, 8).Draw(t, "most")
				var want []thing
				seen := map[string]bool{}
				list = slices.DeleteFunc(list, func(x thing) bool {
					if seen[x.key] || len(want) == most {
						return false
					}
					seen[x.key] = true
					want = append(want, x)
					return true
				})
				if got, _ := box.distinct(most, func(x *thing) string { return x.key }); !slices.Equal(got, want) {
					t.Fatalf("took %v, want %v", got, want)
				}
			},
			"": func(t *rapid.T) {
				if box.len() != len(list) {
					t.Fatalf("%d wait, want %d", box.len(), len(list))
				}
			},
		})
	})
}

func TestInboxEnds(t *testing.T) {
	box := newInbox[int]()
	key := func(i *int) string { return fmt.Sprint(*i) }
	box.put(1, 2)
	box.close()
	if batch, ok := box.take(t.Context(), 10, key); !ok || !slices.Equal(batch, []int{1, 2}) {
		t.Fatalf("took %v, %v from a closed inbox", batch, ok)
	}
	if batch, ok := box.take(t.Context(), 10, key); ok {
		t.Fatalf("took %v from an empty closed inbox", batch)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if batch, ok := newInbox[int]().take(ctx, 10, key); ok {
		t.Fatalf("took %v though the context had ended", batch)
	}
}

// BenchmarkInbox100k empties an inbox of 100,000 in batches of a hundred, as when
// that many jobs fall due together. One operation is one batch.
func BenchmarkInbox100k(b *testing.B) {
	type fire struct {
		job     string
		ballast [20]int64
	}
	fires := make([]fire, 100_000)
	for i := range fires {
		fires[i].job = fmt.Sprint("job-", i)
	}
	box := newInbox[fire]()
	b.ReportAllocs()
	for b.Loop() {
		if box.len() == 0 {
			b.StopTimer()
			box.put(fires...)
			b.StartTimer()
		}
		box.distinct(100, func(f *fire) string { return f.job })
	}
}
