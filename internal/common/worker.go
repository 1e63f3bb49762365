package common

import "time"

// Life is one start of a worker process. BootID and PIDNamespace tell whether a
// later life can see the processes of this one.
type Life struct {
	Worker       string `json:"worker"` // id, made at the first start
	Name         string `json:"name"`   // what people see
	Life         string `json:"life"`
	BootID       string `json:"bootId,omitempty"`
	PIDNamespace string `json:"pidNs,omitempty"`
	// Marked reports that whatever this incarnation starts carries a mark that it cannot lose, so that the
	// next one finds all of it.
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
	Used      int               `json:"used"` // slots that the runs take
	StartedAt time.Time         `json:"startedAt"`
	Clock     time.Time         `json:"clock"` // the worker's wall clock when it wrote this
	Draining  bool              `json:"draining,omitempty"`
	Trouble   string            `json:"trouble,omitempty"` // why it does not claim, if it does not
	Lease     int64             `json:"lease"`
	// Features are those that a job's definition may need; see StoredJob.Needs.
	Features   []string    `json:"features,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"` // what is not as it should be there
	// Skew is how far ahead of the cluster's clock this worker's is, as far as it knows.
	Skew time.Duration `json:"skew,omitempty"`
}

// WorkerSettings is the value of /cron/settings/workers/<worker>: what an operator
// says of a worker, over what the worker says of itself.
type WorkerSettings struct {
	Drain     bool              `json:"drain,omitempty"`
	DrainNote string            `json:"drainNote,omitempty"`
	Labels    map[string]string `json:"labels,omitzero"` // in place of its own, where not nil
	Slots     *int              `json:"slots,omitempty"`
	Weight    *int              `json:"weight,omitempty"` // default 1
	UpdatedAt time.Time         `json:"updatedAt"`
	UpdatedBy string            `json:"updatedBy,omitempty"`
}

// Member is a worker that is alive, with what is said of it.
type Member struct {
	Registration
	Settings WorkerSettings
	// Ahead is how far ahead of ours its clock was when its registration came in, and
	// Heard when that was, with the monotonic clock's reading. Heard is zero, and Ahead
	// not known, until the worker writes anew after we began to listen.
	Ahead time.Duration
	Heard time.Time
}

// EffectiveLabels are the worker's own labels, or those that an operator gave it.
func (m *Member) EffectiveLabels() map[string]string {
	if m.Settings.Labels != nil {
		return m.Settings.Labels
	}
	return m.Labels
}

// EffectiveSlots likewise.
func (m *Member) EffectiveSlots() int {
	if m.Settings.Slots != nil {
		return *m.Settings.Slots
	}
	return m.Slots
}

// Weight is the worker's share under the strategy weight.
func (m *Member) Weight() int {
	if m.Settings.Weight != nil {
		return *m.Settings.Weight
	}
	return 1
}

// MasterPresence is the value of /cron/masters/<id>: a master that is alive, and its clock.
type MasterPresence struct {
	ID        string    `json:"id"`
	Host      string    `json:"host"`
	Address   string    `json:"address,omitempty"` // where it listens
	Version   string    `json:"version"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	Clock     time.Time `json:"clock"`
	// Skew is how far ahead of the cluster's clock this master's is, as far as it knows.
	Skew time.Duration `json:"skew,omitempty"`
	// Conditions are those of its own loops, which no other master can see.
	Conditions []Condition `json:"conditions,omitempty"`
	// Seals says that it leaves changes to the elected master, which seals them. Older versions deliver them
	// by themselves.
	Seals bool `json:"seals,omitempty"`
}
