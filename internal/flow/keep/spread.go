package keep

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
)

// Trigger is a trigger of a node with its ModRevision.
type Trigger struct {
	common.Trigger
	Revision int64
}

// TriggerKey identifies a trigger.
type TriggerKey struct{ Job, ID string }

// Triggers applies changes of triggers. If whole is set, put is the complete list. Those that are not of nodes on one
// of several workers are ignored.
func (k *Keeper) Triggers(whole bool, put []Trigger, gone []TriggerKey) {
	kept := slices.DeleteFunc(put, func(t Trigger) bool { return !t.Flow.OfSpread() })
	if !whole && len(kept) == 0 && len(gone) == 0 {
		return
	}
	k.send(func() {
		if whole {
			for _, w := range k.waits {
				clear(w.triggers)
			}
			clear(k.waitOf)
		}
		for _, key := range gone {
			if w := k.waitOf[key]; w != nil {
				delete(w.triggers, key)
				delete(k.waitOf, key)
				k.prune(w)
			}
		}
		for _, t := range kept {
			key, w := TriggerKey{t.Job, t.ID}, k.waitsOf(t.Flow.Run)
			w.triggers[key], k.waitOf[key] = t, w
			if r := k.runs[t.Flow.Run]; r != nil {
				k.dirty[r] = true
			}
		}
	})
}

// waits are the triggers of the nodes of one flow run that no worker has claimed yet.
type waits struct {
	run      string
	triggers map[TriggerKey]Trigger
}

func (k *Keeper) waitsOf(run string) *waits {
	w := k.waits[run]
	if w == nil {
		w = &waits{run: run, triggers: map[TriggerKey]Trigger{}}
		k.waits[run] = w
	}
	return w
}

// prune forgets the triggers of a flow run that has neither triggers nor a head.
func (k *Keeper) prune(w *waits) {
	if len(w.triggers) == 0 && k.runs[w.run] == nil {
		delete(k.waits, w.run)
	}
}

// deadline returns when a node has waited for its worker for long enough. A run that was lost is not repeated by the
// worker that lost it, if another one is in reserve.
func (r *kept) deadline(t *Trigger) time.Time {
	if s := r.run.Spread; s.Nodes+s.Moved < len(s.Workers) && t.Cause == common.CauseRerun && t.Worker == t.Avoid {
		return t.NotBefore
	}
	return t.NotBefore.Add(r.run.StartDeadline)
}

// unclaimed returns the triggers that have waited for their workers for long enough, the first due one first.
func (r *kept) unclaimed(now time.Time) (due []Trigger) {
	if r.waits == nil || r.run.Kill != nil || r.run.Paused {
		return nil
	}
	for _, t := range r.waits.triggers {
		if !now.Before(r.deadline(&t)) {
			due = append(due, t)
		}
	}
	slices.SortFunc(due, func(a, b Trigger) int { return cmp.Compare(a.Flow.Node, b.Flow.Node) })
	return due
}

// nextUnclaimed returns the first deadline of a trigger; zero if there is none.
func (r *kept) nextUnclaimed() (first time.Time) {
	if r.waits == nil || r.run.Kill != nil || r.run.Paused {
		return first
	}
	for _, t := range r.waits.triggers {
		if at := r.deadline(&t); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// replace replaces workers that have not claimed their triggers, or ends the nodes.
func (k *Keeper) replace(ctx context.Context, r *kept, due []Trigger) {
	run, spread := r.run, *r.run.Spread
	all := make([]flow.Unclaimed, 0, min(len(due), k.cfg.MostUnclaimed))
	for _, t := range due[:cap(all)] {
		u := flow.Unclaimed{Trigger: t.Trigger, Revision: t.Revision}
		w, moved, found := spread.Reserve(k.isReady)
		if spread.Moved = moved; found {
			u.Worker, u.Moved = w.ID, moved
		} else {
			u.Reason = k.unclaimed(&spread, t.Worker)
		}
		all = append(all, u)
	}
	k.request(r, func() func() {
		done, outcomes, err := k.cfg.Store.Unclaimed(ctx, &run, all)
		return func() {
			if outcomes {
				k.cfg.Outcomes()
			}
			k.applied(r, "replace workers", done, err, func() {})
		}
	})
}

// isReady reports whether a worker claims runs.
func (k *Keeper) isReady(id string) bool {
	for i := range k.candidates {
		if c := &k.candidates[i]; c.ID == id {
			return c.Trouble == "" && !c.Draining
		}
	}
	return false
}

// unclaimed returns why a worker has not claimed its trigger.
func (k *Keeper) unclaimed(spread *common.Spread, worker string) *common.Reason {
	name := spread.Name(worker)
	reason := &common.Reason{Code: common.ReasonNoWorker, Data: map[string]string{"worker": name},
		Text: fmt.Sprintf("worker %s did not start it before its deadline", name)}
	if k.isReady(worker) {
		reason.Code, reason.Text = common.ReasonNoSlot,
			fmt.Sprintf("worker %s had no free slot for it before its deadline", name)
	}
	return reason
}
