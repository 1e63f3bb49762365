package model

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"carillon/internal/common"
	"carillon/internal/dispatch"
	"carillon/internal/joblock"
)

// mutation names a rule of the protocol that is left out.
type mutation string

const (
	nothing       mutation = ""
	outOfOrder    mutation = "fires are claimed out of order"
	noGap         mutation = "a claim does not account for the fires that it passes"
	noCursor      mutation = "a claim does not compare the cursor"
	noVersion     mutation = "a claim does not compare the job's version"
	noRecords     mutation = "a claim does not look for records"
	noNonce       mutation = "a claim whose answer was lost is given up"
	ownedTwice    mutation = "a life starts a run that it has owned before"
	termsOfNow    mutation = "survivors use the job's terms of now"
	tooEarly      mutation = "survivors do not wait for lostAfter"
	sweepsForAll  mutation = "a life resolves orphans whose processes it cannot see"
	sweepsAll     mutation = "a life resolves at once the orphans of one that did not mark its processes"
	noFence       mutation = "a worker that is cut off lets its runs go on"
	blindFinish   mutation = "a finish does not compare the record"
	blindSave     mutation = "a save does not compare the cursor"
	forgetfulSave mutation = "a save does not account for the fires that it passes"
	twoPerJob     mutation = "a batch holds two claims of one job"
	fromAnswer    mutation = "the fence counts from the answer of a keep-alive"
	trustsLease   mutation = "the fence counts from a new lease before the runs are taken back"
	blindRetake   mutation = "a run is re-taken although another worker has its record"
	quietRetake   mutation = "taking a run back leaves its record as it was"
	noMargin      mutation = "survivors wait for no more than lostAfter"
	leftGone      mutation = "a lock that vanished is not put back"
	givenUpFull   mutation = "fires are given up while the outboxes are full"
	lateBeat      mutation = "the guardian is notified of a run only after its start"
	startedBack   mutation = "a run is given back though its command was started"
	noTrigger     mutation = "a run is given back without a trigger"
	overtakes     mutation = "a claim lets no earlier attempt go first"
	unfenced      mutation = "a request for a further attempt does not compare the attempt fence"
	unregistered  mutation = "a claim does not compare the worker's registration"
)

// mutations are tried by chance; the moments and the stories have those for which that would take long.
var mutations = []mutation{outOfOrder, noGap, noCursor, noVersion, noRecords, noNonce, ownedTwice, termsOfNow, tooEarly,
	sweepsForAll, sweepsAll, noFence,
	blindFinish, blindSave, forgetfulSave, twoPerJob, blindRetake, leftGone, startedBack, noTrigger, overtakes,
	unfenced,
	blindConsumed, blindSuccesses, replacesFire, notNewer, quietSuccess}

// breaks are the promises that the rule is for: one of them is broken without it. There are none where any may be.
func (m mutation) breaks() []string {
	switch m {
	case termsOfNow, tooEarly, sweepsForAll, sweepsAll, noFence, leftGone:
		return []string{"G3"}
	case startedBack, unfenced:
		return []string{"G2"}
	case noTrigger:
		return []string{"G1"}
	case overtakes:
		return []string{"order"}
	case blindConsumed, blindSuccesses, replacesFire, notNewer, quietSuccess:
		return []string{"after"}
	case takesTaken, ignoresLowered:
		return []string{"P-1"}
	case finishKeeps, recoveryKeeps:
		return []string{"P-2"}
	case createsBlindly, quietStop, quietLoss:
		return []string{"D-1"}
	case movesBlindly, takesDownAtOnce:
		return []string{"D-3"}
	case balancesByOne:
		return []string{"D-4"}
	case removesBlindly:
		return []string{"D-5"}
	case startsUnwanted:
		return []string{"wanted"}
	}
	return m.breaksOfFlows()
}

