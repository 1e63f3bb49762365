package common

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Prefixes of keys. Each ends with a slash, so that the prefix "a" never matches "ab".
const (
	Root           = "/cron/"
	JobsPrefix     = Root + "jobs/"
	CursorPrefix   = Root + "cursor/"
	LockPrefix     = Root + "lock/"
	RunsPrefix     = Root + "runs/"
	OutboxPrefix   = Root + "outbox/"
	TriggersPrefix = Root + "triggers/"
	KillerPrefix   = Root + "killer/"
	WorkersPrefix  = Root + "workers/"
	TypesPrefix    = Root + "types/"
	ChangesPrefix  = Root + "changes/"
	AuthPrefix     = Root + "auth/"

	WorkerSettingsPrefix = Root + "settings/workers/"
	MastersPrefix        = Root + "masters/"
	IdempotencyPrefix    = Root + "idempotency/"
	ChannelsPrefix       = Root + "settings/channels/"
	AlertsPrefix         = Root + "alerts/"
	WaitingNoticesPrefix = Root + "notices/waiting/"
	DoneNoticesPrefix    = Root + "notices/done/"
	LeaderPrefix         = Root + "leader/"
	SecretsPrefix        = Root + "secrets/"
	AttemptsPrefix       = Root + "attempts/"
	ViewsPrefix          = Root + "views/"
	HooksPrefix          = Root + "hooks/"

	FlowsPrefix     = Root + "flows/"
	FlowRunsPrefix  = Root + "flowruns/"
	FlowNodesPrefix = Root + "flownodes/"
	FlowWaitsPrefix = Root + "flowwaits/"
	AfterPrefix     = Root + "after/"
	SucceededPrefix = Root + "succeeded/"
	MovesPrefix     = Root + "moves/"
	WindowsPrefix   = Root + "windows/"
	DefaultsPrefix  = Root + "defaults/"
	LocksPrefix     = Root + "locks/" // named locks; the locks of runs are below LockPrefix

	// PoolSlotsPrefix and PoolsPrefix are neighbours, so that one watch delivers both in the order of their revisions.
	PoolSlotsPrefix = Root + "pool/"
	PoolsPrefix     = Root + "pools/"
	PoolUsersPrefix = Root + "poolusers/"
)

// LeaderKey holds the elected master, FindingsKey its findings, ClockKey the last trusted time of its clock.
const (
	LeaderKey   = LeaderPrefix + "master"
	FindingsKey = LeaderPrefix + "findings"
	ClockKey    = LeaderPrefix + "clock"
)

// ParentsKey is changed by each save that changes which jobs a job names in after or runs as steps, so that concurrent
// saves cannot create a cycle.
const ParentsKey = Root + "parents"

// EpochKey holds since when the data of a restored etcd are accepted.
const EpochKey = Root + "epoch"

// MasterOutbox is the outbox of the masters: outcomes of fires that changes of jobs pass. No worker has this id, since
// NewID creates the ids of workers.
const MasterOutbox = "masters"

// WindowKey holds a maintenance window.
func WindowKey(name string) string { return WindowsPrefix + name }

// DefaultsKey holds the defaults of a group, or of all jobs for AllGroups.
func DefaultsKey(group string) string { return DefaultsPrefix + group }

// JobKey holds a job.
func JobKey(job string) string { return JobsPrefix + job }

// CursorKey holds the last fire of a job that is accounted for.
func CursorKey(job string) string { return CursorPrefix + job }

// LocksOf returns the prefix of a job's locks.
func LocksOf(job string) string { return LockPrefix + job + "/" }

// LockKey means that a run is alive.
func LockKey(job, run string) string { return LocksOf(job) + run }

// RecordsOf returns the prefix of a job's records.
func RecordsOf(job string) string { return RunsPrefix + job + "/" }

// RecordKey means that a run is unresolved.
func RecordKey(job, run string) string { return RecordsOf(job) + run }

// OutboxOf returns the prefix of a worker's outbox.
func OutboxOf(worker string) string { return OutboxPrefix + worker + "/" }

// OutboxKey holds an outcome that the log store may not have yet.
func OutboxKey(worker, id string) string { return OutboxOf(worker) + id }

// LateKey holds the note of a late end.
func LateKey(worker, run string) string { return OutboxKey(worker, run+lateSuffix) }

