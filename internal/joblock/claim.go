package joblock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/request"
)

// Claimer claims fires.
type Claimer struct {
	txns
	session *Session
	gate    Gate
	outbox  string // of this worker
	jobs    definitions
}

// NewClaimer returns a claimer that locks under the session and writes to the worker's outbox. trouble receives the
// error of every try that etcd did not answer. gate may be nil.
func NewClaimer(client *clientv3.Client, session *Session, worker string, trouble func(error), gate Gate) *Claimer {
	return &Claimer{txns: newTxns(client, trouble, session.boot), session: session, gate: gate, outbox: worker}
}

// Gate prevents claims in an etcd that was restored from a backup, which does not contain the claims made since.
type Gate interface {
	// Check returns why nothing may be claimed; nil if claims are allowed.
	Check() error
	// Registered returns the revision at which this worker's registration was written last; 0: unknown.
	Registered() int64
	// WentBack is called if etcd holds an older registration.
	WentBack(why string)
}

// guard returns the compares that each try of a claim contains in addition to those of its own keys.
func (c *Claimer) guard() ([]request.Compare, error) { return registered(c.gate, c.outbox)() }

// registered returns a guard: the worker's registration, which is written every few seconds, is not older than the last
// one written. In a restored etcd it is older until the worker writes it again, and by then Check reports the restore:
// so Check is called before each try. gate may be nil.
func registered(gate Gate, worker string) guard {
	return func() ([]request.Compare, error) {
		if gate == nil {
			return nil, nil
		}
		if err := gate.Check(); err != nil {
			return nil, err
		}
		revision := gate.Registered()
		if revision == 0 {
			return nil, nil
		}
		return []request.Compare{request.Newer(common.WorkerKey(worker), revision-1)}, nil
	}
}

// unregistered finds out why the registration was not the expected one.
func (c *Claimer) unregistered(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	registered := c.gate.Registered()
	resp, err := c.client.Get(ctx, common.WorkerKey(c.outbox))
	if err != nil {
		c.trouble(err)
		return
	}
	for _, kv := range resp.Kvs {
		if kv.ModRevision < registered {
			c.gate.WentBack(fmt.Sprintf("it holds this worker's registration of revision %d, after that of %d",
				kv.ModRevision, registered))
		}
	}
}

// replaceTries bounds how often a claim that was decided by the runs in its way is repeated because they have changed.
const replaceTries = 5

// Claim commits up to MaxBatch claims as one transaction: of different jobs, but for triggers of a job whose runs may
// overlap. It returns when each has a result: while
// etcd does not answer it retries until the context ends, and only then may the outcome of a claim be unknown (Failed).
func (c *Claimer) Claim(ctx context.Context, claims []common.Claim) []common.ClaimResult {
	results := make([]common.ClaimResult, len(claims))
	open := make([]*attempt, len(claims))
	for i := range claims {
		open[i] = &attempt{claim: &claims[i], result: &results[i]}
	}
	for try := 0; len(open) > 0; try++ {
		c.claim(ctx, open)
		var again []*attempt
		for _, a := range open {
			if a.blockers != nil && a.result.Verdict == common.Blocked && !a.claim.Patient && try < replaceTries {
				again = append(again, a) // now with the runs that were found
			}
		}
		open = again
	}
	return results
}

// attempt is a claim in progress: it builds the operations of its transaction together with the decoders of their
// answers, and adds up the size of their values.
type attempt struct {
	claim    *common.Claim
	result   *common.ClaimResult
	blockers *blockers // under the overlap policy replace, and beside a backfill: what an earlier try has found
	job      definition
	known    bool // job is the definition, which need not be read
	// of the first lease that was tried: a try that was not answered may have gone through under it
	proof common.Proof

	// of the current try
	lease  clientv3.LeaseID
	outbox string
	size   int
	err    error
}

