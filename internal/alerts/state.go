package alerts

import (
	"slices"
	"time"

	"carillon/internal/common"
)

// remind is how often, at most, it is told again that a job is still in trouble.
const remind = time.Hour

// maxRecent is how many outcomes a job's state remembers as counted.
const maxRecent = 20

// wanted are the reasons of runs that somebody wanted to end: a user, or the job by its overlap policy.
var wanted = [...]string{"killed_by_user", "killed_before_start", common.ReasonReplaced}

// Outcome is something that became of a fire: an outcome from etcd with its revision, one
// that was found in the history, with none, or a run that is late.
type Outcome struct {
	Run      common.Run
	Revision int64
	Late     bool
}

// at is when it happened, as far as it says so; a gap lasts until its last fire.
func (o *Outcome) at() time.Time {
	if !o.Late && o.Run.EndedAt != nil {
		return o.Run.EndedAt.UTC()
	}
	return o.Run.PlannedAt.UTC()
}

// name tells outcomes apart.
func (o *Outcome) name() string {
	if o.Late {
		return "late:" + o.Run.Fire
	}
	return o.Run.ID
}

// event is what the outcome means to who wants to be told; good says that all went well.
// What somebody wanted so is neither: skips, and runs that a user or a later fire ended.
func (o *Outcome) event() (event common.Event, good bool) {
	if o.Late {
		return common.EventLate, false
	}
	switch o.Run.Status {
	case common.StatusSucceeded:
		return "", true
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

// weight is how many fires it stands for; at least one, also where they could not be counted.
func (o *Outcome) weight() int64 {
	if o.Run.Gap != nil {
		return max(1, o.Run.Gap.Count)
	}
	return 1
}

// State is how a job stands with those who are told, the value of /cron/alerts/<job>. One
// that was never in trouble has none.
type State struct {
	Job      string       `json:"job"`
	UID      string       `json:"uid"`
	Trouble  bool         `json:"trouble,omitempty"`
	Event    common.Event `json:"event,omitempty"`   // the worst that was told of, or is held
	FirstAt  time.Time    `json:"firstAt,omitzero"`  // of the trouble
	LastAt   time.Time    `json:"lastAt,omitzero"`   // planned time of its last bad fire
	Count    int64        `json:"count,omitempty"`   // its bad fires
	ToldAt   time.Time    `json:"toldAt,omitzero"`   // when it was last told of, or held
	Held     []string     `json:"held,omitempty"`    // channels that are to hear of it in their next summary
	Revision int64        `json:"revision,omitzero"` // outcomes up to it are counted
	Recent   []string     `json:"recent,omitempty"`  // the last ones that were counted

	Version int64 `json:"-"` // the etcd revision of its last change
}

// counted tells whether the state knows of an outcome.
func (s *State) counted(o *Outcome) bool {
	return o.Revision != 0 && o.Revision <= s.Revision || slices.Contains(s.Recent, o.name())
}

// take counts an outcome that is final. It gives the event that is to be told, if any, and
// whether the state has changed. A trouble that is held when it ends stays so: it must be told.
func (s *State) take(o *Outcome, notify *common.Notify, now time.Time) (tell common.Event, changed bool) {
	event, good := o.event()
	if good && s.Trouble && !o.Run.PlannedAt.Before(s.LastAt) {
		s.Trouble = false
		s.remember(o)
		if !notify.Wants(common.EventRecovered) {
			return "", true
		}
		return common.EventRecovered, true
	}
	if event == "" || !notify.Wants(event) {
		return "", false
	}
	s.remember(o)
	if !s.Trouble {
		*s = State{Job: s.Job, UID: s.UID, Trouble: true, FirstAt: o.at(), Revision: s.Revision, Recent: s.Recent, Version: s.Version}
	}
	s.Count += o.weight()
	if o.Run.PlannedAt.After(s.LastAt) {
		s.LastAt = o.Run.PlannedAt.UTC()
	}
	worse := s.Event == "" || s.Event == common.EventLate && event != common.EventLate
	if !worse && now.Sub(s.ToldAt) < remind {
		return "", true
	}
	if worse {
		s.Event = event
	}
	s.ToldAt = now
	return event, true
}

func (s *State) remember(o *Outcome) {
	s.Revision = max(s.Revision, o.Revision)
	s.Recent = append(slices.Clip(s.Recent), o.name())
	if over := len(s.Recent) - maxRecent; over > 0 {
		s.Recent = slices.Clone(s.Recent[over:])
	}
}