// IsLateKey reports whether a key of an outbox holds a late end.
func IsLateKey(key string) bool { return strings.HasSuffix(key, lateSuffix) }

const lateSuffix = ".late"

// TriggersOf returns the prefix of a job's triggers.
func TriggersOf(job string) string { return TriggersPrefix + job + "/" }

// TriggerKey holds a trigger.
func TriggerKey(job, id string) string { return TriggersOf(job) + id }

// AttemptsKey is the attempt fence of a job: each request that adds an attempt to a fire that has ended changes it.
func AttemptsKey(job string) string { return AttemptsPrefix + job }

// KillsOf returns the prefix of the kill requests for runs of a worker.
func KillsOf(worker string) string { return KillerPrefix + worker + "/" }

// KillKey holds a kill request.
func KillKey(worker, run string) string { return KillsOf(worker) + run }

// WorkerKey holds a worker's registration.
func WorkerKey(worker string) string { return WorkersPrefix + worker }

// TypesOfWorker returns the prefix of the documents of a worker's plug-ins.
func TypesOfWorker(worker string) string { return TypesPrefix + worker + "/" }

// TypeKey returns the key of the document of a worker's plug-in.
func TypeKey(worker, name string) string { return TypesOfWorker(worker) + name }

// ParseTypeKey returns the worker and the type of such a key.
func ParseTypeKey(key string) (worker, name string, ok bool) {
	rest, found := strings.CutPrefix(key, TypesPrefix)
	worker, name, cut := strings.Cut(rest, "/")
	return worker, name, found && cut && ValidName(worker) && ValidType(name)
}

// WorkerSettingsKey holds an operator's settings of a worker.
func WorkerSettingsKey(worker string) string { return WorkerSettingsPrefix + worker }

// MasterKey holds a master's presence.
func MasterKey(id string) string { return MastersPrefix + id }

// IdempotencyKey holds, for a day, the answer to a request with an idempotency key; hash is that of the key and its
// user.
func IdempotencyKey(hash string) string { return IdempotencyPrefix + hash }

// ChangeKey holds a change that the log store may not have yet.
func ChangeKey(id string) string { return ChangesPrefix + id }

// ChannelKey holds a notification channel.
func ChannelKey(name string) string { return ChannelsPrefix + name }

// AlertKey holds the notification state of a job.
func AlertKey(job string) string { return AlertsPrefix + job }

// WaitingNoticeKey holds a notification that is to be sent.
func WaitingNoticeKey(id string) string { return WaitingNoticesPrefix + id }

// DoneNoticeKey holds a notification that was sent or has failed for good.
func DoneNoticeKey(id string) string { return DoneNoticesPrefix + id }

// AlertedKey holds the revision up to which outcomes were checked for notifications.
const AlertedKey = Root + "alerted"

// Prefixes of keys below AuthPrefix.
const (
	UsersPrefix    = AuthPrefix + "users/"
	TokensPrefix   = AuthPrefix + "tokens/"
	SessionsPrefix = AuthPrefix + "sessions/"
	NetworksPrefix = AuthPrefix + "networks/"

	TokenUsesPrefix = AuthPrefix + "used/"
)

// UserKey holds a user: role, grants, hash of the password.
func UserKey(name string) string { return UsersPrefix + name }

// SecretKey holds an encrypted secret for jobs.
func SecretKey(name string) string { return SecretsPrefix + name }

// ViewsOf returns the prefix of an owner's views.
func ViewsOf(owner string) string { return ViewsPrefix + owner + "/" }

// ViewKey holds a view.
func ViewKey(owner, id string) string { return ViewsOf(owner) + id }

// HooksOf returns the prefix of the hooks of the job with a uid.
func HooksOf(jobUID string) string { return HooksPrefix + jobUID + "/" }

// HookKey holds a hook.
func HookKey(jobUID, name string) string { return HooksOf(jobUID) + name }

// AuditKey holds the head of the audit chain.
const AuditKey = Root + "audit"

// TokenKey holds an API token's hash and role.
func TokenKey(id string) string { return TokensPrefix + id }

// NetworksKey holds the networks from which the user with an id has signed in.
func NetworksKey(id string) string { return NetworksPrefix + id }

// TokenUseKey holds the time of a token's last use.
func TokenUseKey(id string) string { return TokenUsesPrefix + id }

