package placement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"carillon/internal/common"
)

// Codes of the reasons why a worker is not eligible for a job. The console translates the texts by these codes.
const (
	NotPinned   = "not_pinned"            // the job is pinned to other workers
	NotSelected = "selector"              // its labels do not match the selector
	NoWeight    = "no_weight"             // its weight is 0, and the job's strategy is weight
	OnlyTypes   = "only_types"            // it is a program that runs only its own functions
	TooSmall    = "too_small"             // it has fewer slots in total than a run uses
	Trouble     = "trouble"               // it does not claim because of a condition
	Draining    = "draining"              // it finishes its runs and claims no more
	OutboxFull  = common.ReasonOutboxFull // the log store is unavailable, and the outboxes are full
	NoSlot      = common.ReasonNoSlot

	NeedsFeature = common.ReasonNeedsFeature // its version lacks a feature that the job needs
)

// Verdict is the result of placement for one worker.
type Verdict struct {
	Candidate
	Eligible bool
	Rank     int            // if eligible
	Reason   *common.Reason // if not eligible
}

// Explain returns the verdicts on all candidates: the eligible ones by rank, then the others in the given order. The
// ranks are those of Rank.
func Explain(req *Requirements, all []Candidate) []Verdict {
	type ranked struct {
		standing
		Verdict
	}
	var may []ranked
	var others []Verdict
	seed := seedOf(req.Job)
	for i := range all {
		if code := req.refusal(&all[i]); code != "" {
			others = append(others, Verdict{Candidate: all[i], Reason: req.reason(code, &all[i])})
		} else {
			may = append(may, ranked{req.standing(seed, &all[i]), Verdict{Candidate: all[i], Eligible: true}})
		}
	}
	slices.SortStableFunc(may, func(a, b ranked) int { return req.compare(a.standing, b.standing) })
	verdicts := make([]Verdict, 0, len(all))
	for i, r := range may {
		r.Rank = req.place(i, r.standing)
		verdicts = append(verdicts, r.Verdict)
	}
	return append(verdicts, others...)
}

// Why returns why no worker can run the job now; see Unplaced.
func Why(req *Requirements, all []Candidate) common.Reason { return Unplaced(Explain(req, all)) }

// Unplaced returns why no worker is eligible: no_slot if only free slots are missing, outbox_full if only space in the
// outboxes is, or no_worker. If a worker is eligible, the reason is starting, with the name of the first one.
func Unplaced(verdicts []Verdict) common.Reason {
	count := map[string]int{}
	var selector, pinned, needs string
	for i := range verdicts {
		if verdicts[i].Eligible {
			return common.Reason{Code: common.ReasonStarting, Data: map[string]string{"worker": verdicts[i].Name},
				Text: fmt.Sprintf("%s is about to start it", verdicts[i].Name)}
		}
		why := verdicts[i].Reason
		count[why.Code]++
		switch why.Code {
		case NotSelected:
			selector = common.Excerpt(why.Data["selector"])
		case NotPinned:
			pinned = common.Excerpt(why.Data["workers"])
		case NeedsFeature:
			needs = common.Excerpt(why.Data["needs"])
		}
	}
	alive := strconv.Itoa(len(verdicts))
	if n := count[NoSlot]; n > 0 {
		return common.Reason{
			Code: common.ReasonNoSlot,
			Data: map[string]string{"alive": alive, NoSlot: strconv.Itoa(n)},
			Text: fmt.Sprintf("%s no free slot for it", plural(n, "eligible worker has", "eligible workers have")),
		}
	}
	if n := count[OutboxFull]; n > 0 {
		data := map[string]string{"alive": alive, OutboxFull: strconv.Itoa(n)}
		return common.Reason{Code: common.ReasonOutboxFull, Data: data,
			Text: "it waits for the log store: the outboxes in etcd are full of undelivered outcomes"}
	}
	data := map[string]string{"alive": alive}
	reason := common.Reason{Code: common.ReasonNoWorker, Data: data, Text: "no worker is alive"}
	var parts []string
	for _, g := range groups {
		if n := count[g.code]; n > 0 {
			reason.Data[g.code] = strconv.Itoa(n)
			part := plural(n, g.one, g.many)
			switch g.code {
			case NotSelected:
				reason.Data["requires"] = selector
				part += " " + selector
			case NotPinned:
				reason.Data["pinned"] = pinned
				part += " (" + pinned + ")"
			case NeedsFeature:
				reason.Data["needs"] = needs
				part += " (" + needs + ")"
			}
			parts = append(parts, part)
		}
	}
	if n := count[NotSelected]; n > 0 && n == len(verdicts) {
		reason.Text = fmt.Sprintf("no eligible worker: %d online, none matches the selector %s", n, selector)
	} else if len(parts) > 0 {
		reason.Text = fmt.Sprintf("no eligible worker: %d online, of which %s", len(verdicts),
			strings.Join(parts, ", "))
		if len(verdicts) == 1 {
			reason.Text = "no eligible worker: the only one online" + strings.TrimPrefix(parts[0], "1")
		}
	}
	return reason
}

