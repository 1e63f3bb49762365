// Package clock estimates the cluster's time from the clocks of other processes, and limits what a process with a
// wrong clock may do.
//
// It promises that, while most clocks are correct, no process claims fires later than Lead after a correct clock, and
// that a clock that jumped ahead is used only after its probation (Trust). It does no I/O: clocks are arguments.
package clock

import (
	"fmt"
	"math"
	"slices"
	"time"
)

const (
	// Lead is how far ahead of the cluster's clock a fire may be claimed, and the largest difference at which two
	// clocks agree.
	Lead = 2 * time.Second
	// Off is the largest difference from the cluster's clock at which a worker still claims.
	Off = 10 * time.Second
	// MaxAge is the maximum age of a vote: six times the interval at which registrations are updated.
	MaxAge = 30 * time.Second
	// quorum is the number of votes, including our own, from which on the median is trusted.
	quorum = 3
)

// Vote is the clock of another process as it was received.
type Vote struct {
	Who   string
	Ahead time.Duration // of our clock, now
	Age   time.Duration // since it was received
}

// Verdict is the result of the votes. The zero Verdict is that of a process without others.
type Verdict struct {
	Skew      time.Duration // how far our clock is ahead of the cluster's; negative: behind
	Votes     int           // votes that counted, including our own
	Disagree  bool          // the clocks disagree; an operator should check them
	Stop      bool          // our clock is so far off that this process must not claim
	Reason    string        // why Disagree or Stop is set, for people; it names the process that differs from us
	SelfCheck SelfCheck     // whether our clock agrees with its own past
}

// Judge compares our clock with the votes of others. With three votes or more the cluster's clock is the median, or the
// lower of the two middle ones if their number is even; with fewer it is the lower clock, since it is unknown which one
// is wrong.
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
	cluster := ahead[(n-1)/2] // of two: the lower one
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
		verdict.Reason = fmt.Sprintf("the clocks disagree: that of %s is %s its own", farthest.Who,
			apart(farthest.Ahead))
	}
	return verdict
}

// Limit returns the latest time that may be claimed, or that a cursor may be moved to, when our clock shows now.
func (v Verdict) Limit(now time.Time) time.Time {
	limit := now.Add(-v.Skew).Add(Lead)
	if trusted := v.SelfCheck.Time.Add(Lead); v.SelfCheck.Doubt && trusted.Before(limit) {
		return trusted
	}
	return limit
}

// distance returns the absolute difference of two values, the maximum if it overflows.
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
