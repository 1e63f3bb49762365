package entry_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
)

func TestNanos(t *testing.T) {
	for _, c := range []struct {
		at   time.Time
		want int64
	}{
		{time.Time{}, math.MinInt64},
		{time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC), math.MinInt64},
		{time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC), math.MaxInt64},
		{time.Unix(0, 0), 0},
		{time.Unix(-1, 999_999_999), -1},
		{time.Unix(1_770_000_000, 123_456_789), 1_770_000_000_123_456_789},
	} {
		if got := entry.Nanos(c.at); got != c.want {
			t.Errorf("%v: got %d, want %d", c.at, got, c.want)
		}
	}
	for _, at := range []time.Time{{}, time.Unix(1_770_000_000, 123_456_789), time.Unix(-5, 1)} {
		if got := entry.Time(entry.Nanos(at)); !got.Equal(at) {
			t.Errorf("%v came back as %v", at, got)
		}
	}
}

func TestStatuses(t *testing.T) {
	for _, c := range []struct {
		asked, want []common.Status
		narrowed    bool
	}{
		{nil, nil, false},
		{[]common.Status{"running", "no such"}, nil, true},
		{[]common.Status{"lost", "failed", "lost", "waiting"}, []common.Status{"failed", "lost"}, true},
	} {
		got, narrowed := entry.Statuses(&runlog.Query{Statuses: c.asked})
		if !slices.Equal(got, c.want) || narrowed != c.narrowed {
			t.Errorf("%v: got %v, %v", c.asked, got, narrowed)
		}
	}
}

func TestBudget_BoundsPage(t *testing.T) {
	for _, c := range []struct {
		limit int
		sizes []int
		want  int
	}{
		{10, []int{4, 6, 1}, 2},
		{10, []int{11, 1}, 1},
		{0, []int{5, 0}, 1},
		{0, []int{0, 0, 1, 0}, 2},
		{-1, []int{0, 0}, 1},
	} {
		b, taken := entry.Budget{Limit: c.limit}, 0
		for _, n := range c.sizes {
			if !b.Take(&common.Chunk{Data: make([]byte, n)}) {
				break
			}
			taken++
		}
		if taken != c.want {
			t.Errorf("limit %d, sizes %v: %d taken, want %d", c.limit, c.sizes, taken, c.want)
		}
	}
}