// often are the disturbances in which the rule matters: there are to be more of them, so
// that few seeds are enough.
func (m mutation) often() []int {
	switch m {
	case termsOfNow:
		return []int{aCut, aSave}
	case tooEarly, noFence, blindFinish:
		return []int{aCut}
	case sweepsForAll:
		return []int{aMove}
	case sweepsAll:
		return []int{aCrash}
	case blindSave, forgetfulSave, noVersion:
		return []int{aSave}
	case twoPerJob:
		return []int{aTrigger}
	case blindRetake:
		return []int{aCut, aFlap}
	case leftGone:
		return []int{aTheft}
	case unfenced:
		return []int{aRerun}
	case startsBlindly, requestsBlindly:
		return []int{aRunPause, aRunKill, aLag}
	case killsBlindly, killsGone, settlesTwice, settlesBlindly:
		return []int{aRunKill, aNodeKill}
	case quietRecovery, recoveryKeeps:
		return []int{aDeath}
	case answersBlindly, expiresBlindly:
		return []int{anAnswer}
	case retriesEnding:
		return []int{aRunKill, aLag}
	case startsGone, retriesGone:
		return []int{aRemoval}
	case forcesAll:
		return []int{aRunKill}
	case retriesBlindly, retriesOpen, quietRetry, retriesDirty, acceptsInRound:
		return []int{aRetry}
	case unfencedFlow, blindRerun, unpinned, forgetsKept:
		return []int{aFlowRerun}
	case fillsTwice, fillsBlindly, fillsAhead, fillsAll, cancelsBlindly:
		return []int{aBackfill, aBackfill, aFillAct}
	case rerunsFilled:
		return []int{aBackfill, aFlowRerun}
	case replacesBlindly:
		return []int{aRunPause, aRunKill, aLag}
	case endsClaimed:
		return []int{aLag}
	case createsBlindly:
		return []int{aScale}
	case removesBlindly:
		return []int{aLeaseLoss, aDaemonDrain}
	case quietLoss:
		return []int{aDaemonCut, aDaemonDeath}
	case startsUnwanted:
		return []int{aDaemonLoss}
	case createsLate, followsGone:
		return []int{aDaemonRemoval}
	case movesBlindly, takesDownAtOnce:
		return []int{aRestart}
	case balancesByOne:
		return []int{aScale, aDaemonDeath}
	}
	return nil
}

// longRuns is the share of runs that take long.
func (m mutation) longRuns() float64 {
	switch m {
	case termsOfNow, tooEarly, sweepsForAll, sweepsAll, noFence, blindRetake, leftGone, overtakes, vanishesLive:
		return 0.6
	}
	return 0.25
}

// lostAfter are those of the jobs.
func (m mutation) lostAfter() []common.Duration {
	switch m {
	case termsOfNow:
		return []common.Duration{"20s", "60s"}
	case noFence, blindRetake, leftGone:
		return []common.Duration{"20s"}
	}
	return []common.Duration{"20s", "30s", "60s", "2m"}
}

// ofClaims changes the transactions of claims; nil where it does not.
func (m mutation) ofClaims() func(*pb.TxnRequest) {
	var change func(*pb.TxnRequest)
	switch m {
	case noCursor:
		change = func(n *pb.TxnRequest) { dropCompares(n, common.CursorPrefix) }
	case noVersion:
		change = func(n *pb.TxnRequest) { dropCompares(n, common.JobsPrefix) }
	case noRecords:
		change = func(n *pb.TxnRequest) {
			for _, op := range n.Success {
				if inner := op.GetRequestTxn(); inner != nil {
					dropCompares(inner, common.RunsPrefix)
				}
			}
		}
	default:
		return nil
	}
	return func(r *pb.TxnRequest) {
		eachNested(r, func(n *pb.TxnRequest) {
			if !finishes(n) && !retakes(n) {
				change(n)
			}
		})
	}
}

