package notify

import (
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
)

// remind is the minimum interval between notifications of a job that stays in trouble.
const remind = time.Hour

// maxSteps is how many flow runs with a failed step a job's state remembers.
const maxSteps = 100

// maxRecent is how many counted outcomes a job's state remembers.
const maxRecent = 20

// wanted are reasons of runs that were ended on purpose: by a user, or by the job's overlap policy.
var wanted = [...]string{"killed_by_user", "killed_before_start", common.ReasonReplaced, common.ReasonFlowStopped}

// Outcome is an outcome of a fire: from etcd with its revision, from the history without one, or a
// run that is late.
type Outcome struct {
	Run      common.Run
	Revision int64
	Late     bool
	// Step is set if the run is that of a step: the outcome then concerns the flow, and only if the step has failed.
	Step *StepOf
	// Steady is when all runs of a daemon job had lasted steadyAfter, or a flapping job had been well for calmFor; zero
	// for all other events.
	Steady time.Time
}

// StepOf is the step of a flow run whose outcome it is.
type StepOf struct {
	Job  string // the flow
	Run  string // the flow run
	Node string // empty if it is not known which step has failed
}

// crashLoopFrom is the number of consecutive short runs of a replica with which it counts as failing.
const crashLoopFrom = 3

// at returns when it happened; for a gap entry, the time of its last fire.
func (o *Outcome) at() time.Time {
	switch {
	case !o.Steady.IsZero():
		return o.Steady.UTC()
	case !o.Late && o.Run.EndedAt != nil:
		return o.Run.EndedAt.UTC()
	}
	return o.Run.PlannedAt.UTC()
}

// name identifies an outcome.
func (o *Outcome) name() string {
	switch {
	case o.Late:
		return "late:" + o.Run.Fire
	case !o.Steady.IsZero():
		return "steady:" + common.TimeKey(o.Steady)
	case o.Step != nil:
		return "step:" + o.Run.ID
	}
	return o.Run.ID
}

// event returns the event of an outcome; good reports success. Outcomes that were intended
// (skipped, ended by a user or replaced) are neither, and those of a
// backfill's runs, which is notified itself. Runs of a daemon job are an event once a replica's
// runs keep being short.
func (o *Outcome) event() (event common.Event, good bool) {
	if o.Run.Flow.OfBackfill() {
		return "", false
	}
	if o.Step != nil {
		of := *o
		if of.Step = nil; of.bad() {
			return common.EventStepFailed, false
		}
		return "", false
	}
	switch {
	case !o.Steady.IsZero():
		return "", true
	case o.Late:
		return common.EventLate, false
	case o.Run.Cause == common.CauseDaemon && o.Run.Attempt > 0: // the next start follows, however it ended
		if o.Run.Restarts >= crashLoopFrom && o.Run.Status != common.StatusLost {
			return common.EventFailed, false
		}
		return "", false
	}
	switch o.Run.Status {
	case common.StatusSucceeded:
		return "", !o.ofBackfill()
	case common.StatusFailed, common.StatusTimedOut, common.StatusRefused:
		return common.EventFailed, false
	case common.StatusKilled:
		if r := o.Run.Reason; r != nil && !slices.Contains(wanted[:], r.Code) {
			return common.EventFailed, false
		}
	case common.StatusLost:
		return common.EventLost, false
	case common.StatusMissed:
		return common.EventMissed, false
	}
	return "", false
}

// tolerable reports whether it is that of a step that ran: only such may fail, where allowFailure is set.
func (o *Outcome) tolerable() bool {
	return o.Step != nil && o.Step.Node != "" && o.Run.Status != common.StatusRefused &&
		o.Run.Status != common.StatusMissed
}

// ofBackfill reports whether it is that of a backfill, which is no fire of the job: its failure is an event of its own,
// and neither begins nor ends a trouble.
func (o *Outcome) ofBackfill() bool { return common.BackfilledJob(o.Run.Job) != o.Run.Job }

// matters reports whether something may follow from it for a job that is not in trouble.
func (o *Outcome) matters() bool { return o.bad() || o.printed() || o.gaveWay() }

func (o *Outcome) bad() bool {
	event, _ := o.event()
	return event != ""
}

