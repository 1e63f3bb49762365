package common

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"extract", "load-data", "transform", "x", "ab"}
	for name, want := range map[string]string{
		"load_data": "load-data", "LoadData": "load-data", "loaddat": "load-data", "extarct": "extract",
		"extract":  "extract",
		"tranform": "transform", "publish": "", "y": "", "ac": "ab", "cd": "", "": "", "X": "x",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
