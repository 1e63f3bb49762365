package runs

import "testing"

func FuzzRange(f *testing.F) {
	for _, seed := range []string{`bytes=0-1`, `bytes=-0`, `bytes=18446744073709551616-`} {
		f.Add(seed, int64(10))
	}
	f.Fuzz(func(t *testing.T, text string, size int64) {
		if size < 0 {
			return
		}
		if from, to, ok := parseRange(text, size); ok && from < to && (from < 0 || to > size) {
			t.Errorf("Range %q of %d is %d to %d", text, size, from, to)
		}
	})
}
