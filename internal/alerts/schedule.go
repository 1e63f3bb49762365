package alerts

import (
	"math/rand/v2"
	"time"
)

// Times of sending.
const (
	tryLimit   = 30 * time.Second // of one try, all in all
	testLimit  = 15 * time.Second // of a test, which somebody waits for
	claimFor   = time.Minute      // a try is somebody's for so long; after that it is tried by others
	giveUp     = 24 * time.Hour
	maxRest    = time.Minute // a channel that fails is left alone for no longer
	maxRetryIn = time.Hour   // that the other side may ask for
	settleFor  = 2 * time.Second
)

// backoff are the pauses between tries: a day in all.
var backoff = [...]time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 8 * time.Hour}

// pause is how long to wait after so many tries, give or take a fifth, so that what failed
// together is not tried together; none says that it was tried often enough.
func pause(attempts int) (wait time.Duration, more bool) {
	if attempts > len(backoff) {
		return 0, false
	}
	d := backoff[max(attempts, 1)-1]
	return d - d/5 + rand.N(2*d/5), true
}

// EventsPerMinute is how many events are told one by one.
const EventsPerMinute = 100

// budget counts events by the minute.
type budget struct {
	minute time.Time
	used   int
}

// take tells whether one more event may be told now.
func (b *budget) take(now time.Time) bool {
	if m := now.Truncate(time.Minute); !m.Equal(b.minute) {
		*b = budget{minute: m}
	}
	if b.used >= EventsPerMinute {
		return false
	}
	b.used++
	return true
}

// crowd counts the notices that wait, by channel.
type crowd struct {
	of  map[string]int
	all int
}

func crowdOf(waiting []Notice) crowd {
	c := crowd{of: map[string]int{}}
	c.add(waiting)
	return c
}

func (c *crowd) add(waiting []Notice) {
	c.all += len(waiting)
	for i := range waiting {
		c.of[waiting[i].Channel]++
	}
}

// room tells whether one more may wait for a channel. A few always may, so that channels that
// take nothing silence no other one.
func (c *crowd) room(channel string) bool {
	return c.of[channel] < alwaysWaiting || c.of[channel] < maxBehind && c.all < MaxWaiting
}
