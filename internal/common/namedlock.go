package common

import (
	"strings"
	"time"
)

// Bounds of named locks.
const (
	MinLockTTL       = 5 * time.Second
	MaxLockTTL       = 5 * time.Minute
	DefaultLockTTL   = 10 * time.Second
	DefaultLockGrace = 30 * time.Second
	MaxLockGrace     = time.Hour
	MaxLockNote      = 4 << 10
	MaxLockID        = 256
	MaxLocks         = 10_000 // that the API creates
	MaxLockWaiters   = 1000   // of one lock

	// lockRoom is how much the grace period must exceed the TTL.
	lockRoom = 5 * time.Second
)

// LockState is whether the last owner of a named lock has finished.
type LockState string

// The states of an owner.
const (
	LockHeld     LockState = "held"
	LockReleased LockState = "released"
)

// LockTerms are the times of a named lock, as its owner has chosen them.
type LockTerms struct {
	TTL   Duration `json:"ttl"`   // of the lease
	Grace Duration `json:"grace"` // how long the owner may be away without losing the lock
}

// LeaseTTL returns the TTL of the lease.
func (t LockTerms) LeaseTTL() time.Duration { return t.TTL.Or(DefaultLockTTL) }

// Fence returns how long after A work under the lock must have ended. A is the time at which the last answered
// keep-alive was sent, on the boot clock.
func (t LockTerms) Fence() time.Duration { return t.Grace.Or(DefaultLockGrace) - time.Second }

// Succession returns how long a waiter must have seen the lock without a holder, and its owner unchanged, before it
// may take the lock over. The margin covers clocks of different rates.
func (t LockTerms) Succession() time.Duration {
	grace := t.Grace.Or(DefaultLockGrace)
	return grace + 2*time.Second + grace/100
}

// Faults returns what is wrong with the terms.
func (t LockTerms) Faults() (faults []Fault) {
	ttl, grace := t.LeaseTTL(), t.Grace.Or(DefaultLockGrace)
	if !valid(t.TTL) || ttl < MinLockTTL || ttl > MaxLockTTL || ttl%time.Second != 0 {
		faults = append(faults, NewFault("ttl", "bounds", string(t.TTL),
			"must be %v to %v, in whole seconds", MinLockTTL, MaxLockTTL))
	}
	if !valid(t.Grace) || grace < ttl+lockRoom || grace > MaxLockGrace {
		faults = append(faults, NewFault("grace", "bounds", string(t.Grace),
			"must be at least ttl + %v, and at most %v", lockRoom, MaxLockGrace))
	}
	return faults
}

// valid reports whether a duration can be read, or is left out.
func valid(d Duration) bool {
	_, err := d.Value()
	return d == "" || err == nil
}

// LockHolder is the value of /cron/locks/<name>/holder: the holder's session is alive.
type LockHolder struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	Write   string `json:"write"` // as that of the owner
}

// LockWaiter is the value of /cron/locks/<name>/queue/<session>.
type LockWaiter struct {
	ID    string    `json:"id"`
	Since time.Time `json:"since"`
	Write string    `json:"write"`
}

// LockOwner is the value of /cron/locks/<name>/owner: the client that had the lock last.
type LockOwner struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	// Token is the fencing token: the revision of the transaction that made this client the owner. It is 0 in the value
	// that this transaction wrote.
	Token int64     `json:"token,omitempty"`
	State LockState `json:"state"`
	LockTerms
	Note string `json:"note,omitempty"`
	LockProcess
	Since      time.Time   `json:"since"`
	ReleasedAt time.Time   `json:"releasedAt,omitzero"`
	TookOver   *LockFormer `json:"tookOver,omitempty"`
	Takeovers  int64       `json:"takeovers,omitempty"` // of this lock
	// Write differs in each write, so that a write whose response was lost can be recognized.
	Write string `json:"write"`
}

// LockFormer is an owner that did not release its lock, and from which it was taken over.
type LockFormer struct {
	ID    string    `json:"id"`
	Token int64     `json:"token"`
	Note  string    `json:"note,omitempty"`
	At    time.Time `json:"at"`
}

// LockProcess identifies the process of an owner, so that another one on the same machine can prove that it is dead.
// It is empty for sessions of the API.
type LockProcess struct {
	BootID       string `json:"bootId,omitempty"`
	PIDNamespace string `json:"pidNs,omitempty"`
	PID          int    `json:"pid,omitempty"`
	Started      uint64 `json:"started,omitempty"` // in ticks of the boot clock
}

// LockGroup returns the group whose operators may use a lock: its name up to the first dot.
func LockGroup(name string) string {
	group, _, _ := strings.Cut(name, ".")
	return group
}

// LockOf returns the prefix of the keys of a named lock.
func LockOf(name string) string { return LocksPrefix + name + "/" }

// LockHolderKey holds the current holder, under the lease of its session.
func LockHolderKey(name string) string { return LockOf(name) + "holder" }

// LockOwnerKey holds the last owner. It sorts directly after LockHolderKey.
func LockOwnerKey(name string) string { return LockOf(name) + "owner" }

// LockQueueOf returns the prefix of the waiters of a lock. They are ordered by CreateRevision.
func LockQueueOf(name string) string { return LockOf(name) + "queue/" }

// LockWaiterKey holds a waiter, under the lease of its session.
func LockWaiterKey(name, session string) string { return LockQueueOf(name) + session }

// ParseLockKey returns the name of the lock that a key belongs to, and the rest of the key: "holder", "owner" or
// "queue/<session>".
func ParseLockKey(key string) (name, part string, ok bool) {
	rest, found := strings.CutPrefix(key, LocksPrefix)
	name, part, cut := strings.Cut(rest, "/")
	return name, part, found && cut && ValidName(name)
}

// LockRequest is a request of an API client for a named lock.
type LockRequest struct {
	ID      string
	Session string // secret, from an earlier request or from the client; "": a new one
	LockTerms
	Wait time.Duration // 0: the request fails at once if the lock is not free, and the client does not queue
}

// LockProgress is the state of an API client's session.
type LockProgress string

// The states of a session.
const (
	SessionHeld     LockProgress = "held"
	SessionQueued   LockProgress = "queued"
	SessionGrace    LockProgress = "grace" // queued, first, and the owner has disappeared
	SessionBusy     LockProgress = "busy"  // neither held nor queued
	SessionReleased LockProgress = "released"
	SessionLost     LockProgress = "lost" // not the owner, or not any more
)

// LockGrant is the answer to a request about a session.
type LockGrant struct {
	Session  string
	State    LockProgress
	Position int   // in the queue, from 1; 0: none
	Token    int64 // fencing token, if held
	TookOver *LockFormer
}

// NamedLock is the state of a named lock for people.
type NamedLock struct {
	Name   string
	Holder *LockHolder
	Owner  *LockOwner // nil: the lock has not been acquired yet
	Queue  []LockWaiter
}
