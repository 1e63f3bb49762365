package common

import "time"

// Trigger is the value of /cron/triggers/<job>/<id>: a fire outside the schedule.
type Trigger struct {
	ID        string    `json:"id"`
	Job       string    `json:"job"`
	JobUID    string    `json:"jobUid"`
	Group     string    `json:"group,omitempty"`
	Fire      string    `json:"fire"`
	PlannedAt time.Time `json:"plannedAt"`
	Attempt   int       `json:"attempt"`
	After     Status    `json:"after,omitempty"` // outcome of the previous attempt
	// Base is the number of attempts before a re-run that a user requested: retries count from there.
	Base  int    `json:"base,omitempty"`
	Cause Cause  `json:"cause"`
	By    string `json:"by,omitempty"`
	Note  string `json:"note,omitempty"`
	// Starters are the persons who requested the run, and the flow runs that it is nested in; see Actor.Person.
	Starters  []string  `json:"starters,omitempty"`
	NotBefore time.Time `json:"notBefore"`
	// NoAfter reports that its success starts no jobs that name its job in after.
	NoAfter bool `json:"noAfter,omitempty"`

	Params map[string]string `json:"params,omitempty"`
	// Schedule is the label of the schedule that planned the fire.
	Schedule string `json:"schedule,omitempty"`
	Worker   string `json:"worker,omitempty"` // only this worker, by name or id
	Avoid    string `json:"avoid,omitempty"`  // id of a worker that is ranked last
	// StartBy is the deadline of a planned fire that was returned; zero if the fire has none.
	StartBy time.Time `json:"startBy,omitzero"`
	// Returned counts the failed attempts to start the command for lack of resources.
	Returned int `json:"returned,omitempty"`
	// Restarts counts the consecutive short runs of a replica before this one.
	Restarts int `json:"restarts,omitempty"`
	// RunsAs is StoredJob.RunsAs of the runs that Restarts counts. Once it is another one, the replica is due at once.
	RunsAs string `json:"runsAs,omitempty"`
	// Parents are the runs after which the fire is, by the names of their jobs; nil if it is not one after others.
	Parents []ParentRun `json:"parents,omitempty"`
	// Flow is the node that the trigger starts. Such a trigger has no JobUID.
	Flow *FlowNode `json:"flow,omitempty"`
	// Traceparent is the span that requested the run; empty for none.
	Traceparent string `json:"traceparent,omitempty"`
	// Digest is the definition with which a flow run is re-run, and Keep holds the nodes that it keeps; empty for all
	// other triggers.
	Digest string `json:"digest,omitempty"`
	// Needs are the features of the workers that advance it, and Origin is the cause of the attempt before its retries.
	Needs  []string `json:"needs,omitempty"`
	Origin Cause    `json:"origin,omitempty"`
	// Retry is what the step that runs the job says, in place of the job; nil if it says nothing.
	Retry *Retry `json:"retry,omitempty"`
	Keep  *Base  `json:"keep,omitempty"`
}

// QueuedTrigger is the id of the trigger that waits for the end of a run, under the overlap policies queue and replace:
// a job has at most one.
const QueuedTrigger = "queued"

// Nested reports whether the trigger is of a node of a flow run, which waits for it.
func (t *Trigger) Nested() bool { return t.Flow != nil && t.Flow.Kind != KindBackfill }

// RunID returns the id of the run that the trigger requests.
func (t *Trigger) RunID() string { return RunID(t.Fire, t.Attempt) }

// AsRun returns the trigger as a waiting run.
func (t *Trigger) AsRun() Run {
	run := Run{ID: t.RunID(), Job: t.Job, JobUID: t.UID(), Group: t.Group, Fire: t.Fire, PlannedAt: t.PlannedAt,
		Cause: t.Cause, Attempt: t.Attempt, After: t.After, Status: StatusWaiting, TriggeredBy: t.By, Note: t.Note,
		Params: t.Params, Schedule: t.Schedule, Flow: t.Flow, Restarts: t.Restarts, Traceparent: t.Traceparent,
		NoAfter: t.NoAfter, Parents: t.Parents}
	if t.NotBefore.After(t.PlannedAt) {
		run.DueAt = &t.NotBefore
	}
	if t.Flow.OfSpread() {
		run.Worker = t.Worker
	}
	return run
}

// Next returns the trigger for the next attempt after a run with an outcome. Its id is the id of the run that it
// requests, so that writing it twice has no effect.
func (r *Record) Next(cause Cause, after Status, notBefore time.Time) Trigger {
	id := RunID(r.Fire, r.Attempt+1)
	return Trigger{
		ID:        id,
		Job:       r.Job,
		JobUID:    r.JobUID,
		Group:     r.Group,
		Fire:      r.Fire,
		PlannedAt: r.PlannedAt,
		Attempt:   r.Attempt + 1,
		After:     after,
		Base:      r.Base,
		Cause:     cause,
		By:        r.By,
		Note:      r.Note,
		NotBefore: notBefore.UTC(),
		NoAfter:   r.NoAfter,
		Parents:   r.Parents,
		Params:    r.Params,
		Schedule:  r.Schedule,
		Flow:      r.Flow,
		Retry:     r.Retry,

		Traceparent: r.Traceparent,
	}
}

// Again returns the trigger for the same attempt, whose command was never started. asked is the trigger that was
// claimed; nil for a fire of the plan, whose deadline is startBy.
func (r *Record) Again(asked *Trigger, startBy, notBefore time.Time) Trigger {
	again := Trigger{
		ID:        r.Run,
		Job:       r.Job,
		JobUID:    r.JobUID,
		Group:     r.Group,
		Fire:      r.Fire,
		PlannedAt: r.PlannedAt,
		Attempt:   r.Attempt,
		After:     r.After,
		Base:      r.Base,
		Cause:     r.Cause,
		By:        r.By,
		Note:      r.Note,
		NotBefore: notBefore.UTC(),
		NoAfter:   r.NoAfter,
		Parents:   r.Parents,
		Params:    r.Params,
		Schedule:  r.Schedule,
		Flow:      r.Flow,
		Restarts:  r.Restarts,
		RunsAs:    r.RunsAs,
		Retry:     r.Retry,

		Traceparent: r.Traceparent,
	}
	if asked == nil {
		again.StartBy = startBy.UTC()
	} else {
		again.Worker, again.Avoid, again.StartBy, again.Returned = asked.Worker, asked.Avoid, asked.StartBy,
			asked.Returned
	}
	return again
}
