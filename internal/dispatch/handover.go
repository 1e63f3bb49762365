package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler/placement"
)

const (
	// moveRetry is the pause after a handover that could not begin, since another one of the job is in progress.
	moveRetry = 2 * time.Second
	// balancePause is the shortest time between two handovers that balance the workers, of all workers together.
	balancePause = 10 * time.Second
	// balanceStagger is the delay between the workers that could hand over a replica, the one with the most daemons
	// first.
	balanceStagger = time.Second
	// stuckAfter is how long a handover may wait for a healthy successor before that is a condition.
	stuckAfter = 10 * time.Minute
	// lateFor is how late a request for a key may reach etcd after its answer was given up.
	lateFor = 30 * time.Second
)

// unsureMove is a handover whose keys may exist. They are deleted at once, and again once no request for them can
// arrive any more.
type unsureMove struct {
	common.Move
	until time.Time
	gone  bool // they were deleted once
}

// handover is a handover that this worker has begun: it holds the key until the successor is healthy.
type handover struct {
	common.Move
	uid      string
	revision int64 // of the key
	began    time.Time
	claimed  int64 // when the successor that was seen last was claimed, as a revision; and since when it has been seen
	seen     time.Time
}

// handOver ends those of this worker's replicas that are not to run here, one handover of a job at a time, and releases
// the keys of those that are complete.
func (k *ReplicaKeeper) handOver(ctx context.Context, now time.Time, jobs map[string]*keptJob) error {
	var errs []error
	errs = append(errs, k.forget(ctx, now))
	for _, name := range slices.Sorted(maps.Keys(k.moves)) {
		errs = append(errs, k.follow(ctx, now, k.moves[name], jobs[name]))
	}
	k.complain(now)
	own := k.cfg.Runs.Daemons()
	slices.SortFunc(own, func(a, b OwnReplica) int { return cmp.Compare(a.Record.Fire, b.Record.Fire) })
	for i := range own {
		o := &own[i]
		j := jobs[o.Record.Job]
		if o.Ending || j == nil || j.UID != o.Record.JobUID {
			continue
		}
		if j.Version < o.Record.JobVersion { // saved since this pass began: this definition may not know the replica
			continue
		}
		if code := k.unwanted(j, o); code != "" {
			k.end(o, common.Kill{Code: code})
		} else if reason := k.reason(j, o); reason != "" {
			errs = append(errs, k.begin(ctx, now, j, o, reason))
		}
	}
	return errors.Join(append(errs, k.rebalance(ctx, now, jobs, own))...)
}

// forget deletes the keys of handovers that may exist.
func (k *ReplicaKeeper) forget(ctx context.Context, now time.Time) error {
	var errs []error
	for i := range k.unsure {
		u := &k.unsure[i]
		if u.gone && now.Before(u.until) {
			continue
		}
		last := !now.Before(u.until)
		err := k.cfg.Store.Forget(ctx, u.Move)
		errs, u.gone = append(errs, err), err == nil
		if u.gone && last {
			u.until = time.Time{} // done
		}
	}
	k.unsure = slices.DeleteFunc(k.unsure, func(u unsureMove) bool { return u.gone && u.until.IsZero() })
	return errors.Join(errs...)
}

// unwanted returns the code of the reason why no run of a replica may be here, whether it has a successor or not; empty
// if there is none.
func (k *ReplicaKeeper) unwanted(j *keptJob, o *OwnReplica) string {
	replica := o.Record.Replica()
	switch {
	case !j.terms.Daemon.Wants(replica):
		return common.ReasonScaledDown
	case j.terms.Daemon.Count == common.AllWorkers && k.self() != nil &&
		!slices.Contains(k.places(j), k.cfg.Life.Worker):
		return common.ReasonScaledDown
	case j.PausedAt(k.cfg.Now()):
		return common.ReasonPaused
	}
	return ""
}

