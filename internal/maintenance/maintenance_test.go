package maintenance_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/maintenance"
)

var (
	noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) // a Wednesday
	shop = maintenance.Job{Group: "shop"}
)

func at(after time.Duration) *time.Time { return new(noon.Add(after)) }

func window(name string, d maintenance.WindowDefinition) maintenance.Window {
	d.Fill(noon)
	return maintenance.Window{Name: name, WindowDefinition: d}
}

// TestSet_Open shows which window affects a job, and from when until when.
func TestSet_Open(t *testing.T) {
	labelled := maintenance.Job{Group: "shop", Labels: maintenance.LabelsOf(map[string]string{"team": "data", "b": ""})}
	all := maintenance.WindowDefinition{From: at(0), To: at(time.Hour), Everything: true}
	groups := maintenance.WindowDefinition{From: at(0), To: at(time.Hour), Groups: []string{"shop"}}
	chosen := maintenance.WindowDefinition{From: at(0), To: at(time.Hour), Selector: "team=data,!c"}
	skips := maintenance.WindowDefinition{From: at(0), To: at(time.Minute), Everything: true, Policy: maintenance.Skip}
	nightly := maintenance.WindowDefinition{CronExpr: "0 12 * * WED", Timezone: "UTC", Duration: "2h", Everything: true}
	berlin := maintenance.WindowDefinition{CronExpr: "0 13 * * *", Timezone: "Europe/Berlin", Duration: "1h",
		Everything: true}
	workers := maintenance.WindowDefinition{From: at(0), To: at(time.Hour), Workers: []string{"w1"}}
	for _, c := range []struct {
		name    string
		job     maintenance.Job
		windows []maintenance.WindowDefinition
		after   time.Duration // of noon
		want    string
	}{
		{"before it begins", shop, []maintenance.WindowDefinition{all}, -1, ""},
		{"as it begins", shop, []maintenance.WindowDefinition{all}, 0, "w0 12:00 13:00"},
		{"until it ends", shop, []maintenance.WindowDefinition{all}, time.Hour - 1, "w0 12:00 13:00"},
		{"as it ends", shop, []maintenance.WindowDefinition{all}, time.Hour, ""},
		{"its group", shop, []maintenance.WindowDefinition{groups}, 0, "w0 12:00 13:00"},
		{"another group", maintenance.Job{Group: "shop2"}, []maintenance.WindowDefinition{groups}, 0, ""},
		{"its labels", labelled, []maintenance.WindowDefinition{chosen}, 0, "w0 12:00 13:00"},
		{"no labels", shop, []maintenance.WindowDefinition{chosen}, 0, ""},
		{"one for workers only", shop, []maintenance.WindowDefinition{workers}, 0, ""},
		{"skip goes before hold", shop, []maintenance.WindowDefinition{all, skips}, 0, "w1 12:00 12:01"},
		{"the later end", shop, []maintenance.WindowDefinition{skips, all, groups}, time.Minute, "w1 12:00 13:00"},
		{"recurring, as it begins", shop, []maintenance.WindowDefinition{nightly}, 0, "w0 12:00 14:00"},
		{"recurring, a week later", shop, []maintenance.WindowDefinition{nightly}, 7*24*time.Hour + time.Hour,
			"w0 12:00 14:00"},
		{"recurring, over", shop, []maintenance.WindowDefinition{nightly}, 2 * time.Hour, ""},
		{"recurring, another day", shop, []maintenance.WindowDefinition{nightly}, 24 * time.Hour, ""},
		{"in a zone", shop, []maintenance.WindowDefinition{berlin}, 30 * time.Minute, "w0 12:00 13:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var windows []maintenance.Window
			for i, d := range c.windows {
				windows = append(windows, window(fmt.Sprintf("w%d", i), d))
			}
			o, ok := maintenance.NewSet(windows).Open(c.job, noon.Add(c.after))
			got := ""
			if ok {
				got = fmt.Sprintf("%s %s %s", o.Window, o.Begin.UTC().Format("15:04"), o.End.UTC().Format("15:04"))
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestSet_Drains shows that a window drains the workers that it names, and no others.
func TestSet_Drains(t *testing.T) {
	set := maintenance.NewSet([]maintenance.Window{window("w", maintenance.WindowDefinition{From: at(0),
		To: at(time.Hour), Workers: []string{"east", "id-2"}})})
	for _, c := range []struct {
		life  common.Life
		after time.Duration
		want  bool
	}{
		{common.Life{Name: "east", Worker: "id-1"}, 0, true},
		{common.Life{Name: "west", Worker: "id-2"}, 0, true},
		{common.Life{Name: "west", Worker: "id-3"}, 0, false},
		{common.Life{Name: "east", Worker: "id-1"}, time.Hour, false},
	} {
		if _, got := set.Drains(c.life, noon.Add(c.after)); got != c.want {
			t.Errorf("%+v after %v: got %v", c.life, c.after, got)
		}
	}
}

// TestWindowDefinition_Faults shows what is refused.
func TestWindowDefinition_Faults(t *testing.T) {
	for _, c := range []struct {
		wrong string
		d     maintenance.WindowDefinition
	}{
		{"", maintenance.WindowDefinition{To: at(time.Hour), Everything: true}},
		{"", maintenance.WindowDefinition{CronExpr: "@daily", Duration: "1h", Groups: []string{"a", ""},
			Selector: "b=c"}},
		{"to", maintenance.WindowDefinition{Everything: true}},
		{"to", maintenance.WindowDefinition{From: at(time.Hour), To: at(time.Hour), Everything: true}},
		{"to", maintenance.WindowDefinition{To: at(367 * 24 * time.Hour), Everything: true}},
		{"everything", maintenance.WindowDefinition{To: at(time.Hour)}},
		{"everything", maintenance.WindowDefinition{To: at(time.Hour), Everything: true, Groups: []string{"a"}}},
		{"selector", maintenance.WindowDefinition{To: at(time.Hour), Selector: "a=="}},
		{"groups[0]", maintenance.WindowDefinition{To: at(time.Hour), Groups: []string{"A/b"}}},
		{"workers[1]", maintenance.WindowDefinition{To: at(time.Hour), Workers: []string{"a", ""}}},
		{"policy", maintenance.WindowDefinition{To: at(time.Hour), Everything: true, Policy: "wait"}},
		{"duration", maintenance.WindowDefinition{CronExpr: "@daily", Everything: true}},
		{"duration", maintenance.WindowDefinition{CronExpr: "@daily", Duration: "8d", Everything: true}},
		{"cronExpr", maintenance.WindowDefinition{CronExpr: "61 * * * *", Duration: "1h", Everything: true}},
		{"cronExpr", maintenance.WindowDefinition{CronExpr: "@every 3h", Duration: "1h", Everything: true}},
		{"cronExpr", maintenance.WindowDefinition{CronExpr: "@daily", Duration: "1h", To: at(1), Everything: true}},
		{"cronExpr", maintenance.WindowDefinition{To: at(time.Hour), Duration: "1h", Everything: true}},
		{"note", maintenance.WindowDefinition{To: at(time.Hour), Everything: true, Note: strings.Repeat("é", 501)}},
	} {
		c.d.Fill(noon)
		var got strings.Builder
		for _, f := range c.d.Faults() {
			got.WriteString(f.Location)
		}
		if got.String() != c.wrong {
			t.Errorf("%+v: faults at %q, want %q", c.d, got.String(), c.wrong)
		}
	}
}

// TestWindow_Openings lists the times at which a window is open: the present one first.
func TestWindow_Openings(t *testing.T) {
	w := window("w", maintenance.WindowDefinition{CronExpr: "0 11 * * *", Duration: "2h", Everything: true})
	var got []string
	for _, o := range w.Openings(noon, noon.Add(3*24*time.Hour), 3) {
		got = append(got, o.Begin.Format("02 15:04"))
	}
	if text := strings.Join(got, ", "); text != "04 11:00, 05 11:00, 06 11:00" {
		t.Error(text)
	}
	once := window("w", maintenance.WindowDefinition{From: at(time.Hour), To: at(2 * time.Hour), Everything: true})
	if got := once.Openings(noon, noon.Add(time.Hour), 3); len(got) != 0 {
		t.Error(got)
	}
	if got := once.Openings(noon, noon.Add(time.Hour+1), 3); len(got) != 1 {
		t.Error(got)
	}
}