// printed reports whether a run has ended that printed something. A backfill's run is not notified.
func (o *Outcome) printed() bool {
	return o.Step == nil && !o.Late && o.Steady.IsZero() && o.Run.OutputBytes > 0 && !o.Run.Flow.OfBackfill()
}

// job returns the name of the job that is notified of it.
func (o *Outcome) job() string {
	if o.Step != nil {
		return o.Step.Job
	}
	return common.BackfilledJob(o.Run.Job)
}

// concerns reports whether it concerns a job, and not another one that had the same name.
func (o *Outcome) concerns(job *common.JobState) bool {
	if o.Step != nil { // a job that the step runs has a uid of its own
		return strings.HasPrefix(o.Step.Run, job.UID+".")
	}
	return o.Run.JobUID == job.UID
}

// run returns the run of the job that is notified of it.
func (o *Outcome) run() string {
	if o.Step != nil {
		return o.Step.Run
	}
	return o.Run.ID
}

// ofStep returns the outcome for the flow whose step has ended with it. Items of a map count for their step, which has
// an outcome of its own.
func (o *Outcome) ofStep() (of Outcome, found bool) {
	node := o.Run.Flow
	if o.Step != nil || o.Late || !o.Steady.IsZero() || node == nil || node.Kind != common.KindFlow {
		return of, false
	}
	if _, item, err := common.SplitNode(node.Node); err != nil || item >= 0 {
		return of, false
	}
	of = *o
	of.Step = &StepOf{Job: node.Job, Run: node.Run, Node: node.Node}
	return of, of.bad()
}

// weight returns the number of fires of the outcome; at least 1, even if they could not be counted.
func (o *Outcome) weight() int64 {
	if o.Run.Gap != nil {
		return max(1, o.Run.Gap.Count)
	}
	return 1
}

// State is the notification state of a job, the value of /cron/alerts/<job>. A job that was never
// in trouble has none.
type State struct {
	Job      string       `json:"job"`
	UID      string       `json:"uid"`
	Trouble  bool         `json:"trouble,omitempty"`
	Event    common.Event `json:"event,omitempty"`    // the worst one notified or held
	FirstAt  time.Time    `json:"firstAt,omitzero"`   // begin of the trouble
	LastAt   time.Time    `json:"lastAt,omitzero"`    // planned time of the last failed fire
	Failures int64        `json:"failures,omitempty"` // consecutive failed fires of a job with autoPause
	Count    int64        `json:"count,omitempty"`    // failed fires
	ToldAt   time.Time    `json:"toldAt,omitzero"`    // last notified or held
	Held     []string     `json:"held,omitempty"`     // channels that get it in their next summary
	Printed  []string     `json:"printed,omitempty"`  // channels that get a summary of its output
	Quiet    []string     `json:"quiet,omitempty"`    // channels that get it in their digest after quiet hours
	Muted    []string     `json:"muted,omitempty"`    // channels that get its output in that digest
	Run      string       `json:"run,omitempty"`      // last failed run of the trouble; empty if it did not run
	Raised   []string     `json:"raised,omitempty"`   // channels that an escalation has notified of the trouble
	Acked    string       `json:"acked,omitempty"`    // who has acknowledged the trouble
	Revision int64        `json:"revision,omitzero"`  // outcomes up to it are counted
	Recent   []string     `json:"recent,omitempty"`   // last counted outcomes
	Begins   []time.Time  `json:"begins,omitempty"`   // of the last troubles within flapWindow, flapsFrom at most
	BadAt    time.Time    `json:"badAt,omitzero"`     // of the last counted bad outcome
	Steps    []string     `json:"steps,omitempty"`    // flow runs of which a failed step is counted
	Good     *common.Run  `json:"good,omitempty"`     // last success since then, of a flapping job; without outputs
	// BackfillAt is the end of the first failed backfill that is held for a summary or a digest.
	BackfillAt time.Time `json:"backfillAt,omitzero"`
	Skips      Skips     `json:"skips,omitzero"`

	Version int64 `json:"-"` // the etcd revision of its last change
}

// counted reports whether an outcome is already counted.
func (s *State) counted(o *Outcome) bool {
	return o.Revision != 0 && o.Revision <= s.Revision || slices.Contains(s.Recent, o.name())
}

