package master

import (
	"context"
	"fmt"
	"slices"
	"time"

	"carillon/internal/access"
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

// auditPage is how many changes of tokens are read at a time.
const auditPage = 500

// tokenLists lists all tokens.
type tokenLists interface {
	Tokens(ctx context.Context) ([]access.TokenRecord, error)
}

// unaudited returns a function that lists the tokens that no entry of the audit made; not those whose entry may have
// been deleted at the end of the retention. It returns false if the audit cannot be read as a whole now, or is empty.
func unaudited(tokens tokenLists, changes *runlog.Changes,
	store *runlog.Available) func(context.Context) (names []string, known bool) {
	return func(ctx context.Context) (names []string, known bool) {
		left, err := tokens.Tokens(ctx)
		if err != nil {
			return nil, false
		}
		oldest, err := store.Sealed(ctx, 0, 1)
		if err != nil || len(oldest) == 0 {
			return nil, false
		}
		if oldest[0].Link.Seq > 1 {
			left = slices.DeleteFunc(left, func(r access.TokenRecord) bool { return r.Revision < oldest[0].Revision })
		}
		query := runlog.ChangeQuery{Kind: access.AuditKind, Limit: auditPage}
		for len(left) > 0 {
			page, partial, err := changes.List(ctx, query)
			if err != nil || partial {
				return nil, false
			}
			if left = access.Unaudited(left, page); len(page) < auditPage {
				break
			}
			query.Before = page[len(page)-1].ID
		}
		for i := range left {
			names = append(names, fmt.Sprintf("%s (%s)", common.Excerpt(left[i].Name), left[i].ID))
		}
		return names, true
	}
}
