package notify

import (
	"math/rand/v2"
	"time"
)

// Times of delivery.
const (
	tryLimit   = 30 * time.Second // of one try
	testLimit  = 15 * time.Second // of a test, for which the client waits
	claimFor   = time.Minute      // claim on a try; after that another master may try
	giveUp     = 24 * time.Hour
	maxRest    = time.Minute            // longest pause of a failing channel
	maxRetryIn = time.Hour              // longest Retry-After that is honoured
	firstTry   = 500 * time.Millisecond // after the event, since output takes a moment to reach the log store
	settleFor  = 2 * time.Second        // for output that is not there at the first try; then without it
	outputWait = 5 * time.Minute        // for output that the log store does not have yet; then without it
	outputLook = 5 * time.Second
)

// backoff are the pauses between tries: about a day in total.
var backoff = [...]time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 8 * time.Hour}

// pause returns the pause after a number of tries, with a jitter of ±20 %; more is false after the
// last try.
func pause(attempts int) (wait time.Duration, more bool) {
	if attempts > len(backoff) {
		return 0, false
	}
	d := backoff[max(attempts, 1)-1]
	return d - d/5 + rand.N(2*d/5), true
}

// EventsPerMinute is how many events are notified individually.
const EventsPerMinute = 100

// budget counts events per minute, and apart from them those of output.
type budget struct {
	minute  time.Time
	used    int
	outputs int
}

// take reports whether one more event may be notified now, and counts it.
func (b *budget) take(now time.Time) bool { return b.count(&b.used, now) }

// takeOutput does the same for an event of output.
func (b *budget) takeOutput(now time.Time) bool { return b.count(&b.outputs, now) }

func (b *budget) count(used *int, now time.Time) bool {
	if m := now.Truncate(time.Minute); !m.Equal(b.minute) {
		*b = budget{minute: m}
	}
	if *used >= EventsPerMinute {
		return false
	}
	*used++
	return true
}

// backlog counts pending notifications by channel.
type backlog struct {
	of  map[string]int
	all int
}

func backlogOf(waiting []Notice) backlog {
	c := backlog{of: map[string]int{}}
	c.add(waiting)
	return c
}

func (c *backlog) add(waiting []Notice) {
	c.all += len(waiting)
	for i := range waiting {
		c.of[waiting[i].Channel]++
	}
}

// room reports whether a channel may have one more pending notification. A few are always allowed,
// so that failing channels do not block the others.
func (c *backlog) room(channel string) bool {
	return c.of[channel] < alwaysWaiting || c.of[channel] < maxBehind && c.all < MaxWaiting
}
