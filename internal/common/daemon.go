package common

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bounds and defaults of a daemon job.
const (
	MaxReplicas = 1000

	DefaultDaemonBackoff = time.Second
	DefaultHealthyAfter  = 10 * time.Second
	DefaultRebalance     = 5 * time.Minute
)

// Daemon makes a job a daemon: its command is kept running, and restarted with backoff when it ends.
type Daemon struct {
	Count        Fleet      `json:"count" doc:"Number of replicas, from 1 to 1000; all: one on each eligible worker."`
	Backoff      Duration   `json:"backoff,omitempty" doc:"Delay before a restart; doubled as long as runs last less than healthyAfter. Default: 1s." example:"1s"`
	MaxBackoff   Duration   `json:"maxBackoff,omitempty" doc:"Maximum delay. Default: 5m." example:"5m"`
	HealthyAfter Duration   `json:"healthyAfter,omitempty" doc:"How long a run must last to count as healthy. Default: 10s." example:"10s"`
	Rebalance    *Rebalance `json:"rebalance,omitempty"`
}

// Rebalance sets when replicas are moved to workers that run fewer daemons.
type Rebalance struct {
	After Duration `json:"after,omitempty" doc:"How long the live workers must have been the same before replicas are moved; never: they are not moved. Default: 5m." example:"5m"`
}

// NeverRebalance is the value of Rebalance.After with which no replica is moved.
const NeverRebalance Duration = "never"

// DaemonPolicy is what a claim fixes of a daemon job; zero for other jobs.
type DaemonPolicy struct {
	Count        Fleet         `json:"count"`
	Backoff      time.Duration `json:"backoff"`
	MaxBackoff   time.Duration `json:"maxBackoff"`
	HealthyAfter time.Duration `json:"healthyAfter"`
	Rebalance    time.Duration `json:"rebalance,omitempty"` // 0: never
}

// policy returns the daemon settings with defaults filled in; zero for other jobs.
func (d *Daemon) policy() DaemonPolicy {
	if d == nil {
		return DaemonPolicy{}
	}
	p := DaemonPolicy{Count: d.Count, Backoff: d.Backoff.Or(DefaultDaemonBackoff),
		MaxBackoff: d.MaxBackoff.Or(DefaultMaxBackoff), HealthyAfter: d.HealthyAfter.Or(DefaultHealthyAfter),
		Rebalance: DefaultRebalance}
	switch r := d.Rebalance; {
	case r == nil:
	case r.After == NeverRebalance:
		p.Rebalance = 0
	default:
		p.Rebalance = r.After.Or(DefaultRebalance)
	}
	return p
}

// IsDaemon reports whether the policy is that of a daemon job.
func (p *DaemonPolicy) IsDaemon() bool { return p.Count != 0 }

// Pause returns the delay before the next start of a replica after a number of consecutive short runs.
func (p *DaemonPolicy) Pause(restarts int) time.Duration {
	pause := p.Backoff
	for ; restarts > 1 && pause < p.MaxBackoff; restarts-- {
		pause *= 2
	}
	return min(pause, p.MaxBackoff)
}

// Wants reports whether the replica of an index exists under the policy. Under AllWorkers, which replicas exist
// depends on the live workers: it then reports whether the replica is one of a worker.
func (p *DaemonPolicy) Wants(replica string) bool {
	if p.Count == AllWorkers {
		return WorkerOfReplica(replica) != ""
	}
	index, err := strconv.Atoi(replica)
	return err == nil && index >= 0 && index < int(p.Count)
}

// ReplicaName returns the name of the replica of an index, as in the ids of its fires.
func ReplicaName(index int) string { return fmt.Sprintf("%03d", index) }

// WorkerReplica returns the name of the replica of a worker, under AllWorkers.
func WorkerReplica(worker string) string { return "-" + worker }

// WorkerOfReplica returns the worker of a replica, under AllWorkers; empty for a replica with an index.
func WorkerOfReplica(replica string) string {
	worker, _ := strings.CutPrefix(replica, "-")
	if worker == replica {
		return ""
	}
	return worker
}

// ReplicaPrefix returns the prefix of all fires of a replica.
func ReplicaPrefix(uid, replica string) string { return uid + ".d" + replica + "." }

