package common

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestParamFaults(t *testing.T) {
	job := &Job{Name: "a", Command: "true", Params: map[string]Param{
		"DAY":    {Default: "1", Pattern: `\d+`},
		"ANY":    {},
		"EITHER": {Default: "a", Pattern: `a|ab|b\nc`},
		"LINE":   {Default: "x", Pattern: `(?m)^x$`},
		"BROKEN": {Pattern: "("}, // as a newer version may have stored it
		"PATH":   {},
		"A1":     {}, "A2": {}, "A3": {},
	}}
	huge := strings.Repeat("x", MaxParam)
	for _, c := range []struct {
		name  string
		given map[string]string
		want  []string
	}{
		{"none", nil, nil},
		{"good", map[string]string{"DAY": "42", "ANY": "a b\nc 备份", "EITHER": "ab"}, nil},
		{"empty", map[string]string{"ANY": "", "DAY": ""}, []string{"params.DAY pattern"}},
		{"not in full", map[string]string{"DAY": "42; rm"}, []string{"params.DAY pattern"}},
		{"its middle", map[string]string{"DAY": "x42"}, []string{"params.DAY pattern"}},
		{"a line break at the end", map[string]string{"DAY": "42\n"}, []string{"params.DAY pattern"}},
		{"one line of two", map[string]string{"LINE": "x\nrm"}, []string{"params.LINE pattern"}},
		{"several lines", map[string]string{"EITHER": "b\nc"}, nil},
		{"unknown", map[string]string{"DAYS": "1", "day": "1"}, []string{"params.DAYS unknown", "params.day unknown"}},
		{"one that decides what runs", map[string]string{"PATH": "/tmp"}, []string{"params.PATH unknown"}},
		{"pattern that cannot be read", map[string]string{"BROKEN": "("}, []string{"params.BROKEN pattern"}},
		{"NUL and bad UTF-8", map[string]string{"ANY": "\x00", "DAY": "\xff"},
			[]string{"params.ANY nul", "params.DAY utf8"}},
		{"at its bound", map[string]string{"ANY": huge}, nil},
		{"too long", map[string]string{"ANY": huge + "x"}, []string{"params.ANY too_long"}},
		{"too large together", map[string]string{"ANY": huge, "A1": huge, "A2": huge, "A3": huge},
			[]string{"params too_large"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, f := range job.ParamFaults(c.given) {
				got = append(got, f.Location+" "+f.Code)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("faults %q, want %q", got, c.want)
			}
		})
	}
}

func TestParamValues(t *testing.T) {
	job := &Job{Params: map[string]Param{"A": {Default: "1"}, "B": {}, "C": {Default: "3"}}}
	given := map[string]string{"A": "", "B": "two", "UNKNOWN": "x"}
	if got := job.ParamValues(given); !maps.Equal(got, map[string]string{"A": "", "B": "two", "C": "3"}) {
		t.Errorf("values %q", got)
	}
	if got := job.ParamValues(nil); !maps.Equal(got, map[string]string{"A": "1", "B": "", "C": "3"}) {
		t.Errorf("values %q with nothing given", got)
	}
	if got := (&Job{}).ParamValues(given); len(got) != 0 {
		t.Errorf("values %q of a job without parameters", got)
	}
}

func TestWithoutRemoved_LeavesOutWhatIsInheritedOnly(t *testing.T) {
	job := &Job{Params: map[string]Param{"A": {}}}
	given := map[string]string{"A": "1", "OLD": "2", "ASKED": "3"}
	values, dropped := job.WithoutRemoved(given, []string{"OLD", "A"})
	if !maps.Equal(values, map[string]string{"A": "1", "ASKED": "3"}) || !slices.Equal(dropped, []string{"OLD"}) {
		t.Errorf("%v without %v", values, dropped)
	}
	if len(given) != 3 {
		t.Errorf("the given values are changed: %v", given)
	}
}
