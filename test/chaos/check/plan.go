package check

import (
	"fmt"
	"time"
)

// Overlap policies and lost policies, as the API names them.
const (
	Skip    = "skip"
	Queue   = "queue"
	Replace = "replace"
	Allow   = "allow"

	Rerun   = "rerun"
	Abandon = "abandon"
	Detach  = "detach"
)

// Job holds the settings of a job that the harness sent. A job that was deleted and created again is another
// one, under the same name.
type Job struct {
	Name      string        `json:"name"`
	UID       string        `json:"uid"` // as the API returned it; the ids of all its fires and runs begin with it
	Overlap   string        `json:"overlap"`
	OnLost    string        `json:"onLost"`
	LostAfter time.Duration `json:"lostAfter"`
	RetryMax  int           `json:"retryMax,omitempty"`
	Silent    bool          `json:"silent,omitempty"`  // its command writes no ledger
	AnyText   bool          `json:"anyText,omitempty"` // its output is not made of numbered lines
	// it prints more than is kept: parts of the output may be missing
	MayMiss bool `json:"mayMiss,omitempty"`
	Timeout bool `json:"timeout,omitempty"` // it has one
	Deleted bool `json:"deleted,omitempty"` // by the script: what should follow a run may be absent

	After  []string `json:"after,omitempty"` // its parents, sorted
	Spells []Spell  `json:"spells"`
	Daemon *Daemon  `json:"daemon,omitempty"` // its replicas, in place of fires
}

// Exclusive reports whether no two commands of the job may ever be alive together.
func (j *Job) Exclusive() bool { return j.Overlap != Allow && j.OnLost != Detach }

// MostAttempts returns the maximum number of attempts of one fire.
func (j *Job) MostAttempts() int { return max(3, 1+j.RetryMax) }

// Spell is a period in which a job had one schedule. Its start and end are each known within two bounds:
// before the request was sent, and after it was answered.
type Spell struct {
	Anchor time.Time     `json:"anchor"` // a fire, maybe a hypothetical one
	Every  time.Duration `json:"every"`  // 0: the job has only manual runs

	From      time.Time `json:"from"`      // no fire at or before it
	FromLate  time.Time `json:"fromLate"`  // all fires after it; zero: like From
	Until     time.Time `json:"until"`     // all fires up to and including it
	UntilLate time.Time `json:"untilLate"` // no fire after it; zero: like Until
}

// Need is what is known of a time on a job's schedule.
type Need int

// A time is no fire of the job, or may be one, or is one.
const (
	Stray Need = iota
	May
	Must
)

func (s *Spell) fromLate() time.Time {
	if s.FromLate.IsZero() {
		return s.From
	}
	return s.FromLate
}

func (s *Spell) untilLate() time.Time {
	if s.UntilLate.IsZero() {
		return s.Until
	}
	return s.UntilLate
}

// Need reports whether the spell has a fire at a time.
func (s *Spell) Need(at time.Time) Need {
	switch {
	case s.Every <= 0, at.Sub(s.Anchor)%s.Every != 0, !at.After(s.From), at.After(s.untilLate()):
		return Stray
	case at.After(s.fromLate()) && !at.After(s.Until):
		return Must
	}
	return May
}

// Times returns the times of possible fires of the spell, the oldest first.
func (s *Spell) Times() []time.Time {
	var times []time.Time
	if s.Every <= 0 {
		return nil
	}
	at := s.Anchor.Add(s.From.Sub(s.Anchor) / s.Every * s.Every)
	for ; !at.After(s.untilLate()); at = at.Add(s.Every) {
		if at.After(s.From) {
			times = append(times, at.UTC())
		}
	}
	return times
}

// Need reports whether the job has a fire at a time. Two spells may both allow a time if one replaced the
// other.
func (j *Job) Need(at time.Time) Need {
	most := Stray
	for i := range j.Spells {
		most = max(most, j.Spells[i].Need(at))
	}
	return most
}

// FireID returns the id of a planned fire as the API names it.
func (j *Job) FireID(at time.Time) string { return fmt.Sprintf("%s.%020d", j.UID, at.UnixNano()) }