// ReplicaFire returns the id of a fire of a replica.
func ReplicaFire(uid, replica string, at time.Time) string {
	return ReplicaPrefix(uid, replica) + TimeKey(at)
}

// ReplicaOf returns the name of the replica that a fire, or a run, of a job is one of; empty for other fires.
func ReplicaOf(uid, id string) string {
	rest, ok := strings.CutPrefix(id, uid+".d")
	if !ok || uid == "" {
		return ""
	}
	replica, _, _ := strings.Cut(rest, ".")
	return replica
}

// Replica returns the name of the replica that the run is one of; empty for the runs of other jobs.
func (r *Record) Replica() string { return ReplicaOf(r.JobUID, r.Fire) }

// Replica returns the name of the replica that the trigger starts; empty for other triggers.
func (t *Trigger) Replica() string { return ReplicaOf(t.JobUID, t.Fire) }

// Replica returns the index of the replica that the run is one of, or the id of its worker; empty for other runs.
func (r *Run) Replica() string { return ReplicaLabel(ReplicaOf(r.JobUID, r.Fire)) }

// ReplicaLabel returns the index of a replica, or the id of its worker, as commands and users see it.
func ReplicaLabel(replica string) string {
	if worker := WorkerOfReplica(replica); worker != "" {
		return worker
	}
	if index, err := strconv.Atoi(replica); err == nil {
		return strconv.Itoa(index)
	}
	return replica
}

// ReplicaTrigger returns the trigger that starts a replica for the first time.
func ReplicaTrigger(job *StoredJob, replica string, now time.Time) Trigger {
	fire := ReplicaFire(job.UID, replica, now)
	return Trigger{
		ID:        RunID(fire, 1),
		Job:       job.Name,
		JobUID:    job.UID,
		Group:     job.Group,
		Fire:      fire,
		PlannedAt: now.UTC(),
		Attempt:   1,
		Cause:     CauseDaemon,
		NotBefore: now.UTC(),
		Worker:    WorkerOfReplica(replica),
	}
}

// NextStart returns the trigger for the next start of the replica that the run is one of, after a number of
// consecutive short runs. It must not be that of another fire: it is not earlier than the one of the run.
func (r *Record) NextStart(now time.Time, pause time.Duration, restarts int) Trigger {
	at := now.UTC()
	if !at.After(r.PlannedAt) { // the clock was set back
		at = r.PlannedAt.Add(1)
	}
	job := StoredJob{Job: Job{Name: r.Job, Group: r.Group}, UID: r.JobUID}
	next := ReplicaTrigger(&job, r.Replica(), at)
	next.NotBefore, next.Restarts, next.RunsAs = now.Add(pause).UTC(), restarts, r.RunsAs
	return next
}

// ReplicaKey is a key of a replica: of its trigger, or of its record.
type ReplicaKey struct {
	ID       string // of the trigger, or of the run
	Replica  string
	Revision int64 // ModRevision
}

// ReplicaKeys are the replicas of a job that etcd holds.
type ReplicaKeys struct {
	Pending []ReplicaKey // triggers
	Running []ReplicaKey // records
}

// RestartReason is why a replica is started again, apart from handovers.
type RestartReason string

// Reasons of restarts.
const (
	RestartShort   RestartReason = "short"   // its run lasted less than healthyAfter
	RestartEnded   RestartReason = "ended"   // its run ended after that
	RestartStopped RestartReason = "stopped" // its job was paused, or its worker stopped
	RestartLost    RestartReason = "lost"    // its worker died, or could not reach etcd
)

// RestartReasons lists them all.
var RestartReasons = [...]RestartReason{RestartShort, RestartEnded, RestartStopped, RestartLost}

// MoveReasons lists the reasons of handovers.
var MoveReasons = [...]MoveReason{MoveUpdate, MoveRestart, MoveDrain, MoveBalance, MoveIneligible}

// ReplicaCounts are the numbers of replicas of a job that etcd holds.
type ReplicaCounts struct{ Pending, Running int }

// Move is the value of the keys of handovers: a worker replaces the run of a replica.
type Move struct {
	Job     string     `json:"job"`
	Replica string     `json:"replica"`
	Run     string     `json:"run"` // that is ended
	Worker  string     `json:"worker"`
	Reason  MoveReason `json:"reason"`
	Since   time.Time  `json:"since"`
	Version int64      `json:"version"` // of the job
}

