package clock_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"carillon/internal/cluster/clock"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestJudge(t *testing.T) {
	const s = time.Second
	type votes = []time.Duration // how far the others are ahead of us
	for _, c := range []struct {
		name     string
		ahead    votes
		skew     time.Duration
		disagree bool
		stop     bool
		reason   string // part of the reason
	}{
		{"alone", nil, 0, false, false, ""},
		{"two that agree", votes{2 * s}, 0, false, false, ""},
		{"two, we are a little ahead", votes{-2 * s}, 2 * s, false, false, ""},
		{"two, the other is ahead", votes{5 * s}, 0, true, false, "v0 is 5s ahead of its own"},
		{"two, we are ahead", votes{-5 * s}, 5 * s, true, false, "v0 is 5s behind its own"},
		{"two, an hour apart: the lower one limits, none stops", votes{-time.Hour}, time.Hour, true, false,
			"v0 is 1h0m0s behind"},
		{"two, the other an hour ahead", votes{time.Hour}, 0, true, false, "v0 is 1h0m0s ahead"},
		{"three, one of the others is wrong", votes{s / 2, time.Hour}, -s / 2, false, false, ""},
		{"three, one of the others is wrong in the other direction", votes{s / 2, -time.Hour}, 0, false, false, ""},
		{"three, we are ahead", votes{-5 * s, -6 * s}, 5 * s, false, false, ""},
		{"three, we are just not off", votes{-10 * s, -11 * s}, 10 * s, false, false, ""},
		{"three, we are off", votes{-10*s - 1, -11 * s}, 10*s + 1, false, true, "10s ahead of the cluster's"},
		{"three, we are behind", votes{time.Minute, time.Minute}, -time.Minute, false, true,
			"1m0s behind the cluster's"},
		{"three, all apart", votes{time.Hour, -time.Hour}, 0, true, false, "the clocks disagree"},
		{"three, all apart and we are off", votes{time.Hour, 2 * time.Hour}, -time.Hour, true, true,
			"behind the cluster's"},
		{"four, two and two: the lower", votes{0, -time.Hour, -time.Hour}, time.Hour, true, true,
			"ahead of the cluster's"},
		{"four, two and two, we are the lower", votes{0, time.Hour, time.Hour}, 0, true, false, "the clocks disagree"},
		{"clocks beyond all bounds", votes{math.MinInt64, math.MinInt64}, math.MaxInt64, false, true, "ahead"},
		{"clocks at both ends", votes{math.MinInt64, math.MaxInt64}, 0, true, false, "disagree"},
	} {
		var given []clock.Vote
		for i, a := range c.ahead {
			given = append(given, clock.Vote{Who: fmt.Sprintf("v%d", i), Ahead: a, Age: clock.MaxAge})
		}
		given = append(given, clock.Vote{Who: "stale", Ahead: 24 * time.Hour, Age: clock.MaxAge + 1})
		got := clock.Judge(given)
		if got.Skew != c.skew || got.Disagree != c.disagree || got.Stop != c.stop || got.Votes != len(c.ahead)+1 {
			t.Errorf("%s: %+v", c.name, got)
		}
		if !strings.Contains(got.Reason, c.reason) || c.reason == "" && got.Reason != "" {
			t.Errorf("%s: reason %q", c.name, got.Reason)
		}
		if limit := got.Limit(noon); !limit.Equal(noon.Add(-c.skew).Add(2 * s)) {
			t.Errorf("%s: limit %v", c.name, limit)
		}
	}
	if limit := (clock.Verdict{}).Limit(noon); !limit.Equal(noon.Add(2 * s)) {
		t.Errorf("without a verdict: %v", limit)
	}
}

// While most clocks are correct, wrong ones, possibly including ours, neither move the cluster's clock out of the range
// of the correct ones, nor let this process claim more than two seconds after a correct clock.
func TestJudge_WrongMinority_DoesNotMoveTheClusterClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 12).Draw(t, "clocks")
		wild := rapid.IntRange(0, (n-1)/2).Draw(t, "wild")
		spread := time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(t, "spread"))
		clocks := make([]time.Duration, n) // their error
		for i := range clocks {
			most := spread
			if i < wild {
				most = 1000 * time.Hour
			}
			clocks[i] = time.Duration(rapid.Int64Range(-int64(most), int64(most)).Draw(t, "error"))
		}
		honest := clocks[wild:]
		us := rapid.IntRange(0, n-1).Draw(t, "us")
		var votes []clock.Vote
		for _, i := range rapid.Permutation(indices(n)).Draw(t, "order") {
			if i != us {
				votes = append(votes, clock.Vote{Who: fmt.Sprint(i), Ahead: clocks[i] - clocks[us]})
			}
		}
		before := slices.Clone(votes)
		v := clock.Judge(votes)
		if !slices.Equal(votes, before) {
			t.Fatal("the votes were changed")
		}
		cluster := clocks[us] - v.Skew
		if cluster < slices.Min(honest) || cluster > slices.Max(honest) {
			t.Fatalf("the cluster's clock is off by %v, the correct clocks by %v", cluster, honest)
		}
		limit := v.Limit(noon.Add(clocks[us])).Sub(noon)
		if limit > slices.Max(honest)+clock.Lead {
			t.Fatalf("claims up to %v, the correct clocks are off by %v", limit, honest)
		}
		if off := (clocks[us] - cluster).Abs() > clock.Off; v.Stop != off || v.Stop && v.Reason == "" {
			t.Fatalf("%+v", v)
		}
		if 2*spread <= clock.Lead && v.Disagree {
			t.Fatalf("most clocks agree: %+v of %v", v, clocks)
		}
	})
}

// Of two clocks the lower one limits claims, whichever is ours.
func TestJudge_TwoClocks_TheLowerOneLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ours, theirs := time.Duration(rapid.Int64Range(-1<<50, 1<<50).Draw(t, "ours")),
			time.Duration(rapid.Int64Range(-1<<50, 1<<50).Draw(t, "theirs"))
		v := clock.Judge([]clock.Vote{{Who: "other", Ahead: theirs - ours}})
		if limit := v.Limit(noon.Add(ours)); !limit.Equal(noon.Add(min(ours, theirs) + clock.Lead)) {
			t.Fatalf("claims up to %v", limit)
		}
		if apart := (ours - theirs).Abs() > clock.Lead; v.Disagree != apart || v.Stop {
			t.Fatalf("%+v", v)
		}
	})
}

func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
