package model

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon/internal/common"
)

// ofBackfill is in the keys of the heads of backfills.
const ofBackfill = "@backfill/"

// requestBackfill requests to run past fires of a job. The log store takes a while to answer.
func (s *script) requestBackfill(ctx context.Context, m *master, job string, r common.BackfillRequest,
	takes time.Duration) {
	past := func(_ context.Context, job *common.JobState, from, to time.Time) (common.BackfillPast, error) {
		ends := map[int64]*common.Run{}
		for _, run := range s.world.runs() {
			at := run.PlannedAt
			if run.Gap != nil || run.Fire != common.PlannedFire(job.UID, at) || at.Before(from) || !at.Before(to) {
				continue
			}
			if last := ends[at.UnixNano()]; last == nil || last.Attempt < run.Attempt {
				ends[at.UnixNano()] = &run
			}
		}
		time.Sleep(takes)
		return common.BackfillPast{Ends: ends, Since: job.CreatedAt}, nil
	}
	if _, _, err := m.store.Backfill(ctx, modelActor, job, r, common.Precondition{}, past); err == nil {
		s.world.count("backfills requested")
	}
}

// anyBackfill is one that has not ended; empty where there is none.
func (s *script) anyBackfill() string {
	keys := s.world.keysNow(common.FlowRunsPrefix)
	keys = slices.DeleteFunc(keys, func(key string) bool { return !strings.Contains(key, ofBackfill) })
	if len(keys) == 0 {
		return ""
	}
	return runOfKey(pick(s, keys...))
}

// actOnBackfill pauses a backfill for a time, or ends it.
func (s *script) actOnBackfill(ctx context.Context, m *master, id string, action common.BackfillAction,
	d time.Duration) {
	_ = m.store.ActOnBackfill(ctx, modelActor, id, action, "")
	if action == common.BackfillPause {
		time.Sleep(d)
		_ = m.store.ActOnBackfill(ctx, modelActor, id, common.BackfillResume, "")
	}
}

// fillLife is what became of a backfill.
type fillLife struct {
	rawHead
	fires  []rawFill
	marks  map[int]rawMark // by item
	over   bool
	killed bool // a request to end it was committed
}

// rawFill is a fire of a backfill.
type rawFill struct {
	fire    string
	attempt int
}

// readFills unpacks the fires of a backfill.
func (h *rawHead) readFills() (fires []rawFill) {
	in, err := gzip.NewReader(bytes.NewReader(h.Fires))
	if err != nil {
		panic(err)
	}
	var packed struct {
		Deltas   []int64
		Attempts map[int]int
	}
	if err := json.NewDecoder(in).Decode(&packed); err != nil {
		panic(err)
	}
	at := int64(0)
	for i, delta := range packed.Deltas {
		at += delta
		fires = append(fires, rawFill{fmt.Sprintf("%s.%020d", h.UID, at), max(1, packed.Attempts[i])})
	}
	return fires
}

// readBackfills checks what one revision did to backfills.
func (c *checker) readBackfills(r *revision) {
	f := c.flows
	touched := map[*fillLife]bool{}
	for _, e := range r.under("/cron/flowruns/") {
		if strings.Contains(e.key, ofBackfill) && e.created == e.rev {
			c.beginsBackfill(e)
		}
	}
	for _, e := range r.under("/cron/flownodes/") {
		id, node, _ := strings.Cut(e.key[len("/cron/flownodes/"):], "/")
		fill := f.fills[id]
		if fill == nil || e.created == 0 {
			continue
		}
		item, err := strconv.Atoi(strings.TrimPrefix(node, "fire@"))
		if err != nil || item >= len(fill.fires) || fill.over {
			c.breaks("F10", "%s was written at %s by %s: it has no such fire, or has ended", e.key, wallTime(e.at),
				e.by)
			continue
		}
		m := decode[rawMark](e.value)
		if m.State == "started" {
			c.startsFire(r, e, fill, item)
		} else if was, marked := fill.marks[item]; marked && was.State == "ended" || m.Attempt > 0 &&
			!slices.ContainsFunc(r.under("/cron/outbox/"), func(put event) bool {
				return put.created != 0 && strings.HasSuffix(put.key, fmt.Sprintf("/%s.%d", m.Fire, m.Attempt))
			}) {
			c.breaks("F10", "fire %d of %s ended %s at %s by %s, without an outcome or after %s", item, id, m.text(),
				wallTime(e.at), e.by, was.text())
		}
		fill.marks[item] = m
		touched[fill] = true
	}
	for fill := range touched {
		started := 0
		for _, m := range fill.marks {
			if m.State == "started" {
				started++
			}
		}
		if started > fill.Concurrency {
			c.breaks("F10", "%d fires of %s ran at %s, and %d may", started, fill.Run, wallTime(r.at), fill.Concurrency)
		}
	}
	for _, e := range r.under("/cron/flowruns/") {
		if strings.Contains(e.key, ofBackfill) {
			c.changesBackfill(r, e)
		}
	}
}

