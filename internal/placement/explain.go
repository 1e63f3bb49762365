package placement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"carillon/internal/common"
)

// Codes of the reasons why a worker may not run a job. Texts are translated by them.
const (
	NotPinned   = "not_pinned"            // the job names other workers
	NotSelected = "selector"              // its labels do not meet the selector
	NoWeight    = "no_weight"             // its weight is 0, and the job goes by weight
	TooSmall    = "too_small"             // it has fewer slots than a run takes, free or not
	Trouble     = "trouble"               // it says that it does not claim
	Draining    = "draining"              // it finishes what it has
	OutboxFull  = common.ReasonOutboxFull // the log store is away, and the outboxes are full
	NoSlot      = common.ReasonNoSlot

	NeedsFeature = common.ReasonNeedsFeature // it is of a version that cannot do what the job needs
)

// Verdict is what placement says of one worker.
type Verdict struct {
	Candidate
	Eligible bool
	Rank     int            // of an eligible one
	Reason   *common.Reason // why it is not
}

// Explain gives the verdict on every candidate: those that may run it by rank, then the
// others in the order in which they came. Ranks are those of Rank.
func Explain(w *Wish, all []Candidate) []Verdict {
	type ranked struct {
		standing
		Verdict
	}
	var may []ranked
	var others []Verdict
	seed := seedOf(w.Job)
	for i := range all {
		if code := w.refusal(&all[i]); code != "" {
			others = append(others, Verdict{Candidate: all[i], Reason: w.reason(code, &all[i])})
		} else {
			may = append(may, ranked{w.standing(seed, &all[i]), Verdict{Candidate: all[i], Eligible: true}})
		}
	}
	slices.SortStableFunc(may, func(a, b ranked) int { return w.compare(a.standing, b.standing) })
	verdicts := make([]Verdict, 0, len(all))
	for i, r := range may {
		r.Rank = w.place(i, r.standing)
		verdicts = append(verdicts, r.Verdict)
	}
	return append(verdicts, others...)
}

// Why says why nobody may run it now; see Unplaced.
func Why(w *Wish, all []Candidate) common.Reason { return Unplaced(Explain(w, all)) }

// Unplaced says why nobody may run it: no_slot, where only free slots are missing, outbox_full,
// where only room for outcomes is, or no_worker. Where somebody may, it is starting, with the name of who comes first.
func Unplaced(verdicts []Verdict) common.Reason {
	count := map[string]int{}
	for i := range verdicts {
		if verdicts[i].Eligible {
			return common.Reason{Code: common.ReasonStarting, Data: map[string]string{"worker": verdicts[i].Name},
				Text: fmt.Sprintf("%s is about to take it", verdicts[i].Name)}
		}
		count[verdicts[i].Reason.Code]++
	}
	alive := strconv.Itoa(len(verdicts))
	if n := count[NoSlot]; n > 0 {
		return common.Reason{Code: common.ReasonNoSlot, Data: map[string]string{"alive": alive, NoSlot: strconv.Itoa(n)},
			Text: fmt.Sprintf("%s no free slot for it", plural(n, "worker that may run it has", "workers that may run it have"))}
	}
	if n := count[OutboxFull]; n > 0 {
		return common.Reason{Code: common.ReasonOutboxFull, Data: map[string]string{"alive": alive, OutboxFull: strconv.Itoa(n)},
			Text: "it waits for the log store: outcomes fill the outboxes in etcd"}
	}
	reason := common.Reason{Code: common.ReasonNoWorker, Data: map[string]string{"alive": alive}, Text: "no worker is alive"}
	var parts []string
	for _, g := range groups {
		if n := count[g.code]; n > 0 {
			reason.Data[g.code] = strconv.Itoa(n)
			parts = append(parts, plural(n, g.one, g.many))
		}
	}
	if len(parts) > 0 {
		reason.Text = fmt.Sprintf("of %s nobody may run it: %s", plural(len(verdicts), "worker alive", "workers alive"), strings.Join(parts, ", "))
	}
	return reason
}

// groups are the sentences for so many workers with the same reason.
var groups = [...]struct{ code, one, many string }{
	{NotPinned, "is not among those it is pinned to", "are not among those it is pinned to"},
	{NotSelected, "does not match its selector", "do not match its selector"},
	{NoWeight, "has weight 0", "have weight 0"},
	{TooSmall, "has fewer slots than it takes", "have fewer slots than it takes"},
	{NeedsFeature, "cannot do what it needs", "cannot do what it needs"},
	{Trouble, "is in trouble", "are in trouble"},
	{Draining, "is draining", "are draining"},
}

// reason says why one candidate may not run it.
func (w *Wish) reason(code string, c *Candidate) *common.Reason {
	r := &common.Reason{Code: code}
	switch code {
	case NotPinned:
		names := strings.Join(w.Workers, ", ")
		r.Data, r.Text = map[string]string{"workers": names}, "the job runs only on "+names
	case NotSelected:
		unmet := w.Selector.unmet(c.Labels)
		r.Data = map[string]string{"selector": w.Selector.String(), "unmet": unmet.String()}
		r.Text = fmt.Sprintf("its labels do not match %q: it has no label %s", unmet, unmet.key)
		if value, has := c.Labels[unmet.key]; has {
			r.Data["label"] = unmet.key + "=" + value
			r.Text = fmt.Sprintf("its labels do not match %q: it has %s", unmet, r.Data["label"])
		}
	case NoWeight:
		r.Text = "its weight is 0"
	case TooSmall:
		r.Data = map[string]string{"slots": strconv.Itoa(c.Slots), "takes": strconv.Itoa(w.slots())}
		r.Text = fmt.Sprintf("it has %s, and a run takes %d", plural(c.Slots, "slot", "slots"), w.slots())
	case NeedsFeature:
		lacking := strings.Join(common.Lacking(w.Needs, c.Features), ", ")
		r.Data, r.Text = map[string]string{"needs": lacking}, fmt.Sprintf("it cannot do %q, which the job needs: a newer version may", lacking)
	case OutboxFull:
		r.Text = "it takes no runs: outcomes for the log store fill the outboxes in etcd"
	case Trouble:
		r.Data, r.Text = map[string]string{"trouble": c.Trouble}, "it takes no runs: "+c.Trouble
	case Draining:
		r.Text = "it is draining: it finishes its runs and takes no more"
	case NoSlot:
		r.Data = map[string]string{"slots": strconv.Itoa(c.Slots), "used": strconv.Itoa(c.Used), "takes": strconv.Itoa(w.slots())}
		r.Text = fmt.Sprintf("%d of %s used, and a run takes %d", c.Used, plural(c.Slots, "slot is", "slots are"), w.slots())
	}
	return r
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