// atBirth makes a worker's life break the rule.
func (m mutation) atBirth(l *life) {
	l.link.rewrite = m.ofClaims()
	switch m {
	case blindFinish:
		l.link.rewrite = func(r *pb.TxnRequest) {
			eachNested(r, func(n *pb.TxnRequest) {
				if finishes(n) {
					dropCompares(n, common.RunsPrefix)
				}
			})
		}
	case noTrigger:
		l.link.rewrite = func(r *pb.TxnRequest) {
			eachNested(r, func(n *pb.TxnRequest) {
				if finishes(n) && !putsOutcome(n) {
					dropTriggers(n)
				}
			})
		}
	case blindRetake:
		l.link.rewrite = ofRetakes(func(n *pb.TxnRequest) { n.Compare = nil })
	case quietRetake:
		l.link.rewrite = ofRetakes(func(n *pb.TxnRequest) { dropPuts(n, common.RunsPrefix) })
	case noNonce:
		l.link.reread = func(_ *pb.TxnRequest, resp *pb.TxnResponse) {
			for _, op := range resp.Responses {
				if n := op.GetResponseTxn(); n != nil && !n.Succeeded && len(n.Responses) > 2 {
					if got := n.Responses[2].GetResponseRange(); got != nil {
						got.Kvs = nil
					}
				}
			}
		}
		l.recovery.Owns = func(string) bool { return true }
	case ownedTwice:
		l.link.lateAnswer = l.startAgain
	case sweepsForAll:
		l.recovery.Swept = true
	case unregistered:
		l.link.rewrite = func(r *pb.TxnRequest) { dropCompares(r, common.WorkersPrefix) }
	}
}

// atSave makes a master break the rule.
func (m mutation) atSave(l *link) {
	switch m {
	case blindSave:
		l.rewrite = func(r *pb.TxnRequest) { dropCompares(r, common.CursorPrefix) }
	case unfenced:
		l.rewrite = func(r *pb.TxnRequest) { dropCompares(r, common.AttemptsPrefix) }
	case forgetfulSave:
		l.rewrite = func(r *pb.TxnRequest) {
			if slices.ContainsFunc(r.Success, func(op *pb.RequestOp) bool {
				return under(op.GetRequestPut().GetKey(), common.JobsPrefix)
			}) {
				dropPuts(r, common.OutboxPrefix)
			}
		}
	}
}

// eachNested visits the transactions of a batch, which compares no more than the worker's registration.
func eachNested(r *pb.TxnRequest, visit func(*pb.TxnRequest)) {
	if slices.ContainsFunc(r.Compare, func(c *pb.Compare) bool { return !under(c.Key, common.WorkersPrefix) }) {
		return
	}
	for _, op := range r.Success {
		if n := op.GetRequestTxn(); n != nil {
			visit(n)
		}
	}
}

// finishes reports whether a nested transaction is that of a finish.
func finishes(n *pb.TxnRequest) bool {
	return len(n.Compare) > 0 && under(n.Compare[0].Key, common.RunsPrefix) && !retakes(n)
}

// retakes reports whether it re-takes a run.
func retakes(n *pb.TxnRequest) bool {
	return len(n.Compare) > 0 && under(n.Compare[0].Key, common.RunsPrefix) &&
		len(n.Success) > 0 && under(n.Success[0].GetRequestPut().GetKey(), common.LockPrefix)
}

// ofRetakes changes the transactions that take runs back.
func ofRetakes(change func(*pb.TxnRequest)) func(*pb.TxnRequest) {
	return func(r *pb.TxnRequest) {
		eachNested(r, func(n *pb.TxnRequest) {
			if retakes(n) {
				change(n)
			}
		})
	}
}

func dropCompares(n *pb.TxnRequest, prefix string) {
	n.Compare = slices.DeleteFunc(n.Compare, func(c *pb.Compare) bool { return under(c.Key, prefix) })
}

func dropPuts(n *pb.TxnRequest, prefix string) {
	n.Success = slices.DeleteFunc(n.Success, func(op *pb.RequestOp) bool {
		return under(op.GetRequestPut().GetKey(), prefix)
	})
}

// putsOutcome reports whether a nested transaction writes an outcome unless something else comes in its place.
func putsOutcome(n *pb.TxnRequest) bool {
	return slices.ContainsFunc(n.Success, func(op *pb.RequestOp) bool {
		return under(op.GetRequestPut().GetKey(), common.OutboxPrefix)
	})
}

// dropTriggers leaves out the triggers that follow a run.
func dropTriggers(n *pb.TxnRequest) {
	for _, op := range n.Success {
		if inner := op.GetRequestTxn(); inner != nil {
			dropPuts(inner, common.TriggersPrefix)
		}
	}
}

