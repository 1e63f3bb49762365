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
	return &Claimer{txns: txns{client, trouble, session.boot}, session: session, gate: gate, outbox: worker}
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

// guard returns the compares that each try of a claim contains in addition to those of its own keys: the worker's
// registration, which is written every few seconds, is not older than the last one written. In a restored etcd it is
// older until the worker writes it again, and by then Check reports the restore: so Check is called before each try.
func (c *Claimer) guard() ([]clientv3.Cmp, error) {
	if c.gate == nil {
		return nil, nil
	}
	if err := c.gate.Check(); err != nil {
		return nil, err
	}
	registered := c.gate.Registered()
	if registered == 0 {
		return nil, nil
	}
	return []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(common.WorkerKey(c.outbox)), ">", registered-1)}, nil
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

// replaceTries bounds how often a claim that replaces a run is repeated because the run to replace has changed.
const replaceTries = 5

// Claim commits up to MaxBatch claims of different jobs as one transaction. It returns when each has a result: while
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
			if a.standing != nil && a.result.Verdict == common.Blocked && !a.claim.Patient && try < replaceTries {
				again = append(again, a) // now with the runs to replace
			}
		}
		open = again
	}
	return results
}

// attempt is a claim in progress. Under the overlap policy replace, standing holds the unresolved runs that were found.
type attempt struct {
	claim    *common.Claim
	result   *common.ClaimResult
	standing *standing
	job      definition
	known    bool // the job's definition is, and was not asked for
	// of the first lease that was tried: a try that was not answered may have gone through under it
	proof common.Proof
}

