package runlog

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"carillon/internal/common"
)

// hiccup is how long the store may fail before the condition is raised.
const hiccup = 5 * time.Second

// steady is how long writes must succeed after an outage before the condition ends: a store that falters on
// its return would otherwise raise and end the condition again and again.
const steady = 10 * time.Second

// health is the state of the log store and the disk.
type health struct {
	mu      sync.Mutex
	failing time.Time // since when no write succeeded; zero while they do
	calm    time.Time // since when they do again, while the store still counts as unavailable
	gone    bool      // the store counts as unavailable
	writing time.Time // when the write in flight began
	outbox  bool      // the source is over its bound
	told    int64     // bytes dropped by the spool when it last had room
}

func (h *health) began(at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writing = at
}

func (h *health) ended(began time.Time, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writing = time.Time{}
	switch {
	case err != nil:
		h.calm = time.Time{}
		if h.failing.IsZero() {
			h.failing = began
		}
	case !h.gone:
		h.failing = time.Time{}
	case h.calm.IsZero():
		h.calm = time.Now()
		if h.failing.IsZero() { // a write took long
			h.failing = began
		}
	}
}

func (h *health) storeFails() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.failing.IsZero() && h.calm.IsZero()
}

// away returns since when the store accepts nothing, if that has lasted for some time, and until it was
// steady for some time again.
func (h *health) away() (since time.Time, away bool) {
	hangs := !h.writing.IsZero() && time.Since(h.writing) >= hiccup
	switch {
	case h.calm.IsZero():
	case hangs:
		h.calm = time.Time{}
	case time.Since(h.calm) >= steady:
		h.calm, h.failing = time.Time{}, time.Time{}
	}
	since = h.failing
	if since.IsZero() {
		since = h.writing
	}
	h.gone = !since.IsZero() && time.Since(since) >= hiccup
	return since, h.gone
}

// Conditions returns the active problems of the log store, the outbox and the spool. A condition with a bound
// ends only when the value is clearly below it. It never waits for the disk or the store.
func (s *Sink) Conditions() (list []common.Condition) {
	s.mu.Lock()
	waiting := s.waiting
	s.mu.Unlock()
	spool := s.cfg.Spool.State()
	h := &s.health
	h.mu.Lock()
	defer h.mu.Unlock()
	data := common.Words{"output": strconv.FormatInt(spool.Waiting, 10), "outcomes": strconv.Itoa(waiting.entries)}
	if since, away := h.away(); away {
		list = append(list, common.Condition{Code: common.ConditionLogStoreAway, From: since.UTC(), Data: data,
			Text: fmt.Sprintf("the log store accepts nothing: backlog of %s in etcd, and %s of output on "+
				"this worker's disk", common.Count(waiting.entries, "outcome", "outcomes"), mebibytes(spool.Waiting))})
	}
	if h.outbox = s.outboxFull(h.outbox, waiting.bytes); h.outbox {
		// The text stays the same for as long as the condition lasts: other workers plan again when it
		// changes.
		list = append(list, common.Condition{Code: common.ConditionOutboxFull, StopsClaims: true, Data: data,
			Text: fmt.Sprintf("outcomes for the log store fill the outboxes in etcd, which are limited to %s: no "+
				"fires are claimed", mebibytes(s.cfg.OutboxBytes))})
	}
	if !over(spool.Dropped > h.told, spool.Bytes, spool.Max) {
		h.told = spool.Dropped
	} else {
		list = append(list, common.Condition{
			Code: common.ConditionSpoolFull,
			Data: common.Words{
				"dropped": strconv.FormatInt(spool.Dropped-h.told, 10),
				"max":     strconv.FormatInt(spool.Max, 10),
			},
			Text: fmt.Sprintf("the spool is full: the oldest output on this worker's disk is being dropped, %s so far",
				mebibytes(spool.Dropped-h.told)),
		})
	}
	if spool.Refused != nil {
		list = append(list, common.Condition{
			Code:        common.ConditionDiskFull,
			StopsClaims: true,
			Data:        common.Words{"error": spool.Refused.Error()},
			Text:        "this worker's disk accepts no more output: " + spool.Refused.Error(),
		})
	}
	return list
}

// leastShare is what a worker may have in its outbox whatever the others have.
const leastShare = 256 << 10

// outboxFull reports whether the outboxes have no room for more of this worker's outcomes: it has its share
// of the bound, or all outboxes together are at the bound and this one contributes to it. A worker whose
// outcomes are stored is not stopped by others.
func (s *Sink) outboxFull(was bool, own int64) bool {
	share := s.cfg.OutboxBytes / int64(max(s.cfg.Workers(), 1))
	return over(was, own, share) || own > max(share/16, leastShare) &&
		over(was, max(own, s.cfg.Outboxes()), s.cfg.OutboxBytes)
}

// Full reports whether the condition outbox_full was active at the last call of Conditions.
func (s *Sink) Full() bool {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	return s.health.outbox
}

// over reports whether n is over a bound, or was over it and is not below four fifths of it yet.
func over(was bool, n, bound int64) bool { return n > bound || was && n*5 > bound*4 }

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
