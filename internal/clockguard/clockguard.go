// Package clockguard tells from the clocks of others what time it is in the cluster,
// and what a clock that is wrong may not do.
//
// It promises that, while most of the clocks are honest, whoever asks is let claim
// nothing later than Lead after an honest clock, and that a clock that jumps ahead counts only once it has
// proven itself (Trust). It is pure: clocks come in as votes and arguments.
package clockguard

import (
	"fmt"
	"math"
	"slices"
	"time"
)

const (
	// Lead is how far ahead of the cluster's clock a fire may be claimed, and how far
	// apart two clocks may be without disagreeing.
	Lead = 2 * time.Second
	// Off is how far a clock may be off the cluster's before its worker stops claiming.
	Off = 10 * time.Second
	// MaxAge is how old a vote may be that counts: six times the interval at which
	// registrations are written anew.
	MaxAge = 30 * time.Second
	// quorum is the number of votes, ours among them, of which the median is trusted.
	quorum = 3
)

// Vote is another party's clock as it was heard.
type Vote struct {
	Who   string
	Ahead time.Duration // of ours, now
	Age   time.Duration // since it was heard
}

// Verdict is what the votes say. The zero verdict is that of a clock that is alone.
type Verdict struct {
	Skew     time.Duration // how far our clock is ahead of the cluster's; negative: behind
	Votes    int           // that counted, ours among them
	Disagree bool          // the clocks are not of one mind; somebody should look at them
	Stop     bool          // ours is so far off that we must not claim
	Reason   string        // why Disagree or Stop, for people; it names who is apart from us
	Belief   Belief        // whether our clock is where its own past says
}

// Judge weighs the votes of the others against our own clock. The cluster's clock is
// the median of three votes or more, the lower one of the middle where their number is
// even; with fewer it is the lower clock, since nobody can tell which one is wrong.
func Judge(votes []Vote) Verdict {
	ahead := make([]time.Duration, 1, len(votes)+1) // the first is ours
	var farthest Vote
	for _, v := range votes {
		if v.Age > MaxAge {
			continue
		}
		ahead = append(ahead, v.Ahead)
		if v.Ahead.Abs() > farthest.Ahead.Abs() {
			farthest = v
		}
	}
	slices.Sort(ahead)
	n := len(ahead)
	cluster := ahead[(n-1)/2] // of two, the lower
	verdict := Verdict{Skew: -max(cluster, -math.MaxInt64), Votes: n}
	agree := 0
	for _, a := range ahead {
		if distance(a, cluster) <= Lead {
			agree++
		}
	}
	verdict.Disagree = 2*agree <= n && n > 1
	switch {
	case n >= quorum && verdict.Skew.Abs() > Off:
		verdict.Stop = true
		verdict.Reason = fmt.Sprintf("its clock is %s the cluster's", apart(verdict.Skew))
	case verdict.Disagree:
		verdict.Reason = fmt.Sprintf("the clocks disagree: that of %s is %s its own", farthest.Who, apart(farthest.Ahead))
	}
	return verdict
}

// Limit is the latest time that may be claimed, or moved to, when our clock shows now.
func (v Verdict) Limit(now time.Time) time.Time {
	limit := now.Add(-v.Skew).Add(Lead)
	if believed := v.Belief.Time.Add(Lead); v.Belief.Doubt && believed.Before(limit) {
		return believed
	}
	return limit
}

// distance is how far apart two values are, the most where that overflows.
func distance(a, b time.Duration) time.Duration {
	d := a - b
	if a > b && d < 0 || a < b && d > 0 {
		return math.MaxInt64
	}
	return d.Abs()
}

func apart(d time.Duration) string {
	if d < 0 {
		return d.Abs().Round(time.Millisecond).String() + " behind"
	}
	return d.Round(time.Millisecond).String() + " ahead of"
}
