package common

import "testing"

func TestCount_UsesTheSingularForOneOnly(t *testing.T) {
	for n, want := range map[int]string{0: "0 entries are", 1: "1 entry is", 2: "2 entries are", 11: "11 entries are"} {
		if got := Count(n, "entry is", "entries are"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
