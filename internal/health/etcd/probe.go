package etcd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	auditetcd "carillon/internal/audit/etcd"
	"carillon/internal/common"
)

const (
	lookEvery = 3 * time.Second
	lookLimit = 2 * time.Second
	// pingLimit is the time limit for a response of the log store. A response that takes longer than one round
	// of checks is slow, not missing.
	pingLimit = 5 * time.Second
)

// Pinger is a store that can be checked for availability.
type Pinger interface {
	Ping(ctx context.Context) error
}

// Probe checks etcd and the log store.
type Probe struct {
	client  *clientv3.Client
	store   Pinger
	disk    func() error
	backlog *auditetcd.Backlog

	mu   sync.Mutex
	last Answers // guarded by mu

	// owned by the caller of check
	pinged chan error // result of the pending ping of the log store; nil: none is pending
	asked  time.Time  // start of that ping
}

// Answers is the result of a check.
type Answers struct {
	At    time.Time // zero before the first check
	Etcd  error
	Store error
	full  bool
	used  int64 // percent of etcd's quota that is used; 0 if it reports no quota
}

// NewProbe returns a probe, which has not checked anything yet. disk returns why the disk of an etcd in this process is
// full; nil if there is no such etcd.
func NewProbe(client *clientv3.Client, store Pinger, disk func() error) *Probe {
	return &Probe{client: client, store: store, disk: disk, backlog: &auditetcd.Backlog{}}
}

// check asks etcd and the log store.
func (p *Probe) check(ctx context.Context) Answers {
	var a Answers
	var asked sync.WaitGroup
	asked.Go(func() { a.Store = p.ping(ctx) })
	asked.Go(func() {
		if _, a.Etcd = p.client.Get(ctx, common.JobsPrefix, clientv3.WithKeysOnly()); a.Etcd == nil {
			a.full, a.used = spaceOf(ctx, p.client)
			a.Etcd = p.backlog.Measure(ctx, p.client)
		}
	})
	asked.Wait()
	a.At = time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = a
	return a
}

// ping returns the availability of the log store. While a ping is pending for less than one round, the previous
// result holds.
func (p *Probe) ping(ctx context.Context) error {
	if p.pinged == nil {
		p.pinged, p.asked = make(chan error, 1), time.Now()
		go func(answer chan<- error) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingLimit)
			defer cancel()
			answer <- p.store.Ping(ctx)
		}(p.pinged)
	}
	select {
	case err := <-p.pinged:
		p.pinged = nil
		return err
	case <-ctx.Done():
		if time.Since(p.asked) > pingLimit {
			return fmt.Errorf("no response for %v", pingLimit)
		}
		return p.Latest().Store
	}
}

// spaceOf reports whether etcd has raised its alarm NOSPACE, with which it refuses writes, and how many percent
// of its quota are used. Free pages do not count: they are reused before the file grows.
func spaceOf(ctx context.Context, client *clientv3.Client) (full bool, used int64) {
	endpoints := client.Endpoints()
	if len(endpoints) == 0 {
		endpoints = []string{""} // etcd in this process
	}
	for _, endpoint := range endpoints {
		if status, err := client.Status(ctx, endpoint); err == nil {
			if status.DbSizeQuota > 0 {
				used = status.DbSizeInUse * 100 / status.DbSizeQuota
			}
			return slices.ContainsFunc(status.Errors,
				func(e string) bool { return strings.Contains(e, "NOSPACE") }), used
		}
	}
	return false, 0
}

// savesUpTo is the percentage of etcd's quota above which jobs cannot be saved: the rest is reserved for
// claims, outcomes, and operations that free space.
const savesUpTo = 80

// Room refuses to save jobs while etcd or its disk is nearly full, or too many audit entries are waiting in it.
func (p *Probe) Room() error {
	if p.disk != nil {
		if err := p.disk(); err != nil {
			return &common.Error{Code: common.CodeUnavailable, Reason: common.ConditionDiskFull,
				Data: common.WordsOf("error", err.Error()), RetryAfter: time.Minute, Err: err,
				Message: fmt.Sprintf("the disk of the data folder is full (%v): jobs cannot be saved", err),
				Hint:    "free space on it; current runs continue, and no new ones start"}
		}
	}
	if used := p.Latest().used; used >= savesUpTo {
		return &common.Error{Code: common.CodeUnavailable, Reason: "etcd_nearly_full", Data: common.WordsOf("percent",
			used), RetryAfter: time.Minute,
			Message: fmt.Sprintf("etcd uses %d %% of its quota: jobs cannot be saved above %d %%", used, savesUpTo),
			Hint:    "delete unneeded jobs, or increase etcd's --quota-backend-bytes; runs continue"}
	}
	return p.backlog.Room()
}

// Latest returns the result of the last check.
func (p *Probe) Latest() Answers {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// EtcdAway reports whether etcd did not respond to the last check.
func (p *Probe) EtcdAway() bool { return p.Latest().Etcd != nil }

// StoreAway reports whether the log store did not respond to the last ping.
func (p *Probe) StoreAway() bool { return p.Latest().Store != nil }

// Conditions returns the conditions of etcd and the log store.
func (p *Probe) Conditions() (all []common.Condition) {
	a := p.Latest()
	add := func(code, text string) { all = append(all, common.Condition{Code: code, Text: text}) }
	if a.Etcd != nil {
		add(common.ConditionEtcdAway, "etcd does not respond")
	}
	if a.full {
		add(common.ConditionEtcdFull,
			"etcd is full: it refuses writes until space is free and the alarm NOSPACE is disarmed")
	}
	if a.Store != nil {
		add(common.ConditionLogStoreAway, "the log store does not respond")
	}
	return append(all, p.backlog.Conditions()...)
}
