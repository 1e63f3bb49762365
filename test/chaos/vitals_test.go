package main

import (
	"strings"
	"testing"
)

func TestVitals_Differences(t *testing.T) {
	before := map[string]vitals{"w": {Jobs: 2, Goroutines: 60, Files: 20, Memory: 30 << 20}}
	for name, c := range map[string]struct {
		after vitals
		want  string
	}{
		"as before":       {vitals{Jobs: 2, Goroutines: 60, Files: 20, Memory: 30 << 20}, ""},
		"a little more":   {vitals{Jobs: 2, Goroutines: 70, Files: 25, Memory: 60 << 20}, ""},
		"less":            {vitals{Jobs: 2, Goroutines: 30, Files: 10, Memory: 10 << 20}, ""},
		"a job forgotten": {vitals{Jobs: 1, Goroutines: 60, Files: 20, Memory: 30 << 20}, "plans 1 jobs of 2"},
		"goroutines":      {vitals{Jobs: 2, Goroutines: 160, Files: 20, Memory: 30 << 20}, "goroutines"},
		"files":           {vitals{Jobs: 2, Goroutines: 60, Files: 90, Memory: 30 << 20}, "open files"},
		"memory":          {vitals{Jobs: 2, Goroutines: 60, Files: 20, Memory: 130 << 20}, "MiB"},
	} {
		got := differences(before, map[string]vitals{"w": c.after}, 2)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestSamples_ParsesMetrics(t *testing.T) {
	got, err := samples(strings.NewReader("# HELP x y\n# TYPE x gauge\nx 3\nc{code=\"spool_full\"} 1\nbig 1.5e+06\n"))
	if err != nil || len(got) != 3 || got["x"] != 3 || got[`c{code="spool_full"}`] != 1 || got["big"] != 1.5e6 {
		t.Fatalf("%v, %v", got, err)
	}
}