// reason returns why a replica is to be handed over; empty if it is not.
func (k *ReplicaKeeper) reason(j *keptJob, o *OwnReplica) common.MoveReason {
	self := k.self()
	switch {
	case j.Version <= o.Record.JobVersion || j.runsAs == o.Record.RunsAs:
	case j.Restarted != nil && common.OnlyRestarted(o.Record.RunsAs, j.runsAs):
		return common.MoveRestart
	default:
		return common.MoveUpdate
	}
	switch {
	case self == nil:
		return ""
	case self.Draining:
		return common.MoveDrain
	case !j.req.Suits(self):
		return common.MoveIneligible
	}
	return ""
}

// self returns this worker as the others see it; nil if it is not registered.
func (k *ReplicaKeeper) self() *placement.Candidate {
	for i := range k.live {
		if k.live[i].ID == k.cfg.Life.Worker {
			return &k.live[i]
		}
	}
	return nil
}

// end ends the run of a replica as a kill request does.
func (k *ReplicaKeeper) end(o *OwnReplica, kill common.Kill) bool {
	kill.Run, kill.By, kill.At = o.Record.Run, cmp.Or(kill.By, "carillon"), k.cfg.Now().UTC()
	ended := k.cfg.Runs.End(o.Record.Run, kill)
	if ended {
		k.cfg.Log.Info("replica_ended", "job", o.Record.Job, "run", o.Record.Run, "reason", kill.Code)
	}
	return ended
}

// endFor returns the request that ends the run of a replica of a job to hand it over.
func endFor(reason common.MoveReason, j *keptJob) common.Kill {
	switch reason {
	case common.MoveUpdate:
		return common.Kill{Code: common.ReasonUpdated}
	case common.MoveRestart:
		return common.Kill{Code: common.ReasonRestarted, By: j.Restarted.By, Note: j.Restarted.Note}
	}
	return common.Kill{Code: common.ReasonMoved, Note: string(reason)}
}

// begin takes the key of a handover and ends the run.
func (k *ReplicaKeeper) begin(ctx context.Context, now time.Time, j *keptJob, o *OwnReplica,
	reason common.MoveReason) error {
	if k.moves[j.Name] != nil || now.Before(k.retry[j.Name]) || k.cfg.Cluster.Trouble() != "" {
		return nil
	}
	m := common.Move{
		Job:     j.Name,
		Replica: o.Record.Replica(),
		Run:     o.Record.Run,
		Worker:  k.cfg.Life.Worker,
		Reason:  reason,
		Since:   k.cfg.Now().UTC(),
		Version: j.Version,
	}
	revision, err := k.cfg.Store.Take(ctx, m)
	if err != nil {
		k.unsure = append(k.unsure, unsureMove{Move: m, until: now.Add(lateFor)})
	}
	if err != nil || revision == 0 {
		k.retry[j.Name] = now.Add(moveRetry)
		return err
	}
	delete(k.retry, j.Name)
	h := &handover{Move: m, uid: j.UID, revision: revision, began: now}
	k.moves[j.Name] = h
	if !k.end(o, endFor(reason, j)) {
		return k.release(ctx, h) // it has ended by itself
	}
	if k.cfg.Moved != nil {
		k.cfg.Moved(reason)
	}
	return nil
}

// follow releases the key of a handover once the successor has been healthy, or the job has changed since.
func (k *ReplicaKeeper) follow(ctx context.Context, now time.Time, h *handover, j *keptJob) error {
	if j == nil || j.UID != h.uid || j.Version != h.Version || j.PausedAt(k.cfg.Now()) ||
		!j.terms.Daemon.Wants(h.Replica) {
		return k.release(ctx, h)
	}
	run, claimed, held, err := k.cfg.Store.Successor(ctx, h.Move, h.uid, h.revision)
	if err != nil {
		return err
	}
	if !held { // the lease has expired
		delete(k.moves, h.Job)
		return nil
	}
	if run == "" || run == h.Run {
		h.claimed = 0
		return nil
	}
	if claimed != h.claimed {
		// It may have begun since the pass did: other requests of the pass came before this one.
		h.claimed, h.seen = claimed, now.Add(time.Since(k.passing))
	}
	if now.Sub(h.seen) < j.terms.Daemon.HealthyAfter ||
		h.Reason == common.MoveBalance && now.Sub(h.began) < balancePause {
		return nil
	}
	return k.release(ctx, h)
}