// SessionKey holds a session; hash is that of the session's secret.
func SessionKey(hash string) string { return SessionsPrefix + hash }

// LoginCodeKey holds a one-use login code; hash is that of the code.
func LoginCodeKey(hash string) string { return AuthPrefix + "codes/" + hash }

// UsedLoginKey means that a single sign-on has created its session; hash identifies the login.
func UsedLoginKey(hash string) string { return AuthPrefix + "logins/" + hash }

// BootstrapKey means that the first admin token was created.
const BootstrapKey = AuthPrefix + "bootstrap"

// FlowOf returns the prefix of the stored definitions of a flow.
func FlowOf(uid string) string { return FlowsPrefix + uid + "/" }

// FlowPartsOf returns the prefix of the parts of one definition.
func FlowPartsOf(uid, digest string) string { return FlowOf(uid) + digest + "/" }

// FlowPartKey holds a part of a definition.
func FlowPartKey(uid, digest string, part int) string {
	return fmt.Sprintf("%s%02d", FlowPartsOf(uid, digest), part)
}

// FlowRunsOf returns the prefix of the heads of a job's flow runs.
func FlowRunsOf(job string) string { return FlowRunsPrefix + job + "/" }

// FlowRunKey holds a head: the flow run has not ended.
func FlowRunKey(job, run string) string { return FlowRunsOf(job) + run }

// BackfillJob returns the name under which the backfills of a job are kept. It cannot be the name of a job.
func BackfillJob(job string) string { return job + backfillSuffix }

const backfillSuffix = "@backfill"

// BackfillOf returns the name of the job that a backfill runs.
func (h *Head) BackfillOf() string { return BackfilledJob(h.Job) }

// BackfilledJob returns the name of the job whose backfills are kept under a name; it returns other names as they are.
func BackfilledJob(name string) string { return strings.TrimSuffix(name, backfillSuffix) }

// FlowNodesOf returns the prefix of the nodes of a flow run.
func FlowNodesOf(run string) string { return FlowNodesPrefix + run + "/" }

// FlowNodeKey holds the mark of a node.
func FlowNodeKey(run, node string) string { return FlowNodesOf(run) + node }

// FlowWaitsOf returns the prefix of the steps of a flow that wait: approvals, and those that wait for fires.
func FlowWaitsOf(flow string) string { return FlowWaitsPrefix + flow + "/" }

// FlowWaitKey holds a step that waits: an approval, or for fires of a job.
func FlowWaitKey(flow, run, step string) string {
	return FlowWaitsOf(flow) + run + "." + step
}

// AfterKey holds which successes of its parents a job has consumed.
func AfterKey(job string) string { return AfterPrefix + job }

// SucceededKey holds the last success of a job that other jobs name in after.
func SucceededKey(job string) string { return SucceededPrefix + job }

// MoveKey exists while a replica of a job is handed over: one at a time for each job.
func MoveKey(job string) string { return MovesPrefix + "job/" + job }

// RebalanceKey exists while a replica is handed over to balance the workers: one at a time in the cluster.
const RebalanceKey = MovesPrefix + "rebalance"

// SplitKey splits a key of the form prefix + a + "/" + b; b may be absent.
func SplitKey(prefix, key string) (a, b string, err error) {
	rest, ok := strings.CutPrefix(key, prefix)
	if !ok {
		return "", "", fmt.Errorf("key %.200q is not under %s", key, prefix)
	}
	a, b, _ = strings.Cut(rest, "/")
	if a == "" || strings.Contains(b, "/") {
		return "", "", fmt.Errorf("key %.200q is not a key of ours", key)
	}
	return a, b, nil
}

// TimeKey encodes a time as 20 digits of Unix nanoseconds, so that byte order is time order. Times before 1970 become
// zero.
func TimeKey(t time.Time) string {
	return fmt.Sprintf("%020d", max(0, t.UnixNano()))
}

// ParseTimeKey decodes the result of TimeKey.
func ParseTimeKey(s string) (time.Time, error) {
	if len(s) != 20 {
		return time.Time{}, fmt.Errorf("%.40q is not a time of 20 digits", s)
	}
	ns, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return time.Time{}, fmt.Errorf("%.40q is not a time of 20 digits", s)
	}
	return time.Unix(0, int64(ns)).UTC(), nil
}
