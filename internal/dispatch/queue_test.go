package dispatch

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Each item is taken once, in the order of its key, in batches of different keys that are as full as possible.
func TestQueue_EqualsAList(t *testing.T) {
	type thing struct {
		key string
		n   int
	}
	rapid.Check(t, func(t *rapid.T) {
		q := queue[thing]{key: func(x *thing) string { return x.key }}
		var list []thing
		n := 0
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				for _, key := range rapid.SliceOfN(rapid.StringMatching("[a-e]"), 0, 12).Draw(t, "keys") {
					n++
					q.put(thing{key, n})
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
				if got := q.take(most); !slices.Equal(got, want) {
					t.Fatalf("took %v, want %v", got, want)
				}
			},
			"": func(t *rapid.T) {
				if q.len() != len(list) {
					t.Fatalf("%d wait, want %d", q.len(), len(list))
				}
			},
		})
	})
}

// BenchmarkQueue100k empties a queue of 100,000 in batches of a hundred, as when
// that many jobs fall due together. One operation is one batch.
func BenchmarkQueue100k(b *testing.B) {
	type fire struct {
		job     string
		ballast [20]int64
	}
	fires := make([]fire, 100_000)
	for i := range fires {
		fires[i].job = fmt.Sprint("job-", i)
	}
	q := queue[fire]{key: func(f *fire) string { return f.job }}
	b.ReportAllocs()
	for b.Loop() {
		if q.len() == 0 {
			b.StopTimer()
			q.put(fires...)
			b.StartTimer()
		}
		q.take(100)
	}
}
