package model

import (
	"fmt"
	"strings"
)

type rawRetry struct{ Max int }

// isRetry reports whether a request for a further attempt of a flow run is that of a worker, after one that failed.
func (t rawAsked) isRetry() bool { return t.Cause == "retry" && t.Digest != "" }

// wantsRetry reports whether a flow run that has ended is followed by its next attempt.
func (c *checker) wantsRetry(run *flowLife, status string) bool {
	policy := run.flow.Retry
	if run.Retry != nil {
		policy = run.Retry
	}
	switch {
	case run.Kind != "flow" || status != "failed" || policy == nil || run.Attempt-run.Before > policy.Max:
		return false
	case run.Kill != nil && (run.Kill.Force || !run.Kill.SignaledAt.IsZero()): // a user ended what has failed
		return false
	case run.Base != nil && len(run.Base.Failed) > 0: // a user left failures out
		return false
	case c.flows.uids[run.Job] != run.UID:
		return false
	}
	if run.Parent == nil {
		return true
	}
	var parent *rawHead
	if p := c.flows.runs[run.Parent.Run]; p != nil && !p.over {
		parent = &p.rawHead
	} else if p := c.flows.fills[run.Parent.Run]; p != nil && !p.over {
		parent = &p.rawHead
	}
	return parent != nil && (parent.Kill == nil || parent.Kill.Spare)
}

// isRetried reports whether the transaction that ends a flow run requests its next attempt. It wants it to do so if
// the definition has retries left, and nothing has ended them.
func (c *checker) isRetried(r *revision, e event, run *flowLife, status string) (retried bool) {
	next := fmt.Sprintf("/%s.%d", run.Fire, run.Attempt+1)
	for _, put := range r.under("/cron/triggers/") {
		retried = retried || put.created == put.rev && strings.HasSuffix(put.key, next)
	}
	if want := c.wantsRetry(run, status); want != retried {
		c.breaks("F12", "%s ended %s at %s by %s, is followed by its next attempt: %t, and by the rules %t", run.Run,
			status, wallTime(e.at), e.by, retried, want)
	}
	return retried
}

// readRetries wants the next attempt of a flow run to be requested by the transaction that ends it, once, with its
// definition, and with all kept that has not failed.
func (c *checker) readRetries(r *revision) {
	f := c.flows
	for _, e := range r.under("/cron/triggers/") {
		if e.created != e.rev {
			continue
		}
		t := decode[rawAsked](e.value)
		if !t.isRetry() {
			continue
		}
		id, at := fmt.Sprintf("%s.%d", t.Fire, t.Attempt), wallTime(e.at)
		if f.asked[id] != nil || f.runs[id] != nil {
			c.breaks("F12", "%s was requested again at %s by %s", id, at, e.by)
		}
		f.asked[id] = &t
		before := f.runs[fmt.Sprintf("%s.%d", t.Fire, t.Attempt-1)]
		if before == nil || !ends(r, before) {
			c.breaks("F12", "%s was requested at %s by %s, and the attempt before did not end with that", id, at, e.by)
			continue
		}
		if t.Base != before.Before {
			c.breaks("F12", "%s was requested at %s by %s, and counts from %d instead of %d", id, at, e.by, t.Base,
				before.Before)
		}
		if t.Keep == nil || t.Keep.Run != before.Run || t.Digest != before.Digest {
			c.breaks("F12", "%s was requested at %s by %s, with the definition %.8s of %.8s, and keeps %+v", id, at,
				e.by, t.Digest, before.Digest, t.Keep)
			continue
		}
		c.selected(&t, before.flow.selects(before.ends, "failed", nil), before.flow, id)
		c.chosen(&t, before, before.flow, "failed", nil, id)
		c.world.counts["retries of flow runs"]++
		if before.Parent != nil {
			c.world.counts["retries of nested flow runs"]++
		}
	}
}

// ends reports whether a transaction removes the head of a flow run.
func ends(r *revision, run *flowLife) bool {
	for _, e := range r.under("/cron/flowruns/") {
		if e.created == 0 && runOfKey(e.key) == run.Run {
			return true
		}
	}
	return false
}