// startAgain starts the runs of a claim whose answer came after the claim was settled.
func (l *life) startAgain(r *pb.TxnRequest, resp *pb.TxnResponse) {
	for i, op := range resp.Responses {
		if i >= len(r.Success) || !op.GetResponseTxn().GetSucceeded() || retakes(r.Success[i].GetRequestTxn()) {
			continue
		}
		for _, record := range records(r.Success[i].GetRequestTxn()) {
			if l.world.wasLocked(record.Job, record.Run) {
				l.parts.Go(func() { l.Run(context.Background(), dispatch.Task{Record: record}) })
			}
		}
	}
}

// records are those that a claim's transaction puts where it goes well.
func records(n *pb.TxnRequest) (found []common.Record) {
	for _, op := range n.GetSuccess() {
		if put := op.GetRequestPut(); under(put.GetKey(), common.RunsPrefix) {
			record, err := common.Decode[common.Record](put.Value)
			if err != nil {
				panic(err)
			}
			found = append(found, record)
		}
		found = append(found, records(op.GetRequestTxn())...)
	}
	return found
}

// claimer passes claims on, but for those of a mutation.
type claimer struct {
	*joblock.Claimer
	life *life
}

// Claim is dispatch.Claimer's.
func (c claimer) Claim(ctx context.Context, claims []common.Claim) []common.ClaimResult {
	switch c.life.world.mutation {
	case overtakes:
		for i := range claims {
			claims[i].Earlier = nil
		}
	case noGap:
		for i := range claims {
			claims[i].Gap = nil
		}
	case outOfOrder:
		for i := range claims {
			c.skipOne(&claims[i])
		}
	case twoPerJob:
		return c.withTriggers(ctx, claims)
	case unpinned, forgetsKept:
		for i := range claims {
			c.life.world.mutation.ofRerun(c.life.world, &claims[i])
		}
	}
	return c.Claimer.Claim(ctx, claims)
}

// skipOne claims the fire after the one that is due, as if that one were due already.
func (c claimer) skipOne(claim *common.Claim) {
	job := c.life.world.jobNow(claim.Job)
	if job == nil || claim.Trigger != nil || claim.Record.Run == "" || !c.life.chance(0.3) {
		return
	}
	line := job.CronExpr
	if len(job.Schedules) > 0 {
		line = minutely
	}
	claim.To = claim.To.Add(planOf(line).period)
	r := &claim.Record
	r.PlannedAt, r.Fire = claim.To, common.PlannedFire(r.JobUID, claim.To)
	r.Run = common.RunID(r.Fire, 1)
	claim.Skipped.ID, claim.Skipped.Fire, claim.Skipped.PlannedAt = common.RunID(r.Fire, 0), r.Fire, claim.To
	if claim.Queue != nil {
		claim.Queue.Fire, claim.Queue.PlannedAt = r.Fire, claim.To
	}
}

// withTriggers claims the triggers of the jobs in the batch as well, in the same transaction.
func (c claimer) withTriggers(ctx context.Context, claims []common.Claim) []common.ClaimResult {
	all := slices.Clone(claims)
	now := c.life.wall()
	c.life.mu.Lock()
	for key, t := range c.life.triggers {
		i := slices.IndexFunc(claims, func(cl common.Claim) bool {
			return cl.Job == key.Job && cl.Trigger == nil && cl.Record.Run != ""
		})
		if i < 0 || t.NotBefore.After(now) || key.ID == common.QueuedTrigger {
			continue
		}
		also := claims[i]
		also.Trigger, also.TriggerRevision, also.Gap, also.Queue, also.Patient = &t.Trigger, t.Revision, nil, nil, false
		also.Record.Nonce, also.Record.Run, also.Record.Fire, also.Record.Attempt = common.NewID(), t.RunID(),
			t.Fire, t.Attempt
		also.Record.PlannedAt, also.Record.Cause = t.PlannedAt, t.Cause
		all = append(all, also)
	}
	c.life.mu.Unlock()
	results := c.Claimer.Claim(ctx, all)
	for i := len(claims); i < len(all); i++ {
		if results[i].Verdict == common.Claimed {
			c.life.parts.Go(func() {
				run := c.life.Run(ctx, dispatch.Task{Record: all[i].Record})
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
				defer cancel()
				_ = c.life.finisher.Finish(ctx, []common.Outcome{{Run: run, Token: results[i].Fence}})
				c.life.rouse()
			})
		}
	}
	return results[:len(claims)]
}

