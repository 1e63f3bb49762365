package keep

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
)

// outcomeOf returns the outcome of a flow run whose nodes have ended.
func outcomeOf(run *common.FlowRun, state *flow.State, c *flow.Completion, now time.Time) common.Run {
	outcome := run.AsRun(c.Status)
	outcome.EndedAt, outcome.Nodes, outcome.Outputs = &now, &c.Counts, c.Outputs
	if run.Kind == common.KindBackfill {
		outcome.Backfill = flow.EndedBackfill(&run.Head, state)
	}
	if run.Kind == common.KindBackfill && c.Status == common.StatusSucceeded {
		if failed := failedFires(state); failed > 0 {
			outcome.Status = common.StatusFailed
			outcome.Reason = &common.Reason{
				Code: common.ReasonBackfillFailed,
				Data: map[string]string{"failed": strconv.Itoa(failed), "total": strconv.Itoa(c.Counts.Total)},
				Text: fmt.Sprintf("%d of %d fires failed", failed, c.Counts.Total),
			}
			return outcome
		}
	}
	switch {
	case c.Reason == common.ReasonNothingToDo && run.Kind == common.KindFlow:
		outcome.Reason = &common.Reason{Code: c.Reason, Text: "there was nothing to do: all steps were skipped"}
		return outcome
	case c.Status == common.StatusSucceeded:
		return outcome
	}
	outcome.Reason = &common.Reason{Code: c.Reason}
	switch kill := run.Kill; {
	case c.Reason == common.ReasonTimeout:
		outcome.Reason.Text = "it exceeded the timeout of the flow"
	case kill != nil && kill.Code == "":
		outcome.Reason.Code = "killed_by_user"
		outcome.Reason.Data = map[string]string{"by": kill.By, "note": kill.Note}
		outcome.Reason.Text = "it was killed by " + kill.By
	case kill != nil && kill.Code != common.ReasonFailFast:
		outcome.Reason.Code, outcome.Reason.Text = kill.Code, "it was ended: "+kill.Note
	case c.Reason == common.ReasonOutputsInvalid:
		outcome.Reason.Text = "the outputs of the flow are too large"
	case run.Spread != nil:
		outcome.Reason = common.SpreadFailed(failedWorkers(state), c.Counts.Failed, c.Counts.Total)
	default:
		outcome.Reason.Data, outcome.Reason.Text = failedSteps(state)
	}
	return outcome
}

// notRetried adds to the reason of a flow run that its retry does not follow: flow.State.NextAttempt fails only if what
// it would keep is too large.
func notRetried(outcome *common.Run) {
	reason := common.Reason{Code: outcome.Reason.Code, Data: maps.Clone(outcome.Reason.Data), Text: outcome.Reason.Text}
	if reason.Data == nil {
		reason.Data = map[string]string{}
	}
	reason.Data["notRetried"] = "true"
	reason.Text += "; it is not tried again, since the outputs to keep are too large: re-run it"
	outcome.Reason = &reason
}

// failedFires counts the fires of class failure: also those that were skipped, since their job was deleted.
func failedFires(state *flow.State) (count int) {
	for v := range state.Nodes() {
		if v.Item >= 0 && v.Class == common.ClassFailure {
			count++
		}
	}
	return count
}

// mostNamed is the number of failed steps that a reason names.
const mostNamed = 3

// failedWorkers names the first workers that have failed, or did not run.
func failedWorkers(state *flow.State) (names []string) {
	for v := range state.Nodes() {
		if v.Worker != "" && v.Class == common.ClassFailure && len(names) < mostNamed {
			names = append(names, v.Worker)
		}
	}
	return names
}

// failedSteps names the steps that have failed, without those that did not run because of them.
func failedSteps(state *flow.State) (data map[string]string, text string) {
	var names []string
	count := 0
	for v := range state.Nodes() {
		if v.Item >= 0 || v.Class != common.ClassFailure || v.Reason == common.ReasonUpstreamFailed ||
			v.Reason == common.ReasonFlowStopped {
			continue
		}
		if count++; count <= mostNamed {
			names = append(names, v.Node)
		}
	}
	list := strings.Join(names, ", ")
	data = map[string]string{"steps": list, "count": strconv.Itoa(count)}
	switch {
	case count == 1:
		return data, "step " + list + " failed"
	case count > mostNamed:
		return data, fmt.Sprintf("%d steps failed: %s and others", count, list)
	default:
		return data, fmt.Sprintf("%d steps failed: %s", count, list)
	}
}
