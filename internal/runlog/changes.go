package runlog

import (
	"cmp"
	"context"
	"slices"

	"carillon/internal/common"
)

// Undelivered lists the changes that the store may not have yet.
type Undelivered interface {
	// LiveChanges returns the newest changes that match and that keep accepts, the newest first; partial if
	// there are too many to read them all.
	LiveChanges(ctx context.Context, q ChangeQuery, keep func(*common.Change) bool) (found []common.Change,
		partial bool, err error)
}

// Changes is the audit list as users see it: a change is listed immediately after it was made, and once.
type Changes struct {
	live  Undelivered
	store Reader
}

// NewChanges merges delivered and undelivered changes.
func NewChanges(live Undelivered, store Reader) *Changes { return &Changes{live: live, store: store} }

// Of lists the changes of one object with one of the verbs, the newest first, before an id if it is not
// empty. While the store is unavailable it lists only the undelivered ones, and partial is set; also if there
// are too many undelivered ones to read them all.
func (c *Changes) Of(ctx context.Context, kind, name string, verbs []string, before string,
	limit int) (found []common.Change, partial bool, err error) {
	// Undelivered changes are read first: a change moves from there into the store, never back.
	found, partial, err = c.live.LiveChanges(ctx, ChangeQuery{Kind: kind, Name: name, Before: before, Limit: limit},
		func(c *common.Change) bool { return slices.Contains(verbs, c.Verb) })
	if err != nil {
		return nil, false, err
	}
	for _, verb := range verbs {
		stored, err := c.store.Changes(ctx, ChangeQuery{
			Kind:   kind,
			Name:   name,
			Verb:   verb,
			Before: before,
			Limit:  limit,
		})
		if isAway(ctx, err) {
			partial = true
			break
		}
		if err != nil {
			return nil, false, err
		}
		found = append(found, stored...)
	}
	return newestChanges(found, limit), partial, nil
}

// List lists changes, the newest first, at most q.Limit; partial as with Of.
func (c *Changes) List(ctx context.Context, q ChangeQuery) (found []common.Change, partial bool, err error) {
	live, partial, err := c.live.LiveChanges(ctx, q, func(*common.Change) bool { return true })
	if err != nil {
		return nil, false, err
	}
	stored, err := c.store.Changes(ctx, q)
	away := isAway(ctx, err)
	if err != nil && !away {
		return nil, false, err
	}
	return newestChanges(append(stored, live...), q.Limit), partial || away, nil
}

// newestChanges sorts changes; of two with one id it keeps the first.
func newestChanges(found []common.Change, limit int) []common.Change {
	slices.SortStableFunc(found, func(a, b common.Change) int { return cmp.Compare(b.ID, a.ID) })
	found = slices.CompactFunc(found, func(a, b common.Change) bool { return a.ID == b.ID })
	return found[:min(limit, len(found))]
}
