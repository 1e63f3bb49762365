package usage

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"carillon/internal/common"
	"carillon/internal/executor/proctree"
)

const second = time.Second

// reading returns a process that has used so much CPU time, and so much by children that it waited for.
func reading(pid, parent int, own, waited time.Duration, written int64) Reading {
	return Reading{Written: written, Known: true, Process: proctree.Process{PID: pid, Parent: parent,
		Start: uint64(pid), CPU: own, Waited: waited, Memory: 1000}}
}

func TestTree(t *testing.T) {
	type step struct {
		now     []Reading
		cpu     time.Duration
		written int64
		alive   int
	}
	other := reading(20, 10, 0, 0, 0)
	other.Start = 999
	dead := reading(10, 1, second, 5*second, 70)
	dead.Dead = true
	unread := reading(10, 1, 2*second, 0, 0)
	unread.Known = false
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"a child that its parent waited for counts once", []step{
			{[]Reading{reading(10, 1, second, 0, 10), reading(20, 10, 4*second, 0, 50)}, 5 * second, 60, 2},
			{[]Reading{reading(10, 1, second, 5*second, 70)}, 6 * second, 70, 1},
			{[]Reading{dead}, 6 * second, 70, 0},
		}},
		{"a child that nothing waited for stays", []step{
			{[]Reading{reading(10, 1, second, 0, 10), reading(20, 10, 4*second, 0, 50)}, 5 * second, 60, 2},
			{[]Reading{reading(10, 1, 2*second, 0, 10)}, 6 * second, 60, 1},
			{[]Reading{reading(10, 1, 3*second, 0, 20)}, 7 * second, 70, 1},
		}},
		{"an orphan that was reaped elsewhere stays", []step{
			{[]Reading{reading(10, 1, second, 0, 0), reading(30, 1, 4*second, 2*second, 5)}, 7 * second, 5, 2},
			{[]Reading{reading(10, 1, second, 0, 0)}, 7 * second, 5, 1},
		}},
		{"a grandchild with its parent, both waited for", []step{
			{[]Reading{reading(10, 1, 0, 0, 0), reading(20, 10, second, 0, 1), reading(30, 20, 2*second, 0, 1)},
				3 * second, 2, 3},
			{[]Reading{reading(10, 1, 0, 4*second, 3)}, 4 * second, 3, 1},
		}},
		{"one of two children waited for", []step{
			{[]Reading{reading(10, 1, 0, 0, 0), reading(20, 10, second, 0, 3), reading(30, 10, 2*second, 0, 4)},
				3 * second, 7, 3},
			{[]Reading{reading(10, 1, 0, second, 3)}, 3 * second, 7, 1},
		}},
		{"a process id that was reused", []step{
			{[]Reading{reading(10, 1, 0, 0, 0), reading(20, 10, second, 0, 1)}, second, 1, 2},
			{[]Reading{reading(10, 1, 0, 0, 0), other}, second, 1, 2},
		}},
		{"a process that is read twice", []step{
			{[]Reading{reading(10, 1, second, 0, 1), reading(10, 1, second, 0, 1)}, second, 1, 1},
		}},
		{"a process that ended while it was read", []step{
			{[]Reading{reading(10, 1, second, 0, 40)}, second, 40, 1},
			{[]Reading{unread}, 2 * second, 40, 1},
			{[]Reading{reading(10, 1, 3*second, 0, 50)}, 3 * second, 50, 1},
		}},
		{"nothing any more", []step{
			{[]Reading{reading(10, 1, second, 0, 1)}, second, 1, 1},
			{nil, second, 1, 0},
		}},
	} {
		var tree Tree
		for i, s := range c.steps {
			want := Totals{CPU: s.cpu, Written: s.written, Memory: int64(s.alive) * 1000, Processes: s.alive}
			if got := tree.Add(s.now); got != want {
				t.Errorf("%s, step %d: %+v, want %+v", c.name, i, got, want)
			}
		}
	}
}

// Whatever is read, cumulative figures do not decrease.
func TestTree_NeverDecreases(t *testing.T) {
	some := rapid.Custom(func(t *rapid.T) Reading {
		d := func(name string) time.Duration { return time.Duration(rapid.Int64Range(0, 1e12).Draw(t, name)) }
		return reading(rapid.IntRange(1, 9).Draw(t, "pid"), rapid.IntRange(1, 9).Draw(t, "parent"), d("own"),
			d("waited"), rapid.Int64Range(0, 1e12).Draw(t, "written"))
	})
	rapid.Check(t, func(t *rapid.T) {
		var tree Tree
		var last Totals
		for range 10 {
			now := tree.Add(rapid.SliceOfN(some, 0, 6).Draw(t, "readings"))
			if now.CPU < last.CPU || now.Written < last.Written || now.Read < last.Read {
				t.Fatalf("%+v after %+v", now, last)
			}
			last = now
		}
	})
}

// However long a run lasts, its samples are bounded, in order, and cover its entire life; the newest are complete.
func TestSeries_IsBounded(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, life := range []time.Duration{3 * second, time.Minute, 10 * time.Minute, 2 * time.Hour,
		40 * 24 * time.Hour} {
		var s Series
		taken, age := 0, First
		for ; age < life; age += Every(age) {
			s.Add(common.UsageSample{At: start.Add(age), Processes: taken})
			taken++
		}
		got, interval := s.Samples()
		if len(got) > common.MaxUsageSamples || len(got) != taken && len(got) < common.MaxUsageSamples/3 {
			t.Errorf("life %v: %d samples of %d", life, len(got), taken)
		}
		if got[0].Processes != 0 || got[len(got)-1].Processes != taken-1 {
			t.Errorf("life %v: samples %d to %d of %d", life, got[0].Processes, got[len(got)-1].Processes, taken)
		}
		for i := 1; i < len(got); i++ {
			gap := got[i].At.Sub(got[i-1].At)
			if gap <= 0 || gap > 2*max(interval, coarse) {
				t.Errorf("life %v: gap of %v at %d, interval %v", life, gap, i, interval)
			}
			if i > len(got)-recent && got[i].Processes != got[i-1].Processes+1 {
				t.Errorf("life %v: the samples before %d are missing", life, got[i].Processes)
			}
		}
	}
	var none Series
	if got, _ := none.Samples(); !none.Empty() || len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// The last sample replaces one that was taken a moment before.
func TestSeries_End(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for after, want := range map[time.Duration]int{100 * time.Millisecond: 2, second: 3} {
		var s Series
		s.Add(common.UsageSample{At: start})
		s.Add(common.UsageSample{At: start.Add(2 * second)})
		end := common.UsageSample{At: start.Add(2*second + after), CPUSeconds: 1}
		s.End(end)
		if got, _ := s.Samples(); len(got) != want || got[len(got)-1] != end {
			t.Errorf("%v later: %+v", after, got)
		}
	}
}