func (c *Claimer) claim(ctx context.Context, open []*attempt) {
	fail := func(err error) {
		for _, a := range open {
			*a.result = common.ClaimResult{Err: err}
		}
	}
	for {
		proof, err := c.session.Await(ctx)
		if err != nil {
			fail(err)
			return
		}
		if _, err := c.guard(); err != nil {
			fail(err)
			return
		}
		lease := clientv3.LeaseID(proof.Lease)
		nested, decode := make([]nestedTxn, len(open)), make([]decoder, len(open))
		for i, a := range open {
			if a.proof.Lease == 0 {
				a.proof = proof
			}
			if nested[i], decode[i] = c.request(ctx, a, lease); a.err != nil {
				fail(a.err)
				return
			}
		}
		answers := c.commit(ctx, nested, c.guard)
		if errors.Is(answers[0].err, errUnregistered) {
			c.unregistered(ctx)
		}
		if i := leaseGone(answers); i >= 0 {
			c.session.Invalidate(lease)
			if ctx.Err() == nil && i == 0 { // nothing of it was written
				continue
			}
		}
		for i, a := range open {
			if err := answers[i].err; err != nil {
				*a.result = common.ClaimResult{Err: err, Unsure: true}
			} else {
				*a.result = decode[i](answers[i])
			}
			if a.result.Proof = a.proof; answers[i].succeeded { // the lease was alive when etcd took this very try
				a.result.Proof = common.Proof{Lease: proof.Lease, Sent: max(proof.Sent, answers[i].sent)}
			}
		}
		return
	}
}

// leaseGone returns the index of the first answer that reports an expired lease; -1 if there is none.
func leaseGone(answers []answer) int {
	for i := range answers {
		if etcdkit.LeaseGone(answers[i].err) {
			return i
		}
	}
	return -1
}

// request returns a claim's nested transaction, and the decoder of its answer.
func (c *Claimer) request(ctx context.Context, a *attempt, lease clientv3.LeaseID) (nestedTxn, decoder) {
	claim := a.claim
	var compares []request.Compare
	if claim.Definition != nil { // an inline step: its job has no key, and lives as long as its flow run
		a.job, a.known = definition{created: claim.Record.Flow.Created, stored: *claim.Definition}, true
		compares = []request.Compare{sameHead(claim.Record.Flow)}
	} else {
		a.job, a.known = c.jobs.get(claim)
		compares = []request.Compare{request.Unchanged(common.JobKey(claim.Job), claim.Version)}
	}
	a.lease, a.outbox, a.size = lease, c.outbox, 0
	if claim.Trigger != nil {
		compares = append(compares, request.Unchanged(common.TriggerKey(claim.Job, claim.Trigger.ID),
			claim.TriggerRevision))
	} else {
		compares = append(compares, request.Holds(common.CursorKey(claim.Job), common.TimeKey(claim.From)))
	}
	planned, stale := c.planned(a), c.stale(ctx, claim)
	nested := nestedTxn{op: request.Txn(compares, planned.ops, stale.ops), size: a.size, depth: poolDepth(claim)}
	return nested, func(answer answer) common.ClaimResult { return decodeEither(answer, planned, stale) }
}

// planned returns the part for the case that etcd has the planned state.
func (c *Claimer) planned(a *attempt) part {
	claim := a.claim
	if claim.Record.Run == "" {
		return verdict(common.Passed, a.pass(), claim.Gap)
	}
	start := c.start(a)
	if claim.Head != nil {
		start = a.begin()
	}
	switch overlap := claim.Record.Policy.Overlap; {
	case claim.Trigger != nil:
		run := a.pooled(start.and(request.Delete(common.TriggerKey(claim.Job, claim.Trigger.ID))))
		return either(a.alone(), run, verdict(common.Blocked, nil))
	case claim.Behind != "":
		behind := []request.Compare{request.NoneUnder(a.runsOf() + claim.Behind + ".")}
		return either(behind, a.pooled(start.and(a.pass()...)), verdict(common.Blocked, nil))
	case !overlap.Forbids():
		return a.pooled(start.and(a.pass()...))
	case claim.Patient:
		return either(a.alone(), a.pooled(start.and(a.pass()...)), verdict(common.Blocked, nil))
	case overlap == common.OverlapQueue:
		return a.orElse(start, a.wait(a.skip()))
	case overlap == common.OverlapReplace:
		return either(a.alone(), a.pooled(start.and(a.pass()...)), a.replace())
	case claim.Yielded != nil:
		return either(a.alone(), a.pooled(start.and(a.pass()...)), a.yield())
	default:
		return a.orElse(start, a.skip())
	}
}

