package check

import (
	"cmp"
	"fmt"
	"slices"
)

// before returns the flow run of which this one keeps what has succeeded: the attempt before it, or what its step was
// in that attempt of the flow run around it; nil if there is none.
func (r *flowRun) before(byRun map[string]*flowRun) *flowRun {
	if _, _, attempt := splitRun(r.ID); attempt > 1 {
		return byRun[fmt.Sprintf("%s.%d", r.Fire, attempt-1)]
	}
	if r.Flow == nil || byRun[r.Flow.Run] == nil {
		return nil
	}
	around := byRun[r.Flow.Run].before(byRun)
	if around == nil || around.nodes[r.Flow.Node] == nil {
		return nil
	}
	return byRun[around.last(r.Flow.Node).ID]
}

// last returns the last entry of a node that has one.
func (r *flowRun) last(node string) *Run {
	if len(r.nodes[node]) == 0 {
		return &Run{}
	}
	return slices.MaxFunc(r.nodes[node], func(a, b *Run) int { return cmp.Compare(a.Attempt, b.Attempt) })
}

// keptOf returns the classes of the steps that a flow run keeps. With a failure that was accepted, what depends on it
// runs; otherwise what has failed, and all that depends on it.
func (j *judge) keptOf(r, before *flowRun) map[string]class {
	if before == nil || before.classes == nil {
		return nil
	}
	kept, runs := map[string]class{}, map[string]bool{}
	accepted := j.asked(FailAccepted, before.ID)
	for i := range r.flow.Steps {
		s, was := &r.flow.Steps[i], before.classes[r.flow.Steps[i].Name]
		follows := slices.ContainsFunc(s.After, func(parent string) bool { return runs[parent] })
		switch {
		case accepted != nil && accepted.Text == s.Name:
			kept[s.Name], runs[s.Name] = good, true
		case follows, accepted == nil && was == bad:
			runs[s.Name] = true
		default:
			kept[s.Name] = was
		}
	}
	return kept
}

// asked returns the request of a kind for a run; nil if there was none.
func (j *judge) asked(kind Kind, run string) *Event {
	at := slices.IndexFunc(j.Journal, func(e Event) bool { return e.Kind == kind && e.Run == run })
	if at < 0 {
		return nil
	}
	return &j.Journal[at]
}

// isAccepted reports whether the failure of a step was accepted before its flow run ended.
func (j *judge) isAccepted(r *flowRun, step string) bool {
	is := slices.Contains(r.Accepted, step)
	if e := j.asked(FailAccepted, r.ID); is && (e == nil || e.Text != step) {
		j.broken(Flows, r.Job, r.ID+"/"+step, "was accepted, and the operator did not accept it")
	}
	return is
}

// repeated compares the attempts of a flow run that a user re-runs with the requests for them.
func (j *judge) repeated(r *Run, next bool) {
	again := j.accepted(RunAgain, r.ID) || j.accepted(FailAccepted, r.ID) && len(r.Accepted) == 0
	if again && !next {
		j.broken(Follow, r.Job, r.ID, "a re-run or an acceptance was requested and accepted, and nothing shows it")
	}
}
