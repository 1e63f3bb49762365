package master

import (
	"context"
	"time"

	"carillon/internal/common"
	"carillon/internal/health"
	"carillon/internal/runlog"
)

// Status returns the master's status in one line.
func (m *Master) Status() string {
	doing := "serving on " + m.Address()
	if holder, elected := m.elector.Leader(); elected && holder.ID == m.cfg.ID {
		doing += ", elected"
	}
	return health.StatusLine(m.state.Own().Active(), doing)
}

// mostMissed bounds the missed fires that the doctor reads.
const mostMissed = 500

// missedSince returns a function that reads the newest missed fires.
func missedSince(store *runlog.Available) func(context.Context, time.Time) ([]common.Run, error) {
	return func(ctx context.Context, since time.Time) ([]common.Run, error) {
		found, err := store.Runs(ctx, runlog.Query{Statuses: []common.Status{common.StatusMissed}, From: since,
			Limit: mostMissed})
		return found.Runs, err
	}
}