// groups are the texts for a number of workers with the same reason.
var groups = [...]struct{ code, one, many string }{
	{NotPinned, "is not one that the job is pinned to", "are not among those that the job is pinned to"},
	{NotSelected, "does not match the selector", "do not match the selector"},
	{NoWeight, "has weight 0", "have weight 0"},
	{OnlyTypes, "runs only functions of its own", "run only functions of their own"},
	{TooSmall, "has fewer slots than a run uses", "have fewer slots than a run uses"},
	{NeedsFeature, "lacks a feature that the job needs", "lack a feature that the job needs"},
	{Trouble, "does not claim because of a condition", "do not claim because of a condition"},
	{Draining, "is draining", "are draining"},
}

// reason returns why one candidate is not eligible.
func (req *Requirements) reason(code string, c *Candidate) *common.Reason {
	r := &common.Reason{Code: code}
	switch code {
	case NotPinned:
		names := strings.Join(req.Workers, ", ")
		r.Data, r.Text = map[string]string{"workers": names}, "the job runs only on "+names
	case NotSelected:
		unmet := req.Selector.unmet(c.Labels)
		r.Data = map[string]string{"selector": req.Selector.String(), "unmet": unmet.String()}
		r.Text = fmt.Sprintf("it has no label %s (required: %s)", unmet.key, unmet)
		if value, has := c.Labels[unmet.key]; has {
			r.Data["label"] = unmet.key + "=" + value
			r.Text = fmt.Sprintf("it has the label %s (required: %s)", r.Data["label"], unmet)
		}
	case NoWeight:
		r.Text = "its weight is 0"
	case OnlyTypes:
		r.Text = "it is a program that runs only its own functions"
	case TooSmall:
		r.Data = map[string]string{"slots": strconv.Itoa(c.Slots), "takes": strconv.Itoa(req.slots())}
		r.Text = fmt.Sprintf("it has %s, and a run uses %d", plural(c.Slots, "slot", "slots"), req.slots())
	case NeedsFeature:
		lacking := strings.Join(common.Lacking(req.Needs, c.Features), ", ")
		r.Data = map[string]string{"needs": lacking}
		r.Text = fmt.Sprintf("it lacks the feature %q, which the job needs: a newer version may have it", lacking)
	case OutboxFull:
		r.Text = "it claims no runs: the outboxes in etcd are full of undelivered outcomes"
	case Trouble:
		r.Data, r.Text = map[string]string{"trouble": c.Trouble}, "it claims no runs: "+c.Trouble
	case Draining:
		r.Text = "it is draining: it finishes its runs and claims no more"
	case NoSlot:
		r.Data = map[string]string{
			"slots": strconv.Itoa(c.Slots),
			"used":  strconv.Itoa(c.Used),
			"takes": strconv.Itoa(req.slots()),
		}
		r.Text = fmt.Sprintf("%d of %s used, and a run uses %d",
			c.Used, plural(c.Slots, "slot is", "slots are"), req.slots())
	}
	return r
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
