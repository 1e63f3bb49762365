package runlog

import (
	"cmp"
	"context"
	"slices"

	"carillon/internal/common"
)

// Undelivered knows the changes that the store may not have yet.
type Undelivered interface {
	// LiveChanges gives the newest of those that match and are to be kept, the newest first; partial where
	// there are too many to look at them all.
	LiveChanges(ctx context.Context, q ChangeQuery, keep func(*common.Change) bool) (found []common.Change, partial bool, err error)
}

// Changes is who changed what as users see it: a change is listed as soon as it was
// made, and once.
type Changes struct {
	live  Undelivered
	store Reader
}

// NewChanges merges what is delivered with what is not.
func NewChanges(live Undelivered, store Reader) *Changes { return &Changes{live: live, store: store} }

// Of lists the changes of one thing with one of the verbs, the newest first, that come
// before an id where it is not empty. While the store is away there are only those
// that it does not have, and partial says so; also where too many wait to look at them all.
func (c *Changes) Of(ctx context.Context, kind, name string, verbs []string, before string, limit int) (found []common.Change, partial bool, err error) {
	// What is live first: it moves from there into the store, never back.
	found, partial, err = c.live.LiveChanges(ctx, ChangeQuery{Kind: kind, Name: name, Before: before, Limit: limit},
		func(c *common.Change) bool { return slices.Contains(verbs, c.Verb) })
	if err != nil {
		return nil, false, err
	}
	for _, verb := range verbs {
		stored, err := c.store.Changes(ctx, ChangeQuery{Kind: kind, Name: name, Verb: verb, Before: before, Limit: limit})
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

// List lists changes, the newest first, q.Limit of them at most; partial as with Of.
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

// newestChanges puts changes in order; of two with one id it keeps the first.
func newestChanges(found []common.Change, limit int) []common.Change {
	slices.SortStableFunc(found, func(a, b common.Change) int { return cmp.Compare(b.ID, a.ID) })
	found = slices.CompactFunc(found, func(a, b common.Change) bool { return a.ID == b.ID })
	return found[:min(limit, len(found))]
}