// take counts a final outcome. It returns the event to notify, if any, and whether the state has
// changed. Held events of a trouble stay held when it ends, since they must be notified.
func (s *State) take(o *Outcome, notify *common.Notify, now time.Time) (tell common.Event, changed bool) {
	event, good := o.event()
	if good && s.Trouble && s.ends(o, now) {
		s.Trouble, s.Good = false, nil
		s.remember(o)
		if !notify.Wants(common.EventRecovered) && len(s.Raised) == 0 {
			return "", true
		}
		return common.EventRecovered, true
	}
	if good && s.Trouble && s.flapping() && o.Steady.IsZero() && !o.Run.PlannedAt.Before(s.LastAt) {
		s.Good = successOf(&o.Run)
		s.remember(o)
		return "", true
	}
	if event == "" || !notify.Wants(event) {
		return "", false
	}
	if o.ofBackfill() {
		s.remember(o)
		return event, true
	}
	known := slices.Contains(s.Steps, o.run())
	if known && o.Step != nil { // once per flow run
		return "", false
	}
	s.remember(o)
	if o.Step != nil {
		s.Steps = append(slices.Clip(s.Steps), o.run())
		s.Steps = s.Steps[max(0, len(s.Steps)-maxSteps):]
	}
	s.Good = nil
	if !s.Trouble {
		*s = State{
			Job:      s.Job,
			UID:      s.UID,
			Trouble:  true,
			FirstAt:  o.at(),
			Failures: s.Failures,
			Held:     s.Held,
			Printed:  s.Printed,
			Quiet:    s.Quiet,
			Muted:    s.Muted,
			Revision: s.Revision,
			Recent:   s.Recent,
			Begins:   s.begun(o.at()),
			Steps:    s.Steps,
			Version:  s.Version,

			BackfillAt: s.BackfillAt,
			Skips:      s.Skips,
		}
	}
	if at := o.at(); at.After(s.BadAt) {
		s.BadAt = at
	}
	if !known { // its failed step is counted
		s.Count += o.weight()
	}
	if o.Run.Attempt > 0 || o.Step != nil {
		s.Run = o.run()
	}
	if o.Run.PlannedAt.After(s.LastAt) {
		s.LastAt = o.Run.PlannedAt.UTC()
	}
	worse := rank(event) > rank(s.Event)
	if !worse && now.Sub(s.ToldAt) < remind {
		return "", true
	}
	if worse {
		s.Event = event
	}
	s.ToldAt = now
	return event, true
}

// ill reports whether summaries list the job among those in trouble, and since when.
func (s *State) ill() (since time.Time, ill bool) {
	switch {
	case s.Trouble && (s.BackfillAt.IsZero() || s.FirstAt.Before(s.BackfillAt)):
		return s.FirstAt, true
	case !s.BackfillAt.IsZero():
		return s.BackfillAt, true
	}
	return s.FirstAt, false
}

// listed notes that a summary or a digest has been written: when no channel waits for one, no backfill is held.
func (s *State) listed() {
	if len(s.Held) == 0 && len(s.Quiet) == 0 {
		s.BackfillAt = time.Time{}
	}
}

// rank orders events by how bad they are.
func rank(e common.Event) int {
	switch e {
	case "":
		return 0
	case common.EventLate:
		return 1
	case common.EventStepFailed:
		return 2
	}
	return 3
}

// tally counts consecutive failed fires, and reports whether the state has changed. Fires that did not run are none.
func (s *State) tally(o *Outcome) (changed bool) {
	event, good := o.event()
	switch {
	case o.ofBackfill():
		return false
	case good && s.Failures > 0 && !o.Run.PlannedAt.Before(s.LastAt):
		s.Failures = 0
	case event == common.EventFailed || event == common.EventLost:
		s.Failures++
		if o.Run.PlannedAt.After(s.LastAt) {
			s.LastAt = o.Run.PlannedAt.UTC()
		}
	default:
		return false
	}
	return true
}

func (s *State) remember(o *Outcome) {
	s.Revision = max(s.Revision, o.Revision)
	s.Recent = append(slices.Clip(s.Recent), o.name())
	if over := len(s.Recent) - maxRecent; over > 0 {
		s.Recent = slices.Clone(s.Recent[over:])
	}
}
