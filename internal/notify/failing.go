package notify

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"carillon/internal/common"
)

// failingLook is the interval between two checks for failing channels.
const failingLook = 15 * time.Second

// Deliveries lists notifications.
type Deliveries interface {
	// Waiting returns the pending notifications.
	Waiting(ctx context.Context) ([]Notice, error)
	// Notices returns those of a query, newest first.
	Notices(ctx context.Context, q NoticeQuery) (found []Notice, more bool, err error)
}

// FailingChannels detects channels that accept no notifications. Run is for the elected master.
type FailingChannels struct {
	deliveries Deliveries
	now        func() time.Time
	log        *slog.Logger
	report     func(error)

	mu      sync.Mutex
	failing []string // guarded by mu
}

// NewFailingChannels returns a detector; report receives the result of each check.
func NewFailingChannels(deliveries Deliveries, now func() time.Time, log *slog.Logger,
	report func(error)) *FailingChannels {
	return &FailingChannels{deliveries: deliveries, now: now, log: log, report: report}
}

// Run checks until the context ends.
func (f *FailingChannels) Run(ctx context.Context) error {
	defer f.set(nil)
	for {
		failing, err := f.find(ctx)
		f.report(err)
		if err == nil {
			f.set(failing)
		} else if ctx.Err() == nil {
			f.log.Warn("notices_unreadable", "error", err)
		}
		if !sleep(ctx, failingLook) {
			return nil
		}
	}
}

// find reads the waiting notifications and, if some failed, the sent ones as well.
func (f *FailingChannels) find(ctx context.Context) ([]string, error) {
	waiting, err := f.deliveries.Waiting(ctx)
	if err != nil || len(Failing(waiting, f.now())) == 0 {
		return nil, err
	}
	all, _, err := f.deliveries.Notices(ctx, NoticeQuery{})
	return Failing(all, f.now()), err
}

func (f *FailingChannels) set(failing []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failing = failing
}

// Conditions reports the failing channels.
func (f *FailingChannels) Conditions() []common.Condition {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.failing) == 0 {
		return nil
	}
	names := common.Excerpt(strings.Join(f.failing, ", "))
	return []common.Condition{{Code: common.ConditionNotifyFailing, Data: common.Words{"channels": names},
		Text: "channels do not accept notifications: " + names}}
}
