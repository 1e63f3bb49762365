package conformance

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// pieces returns the outputs of some runs: small chunks of both streams, full ones, long and short gaps that
// are recorded, and one that is not.
func pieces() map[string][]common.Chunk {
	random := rand.New(rand.NewPCG(1, 2))
	outputs := map[string][]common.Chunk{}
	for run, sizes := range map[string][]int{ // negative: missing
		"u1.1":   {1, 5, 70, 3, -10, 4, -1, -2, 6, 9, 1, 1, 1},
		"u1.10":  {common.MaxChunk, 7, -1 << 30, 1, common.MaxChunk, -(common.MaxChunk + 1), 10},
		"u1.1/x": {3, 3, 3},
		"u1.1!":  {-4, 4, -4},
		"u1":     {8},
	} {
		var offset int64
		if len(sizes)%2 == 1 && sizes[0] > 0 {
			outputs[run] = append(outputs[run], common.StartChunk(run, base.Add(-1)))
		}
		for i, n := range sizes {
			c := common.Chunk{Run: run, Offset: offset, At: base, Stream: common.Stdout}
			if i%3 == 2 {
				c.Stream = common.Stderr
			}
			if n < 0 {
				c.Missing, c.Stream = int64(-n), ""
			} else {
				c.Data = make([]byte, n)
				for i := range c.Data {
					c.Data[i] = byte(random.Uint32()) // any byte: output need not be text
				}
			}
			outputs[run] = append(outputs[run], c)
			offset = c.End()
			if i == 5 {
				offset += 3 // missing without a record
			}
		}
	}
	return outputs
}

// naiveOutput answers by a scan of all chunks.
func naiveOutput(all []common.Chunk, offset int64, limit int) []common.Chunk {
	var found []common.Chunk
	used := 0
	for _, c := range all {
		if c.End() <= offset {
			continue
		}
		if len(found) > 0 && used+len(c.Data) > limit {
			break
		}
		used += len(c.Data)
		found = append(found, c)
	}
	return found
}

func outputPieces(t *testing.T, s Store, _ Size) {
	outputs := pieces()
	for _, chunks := range outputs {
		mixed := slices.Clone(chunks)
		rand.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		write(t, s, runlog.Batch{Chunks: mixed})
	}
	runs := []string{"u1", "u1.1", "u1.1!", "u1.1/x", "u1.10"}
	ctx := t.Context()
	check := func(t rapid.TB, run string, offset int64, limit int) {
		got, err := s.Output(ctx, run, offset, limit)
		if err != nil {
			t.Fatalf("output of %s from %d, %d bytes: %v", run, offset, limit, err)
		}
		if want := naiveOutput(outputs[run], offset, limit); !slices.EqualFunc(got, want, sameChunk) {
			t.Fatalf("output of %s from %d, %d bytes:\ngot  %v\nwant %v", run, offset, limit, places(got), places(want))
		}
	}
	for _, run := range runs {
		for _, offset := range []int64{-1 << 63, -1, 0, 1, 1 << 31, 1<<63 - 1} {
			check(t, run, offset, 1<<30)
			check(t, run, offset, 0)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		run := rapid.SampledFrom(runs).Draw(t, "run")
		edge := rapid.SampledFrom(outputs[run]).Draw(t, "chunk")
		check(t, run, edge.Offset+rapid.Int64Range(-2, 2).Draw(t, "beside"),
			rapid.SampledFrom([]int{-1, 0, 1, 7, 80, common.MaxChunk, 2 * common.MaxChunk, 1 << 30}).Draw(t, "limit"))
	})
}

func sameChunk(a, b common.Chunk) bool {
	return a.Run == b.Run && a.Offset == b.Offset && a.Stream == b.Stream && a.At.Equal(b.At) &&
		a.Missing == b.Missing && bytes.Equal(a.Data, b.Data)
}

func places(chunks []common.Chunk) (list [][3]int64) {
	for _, c := range chunks {
		list = append(list, [3]int64{c.Offset, int64(len(c.Data)), c.Missing})
	}
	return list
}

func bigOutput(t *testing.T, s Store, size Size) {
	const total = 16 << 20
	limit := size.pick(1<<20, total)
	printed := make([]byte, total)
	random := rand.New(rand.NewPCG(3, 4))
	for i := 0; i < total; i += 8 {
		printed[i] = byte(random.Uint32())
	}
	var b runlog.Batch
	for i := 0; i < total; i += common.MaxChunk {
		b.Chunks = append(b.Chunks, common.Chunk{Run: "u1.1", Offset: int64(i), Stream: common.Stdout, At: base,
			Data: printed[i : i+common.MaxChunk]})
	}
	write(t, s, b)

	var read []byte
	for len(read) < total {
		chunks, err := s.Output(t.Context(), "u1.1", int64(len(read)), limit)
		if err != nil {
			t.Fatal(err)
		}
		if want := limit / common.MaxChunk; len(chunks) != want {
			t.Fatalf("%d chunks, want %d", len(chunks), want)
		}
		for _, c := range chunks {
			read = append(read, c.Data...)
		}
	}
	if !bytes.Equal(read, printed) {
		t.Fatal("the output that was read is not the output that was written")
	}
	chunks, err := s.Output(t.Context(), "u1.1", total-10, limit)
	if err != nil || len(chunks) != 1 || chunks[0].Offset != total-common.MaxChunk {
		t.Fatalf("the end: %v, %v", places(chunks), err)
	}
}
