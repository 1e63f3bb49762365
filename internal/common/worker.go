package common

import "time"

// Life is one incarnation of a worker: one start of its process. BootID and PIDNamespace show a later
// incarnation whether it can see the processes of this one.
type Life struct {
	Worker       string `json:"worker"` // id, created at the first start
	Name         string `json:"name"`   // display name
	Life         string `json:"life"`
	BootID       string `json:"bootId,omitempty"`
	PIDNamespace string `json:"pidNs,omitempty"`
	// Marked reports that all processes that this incarnation starts carry a mark that they cannot remove, so that the
	// next one finds all of them.
	Marked bool `json:"marked,omitempty"`
}

// Registration is the value of /cron/workers/<worker>.
type Registration struct {
	Life
	Host      string            `json:"host"`
	Version   string            `json:"version"`
	PID       int               `json:"pid"`
	Labels    map[string]string `json:"labels,omitempty"`
	Slots     int               `json:"slots"`
	Running   int               `json:"running"`
	Used      int               `json:"used"` // slots that the runs use
	StartedAt time.Time         `json:"startedAt"`
	Clock     time.Time         `json:"clock"` // the worker's wall clock at the time of the write
	Draining  bool              `json:"draining,omitempty"`
	Trouble   string            `json:"trouble,omitempty"` // why it claims nothing; empty if it does
	Lease     int64             `json:"lease"`
	// Features are features that jobs may need; see StoredJob.Needs.
	Features   []string    `json:"features,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"` // active problems
	// Skew is how far this worker's clock is ahead of the cluster's, as far as it knows.
	Skew time.Duration `json:"skew,omitempty"`
}

// WorkerSettings is the value of /cron/settings/workers/<worker>: an operator's settings, which take precedence over
// the worker's own.
type WorkerSettings struct {
	Drain     bool              `json:"drain,omitempty" doc:"The worker claims no new runs."`
	DrainNote string            `json:"drainNote,omitempty" doc:"Reason."`
	Labels    map[string]string `json:"labels,omitzero" doc:"Overrides the worker's own."` // if not nil
	Slots     *int              `json:"slots,omitempty" doc:"Overrides the worker's own."`
	Weight    *int              `json:"weight,omitempty"` // default 1
	UpdatedAt time.Time         `json:"updatedAt,omitzero"`
	UpdatedBy string            `json:"updatedBy,omitempty"`
}

// Member is a live worker with its settings.
type Member struct {
	Registration
	Settings WorkerSettings
	// Ahead is how far its clock was ahead of ours when its registration arrived, and Heard when that was, with the
	// monotonic clock's reading. Heard is zero, and Ahead unknown, until the first update after the watch began.
	Ahead time.Duration
	Heard time.Time
}

// EffectiveLabels returns the worker's own labels, or those that an operator set.
func (m *Member) EffectiveLabels() map[string]string {
	if m.Settings.Labels != nil {
		return m.Settings.Labels
	}
	return m.Labels
}

// EffectiveSlots returns the worker's own slots, or those that an operator set.
func (m *Member) EffectiveSlots() int {
	if m.Settings.Slots != nil {
		return *m.Settings.Slots
	}
	return m.Slots
}

// Weight returns the worker's share under the strategy weight.
func (m *Member) Weight() int {
	if m.Settings.Weight != nil {
		return *m.Settings.Weight
	}
	return 1
}

// MasterPresence is the value of /cron/masters/<id>: a live master, and its clock.
type MasterPresence struct {
	ID        string    `json:"id"`
	Host      string    `json:"host"`
	Address   string    `json:"address,omitempty"` // where it listens
	Version   string    `json:"version"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	Clock     time.Time `json:"clock"`
	// Skew is how far this master's clock is ahead of the cluster's, as far as it knows.
	Skew time.Duration `json:"skew,omitempty"`
	// Conditions are those of its own loops, which no other master can see.
	Conditions []Condition `json:"conditions,omitempty"`
	// Seals reports that it leaves changes to the elected master, which seals them. Older versions deliver them by
	// themselves.
	Seals bool `json:"seals,omitempty"`
}
