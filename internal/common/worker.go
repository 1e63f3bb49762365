package common

import (
	"encoding/json"
	"time"
)

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
	ZoneData  string            `json:"zoneData,omitempty"` // version of its time zones; older workers have none
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
	// Only: the worker is a program with functions, and accepts only jobs that need one of its own features.
	Only bool `json:"only,omitempty"`
	// Build identifies the version of such a program: the time of its commit.
	Build string `json:"build,omitempty"`
	// Types are the versions of the types that the worker has, by name. Older workers have none: they run commands.
	Types map[string]string `json:"types,omitempty"`
	// Skew is how far this worker's clock is ahead of the cluster's, as far as it knows.
	Skew time.Duration `json:"skew,omitempty"`
	// Replicas are the numbers of replicas of daemon jobs that it runs, by job, of at most 500 jobs. DaemonSlots is the
	// number of slots that all its daemons use.
	Replicas    map[string]int `json:"replicas,omitempty"`
	DaemonSlots int            `json:"daemonSlots,omitempty"`
}

// WorkerSettings is the value of /cron/settings/workers/<worker>: an operator's settings, which take precedence over
// the worker's own.
type WorkerSettings struct {
	Drain     bool              `json:"drain,omitempty" doc:"The worker claims no new runs."`
	DrainNote string            `json:"drainNote,omitempty" doc:"Reason."`
	DrainedAt time.Time         `json:"drainedAt,omitzero" doc:"When it was drained."`
	DrainedBy string            `json:"drainedBy,omitempty" doc:"Who drained it; other changes keep it."`
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
	ZoneData  string    `json:"zoneData,omitempty"`
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

// TypeInfo is a type of jobs, and the live workers that have it.
type TypeInfo struct {
	Name    string            `json:"name" doc:"Name of the type." example:"sql"`
	Version string            `json:"version" doc:"Version of the type, on the first of its workers." example:"1.2.0"`
	Title   map[string]string `json:"title,omitempty" doc:"Display name, by language."`
	BuiltIn bool              `json:"builtIn,omitempty" doc:"Each worker of this version has the type."`
	With    json.RawMessage   `json:"with,omitempty" doc:"JSON schema of the settings (with); absent for shell."`
	Outputs []string          `json:"outputs,omitempty" nullable:"false" doc:"Outputs that a run may report."`
	Escapes bool              `json:"escapes,omitempty" doc:"The work of a run may continue after its process has ended."`
	Differs bool              `json:"differs,omitempty" doc:"The workers have different schemas; this is one of them."`
	Workers []TypeWorker      `json:"workers" nullable:"false" doc:"Live workers that have the type."`
}

// TypeWorker is a worker that has a type.
type TypeWorker struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version string `json:"version" doc:"Its version of the type."`
}