// MoveReason is why a replica is handed over.
type MoveReason string

// Reasons of handovers.
const (
	MoveUpdate     MoveReason = "update"     // the job has changed
	MoveRestart    MoveReason = "restart"    // an operator restarts the job
	MoveDrain      MoveReason = "drain"      // the worker is being drained
	MoveBalance    MoveReason = "balance"    // another worker runs fewer daemons
	MoveIneligible MoveReason = "ineligible" // the worker may no longer run the job
)

// RunsAs returns a text that is equal for definitions with which the runs of a daemon job need not be replaced by each
// other's: a hash of what is run, as whom, with which limits, and where, and the time of the last restart.
func (s *StoredJob) RunsAs() string {
	same := Job{
		Command:   s.Command,
		Args:      s.Args,
		Stdin:     s.Stdin,
		Shell:     s.Shell,
		Env:       s.Env,
		WorkDir:   s.WorkDir,
		User:      s.User,
		Timezone:  s.Timezone,
		KillGrace: s.KillGrace,
		MemoryMax: s.MemoryMax,
		TasksMax:  s.TasksMax,
		Params:    s.Params,
		Outputs:   s.Outputs,
		Output:    s.Output,
		Slots:     s.Slots,
		LostAfter: s.LostAfter,
		Placement: s.Placement,
	}
	text, err := json.Marshal(&same)
	if err != nil { // it was decoded from JSON
		return ""
	}
	sum := sha256.Sum256(text)
	hash := hex.EncodeToString(sum[:8])
	if s.Restarted == nil {
		return hash
	}
	return hash + "." + TimeKey(s.Restarted.At)
}

// OnlyRestarted reports whether two texts of RunsAs differ in the time of the last restart only.
func OnlyRestarted(before, after string) bool {
	a, _, _ := strings.Cut(before, ".")
	b, _, _ := strings.Cut(after, ".")
	return a == b && before != after
}

// Restart is the last request to replace the runs of a daemon job.
type Restart struct {
	At   time.Time `json:"at"`
	By   string    `json:"by"`
	Note string    `json:"note,omitempty"`
}

// daemonFaults checks the daemon settings, and the fields that have no meaning beside them.
func (j *Job) daemonFaults(c *checker) {
	d := j.Daemon
	if d == nil {
		return
	}
	none := func(location string, given bool) {
		if given {
			c.add(location, "exclusive", nil, "has no meaning for a daemon job").With("beside", "daemon")
		}
	}
	none("cronExpr", j.CronExpr != "")
	none("schedules", len(j.Schedules) > 0)
	none("dst", j.DST != nil)
	none("startAt", j.StartAt != nil)
	none("endAt", j.EndAt != nil)
	none("timeout", j.Timeout != "")
	none("overlap", j.Overlap != "")
	none("catchUp", j.CatchUp != nil)
	none("startDeadline", j.StartDeadline != "")
	none("jitter", j.Jitter != "")
	none("retry", j.Retry != nil)
	none("after", len(j.After) > 0)
	none("runOn", j.RunOn != nil)
	none("autoPause", j.AutoPause != nil)
	none("onLost", j.OnLost != "" && j.OnLost != LostRerun)
	if d.Count != AllWorkers && (d.Count < 1 || d.Count > MaxReplicas) {
		c.add("daemon.count", "range", int(d.Count), "must be from %d to %d, or all", 1, MaxReplicas).
			With("least", 1, "most", MaxReplicas)
	}
	c.duration("daemon.backoff", d.Backoff, time.Millisecond, MaxPause)
	c.duration("daemon.maxBackoff", d.MaxBackoff, time.Millisecond, MaxPause)
	if least, most := d.Backoff.Or(DefaultDaemonBackoff), d.MaxBackoff.Or(DefaultMaxBackoff); most < least &&
		least <= MaxPause {
		c.add("daemon.maxBackoff", "range", string(d.MaxBackoff),
			"must be at least backoff, which is %v (where they are not given: %v and %v)", least, DefaultDaemonBackoff,
			DefaultMaxBackoff).With("least", least)
	}
	c.duration("daemon.healthyAfter", d.HealthyAfter, time.Millisecond, time.Hour)
	if r := d.Rebalance; r != nil && r.After != NeverRebalance {
		c.duration("daemon.rebalance.after", r.After, time.Second, MaxPause)
	}
}