// orphans are as recovery sees them, by a clock of its own, but for those of a mutation.
type orphans struct {
	*joblock.Recoverer
	life *life
}

// Unresolved is dispatch.Orphans'.
func (o orphans) Unresolved(ctx context.Context) ([]common.Orphan, []error, error) {
	runs, bad, err := o.Recoverer.Unresolved(ctx)
	for i := range runs {
		record := &runs[i].Record
		after := record.Policy.LostAfter
		switch m := o.life.world.mutation; m {
		case tooEarly:
			after = 0
		case sweepsAll:
			record.Owner.Marked = true
		case noMargin:
			after = (after - margin) * 100 / 101
		case termsOfNow:
			if job := o.life.world.jobNow(record.Job); job != nil {
				after = job.LostAfter.Or(common.DefaultLostAfter)
			}
		}
		// The recovery waits on the one clock that there is in a bubble: with a clock that goes
		// faster it would wait for less, the margin and the stagger included.
		if rate := o.life.rate; rate > 0 && after > 0 {
			after = time.Duration((float64(after) - rate*float64(margin+mostStagger)) / (1 + rate))
		}
		record.Policy.LostAfter = after
	}
	return runs, bad, err
}

// What recovery adds to lostAfter, beside one percent.
const (
	margin      = 2 * time.Second
	mostStagger = 4 * time.Second
)

// session is as the dispatcher sees it, but for that of a mutation.
type session struct {
	*joblock.Session
	life *life

	mu   sync.Mutex
	last common.Proof // as it was reported
	came time.Duration
}

// Proof is dispatch.Session's.
func (s *session) Proof() common.Proof {
	proof := s.Session.Proof()
	if s.life.world.mutation != fromAnswer {
		return proof
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if proof != s.last {
		s.last, s.came = proof, s.life.boot()
	}
	proof.Sent = s.came
	return proof
}

// locks are as the dispatcher sees them, but for those of a mutation.
type locks struct {
	*joblock.Retaker
	life *life
}

// Retake is dispatch.Locks'.
func (k locks) Retake(ctx context.Context, lease int64, runs []common.Retake) []error {
	if k.life.world.mutation != trustsLease {
		return k.Retaker.Retake(ctx, lease, runs)
	}
	k.life.parts.Go(func() { k.Retaker.Retake(ctx, lease, runs) })
	return make([]error, len(runs))
}

// Held is dispatch.Locks'. What a mutation makes of the lease, or of the margin after it, shows only
// where the locks themselves may not be looked at: else these bound the fence as well.
func (k locks) Held(ctx context.Context, lease int64) (map[string]bool, error) {
	if m := k.life.world.mutation; m == fromAnswer || m == trustsLease || m == noMargin {
		return nil, common.Errorf(common.CodeForbidden, "the locks may not be looked at")
	}
	held, err := k.Retaker.Held(ctx, lease)
	if k.life.world.mutation == leftGone && err == nil {
		for _, run := range k.life.world.going(k.life.id.Life) {
			held[common.LockKey(run.job, run.run)] = true
		}
	}
	return held, err
}

// plan is a timetable as the checker understands it.
type plan struct {
	period time.Duration
	every  bool // counted from the cursor; otherwise multiples of the period
}

// planOf reads the two kinds of lines that there are in the model.
func planOf(line string) plan {
	if line == "" {
		return plan{period: 100 * 365 * 24 * time.Hour, every: true} // none
	}
	if text, ok := strings.CutPrefix(line, "@every "); ok {
		d, err := time.ParseDuration(text)
		if err != nil {
			panic(err)
		}
		return plan{period: d, every: true}
	}
	if line != minutely {
		panic("the model has no line " + line)
	}
	return plan{period: time.Minute}
}

// next is the first fire after a time.
func (p plan) next(after time.Time) time.Time {
	if p.every {
		return after.Add(p.period)
	}
	return time.Unix(0, (after.UnixNano()/int64(p.period)+1)*int64(p.period)).UTC()
}
