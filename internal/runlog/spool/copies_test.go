package spool

import (
	"os"
	"path/filepath"
	"testing"

	"carillon/internal/common"
)

// The files in testdata/copies were written by the last version with copies, which was killed: output of the runs a
// and b is in the queue, that of c and d in the two files beside it.
func TestOpen_FilesOfEarlierVersion_OutputIsReturned(t *testing.T) {
	earlier := os.DirFS(filepath.Join("testdata", "copies"))
	queued := []common.Chunk{output("a", 10, 20), output("b", 1, 5)}
	first := []common.Chunk{output("c", 0, 30), output("c", 30, 7)}
	second := []common.Chunk{output("d", 0, 4)}
	for name, test := range map[string]struct {
		edit map[string]func(data []byte) []byte
		want [][]common.Chunk
	}{
		"both in use": {
			want: [][]common.Chunk{queued, first, second},
		},
		"released": {
			edit: map[string]func([]byte) []byte{
				"copies0": func([]byte) []byte { return nil },
				"copies1": func(data []byte) []byte { return data[:header] },
			},
			want: [][]common.Chunk{queued},
		},
		"torn": {
			edit: map[string]func([]byte) []byte{
				"copies0": func(data []byte) []byte { return data[:len(data)-1] },
				"copies1": func(data []byte) []byte { return data[:header+2] },
			},
			want: [][]common.Chunk{queued, first[:1]},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, want := t.TempDir(), []common.Chunk(nil)
			if err := os.CopyFS(filepath.Join(dir, "spool"), earlier); err != nil {
				t.Fatal(err)
			}
			for file, edit := range test.edit {
				change(t, filepath.Join(dir, "spool", file), edit)
			}
			for _, part := range test.want {
				want = append(want, part...)
			}
			s := start(t, config(dir, 1<<30, 0))
			later := output("e", 0, 10)
			appendAll(t, s, later)
			if left := outFiles(t, dir, "copies*"); len(left) > 0 {
				t.Errorf("%v are left", left)
			}
			if err := s.Close(); err != nil { // the adopted output is not adopted again
				t.Fatal(err)
			}
			same(t, drain(t, start(t, config(dir, 1<<30, 0)), 1<<20), append(want, later))
		})
	}
}

// Output that an earlier version left may be in the log store: it is not recorded as missing.
func TestOpen_FilesOfEarlierVersion_CountAsSent(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "spool"), os.DirFS(filepath.Join("testdata", "copies"))); err != nil {
		t.Fatal(err)
	}
	s := start(t, config(dir, 16<<10, 2048))
	for i := range 40 {
		appendAll(t, s, output("e", int64(i)*1000, 1000))
	}
	got := drain(t, s, 1<<20)
	same(t, got[:5], []common.Chunk{output("a", 10, 20), output("b", 1, 5), output("c", 0, 30), output("c", 30, 7),
		output("d", 0, 4)})
	if gap := got[5]; gap.Run != "e" || gap.Missing < 1000 {
		t.Errorf("after it comes\n%s", text(got[5:]))
	}
}
