package executor_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor/inside"
)

// A run that lasts has its start in the output, before its outcome; a short one does not need it.
func TestOutput_OfALongRun_RecordsItsStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	out, wait := background(t, ctx, newExecutor(t), shell("echo; exec sleep 300"))
	out.await()
	deadline := time.After(patience)
	for out.started() == nil {
		select {
		case <-deadline:
			t.Fatal("its start is not recorded")
		case <-time.After(10 * time.Millisecond):
		}
	}
	cancel(inside.Killed{By: "ann"})
	if got := wait(); got.StartedAt == nil || !slices.Equal(out.started(), []time.Time{*got.StartedAt}) {
		t.Errorf("started at %v, recorded %v", got.StartedAt, out.started())
	}
	short, out := run(t, shell("echo"))
	if short.EndedAt.Sub(*short.StartedAt) < time.Second && out.started() != nil {
		t.Errorf("the start of a short run is recorded: %v", out.started())
	}
}

func TestOutputStreams_AreDistinguished(t *testing.T) {
	got, out := run(t, shell("echo out; echo err >&2; echo out again"))
	if out.text(common.Stdout) != "out\nout again\n" || out.text(common.Stderr) != "err\n" {
		t.Errorf("stdout %q, stderr %q", out.text(common.Stdout), out.text(common.Stderr))
	}
	if got.OutputBytes != 18 || got.OutputTruncated {
		t.Errorf("%d bytes, truncated %v", got.OutputBytes, got.OutputTruncated)
	}
}

func TestOutput_BinaryBytes_AreUnchanged(t *testing.T) {
	folder := t.TempDir()
	got, out := run(t, newTask(common.Job{Command: "head -c 1000000 /dev/urandom | tee kept", WorkDir: folder}))
	want, err := os.ReadFile(filepath.Join(folder, "kept"))
	if err != nil {
		t.Fatal(err)
	}
	if out.text() != string(want) || got.OutputBytes != 1_000_000 {
		t.Errorf("%d of %d bytes came back, or others", len(out.text()), len(want))
	}
}

// numbers is what `seq 1 n` prints.
func numbers(n int) []byte {
	var b []byte
	for i := range n {
		b = append(strconv.AppendInt(b, int64(i+1), 10), '\n')
	}
	return b
}

func TestOutputLimit_KeepsHeadAndTail(t *testing.T) {
	for name, c := range map[string]struct {
		limit      common.Size
		lines      int
		head, tail int
	}{
		"default":      {"", 3_000_000, 15 << 20, 1 << 20},
		"small":        {"4KiB", 100_000, 2 << 10, 2 << 10},
		"odd":          {"4097B", 100_000, 2049, 2048},
		"not reached":  {"1MiB", 100_000, -1, 0},
		"in the tail":  {"1100KiB", 165_000, -1, 0}, // between head and cap
		"large":        {"3MiB", 1_000_000, 2 << 20, 1 << 20},
		"nothing kept": {"0B", 1000, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			job := common.Job{Args: []string{"seq", "1", strconv.Itoa(c.lines)}}
			if c.limit != "" {
				job.Output = &common.OutputPolicy{Max: c.limit}
			}
			got, out := run(t, newTask(job))
			expect(t, got, common.StatusSucceeded, "")
			all := numbers(c.lines)
			if got.OutputBytes != int64(len(all)) {
				t.Fatalf("%d bytes counted, %d printed", got.OutputBytes, len(all))
			}
			want, gaps := all, 0
			if c.head >= 0 {
				want, gaps = append(bytes.Clone(all[:c.head]), all[len(all)-c.tail:]...), 1
			}
			if out.text() != string(want) {
				t.Errorf("kept %d bytes, want %d, or others", len(out.text()), len(want))
			}
			missing := 0
			for _, chunk := range out.chunks {
				if chunk.Missing > 0 {
					missing++
					if chunk.Offset != int64(c.head) || chunk.Missing != int64(len(all)-len(want)) ||
						chunk.Stream != "" {
						t.Errorf("missing: %+v", chunk)
					}
				}
			}
			if missing != gaps || got.OutputTruncated != (gaps == 1) || out.next != got.OutputBytes {
				t.Errorf("%d gaps, truncated %v, ends at %d", missing, got.OutputTruncated, out.next)
			}
		})
	}
}

type discard struct{}

func (discard) Chunk(common.Chunk) {}

// weigher is an Output that keeps nothing, and looks what is kept elsewhere when the
// tail is about to come.
type weigher struct{ held uint64 }

func (w *weigher) Chunk(c common.Chunk) {
	if c.Missing > 0 {
		w.held = heap()
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestFloodIsBoundedInMemory(t *testing.T) {
	x := newExecutor(t)
	task := newTask(common.Job{
		Command: "head -c 100000000 /dev/zero; head -c 100000000 /dev/zero >&2",
		Output:  &common.OutputPolicy{Max: "4MiB"},
	})
	var w weigher
	before := heap()
	got := x.Run(t.Context(), task, &w)
	if got.OutputBytes != 200_000_000 || !got.OutputTruncated {
		t.Errorf("%d bytes, truncated %v", got.OutputBytes, got.OutputTruncated)
	}
	if w.held == 0 || w.held > before+3<<20 {
		t.Errorf("%d bytes held before the run, %d with the tail", before, w.held)
	}
}