// readYields checks that a fire which is queued, or skipped, because of a backfill has a run of that in its way.
func (c *checker) readYields(r *revision) {
	f := c.flows
	check := func(e event, job, what string) {
		if !slices.Contains(slices.Collect(maps.Values(f.inWay[job])), true) {
			c.breaks("F14", "%s of %s was %s at %s by %s because of a backfill, and in its way were %v", e.key, job,
				what, wallTime(e.at), e.by, slices.Sorted(maps.Keys(f.inWay[job])))
		}
		c.world.counts["fires "+what+" beside backfills"]++
	}
	for _, e := range r.under("/cron/triggers/") {
		job, isQueued := strings.CutSuffix(strings.TrimPrefix(e.key, "/cron/triggers/"), "/queued")
		if isQueued && e.created == e.rev && (f.overlap[job] == "skip" || f.overlap[job] == "") {
			check(e, job, "queued")
		}
	}
	for _, e := range r.under("/cron/outbox/") {
		if e.created == 0 {
			continue
		}
		if run := decode[rawRun](e.value); run.Reason != nil && run.Reason.Code == common.ReasonBackfill {
			check(e, run.Job, "skipped")
		}
	}
	for _, prefix := range []string{"/cron/runs/", "/cron/flowruns/"} {
		for _, e := range r.under(prefix) {
			job, _, _ := strings.Cut(e.key[len(prefix):], "/")
			if e.created == 0 {
				delete(f.inWay[job], e.key)
				continue
			}
			of := decode[struct{ Flow, Parent *struct{ Kind string } }](e.value)
			if f.inWay[job] == nil {
				f.inWay[job] = map[string]bool{}
			}
			f.inWay[job][e.key] = of.Flow != nil && of.Flow.Kind == "backfill" ||
				of.Parent != nil && of.Parent.Kind == "backfill"
		}
	}
}

// beginsBackfill checks that a backfill is the only one of its job, and that it may run its fires, each as the next
// attempt.
func (c *checker) beginsBackfill(e event) {
	f, id := c.flows, runOfKey(e.key)
	h := decode[rawHead](e.value)
	for other, was := range f.fills {
		if was.Job == h.Job && !was.over || other == id {
			c.breaks("F10", "the backfill %s began at %s by %s, and %s had not ended", id, wallTime(e.at), e.by, other)
		}
	}
	job := strings.TrimSuffix(h.Job, "@backfill")
	if overlap := f.overlap[job]; overlap != "allow" && h.Concurrency != 1 {
		c.breaks("F10", "the backfill %s runs %d fires at a time of a job with the overlap policy %s", id,
			h.Concurrency, overlap)
	}
	fill := &fillLife{rawHead: h, fires: h.readFills(), marks: map[int]rawMark{}}
	f.fills[id] = fill
	c.wanted[id] = "it was claimed"
	c.world.counts["backfills"]++
	for i, fire := range fill.fires {
		last, ended := f.last[fire.fire]
		lacks := !ended || last.Status == "missed" || last.Status == "skipped"
		which := h.Range.Reprocess
		if len(f.busy[fire.fire]) > 0 || fire.attempt != last.Try+1 ||
			which != "all" && !lacks && (which == "none" || last.Status == "succeeded") {
			c.breaks("F10", "fire %d of the backfill %s (%s) is attempt %d of %s, which ended %s, and has %v", i, id,
				which, fire.attempt, fire.fire, last.text(), slices.Sorted(maps.Keys(f.busy[fire.fire])))
		}
	}
}

