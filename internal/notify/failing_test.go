package notify

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// deliveries is a list of notifications.
type deliveries struct{ list atomic.Pointer[[]Notice] }

func (d *deliveries) Waiting(context.Context) ([]Notice, error) {
	return slices.DeleteFunc(slices.Clone(*d.list.Load()), func(n Notice) bool { return n.Status != Waiting }), nil
}

func (d *deliveries) Notices(context.Context, NoticeQuery) ([]Notice, bool, error) {
	return *d.list.Load(), false, nil
}

func TestChannelsThatFail(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		now := time.Now().UTC()
		list := []Notice{
			{ID: "1", Channel: "ops", Status: Waiting, Attempts: 3, TriedAt: now.Add(-40 * time.Second)},
			{
				ID:       "2",
				Channel:  "ops",
				Status:   Sent,
				Attempts: 1,
				TriedAt:  now.Add(-time.Hour),
				DoneAt:   now.Add(-time.Hour),
			},
			{ID: "3", Channel: "new", Status: Waiting, Attempts: 1, TriedAt: now.Add(-5 * time.Second)},
			{ID: "4", Channel: "idle", Status: Waiting},
			// one of many that it took
			{ID: "5", Channel: "choosy", Status: Waiting, Attempts: 5, TriedAt: now.Add(-time.Hour)},
			{
				ID:       "6",
				Channel:  "choosy",
				Status:   Sent,
				Attempts: 1,
				TriedAt:  now.Add(-time.Minute),
				DoneAt:   now.Add(-time.Minute),
			},
		}
		var d deliveries
		d.list.Store(&list)
		var looked atomic.Int64
		f := NewFailingChannels(&d, time.Now, slog.New(slog.DiscardHandler), func(err error) {
			if looked.Add(1); err != nil {
				t.Error(err)
			}
		})
		if all := f.Conditions(); len(all) != 0 {
			t.Errorf("before the first check: %v", all)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- f.Run(ctx) }()
		virtualtime.Wait()
		if all := f.Conditions(); len(all) != 1 || all[0].Code != common.ConditionNotifyFailing ||
			all[0].Data["channels"] != "ops" {
			t.Errorf("%+v", all)
		}
		d.list.Store(new(list[1:2]))
		time.Sleep(failingLook)
		virtualtime.Wait()
		if all := f.Conditions(); len(all) != 0 || looked.Load() != 2 {
			t.Errorf("after %d checks: %v", looked.Load(), all)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
