package runlog

import (
	"context"
	"encoding/json"
	"time"

	"carillon/internal/common"
)

// Acknowledgements are audit entries: of this kind, named by the fire, with one of these verbs. The newest entry of a
// fire counts. So an acknowledgement is stored with the entry that records it, and in both log stores.
const (
	AckKind = "fire"
	AckVerb = "acknowledge"
	AckUndo = "unacknowledge"
)

// AckState is the content of the audit entry of an acknowledgement.
type AckState struct {
	Job   string `json:"job"`
	Run   string `json:"run,omitempty"` // the last attempt; a later one needs attention again
	Note  string `json:"note,omitempty"`
	Group string `json:"group,omitempty"`
}

// Acks reads acknowledgements.
type Acks struct {
	live  Undelivered
	store Reader
}

// NewAcks returns the acknowledgements among delivered and undelivered changes.
func NewAcks(live Undelivered, store Reader) *Acks { return &Acks{live: live, store: store} }

// Mark sets the acknowledgements of failed fires. While the store is unavailable only undelivered ones are known, and
// partial is set.
func (a *Acks) Mark(ctx context.Context, fires []common.Fire) (partial bool, err error) {
	var names []string
	for i := range fires {
		if fires[i].Status.NeedsAttention() {
			names = append(names, fires[i].ID)
		}
	}
	if len(names) == 0 {
		return false, nil
	}
	// Undelivered changes are read first: a change moves from there into the store, never back.
	q := ChangeQuery{Kind: AckKind, Names: names}
	changes, partial, err := a.undelivered(ctx, q)
	if err != nil {
		return false, err
	}
	stored, err := a.store.Changes(ctx, q)
	away := isAway(ctx, err)
	if err != nil && !away {
		return false, err
	}
	newest := newestByFire(changes, stored)
	for i := range fires {
		if c := newest[fires[i].ID]; c != nil {
			fires[i].Acknowledged = ackOf(c, &fires[i])
		}
	}
	return partial || away, nil
}

// maxAcks bounds the acknowledgements that Since and Latest read.
const maxAcks = 5000

// Since returns the latest acknowledgement of each job that was made since a time and not withdrawn, by the job's name.
// A backfill counts as its job. partial is set while the store is unavailable.
func (a *Acks) Since(ctx context.Context, since time.Time) (by map[string]common.Acknowledgement, partial bool,
	err error) {
	q := ChangeQuery{Kind: AckKind, From: since, Limit: maxAcks}
	changes, partial, err := a.undelivered(ctx, q)
	if err != nil {
		return nil, false, err
	}
	stored, err := a.store.Changes(ctx, q)
	away := isAway(ctx, err)
	if err != nil && !away {
		return nil, false, err
	}
	by = map[string]common.Acknowledgement{}
	for _, c := range newestByFire(changes, stored) {
		var state AckState
		if c.Verb != AckVerb || json.Unmarshal(c.After, &state) != nil {
			continue
		}
		job := common.BackfilledJob(state.Job)
		if known, found := by[job]; !found || c.At.After(known.At) {
			by[job] = common.Acknowledgement{By: c.Actor.Name, At: c.At, Note: state.Note}
		}
	}
	return by, partial || away, nil
}

// Latest returns the attempt, "" for a fire without one, of each acknowledgement that was not withdrawn, by the id of
// its fire: of the 5,000 newest entries. While the store is unavailable only undelivered ones are known, and partial is
// set.
func (a *Acks) Latest(ctx context.Context) (attempts map[string]string, partial bool, err error) {
	q := ChangeQuery{Kind: AckKind, Limit: maxAcks}
	changes, partial, err := a.undelivered(ctx, q)
	if err != nil {
		return nil, false, err
	}
	stored, err := a.store.Changes(ctx, q)
	away := isAway(ctx, err)
	if err != nil && !away {
		return nil, false, err
	}
	attempts = map[string]string{}
	for fire, c := range newestByFire(changes, stored) {
		var state AckState
		if c.Verb == AckVerb && json.Unmarshal(c.After, &state) == nil {
			attempts[fire] = state.Run
		}
	}
	return attempts, partial || away, nil
}

// newestByFire returns the newest change of each fire.
func newestByFire(lists ...[]common.Change) map[string]*common.Change {
	newest := map[string]*common.Change{}
	for _, list := range lists {
		for i := range list {
			c := &list[i]
			if known := newest[c.Name]; known == nil || known.ID < c.ID {
				newest[c.Name] = c
			}
		}
	}
	return newest
}

// ackPatience bounds the search among undelivered changes: there are few, unless the log store has been away for long,
// and a list of fires must not wait for them.
const ackPatience = time.Second

func (a *Acks) undelivered(ctx context.Context, q ChangeQuery) (found []common.Change, partial bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, ackPatience)
	defer cancel()
	found, partial, err = a.live.LiveChanges(bounded, q, func(*common.Change) bool { return true })
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return nil, true, nil
	}
	return found, partial, err
}

// ackOf returns the acknowledgement of a change; nil if it was undone, or a further attempt was made since.
func ackOf(c *common.Change, fire *common.Fire) *common.Acknowledgement {
	var state AckState
	if c.Verb != AckVerb || json.Unmarshal(c.After, &state) != nil || state.Run != LastAttempt(fire) ||
		!fire.Status.NeedsAttention() {
		return nil
	}
	return &common.Acknowledgement{By: c.Actor.Name, At: c.At, Note: state.Note}
}

// LastAttempt returns the id of the last attempt of a fire; "" if it has none.
func LastAttempt(fire *common.Fire) string {
	if len(fire.Attempts) == 0 {
		return ""
	}
	return fire.Attempts[len(fire.Attempts)-1]
}

// Ledger is a View whose fires have their acknowledgements.
type Ledger struct {
	*View
	*Acks
}

// maxAckPages bounds the pages that are read for one page without acknowledged fires.
const maxAckPages = 8

// Fires lists the ledger as View does, with acknowledgements. With q.Unacknowledged it leaves out acknowledged fires.
func (l *Ledger) Fires(ctx context.Context, q FireQuery) (FirePage, error) {
	var all FirePage
	for limit, pages := q.Limit, 1; ; pages++ {
		page, err := l.View.Fires(ctx, q)
		if err != nil {
			return FirePage{}, err
		}
		partial, err := l.Mark(ctx, page.Fires)
		if err != nil {
			return FirePage{}, err
		}
		for i := range page.Fires {
			if !q.Unacknowledged || page.Fires[i].Acknowledged == nil {
				all.Fires = append(all.Fires, page.Fires[i])
			}
		}
		all.Next, all.Partial = page.Next, all.Partial || page.Partial || partial
		if page.Next == nil || len(all.Fires) >= limit || !q.Unacknowledged || pages == maxAckPages {
			return all, nil
		}
		q.Before, q.Settled, q.Limit = &page.Next.Position, page.Next.Settled, limit-len(all.Fires)
	}
}
