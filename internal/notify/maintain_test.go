package notify

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// blind is a world that cannot look up late runs.
type blind struct{ *world }

func (blind) Late(context.Context, []common.JobState, time.Time) ([]common.Run, error) {
	return nil, errors.New("no etcd")
}

// A lookup that fails for an hour is logged once.
func TestLateRuns_LookupFails_IsLoggedOnce(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		var log bytes.Buffer
		n := New(Config{
			Store:    w,
			Channels: w,
			Jobs:     w,
			History:  blind{w},
			Now:      time.Now,
			Log:      slog.New(slog.NewTextHandler(&log, nil)),
			Metrics:  w,
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := n.maintain(ctx); err != nil {
			t.Error(err)
		}
		if got := strings.Count(log.String(), "late_runs_unknown"); got != 1 {
			t.Errorf("it is said %d times:\n%.500s", got, log.String())
		}
	})
}
