package notify

import (
	"context"
	"fmt"
	"sync"
	"time"

	"carillon/internal/common"
)

// stuckAfter is how long the notifier may make no progress. While it works, etcd answers every 10
// s, with or without outcomes.
const stuckAfter = 45 * time.Second

// pulse holds when the notifier last made progress. It is safe for concurrent use.
type pulse struct {
	mu     sync.Mutex
	last   time.Time // zero while it does not run
	behind time.Time // since when outcomes are read from the history; zero: they are not
	err    error     // last error since
}

// begin starts the clock, unless the notifier runs again after a failure.
func (p *pulse) begin(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.IsZero() {
		p.last = now
	}
}

// end stops the clock if the context has ended: another master takes over.
func (p *pulse) end(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil {
		p.last, p.behind, p.err = time.Time{}, time.Time{}, nil
	}
}

func (p *pulse) beat(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.err = now, nil
}

func (p *pulse) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.err = err
	}
}

func (p *pulse) behindSince(since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.behind = since
}

func (p *pulse) upToDate() { p.behindSince(time.Time{}) }

// Conditions returns the conditions that delay notifications. They apply to the elected master
// only.
func (n *Notifier) Conditions() (all []common.Condition) {
	p := &n.pulse
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.IsZero() {
		return nil
	}
	if n.cfg.Now().Sub(p.last).Abs() > stuckAfter {
		why := "no answer"
		if p.err != nil {
			why = common.Excerpt(p.err.Error())
		}
		all = append(all, common.Condition{
			Code: common.ConditionNotifyStuck,
			From: p.last.UTC(),
			Data: common.Words{"error": why},
			Text: "notifications are stuck: outcomes are not read: " + why,
		})
	}
	if !p.behind.IsZero() {
		at := p.behind.UTC().Format(time.RFC3339)
		all = append(all, common.Condition{Code: common.ConditionNotifyBehind, Data: common.Words{"at": at},
			Text: fmt.Sprintf("notifications are behind: outcomes since %s are being read from the history", at)})
	}
	return all
}
