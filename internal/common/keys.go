package common

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The prefixes of the keyspace. Each ends with a slash, so that a prefix "a"
// never matches "ab".
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
)

// LeaderKey says which master is elected, FindingsKey what it has found out, ClockKey up to
// which time its clock was believed.
const (
	LeaderKey   = LeaderPrefix + "master"
	FindingsKey = LeaderPrefix + "findings"
	ClockKey    = LeaderPrefix + "clock"
)

// EpochKey says from when on what etcd holds counts, where it was restored from a backup.
const EpochKey = Root + "epoch"

// MasterOutbox is the outbox of the masters: outcomes that a save accounted for.
// No worker has this id, since ids of workers are made by NewID.
const MasterOutbox = "masters"

// JobKey holds a job.
func JobKey(job string) string { return JobsPrefix + job }

// CursorKey holds the last fire of a job that is accounted for.
func CursorKey(job string) string { return CursorPrefix + job }

// LocksOf is the prefix of a job's locks.
func LocksOf(job string) string { return LockPrefix + job + "/" }

// LockKey says that a run is alive.
func LockKey(job, run string) string { return LocksOf(job) + run }

// RecordsOf is the prefix of a job's records.
func RecordsOf(job string) string { return RunsPrefix + job + "/" }

// RecordKey says that a run is not resolved.
func RecordKey(job, run string) string { return RecordsOf(job) + run }

// OutboxOf is the prefix of a worker's outbox.
func OutboxOf(worker string) string { return OutboxPrefix + worker + "/" }

// OutboxKey holds an outcome that the log store may not have yet.
func OutboxKey(worker, id string) string { return OutboxOf(worker) + id }

// LateKey holds the note of a run that ended after it was resolved by somebody else.
func LateKey(worker, run string) string { return OutboxKey(worker, run+lateSuffix) }

// IsLateKey reports whether a key of an outbox holds such a note.
func IsLateKey(key string) bool { return strings.HasSuffix(key, lateSuffix) }

const lateSuffix = ".late"

// TriggersOf is the prefix of a job's triggers.
func TriggersOf(job string) string { return TriggersPrefix + job + "/" }

// TriggerKey holds a trigger.
func TriggerKey(job, id string) string { return TriggersOf(job) + id }

// KillsOf is the prefix of the wishes to kill addressed to a worker.
func KillsOf(worker string) string { return KillerPrefix + worker + "/" }

// KillKey holds a wish to kill a run.
func KillKey(worker, run string) string { return KillsOf(worker) + run }

// WorkerKey holds a worker's registration.
func WorkerKey(worker string) string { return WorkersPrefix + worker }

// WorkerSettingsKey holds what an operator says of a worker.
func WorkerSettingsKey(worker string) string { return WorkerSettingsPrefix + worker }

// MasterKey holds a master's presence.
func MasterKey(id string) string { return MastersPrefix + id }

// IdempotencyKey remembers, for a day, what a request with that key did; hash is
// that of the key and of who used it.
func IdempotencyKey(hash string) string { return IdempotencyPrefix + hash }

// ChangeKey holds a change that the log store may not have yet.
func ChangeKey(id string) string { return ChangesPrefix + id }

// ChannelKey holds a channel that can be told of jobs.
func ChannelKey(name string) string { return ChannelsPrefix + name }

// AlertKey says how a job stands with those who are told of it.
func AlertKey(job string) string { return AlertsPrefix + job }

// WaitingNoticeKey holds a notice that is to be sent, or tried again.
func WaitingNoticeKey(id string) string { return WaitingNoticesPrefix + id }

// DoneNoticeKey holds a notice that nothing more is tried with.
func DoneNoticeKey(id string) string { return DoneNoticesPrefix + id }

// AlertedKey says up to where outcomes were looked at for notices.
const AlertedKey = Root + "alerted"

// Prefixes of what is under AuthPrefix.
const (
	UsersPrefix    = AuthPrefix + "users/"
	TokensPrefix   = AuthPrefix + "tokens/"
	SessionsPrefix = AuthPrefix + "sessions/"
	NetworksPrefix = AuthPrefix + "networks/"

	TokenUsesPrefix = AuthPrefix + "used/"
)

// UserKey holds a user: role, grants, hash of the password.
func UserKey(name string) string { return UsersPrefix + name }

// SecretKey holds a secret that jobs refer to, sealed.
func SecretKey(name string) string { return SecretsPrefix + name }

// AuditKey holds the head of the chain of changes.
const AuditKey = Root + "audit"

// TokenKey holds an API token's hash and role.
func TokenKey(id string) string { return TokensPrefix + id }

// NetworksKey holds the networks from which a user, by its id, has logged in.
func NetworksKey(id string) string { return NetworksPrefix + id }

// TokenUseKey says when a token was last used.
func TokenUseKey(id string) string { return TokenUsesPrefix + id }

// SessionKey holds a session; hash is that of its secret.
func SessionKey(hash string) string { return SessionsPrefix + hash }

// LoginCodeKey holds a one-use login code; hash is that of the code.
func LoginCodeKey(hash string) string { return AuthPrefix + "codes/" + hash }

// UsedLoginKey says that a login at an issuer has made its session; hash names the login.
func UsedLoginKey(hash string) string { return AuthPrefix + "logins/" + hash }

// BootstrapKey says that the first admin token was made.
const BootstrapKey = AuthPrefix + "bootstrap"

// SplitKey takes a key of the form prefix + a + "/" + b apart; b may be absent.
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

// TimeKey writes a time so that byte order is time order: 20 digits of Unix nanoseconds.
// Times before 1970 become zero.
func TimeKey(t time.Time) string {
	return fmt.Sprintf("%020d", max(0, t.UnixNano()))
}

// ParseTimeKey reads what TimeKey wrote.
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