// release ends a handover. If the keys cannot be deleted, that is tried again.
func (k *ReplicaKeeper) release(ctx context.Context, h *handover) error {
	delete(k.moves, h.Job)
	err := k.cfg.Store.Release(ctx, h.Move, h.revision)
	if err != nil {
		k.unsure = append(k.unsure, unsureMove{Move: h.Move})
	}
	return err
}

// complain publishes the handovers whose successors do not become healthy.
func (k *ReplicaKeeper) complain(now time.Time) {
	var stuck []common.Condition
	for _, name := range slices.Sorted(maps.Keys(k.moves)) {
		if h := k.moves[name]; now.Sub(h.began) >= stuckAfter {
			stuck = append(stuck, common.Condition{
				Code: common.ConditionUpdateStuck,
				From: h.Since,
				Text: fmt.Sprintf("replica %s of job %q has had no healthy run since it was handed over (%s): "+
					"its other replicas are not handed over", common.ReplicaLabel(h.Replica), name, h.Reason),
				Data: map[string]string{"job": name, "replica": common.ReplicaLabel(h.Replica),
					"reason": string(h.Reason)},
			})
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stuck = stuck
}

// Conditions returns the handovers whose successors do not become healthy.
func (k *ReplicaKeeper) Conditions() []common.Condition {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.stuck)
}

// rebalance hands over a replica to a worker that runs fewer daemons, if the live workers have been the same for as
// long as its job requires.
func (k *ReplicaKeeper) rebalance(ctx context.Context, now time.Time, jobs map[string]*keptJob,
	own []OwnReplica) error {
	if len(k.live) < 2 || k.self() == nil || k.self().Draining {
		k.imbalance = time.Time{}
		return nil
	}
	all := slices.Clone(k.live)
	for i := range all {
		if all[i].ID == k.cfg.Life.Worker { // its registration is older
			all[i].DaemonSlots = k.cfg.Runs.Replicas().Slots
		}
	}
	var mine []placement.Movable
	var of []*OwnReplica
	for i := range own {
		o := &own[i]
		j := jobs[o.Record.Job]
		if o.Ending || j == nil || j.UID != o.Record.JobUID || k.moves[j.Name] != nil || now.Before(k.retry[j.Name]) ||
			!k.movable(j, now) || k.unwanted(j, o) != "" || k.reason(j, o) != "" {
			continue
		}
		mine = append(mine, placement.Movable{Requirements: &j.req, Replica: o.Record.Replica(), Run: o.Record.Run,
			Priority: j.terms.Priority, Since: o.Record.ClaimedAt.UnixNano()})
		of = append(of, o)
	}
	at, _ := placement.Rebalance(k.cfg.Life.Worker, mine, all)
	if at < 0 {
		k.imbalance = time.Time{}
		return nil
	}
	if k.imbalance.IsZero() {
		k.imbalance = now
	}
	rank := time.Duration(placement.BalanceRank(k.cfg.Life.Worker, all))
	if now.Sub(k.imbalance) < min(rank*balanceStagger, balancePause) {
		return nil
	}
	return k.begin(ctx, now, jobs[of[at].Record.Job], of[at], common.MoveBalance)
}

// movable reports whether replicas of a job may be moved to balance the workers.
func (k *ReplicaKeeper) movable(j *keptJob, now time.Time) bool {
	after := j.terms.Daemon.Rebalance
	return after > 0 && now.Sub(k.stable) >= after && len(j.req.Workers) == 0 &&
		j.terms.Daemon.Count != common.AllWorkers
}
