package rollup

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"carillon/internal/common"
)

func anyRun(t *rapid.T) common.Run {
	planned := time.Unix(1_790_000_000, 0).UTC()
	started := planned.Add(time.Duration(rapid.Int64Range(-1e6, 1e11).Draw(t, "delay")))
	ended := started.Add(time.Duration(rapid.Int64Range(0, 1e14).Draw(t, "duration")))
	run := common.Run{
		PlannedAt: planned,
		StartedAt: &started,
		EndedAt:   &ended,
		Attempt:   rapid.IntRange(0, 2).Draw(t, "attempt"),
		Status:    rapid.SampledFrom(common.Statuses[2:]).Draw(t, "status"),
		Cause:     rapid.SampledFrom(common.Causes[:]).Draw(t, "cause"),
	}
	if rapid.Bool().Draw(t, "measured") {
		run.CPUSeconds, run.WrittenBytes = rapid.Float64Range(0, 1e6).Draw(t, "cpu"), rapid.Int64().Draw(t, "written")
	}
	if rapid.Bool().Draw(t, "gap") {
		run.Gap = &common.Gap{Count: rapid.Int64Range(0, 500).Draw(t, "count")}
	}
	return run
}

// For any distribution of runs among cells, merged and stored, the sum is the same.
func TestMergingIsAdding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := rapid.SliceOfN(rapid.Custom(anyRun), 0, 50).Draw(t, "runs")
		cut := rapid.IntRange(0, len(runs)).Draw(t, "cut")
		var whole, first, second, merged, stored Cell
		for i := range runs {
			whole.Add(&runs[i])
			if i < cut {
				first.Add(&runs[i])
			} else {
				second.Add(&runs[i])
			}
		}
		merged.Merge(&first)
		merged.Merge(&second)
		for _, part := range []*Cell{&first, &second} {
			if err := stored.AddEncoded(part.Encode()); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(whole.Runs, merged.Runs) || whole.Duration.Quantile(.5) != merged.Duration.Quantile(.5) ||
			whole.Cost != merged.Cost || whole.Cost != stored.Cost ||
			!reflect.DeepEqual(whole.Runs, stored.Runs) || whole.Delay.Count != stored.Delay.Count ||
			whole.Duration.Quantile(.95).Truncate(time.Microsecond) != stored.Duration.Quantile(.95).
				Truncate(time.Microsecond) {
			t.Fatalf("whole %+v, merged %+v, stored %+v", whole, merged, stored)
		}
	})
}

func TestQuantilesAreNearTheTrueOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 1e14), 1, 200).Draw(t, "nanoseconds")
		var h Histogram
		for _, v := range values {
			h.Add(time.Duration(v))
		}
		slices.Sort(values)
		for _, q := range []float64{0, .5, .95, .99} {
			want := time.Duration(values[int(q*float64(len(values)))])
			got := h.Quantile(q)
			if diff := (got - want).Abs(); diff > want*7/100+time.Microsecond {
				t.Fatalf("quantile %v of %v is %v, want about %v", q, values, got, want)
			}
		}
	})
}

func TestCutOffIsAnError(t *testing.T) {
	var c Cell
	run := common.Run{Status: common.StatusSucceeded, StartedAt: new(time.Unix(1, 0)), EndedAt: new(time.Unix(3, 0))}
	c.Add(&run)
	data := c.Encode()
	for n := range data {
		var into Cell
		if err := into.AddEncoded(data[:n]); err == nil {
			t.Errorf("%d of %d bytes were taken", n, len(data))
		}
	}
	if c.Of(common.StatusSucceeded) != 1 || c.Total() != 1 || c.Duration.Max != 2*time.Second {
		t.Errorf("counted %+v", c)
	}
}

// withCost returns a cell that counts one run of a node, and its cost.
func withCost(t *testing.T) Cell {
	t.Helper()
	var c Cell
	c.Add(&common.Run{Status: common.StatusSucceeded, StartedAt: new(time.Unix(1, 0)), EndedAt: new(time.Unix(3, 0)),
		CPUSeconds: 1.25, MaxRSSBytes: 1 << 33, ReadBytes: 7, WrittenBytes: 1 << 50})
	if want := (Cost{CPU: 1250 * time.Millisecond, Memory: 1 << 33, Read: 7, Written: 1 << 50}); c.Cost != want {
		t.Fatalf("cost %+v, want %+v", c.Cost, want)
	}
	return c
}

// A version that does not know costs reads a cell up to them, and its cells have none.
func TestCost_OlderVersions(t *testing.T) {
	c := withCost(t)
	data := c.Encode()
	older := c
	older.Cost = Cost{}
	cost := len(c.Cost.append(nil))
	var into Cell
	if err := into.AddEncoded(data[:len(data)-cost]); err != nil || !into.SameCounts(&c) || into.Cost != (Cost{}) {
		t.Errorf("up to the cost: %+v, %v", into, err)
	}
	if err := into.AddEncoded(older.Encode()); err != nil || into.Total() != 2 || into.Cost != (Cost{}) {
		t.Errorf("with a cell of an older version: %+v, %v", into, err)
	}
	if err := into.AddEncoded(append(data, 1, 2, 3)); err != nil || into.Total() != 3 || into.Cost != c.Cost {
		t.Errorf("with a cell of a later version: %+v, %v", into, err)
	}
	for n := len(data) - cost + 1; n < len(data); n++ {
		if err := new(Cell).AddEncoded(data[:n]); err == nil {
			t.Errorf("%d of %d bytes were taken", n, len(data))
		}
	}
}

// Invalid figures, and sums that are too large, stay in range.
func TestCost_Bounds(t *testing.T) {
	c := withCost(t)
	before := c.Cost
	c.Add(&common.Run{CPUSeconds: -1, MaxRSSBytes: -1, ReadBytes: -1, WrittenBytes: -1})
	if c.Cost != before {
		t.Errorf("negative figures count: %+v", c.Cost)
	}
	for range 20 {
		c.Add(&common.Run{CPUSeconds: math.MaxFloat64, ReadBytes: math.MaxInt64})
	}
	if c.Cost.CPU <= before.CPU || c.Cost.Read != math.MaxInt64 {
		t.Errorf("large figures: %+v", c.Cost)
	}
	var stored Cell
	if err := stored.AddEncoded(c.Encode()); err != nil || stored.Cost.Read != c.Cost.Read ||
		stored.Cost.CPU != c.Cost.CPU.Truncate(time.Microsecond) {
		t.Errorf("stored as %+v, %v", stored.Cost, err)
	}
}