func (c *Claimer) claim(ctx context.Context, open []*attempt) {
	fail := func(err error) {
		for _, a := range open {
			*a.result = common.ClaimResult{Err: err}
		}
	}
	for {
		proof, err := c.session.await(ctx)
		if err != nil {
			fail(err)
			return
		}
		if _, err := c.guard(); err != nil {
			fail(err)
			return
		}
		lease := clientv3.LeaseID(proof.Lease)
		nested := make([]nestedTxn, len(open))
		for i, a := range open {
			if a.proof.Lease == 0 {
				a.proof = proof
			}
			if nested[i], err = c.op(a, lease); err != nil {
				fail(err)
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
			*a.result = c.read(ctx, a, answers[i])
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

// op returns the claim's nested transaction.
func (c *Claimer) op(a *attempt, lease clientv3.LeaseID) (nestedTxn, error) {
	a.job, a.known = c.jobs.get(a.claim)
	b := &builder{claim: a.claim, outbox: c.outbox, lease: lease, known: a.known}
	claim, job := a.claim, a.claim.Job
	state := []clientv3.Op{clientv3.OpGet(common.JobKey(job)), clientv3.OpGet(common.CursorKey(job))}
	if claim.Record.Run != "" {
		state = append(state, clientv3.OpGet(common.RecordKey(job, claim.Record.Run)))
	}
	compares := []clientv3.Cmp{etcdkit.Unchanged(common.JobKey(job), claim.Version)}
	if claim.Trigger != nil {
		compares = append(compares, etcdkit.Unchanged(common.TriggerKey(job, claim.Trigger.ID), claim.TriggerRevision))
	} else {
		compares = append(compares, clientv3.Compare(clientv3.Value(common.CursorKey(job)), "=",
			common.TimeKey(claim.From)))
	}
	then := b.then(a.standing)
	return nestedTxn{clientv3.OpTxn(compares, then, state), b.size}, b.err
}

// builder builds the operations of one claim, and adds up their size.
type builder struct {
	claim  *common.Claim
	outbox string
	lease  clientv3.LeaseID
	known  bool
	size   int
	err    error
}

// then returns the operations for the case that etcd has the planned state. If an earlier run may forbid this one, the
// first of them is a transaction that checks it.
func (b *builder) then(s *standing) []clientv3.Op {
	claim := b.claim
	switch overlap := claim.Record.Policy.Overlap; {
	case claim.Record.Run == "":
		return b.pass()
	case claim.Trigger != nil:
		run := append(b.start(), clientv3.OpDelete(common.TriggerKey(claim.Job, claim.Trigger.ID)))
		return b.alone(run, nil)
	case !overlap.Forbids():
		return append(b.start(), b.pass()...)
	case claim.Patient:
		return b.alone(append(b.start(), b.pass()...), nil)
	case overlap == common.OverlapQueue:
		queue := clientv3.OpTxn([]clientv3.Cmp{etcdkit.Absent(b.queueKey())}, []clientv3.Op{b.queue()},
			[]clientv3.Op{b.outcome(&claim.Skipped)})
		return append(b.alone(b.start(), []clientv3.Op{queue}), b.pass()...)
	case overlap == common.OverlapReplace:
		look := s.look(claim.Job)
		if s == nil {
			return b.alone(append(b.start(), b.pass()...), look)
		}
		return b.alone(append(b.start(), b.pass()...),
			[]clientv3.Op{clientv3.OpTxn(s.compares(claim.Job), b.replace(s), look)})
	default:
		return append(b.alone(b.start(), []clientv3.Op{b.outcome(&claim.Skipped)}), b.pass()...)
	}
}

// alone executes run if no run of the job is unresolved and no earlier attempt must start first, and otherwise the
// operations in otherwise. A job that allows overlap needs no check.
func (b *builder) alone(run, otherwise []clientv3.Op) []clientv3.Op {
	var none []clientv3.Cmp
	if b.claim.Record.Policy.Overlap.Forbids() {
		none = append(b.earlier(), etcdkit.NoneUnder(common.RecordsOf(b.claim.Job)))
	}
	return []clientv3.Op{clientv3.OpTxn(none, run, otherwise)}
}

// earlier returns compares that succeed if no attempt of an earlier fire must start first: each due trigger is gone,
// and none was created since the worker read them.
func (b *builder) earlier() []clientv3.Cmp {
	e, r := b.claim.Earlier, &b.claim.Record
	if e == nil {
		return nil
	}
	cmps := make([]clientv3.Cmp, 0, len(e.Due)+2)
	for _, id := range e.Due {
		cmps = append(cmps, etcdkit.Absent(common.TriggerKey(b.claim.Job, id)))
	}
	first, end := common.PlannedFire(r.JobUID, time.Unix(0, 0)), common.PlannedFire(r.JobUID, r.PlannedAt)
	return append(cmps, etcdkit.NoneNewerWithin(common.TriggerKey(b.claim.Job, first),
		common.TriggerKey(b.claim.Job, end), e.Seen))
}

// start puts lock and record, and reads the job's definition, unless it is cached.
func (b *builder) start() []clientv3.Op {
	r := &b.claim.Record
	ops := make([]clientv3.Op, 0, 5)
	if !b.known {
		ops = append(ops, clientv3.OpGet(common.JobKey(b.claim.Job)))
	}
	return append(ops,
		clientv3.OpPut(common.LockKey(b.claim.Job, r.Run), b.encode(&r.Owner), clientv3.WithLease(b.lease)),
		clientv3.OpPut(common.RecordKey(b.claim.Job, r.Run), b.encode(r)))
}

// pass moves the cursor and writes the outcome of passed fires. A trigger does not move it.
func (b *builder) pass() []clientv3.Op {
	ops := []clientv3.Op{clientv3.OpPut(common.CursorKey(b.claim.Job), common.TimeKey(b.claim.To))}
	if b.claim.Gap != nil {
		ops = append(ops, b.outcome(b.claim.Gap))
	}
	return ops
}

func (b *builder) queueKey() string { return common.TriggerKey(b.claim.Job, common.QueuedTrigger) }

func (b *builder) queue() clientv3.Op { return clientv3.OpPut(b.queueKey(), b.encode(b.claim.Queue)) }

func (b *builder) outcome(run *common.Run) clientv3.Op {
	return clientv3.OpPut(common.OutboxKey(b.outbox, run.ID), b.encode(run))
}

func (b *builder) encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("encode a claim of job %q: %w", b.claim.Job, err)
	}
	b.size += len(data)
	return string(data)
}

func putOutcome(outbox string, run *common.Run) (op clientv3.Op, size int, err error) {
	data, err := json.Marshal(run)
	if err != nil {
		return clientv3.Op{}, 0, fmt.Errorf("encode outcome of %s: %w", run.ID, err)
	}
	return clientv3.OpPut(common.OutboxKey(outbox, run.ID), string(data)), len(data), nil
}