// startsFire checks the start of a fire of a backfill.
func (c *checker) startsFire(r *revision, e event, fill *fillLife, item int) {
	f, job, fire := c.flows, strings.TrimSuffix(fill.Job, "@backfill"), fill.fires[item]
	what := fmt.Sprintf("fire %d of %s was started at %s by %s", item, fill.Run, wallTime(e.at), e.by)
	if was, marked := fill.marks[item]; marked {
		c.breaks("F10", "%s, and it had a mark: %s %s", what, was.State, was.text())
	}
	if fill.Paused || fill.killed {
		c.breaks("F10", "%s: paused %t, ended %t", what, fill.Paused, fill.killed)
	}
	if f.queued[job] {
		c.breaks("F10", "%s, and a fire of the plan was waiting", what)
	}
	if keys := f.busy[fire.fire]; len(keys) > 0 || f.last[fire.fire].Try >= fire.attempt {
		c.breaks("F10", "%s as attempt %d, and the fire has %v, and ended %s", what, fire.attempt,
			slices.Sorted(maps.Keys(keys)), f.last[fire.fire].text())
	}
	trigger := fmt.Sprintf("/cron/triggers/%s/%s.%d", job, fire.fire, fire.attempt)
	if !slices.ContainsFunc(r.under(trigger), func(put event) bool { return put.created == put.rev }) {
		c.breaks("F10", "%s without its trigger", what)
	}
	f.filled[fire.fire] = f.filled[fire.fire] || fire.attempt == 1
	c.world.counts["fires of backfills"]++
}

// changesBackfill takes in the head of a backfill that was changed or removed.
func (c *checker) changesBackfill(r *revision, e event) {
	fill := c.flows.fills[runOfKey(e.key)]
	if e.created != 0 {
		fill.rawHead = decode[rawHead](e.value)
		fill.killed = fill.killed || fill.Kill != nil
		return
	}
	fill.over = true
	failed := 0
	for i, fire := range fill.fires {
		m, marked := fill.marks[i]
		if !marked || m.State != "ended" {
			c.breaks("F10", "the backfill %s ended at %s by %s, and fire %d has not: %s", fill.Run, wallTime(e.at),
				e.by, i, m.text())
		}
		if classOfMark(m, false) == "failure" {
			failed++
		}
		if live := c.flows.live[fire.fire]; len(live) > 0 {
			c.breaks("F10", "the backfill %s ended at %s by %s, and etcd holds %v", fill.Run, wallTime(e.at), e.by,
				slices.Sorted(maps.Keys(live)))
		}
	}
	want, got := "succeeded", ""
	if failed > 0 {
		want = "failed"
	}
	if fill.Kill != nil {
		want = "killed"
	}
	for _, put := range r.under("/cron/outbox/") {
		if runOfKey(put.key) == fill.Run {
			got = decode[rawRun](put.value).Status
		}
	}
	if got != want {
		c.breaks("F10", "the backfill %s ended %q at %s, and by its fires %s", fill.Run, got, wallTime(e.at), want)
	}
	c.world.counts["backfills "+got]++
}

// hold follows what etcd holds of the fires, and the queued fires.
func (f *flowsRead) hold(e event, fire string) {
	if was := f.held[e.key]; was != "" {
		delete(f.busy[was], e.key)
		delete(f.held, e.key)
	}
	if job, isQueued := strings.CutSuffix(strings.TrimPrefix(e.key, "/cron/triggers/"), "/queued"); isQueued {
		f.queued[job] = e.created != 0
	}
	if e.created == 0 {
		return
	}
	if f.busy[fire] == nil {
		f.busy[fire] = map[string]bool{}
	}
	f.busy[fire][e.key], f.held[e.key] = true, fire
}

// backfillsOver wants all backfills to have ended, and the ledger to have the outcomes of their fires.
func (c *checker) backfillsOver() {
	for id, fill := range c.flows.fills {
		if !fill.over {
			c.breaks("F10", "the backfill %s has not ended: paused %t, %v", id, fill.Paused, fill.marks)
		}
		for i, m := range fill.marks {
			entry, found := c.ledger[fmt.Sprintf("%s.%d", m.Fire, m.Attempt)]
			if m.Attempt > 0 && (!found || entry.Status != m.Status) {
				c.breaks("F10", "fire %d of %s ended %s, and the ledger has %q", i, id, m.text(), entry.text())
			}
		}
	}
}