// orElse returns the part that starts the run if no other one forbids it; both move the cursor, unless the pool of the
// job is full.
func (a *attempt) orElse(start, otherwise part) part {
	pass := a.pass()
	if a.claim.Pool == nil {
		return either(a.alone(), start, otherwise).and(pass...)
	}
	return either(a.alone(), a.pooled(start.and(pass...)), otherwise.and(pass...))
}

// alone returns compares that succeed if no run of the job is unresolved and no earlier attempt must start first. A job
// that allows overlap needs none.
func (a *attempt) alone() []request.Compare {
	if !a.claim.Record.Policy.Overlap.Forbids() {
		return nil
	}
	return append(a.earlier(), request.NoneUnder(a.runsOf()))
}

// runsOf returns the prefix of the unresolved runs of the job.
func (a *attempt) runsOf() string {
	if a.claim.Head != nil {
		return common.FlowRunsOf(a.claim.Job)
	}
	return common.RecordsOf(a.claim.Job)
}

// earlier returns compares that succeed if no attempt of an earlier fire must start first: each due trigger is gone,
// and none was created since the worker read them.
func (a *attempt) earlier() []request.Compare {
	e, r := a.claim.Earlier, &a.claim.Record
	if e == nil {
		return nil
	}
	cmps := make([]request.Compare, 0, len(e.Due)+2)
	for _, id := range e.Due {
		cmps = append(cmps, request.Absent(common.TriggerKey(a.claim.Job, id)))
	}
	first, end := common.PlannedFire(r.UID(), time.Unix(0, 0)), common.PlannedFire(r.UID(), r.PlannedAt)
	return append(cmps, request.NoneNewerWithin(common.TriggerKey(a.claim.Job, first),
		common.TriggerKey(a.claim.Job, end), e.Seen))
}

// pass moves the cursor and writes the outcome of passed fires. A trigger does not move it.
func (a *attempt) pass() []request.Op {
	ops := []request.Op{request.Put(common.CursorKey(a.claim.Job), []byte(common.TimeKey(a.claim.To)))}
	if a.claim.Gap != nil {
		ops = append(ops, a.outcome(a.claim.Gap))
	}
	return ops
}

// skip writes the outcome of a fire that an unresolved run forbids.
func (a *attempt) skip() part { return a.skipAs(&a.claim.Skipped) }

func (a *attempt) skipAs(run *common.Run) part {
	return verdict(common.Skipped, []request.Op{a.outcome(run)}, a.claim.Gap, run)
}

// wait queues the fire, unless another one is queued.
func (a *attempt) wait(otherwise part) part {
	queue := verdict(common.Queued, []request.Op{a.queue()}, a.claim.Gap)
	return either([]request.Compare{request.Absent(a.queueKey())}, queue, otherwise)
}

func (a *attempt) queueKey() string { return common.TriggerKey(a.claim.Job, common.QueuedTrigger) }

func (a *attempt) queue() request.Op { return request.Put(a.queueKey(), a.encode(a.claim.Queue)) }

func (a *attempt) outcome(run *common.Run) request.Op {
	return request.Put(common.OutboxKey(a.outbox, run.ID), a.encode(run))
}

func (a *attempt) encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil && a.err == nil {
		a.err = fmt.Errorf("encode a claim of job %q: %w", a.claim.Job, err)
	}
	a.size += len(data)
	return data
}

func putOutcome(outbox string, run *common.Run) (op request.Op, size int, err error) {
	data, err := json.Marshal(run)
	if err != nil {
		return nil, 0, fmt.Errorf("encode outcome of %s: %w", run.ID, err)
	}
	return request.Put(common.OutboxKey(outbox, run.ID), data), len(data), nil
}
