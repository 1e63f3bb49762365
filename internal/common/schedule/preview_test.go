package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func codes(notes []Note) []string {
	var out []string
	for _, n := range notes {
		out = append(out, n.Code)
	}
	return out
}

func TestPreviewNotes(t *testing.T) {
	spring, autumn := "2026-03-07T12:00:00-05:00", "2026-10-31T12:00:00-04:00"
	for _, c := range []struct {
		expr, zone string
		rules      Rules
		from       string
		n          int
		want       []string
		at, text   string // of the last note
	}{
		{"30 2 * * *", "America/New_York", Rules{}, spring, 3, []string{NoteGapRun}, "2026-03-08T03:00:00-04:00",
			"2026-03-08 02:30:00 in America/New_York does not exist: it fires at 2026-03-08 03:00:00"},
		{"30 2 * * *", "America/New_York", Rules{Gap: GapSkip}, spring, 3, []string{NoteGapSkip},
			"2026-03-08T03:00:00-04:00", "does not fire"},
		{"0 * * * *", "America/New_York", Rules{}, spring, 30, []string{NoteRealTime}, "2026-03-08T03:00:00-04:00",
			"real time"},
		{"30 1 * * *", "America/New_York", Rules{}, autumn, 3, []string{NoteOverlapFirst}, "2026-11-01T01:30:00-04:00",
			"comes twice"},
		{"30 1 * * *", "America/New_York", Rules{Overlap: OverlapSecond}, autumn, 3, []string{NoteOverlapSecond},
			"2026-11-01T01:30:00-05:00", "second pass"},
		{"30 1 * * *", "America/New_York", Rules{Overlap: OverlapBoth}, autumn, 3, []string{NoteOverlapBoth},
			"2026-11-01T01:30:00-05:00", "both passes"},
		{"30 4 * * *", "America/New_York", Rules{}, spring, 3, nil, "", ""},
		{"0 9 * * *", "Pacific/Apia", Rules{}, "2011-12-28T12:00:00-10:00", 3, []string{NoteGapSkip},
			"2011-12-31T00:00:00+14:00", "2011-12-30 09:00:00"},
		{"0 0 13 * 5", "UTC", Rules{}, spring, 3, []string{NoteEither}, "", "either"},
		{"0 0 31 * *", "UTC", Rules{}, spring, 3, []string{NoteShortMonths}, "", "L is the last day"},
		{"0 0 29 2 *", "UTC", Rules{}, spring, 3, []string{NoteShortMonths}, "", ""},
		{"0 0 31 1,3 *", "UTC", Rules{}, spring, 3, nil, "", ""},
	} {
		s, err := NewInterner().Parse(Spec{Expr: c.expr, Zone: c.zone, Rules: c.rules})
		if err != nil {
			t.Fatal(err)
		}
		from, err := time.Parse(time.RFC3339, c.from)
		if err != nil {
			t.Fatal(err)
		}
		fires, notes := s.Preview(from, c.n)
		if len(fires) != c.n {
			t.Errorf("%s: %d fires", c.expr, len(fires))
		}
		if !slices.Equal(codes(notes), c.want) {
			t.Errorf("%s in %s: got %v, want %v", c.expr, c.zone, notes, c.want)
			continue
		}
		if len(notes) == 0 {
			continue
		}
		last := notes[len(notes)-1]
		if c.at != "" && last.At.Format(time.RFC3339) != c.at || !strings.Contains(last.Text, c.text) {
			t.Errorf("%s in %s: got %v, want %q at %s", c.expr, c.zone, last, c.text, c.at)
		}
	}
}

func TestPreviewIsBounded(t *testing.T) {
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if fires, _ := parse(t, "* * * * * * *", "UTC").Preview(from, 1<<40); len(fires) != maxPreview {
		t.Errorf("%d fires", len(fires))
	}
	if fires, _ := parse(t, "* * * * *", "UTC").Preview(from, -1); len(fires) != 0 {
		t.Errorf("%d fires", len(fires))
	}
	fires, notes := parse(t, "30 2 * 3 0", "America/New_York").Preview(from, 1000)
	if len(fires) < 300 || len(notes) < 50 || len(notes) > maxNotes {
		t.Errorf("%d fires, %d notes", len(fires), len(notes))
	}
	if fires, notes := (Schedule{}).Preview(from, 3); fires != nil || notes != nil {
		t.Error("the zero Schedule has a preview")
	}
}

func TestWarnings(t *testing.T) {
	for expr, want := range map[string][]string{
		"30 2 * * 1-5":     nil,
		"0 0 * MAR THU":    nil,
		"@daily":           nil,
		"@every 7m":        nil,
		"not a line":       nil,
		"*/15 * * * *":     nil,
		"*/7 * * * *":      {NoteUnevenStep},
		"* 2 * * *":        {NoteEveryMinute},
		"0 30 9 ? * 2-6 *": {NoteQuartzDays},
		"H 3 * * *":        {NoteHash},
		"H 3 * MAR THU":    {NoteHash},
	} {
		if got := codes(Warnings(Spec{Expr: expr, Name: "job"})); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", expr, got, want)
		}
	}
}
