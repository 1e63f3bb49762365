package model

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/flow/keep"
)

// mutationsOfFlows leave out rules of flows.
const (
	startsTwice     mutation = "a start does not compare the absence of the node"
	startsBlindly   mutation = "a start does not compare the head"
	startsStopped   mutation = "a start does not compare the items of a map that stops"
	startsGone      mutation = "the start of a job step does not compare the job"
	settlesTwice    mutation = "settling does not compare the absence of the node"
	settlesBlindly  mutation = "settling does not compare the head"
	completesTwice  mutation = "a completion does not compare the head"
	requestsBlindly mutation = "a request does not compare the head"
	beginsBeside    mutation = "a claim does not look for other flow runs"
	quietEnd        mutation = "a finish does not mark its node"
	quietRecovery   mutation = "a recovery does not mark the node"
	quietCompletion mutation = "a completion does not mark the node of the parent"
	killsBlindly    mutation = "the kill of a node that waits does not compare its trigger"
	killsGone       mutation = "the kill of a node that runs does not compare its record"
	answersBlindly  mutation = "the end of an approval does not compare it"
	vanishesLive    mutation = "a node vanishes although etcd holds its run"
	retriesBlindly  mutation = "a live retry does not compare the absence of the nodes after it"
	retriesOpen     mutation = "a live retry of an item does not compare the one that keeps its map open"
	quietRetry      mutation = "a live retry does not change the head"
	retriesDirty    mutation = "a live retry does not compare the absence of clean-up steps"
	acceptsInRound  mutation = "an acceptance does not require the round of its own"
	cleansEarly     mutation = "a clean-up step does not wait for the end of the main part"
	forcesAll       mutation = "each kill ends the clean-up as well"
	neverVanishes   mutation = "a node that etcd holds nothing of is waited for"
	replacesBlindly mutation = "the replacement of a worker does not compare the head"
	endsClaimed     mutation = "the end of a node that no worker has claimed does not compare its trigger"
	claimsGone      mutation = "the claim of an inline step does not compare the head"
	endsWaitBlindly mutation = "the end of a wait for fires does not compare it"
	notesBlindly    mutation = "the note of what a wait still waits for does not compare it"
	expiresBlindly  mutation = "the end of the time of an approval does not compare it"
	asksForever     mutation = "an approval waits without the end of its time"
	failsUnanswered mutation = "an approval does not keep what becomes of it without an answer"
	retriesNever    mutation = "a completion does not request the next attempt"
	retriesGone     mutation = "a completion with a next attempt does not compare the job"
	retriesEnding   mutation = "a completion with a next attempt does not compare the head of the parent"
	retriesForever  mutation = "the attempts of a flow run are not counted"
	retriesAll      mutation = "the next attempt of a flow run keeps nothing"
	unfencedFlow    mutation = "a request for the re-run of a flow run does not compare the attempt fence"
	blindRerun      mutation = "a request for the re-run of a flow run does not look for one that goes on"
	unpinned        mutation = "a re-run has the definition of now, whichever was requested"
	forgetsKept     mutation = "a claim forgets what a re-run keeps"
	fillsTwice      mutation = "the start of a fire of a backfill does not compare its absence"
	fillsBlindly    mutation = "the start of a fire of a backfill does not compare the head"
	fillsAhead      mutation = "the start of a fire of a backfill does not look for a queued fire"
	fillsAll        mutation = "a backfill starts its fires whatever its concurrency"
	cancelsBlindly  mutation = "a request for a backfill does not compare its head"
	rerunsFilled    mutation = "a request for a further attempt does not look for backfills"
	yieldsToAll     mutation = "beside a backfill a fire yields to whatever run is in its way"
)

// flowMutations are tried by chance among flows; the stories have the others.
var flowMutations = []mutation{startsTwice, startsBlindly, startsStopped, startsGone, settlesTwice,
	settlesBlindly, completesTwice, requestsBlindly, beginsBeside, quietEnd, quietRecovery, quietCompletion,
	killsBlindly, killsGone, answersBlindly, vanishesLive, retriesBlindly, retriesOpen, quietRetry,
	retriesDirty, acceptsInRound, cleansEarly, forcesAll, endsWaitBlindly, notesBlindly, expiresBlindly,
	asksForever, failsUnanswered, retriesNever, retriesGone, retriesEnding, retriesForever, retriesAll,
	unfencedFlow, blindRerun, unpinned, forgetsKept, fillsTwice, fillsBlindly, fillsAhead, fillsAll,
	cancelsBlindly, rerunsFilled, yieldsToAll}

// spreadMutations are tried by chance among jobs that run on several workers.
var spreadMutations = []mutation{replacesBlindly, endsClaimed}

// breaksOfFlows are the promises that a rule of flows is for.
func (m mutation) breaksOfFlows() []string {
	switch m {
	case settlesTwice, settlesBlindly, quietRecovery, quietCompletion, killsBlindly, answersBlindly, vanishesLive,
		endsClaimed, expiresBlindly, endsWaitBlindly:
		return []string{"F1"}
	case quietEnd: // the node is lost later, without an outcome of its own, or its flow run does not end
		return []string{"F1", "F6"}
	case startsTwice, acceptsInRound:
		return []string{"F2"}
	case startsStopped, startsGone, retriesBlindly, retriesOpen, quietRetry:
		return []string{"F3"}
	case startsBlindly: // a pause, a kill or a live retry was committed before
		return []string{"F3", "F5", "F11"}
	case completesTwice, requestsBlindly, killsGone, claimsGone:
		return []string{"F4"}
	case neverVanishes:
		return []string{"F6"}
	case unfencedFlow, blindRerun, unpinned, forgetsKept:
		return []string{"F9"}
	case fillsTwice, fillsBlindly, fillsAhead, fillsAll, cancelsBlindly, rerunsFilled:
		return []string{"F10"}
	case retriesDirty, cleansEarly, forcesAll:
		return []string{"F11"}
	case retriesNever, retriesGone, retriesEnding, retriesForever, retriesAll:
		return []string{"F12"}
	case asksForever, failsUnanswered, notesBlindly:
		return []string{"F13"}
	case yieldsToAll:
		return []string{"F14"}
	case beginsBeside, replacesBlindly:
		return []string{"G3"}
	}
	return nil
}

// eachTxn visits a transaction and those that are nested in it.
func eachTxn(r *pb.TxnRequest, visit func(*pb.TxnRequest)) {
	visit(r)
	for _, ops := range [][]*pb.RequestOp{r.Success, r.Failure} {
		for _, op := range ops {
			if n := op.GetRequestTxn(); n != nil {
				eachTxn(n, visit)
			}
		}
	}
}

// puts reports whether a transaction itself puts a key that begins with a prefix.
func puts(n *pb.TxnRequest, prefix string) bool {
	return slices.ContainsFunc(n.Success, func(op *pb.RequestOp) bool {
		return under(op.GetRequestPut().GetKey(), prefix)
	})
}

// deletes reports whether it deletes one.
func deletes(n *pb.TxnRequest, prefix string) bool {
	return slices.ContainsFunc(n.Success, func(op *pb.RequestOp) bool {
		return under(op.GetRequestDeleteRange().GetKey(), prefix)
	})
}

// compares reports whether it compares one.
func compares(n *pb.TxnRequest, prefix string) bool {
	return slices.ContainsFunc(n.Compare, func(c *pb.Compare) bool { return under(c.Key, prefix) })
}

// These recognize the transactions of flows.
func startsNodes(n *pb.TxnRequest) bool {
	return puts(n, common.FlowNodesPrefix) && compares(n, common.FlowRunsPrefix) &&
		(puts(n, common.TriggersPrefix) || puts(n, common.FlowWaitsPrefix)) && !puts(n, common.FlowRunsPrefix)
}

// itemsCompared recognizes the compare of all items of a map.
func itemsCompared(c *pb.Compare) bool {
	return under(c.Key, common.FlowNodesPrefix) && len(c.RangeEnd) > 0
}

// startsFires recognizes the start of fires of a backfill, which alone looks for a queued fire.
func startsFires(n *pb.TxnRequest) bool { return startsNodes(n) && compares(n, common.TriggersPrefix) }

// yields recognizes the part of a claim for a fire that is queued or skipped by what is in its way beside a backfill.
func yields(n *pb.TxnRequest) bool {
	other := func(c *pb.Compare) bool {
		return c.Target != pb.Compare_MOD || len(c.RangeEnd) > 0 ||
			!under(c.Key, common.RunsPrefix) && !under(c.Key, common.FlowRunsPrefix)
	}
	return len(n.Compare) > 0 && puts(n, common.CursorPrefix) && !slices.ContainsFunc(n.Compare, other)
}

// queueInstead makes the outcome of a skipped fire a trigger that waits.
func queueInstead(put *pb.PutRequest) {
	run := decode[common.Run](string(put.Value))
	value, err := json.Marshal(common.Trigger{ID: common.QueuedTrigger, Job: run.Job, JobUID: run.JobUID,
		Group: run.Group, Fire: run.Fire, PlannedAt: run.PlannedAt, Attempt: 1, Cause: run.Cause,
		NotBefore: run.PlannedAt})
	if err != nil {
		panic(err)
	}
	put.Key, put.Value = []byte(common.TriggerKey(run.Job, common.QueuedTrigger)), value
}

// replacesWorkers recognizes the transaction after a deadline: it compares triggers, and the head.
func replacesWorkers(n *pb.TxnRequest) bool {
	return compares(n, common.FlowRunsPrefix) && compares(n, common.TriggersPrefix) &&
		(puts(n, common.TriggersPrefix) || deletes(n, common.TriggersPrefix)) && !puts(n, common.RunsPrefix) &&
		!compares(n, common.FlowNodesPrefix)
}

func retriesNode(n *pb.TxnRequest) bool {
	return puts(n, common.FlowNodesPrefix) && puts(n, common.FlowRunsPrefix) &&
		(puts(n, common.TriggersPrefix) || puts(n, common.FlowWaitsPrefix))
}

func acceptsNode(n *pb.TxnRequest) bool {
	return puts(n, common.FlowNodesPrefix) && puts(n, common.FlowRunsPrefix) && !retriesNode(n)
}

func settlesNodes(n *pb.TxnRequest) bool {
	return !puts(n, common.FlowRunsPrefix) && puts(n, common.FlowNodesPrefix) && compares(n, common.FlowRunsPrefix) &&
		compares(n, common.FlowNodesPrefix) && !compares(n, common.TriggersPrefix) && !startsNodes(n)
}

func vanishesNode(n *pb.TxnRequest) bool {
	return puts(n, common.FlowNodesPrefix) && compares(n, common.FlowNodesPrefix) && compares(n, common.RunsPrefix)
}

func completes(n *pb.TxnRequest) bool {
	return deletes(n, common.FlowRunsPrefix) && puts(n, common.OutboxPrefix)
}

// retriesFlow recognizes a completion with a next attempt.
func retriesFlow(n *pb.TxnRequest) bool { return completes(n) && puts(n, common.TriggersPrefix) }

// expires recognizes the end of an approval that was not answered. Masters, which answer it, write a change as well,
// and with the flow run it ends in a transaction for several nodes.
func expires(n *pb.TxnRequest) bool {
	return endsWith(n, common.ReasonTimeout, common.ReasonNotAnswered)
}

// endsWith recognizes the end of a step that waits, with one of some reasons.
func endsWith(n *pb.TxnRequest, reasons ...string) bool {
	return deletes(n, common.FlowWaitsPrefix) && slices.ContainsFunc(n.Success, func(op *pb.RequestOp) bool {
		put := op.GetRequestPut()
		if !under(put.GetKey(), common.OutboxPrefix) {
			return false
		}
		reason := decode[rawRun](string(put.Value)).Reason
		return reason != nil && slices.Contains(reasons, reason.Code)
	})
}

// ofWaits changes the approvals that a transaction puts.
func ofWaits(change func(*common.FlowWait)) func(n *pb.TxnRequest) {
	return func(n *pb.TxnRequest) {
		for _, op := range n.Success {
			put := op.GetRequestPut()
			if !under(put.GetKey(), common.FlowWaitsPrefix) {
				continue
			}
			wait := decode[common.FlowWait](string(put.Value))
			change(&wait)
			value, err := json.Marshal(wait)
			if err != nil {
				panic(err)
			}
			put.Value = value
		}
	}
}

// decides recognizes what a keeper concludes from the ends of nodes.
func decides(n *pb.TxnRequest) bool { return startsNodes(n) || settlesNodes(n) || completes(n) }

// begins recognizes the part of a claim that begins a flow run: it compares the whole range of the job's flow runs.
func begins(n *pb.TxnRequest) bool {
	return puts(n, common.FlowRunsPrefix) && slices.ContainsFunc(n.Compare, func(c *pb.Compare) bool {
		return under(c.Key, common.FlowRunsPrefix) && len(c.RangeEnd) > 0
	})
}

func requests(n *pb.TxnRequest) bool {
	return puts(n, common.FlowRunsPrefix) && compares(n, common.FlowRunsPrefix) && !begins(n)
}

func recovers(n *pb.TxnRequest) bool {
	return deletes(n, common.RunsPrefix) && compares(n, common.LockPrefix)
}

// ofFlows changes the transactions of a process; nil where it does not.
func (m mutation) ofFlows() func(n *pb.TxnRequest) {
	without := func(is func(*pb.TxnRequest) bool, prefixes ...string) func(n *pb.TxnRequest) {
		return func(n *pb.TxnRequest) {
			if is(n) {
				for _, prefix := range prefixes {
					dropCompares(n, prefix)
				}
			}
		}
	}
	unmarked := func(is func(*pb.TxnRequest) bool) func(n *pb.TxnRequest) {
		return func(n *pb.TxnRequest) {
			if is(n) {
				dropPuts(n, common.FlowNodesPrefix)
			}
		}
	}
	switch m {
	case startsTwice:
		return without(startsNodes, common.FlowNodesPrefix)
	case startsBlindly:
		return without(startsNodes, common.FlowRunsPrefix)
	case startsStopped:
		return func(n *pb.TxnRequest) {
			if startsNodes(n) && slices.ContainsFunc(n.Compare, itemsCompared) {
				time.Sleep(5 * time.Second) // in which an item may fail
				n.Compare = slices.DeleteFunc(n.Compare, itemsCompared)
			}
		}
	case startsGone:
		return func(n *pb.TxnRequest) {
			if startsNodes(n) && compares(n, common.JobsPrefix) {
				time.Sleep(5 * time.Second) // in which the job may be deleted
				dropCompares(n, common.JobsPrefix)
			}
		}
	case settlesTwice:
		return without(settlesNodes, common.FlowNodesPrefix)
	case settlesBlindly:
		return without(settlesNodes, common.FlowRunsPrefix)
	case completesTwice:
		return without(completes, common.FlowRunsPrefix)
	case requestsBlindly:
		return without(requests, common.FlowRunsPrefix)
	case beginsBeside:
		return without(begins, common.FlowRunsPrefix)
	case quietEnd:
		return unmarked(func(n *pb.TxnRequest) bool { return finishes(n) && putsOutcome(n) && !recovers(n) })
	case quietRecovery:
		return unmarked(recovers)
	case quietCompletion:
		return unmarked(completes)
	case killsBlindly:
		return without(func(n *pb.TxnRequest) bool {
			return deletes(n, common.TriggersPrefix) && puts(n, common.FlowNodesPrefix)
		}, common.TriggersPrefix)
	case killsGone:
		return without(func(n *pb.TxnRequest) bool { return puts(n, common.KillerPrefix) }, common.RunsPrefix)
	case answersBlindly:
		return without(func(n *pb.TxnRequest) bool { return deletes(n, common.FlowWaitsPrefix) },
			common.FlowWaitsPrefix)
	case expiresBlindly:
		return func(n *pb.TxnRequest) {
			if expires(n) {
				time.Sleep(5 * time.Second) // in which it may be answered
				dropCompares(n, common.FlowWaitsPrefix)
			}
		}
	case endsWaitBlindly:
		return without(func(n *pb.TxnRequest) bool {
			return endsWith(n, common.ReasonFiresSucceeded, common.ReasonFireFailed)
		}, common.FlowWaitsPrefix)
	case notesBlindly:
		return func(n *pb.TxnRequest) {
			if puts(n, common.FlowWaitsPrefix) && !puts(n, common.FlowNodesPrefix) {
				time.Sleep(5 * time.Second) // in which it may end
				dropCompares(n, common.FlowWaitsPrefix)
			}
		}
	case asksForever:
		return ofWaits(func(w *common.FlowWait) { w.Deadline = nil })
	case failsUnanswered:
		return ofWaits(func(w *common.FlowWait) { w.OnTimeout = "" })
	case retriesNever:
		return func(n *pb.TxnRequest) {
			if retriesFlow(n) {
				dropPuts(n, common.TriggersPrefix)
			}
		}
	case retriesGone:
		return func(n *pb.TxnRequest) {
			if retriesFlow(n) {
				time.Sleep(5 * time.Second) // in which the job may be deleted
				dropCompares(n, common.JobsPrefix)
			}
		}
	case vanishesLive:
		return without(vanishesNode, common.TriggersPrefix, common.RunsPrefix, common.FlowRunsPrefix)
	case retriesBlindly:
		return func(n *pb.TxnRequest) {
			if retriesNode(n) {
				time.Sleep(5 * time.Second) // in which they may be started
				n.Compare = slices.DeleteFunc(n.Compare, func(c *pb.Compare) bool {
					return under(c.Key, common.FlowNodesPrefix) && c.Target == pb.Compare_CREATE
				})
			}
		}
	case retriesDirty:
		return func(n *pb.TxnRequest) {
			if retriesNode(n) {
				time.Sleep(5 * time.Second) // in which they may be started
				n.Compare = slices.DeleteFunc(n.Compare, func(c *pb.Compare) bool {
					return isCleanUp(string(c.Key)) && c.Target == pb.Compare_CREATE
				})
			}
		}
	case retriesOpen:
		return func(n *pb.TxnRequest) {
			if retriesNode(n) {
				time.Sleep(5 * time.Second) // in which the map may be decided
				n.Compare = slices.DeleteFunc(n.Compare, func(c *pb.Compare) bool {
					node, ofNode := strings.CutPrefix(string(c.Key), common.FlowNodesPrefix)
					return ofNode && strings.Contains(node, "@") && c.Target == pb.Compare_MOD &&
						!puts(n, string(c.Key))
				})
			}
		}
	case quietRetry:
		return func(n *pb.TxnRequest) {
			if retriesNode(n) {
				dropPuts(n, common.FlowRunsPrefix)
			}
		}
	case acceptsInRound:
		return func(n *pb.TxnRequest) {
			if acceptsNode(n) {
				dropPuts(n, common.FlowRunsPrefix)
			}
		}
	case fillsTwice:
		return without(startsFires, common.FlowNodesPrefix)
	case fillsBlindly:
		return without(startsFires, common.FlowRunsPrefix)
	case fillsAhead:
		return without(startsFires, common.TriggersPrefix)
	case yieldsToAll:
		return func(n *pb.TxnRequest) {
			if yields(n) && under(n.Success[0].GetRequestPut().GetKey(), common.OutboxPrefix) {
				queueInstead(n.Success[0].GetRequestPut())
			}
		}
	case cancelsBlindly:
		return without(func(n *pb.TxnRequest) bool {
			return requests(n) && strings.Contains(string(n.Success[0].GetRequestPut().GetKey()), ofBackfill)
		}, common.FlowRunsPrefix)
	case unfencedFlow:
		return func(n *pb.TxnRequest) { dropCompares(n, common.AttemptsPrefix) }
	case neverVanishes:
		return func(n *pb.TxnRequest) {
			if vanishesNode(n) {
				n.Success = nil
			}
		}
	case replacesBlindly:
		return without(replacesWorkers, common.FlowRunsPrefix)
	case endsClaimed:
		return without(replacesWorkers, common.TriggersPrefix)
	case claimsGone:
		return without(func(n *pb.TxnRequest) bool {
			return compares(n, common.TriggersPrefix) && compares(n, common.FlowRunsPrefix) &&
				!deletes(n, common.TriggersPrefix)
		}, common.FlowRunsPrefix)
	}
	return nil
}

// atFlows makes a process break a rule of flows.
func (m mutation) atFlows(l *link) {
	change := m.ofFlows()
	if m == retriesEnding {
		change = l.retriesBeside
	}
	if change != nil {
		l.rewrite = func(r *pb.TxnRequest) {
			decided := false
			eachTxn(r, func(n *pb.TxnRequest) { decided = decided || decides(n) })
			if decided && !l.world.isCalm() {
				time.Sleep(m.slowly())
			}
			eachTxn(r, change)
		}
	}
	switch m {
	case vanishesLive:
		l.reread = seesNothing
	case blindRerun:
		l.reread = seesNone(func(key []byte) bool { return !strings.Contains(string(key), ofBackfill) })
	case rerunsFilled:
		l.reread = seesNone(func(key []byte) bool { return strings.Contains(string(key), ofBackfill) })
	}
}

// retriesBeside leaves out the compare of the parent when a flow run is retried, after the head of that has changed.
func (l *link) retriesBeside(n *pb.TxnRequest) {
	if !retriesFlow(n) {
		return
	}
	n.Compare = slices.DeleteFunc(n.Compare, func(c *pb.Compare) bool {
		parent := under(c.Key, common.FlowRunsPrefix) && !deletes(n, string(c.Key))
		if parent {
			l.world.awaitChange(string(c.Key), 5*time.Second)
		}
		return parent
	})
}

// awaitChange waits for a change of a key, for a time at most.
func (w *world) awaitChange(key string, d time.Duration) {
	over := time.After(d)
	events, changed := w.since(0)
	for seen := len(events); ; events, changed = w.since(0) {
		if slices.ContainsFunc(events[seen:], func(e event) bool { return e.key == key }) {
			return
		}
		seen = len(events)
		select {
		case <-changed:
		case <-over:
			return
		}
	}
}

// seesNone hides flow runs from a request for a further attempt.
func seesNone(of func(key []byte) bool) func(*pb.TxnRequest, *pb.TxnResponse) {
	return func(r *pb.TxnRequest, resp *pb.TxnResponse) {
		again := slices.ContainsFunc(r.Success, func(op *pb.RequestOp) bool {
			return under(op.GetRequestRange().GetKey(), common.AttemptsPrefix)
		})
		for i, op := range r.Success {
			if key := op.GetRequestRange().GetKey(); again && under(key, common.FlowRunsPrefix) && of(key) {
				resp.Responses[i].GetResponseRange().Kvs = nil
			}
		}
	}
}

// isCleanUp reports whether a key is that of a clean-up step: the play names them so.
func isCleanUp(key string) bool {
	return strings.HasPrefix(key, common.FlowNodesPrefix) && strings.HasPrefix(key[strings.LastIndex(key, "/")+1:], "z")
}

// ofMarks changes what a keeper learns of nodes.
func (m mutation) ofMarks(receive func(string, flow.Mark)) func(string, flow.Mark) {
	if m != cleansEarly {
		return receive
	}
	return func(run string, mark flow.Mark) {
		if mark.Value.State == common.NodeStarted && !strings.HasPrefix(mark.Node, "z") {
			mark.Value.State, mark.Value.Status = common.NodeEnded, common.StatusSucceeded
			mark.Value.Class = common.ClassSuccess
		}
		receive(run, mark)
	}
}

// ofHeads changes what a keeper learns of flow runs.
func (m mutation) ofHeads(receive func(bool, []common.FlowRun, []string)) func(bool, []common.FlowRun, []string) {
	if m != fillsAll && m != forcesAll && m != retriesForever {
		return receive
	}
	return func(whole bool, put []common.FlowRun, gone []string) {
		for i := range put {
			if m == retriesForever {
				if put[i].Attempt <= 5 { // so that it ends
					put[i].Before = put[i].Attempt
				}
				continue
			}
			if m == forcesAll {
				if put[i].Kill != nil {
					put[i].Kill = put[i].Kill.Again(&common.FlowKill{By: "mutation", Force: true})
				}
				continue
			}
			if put[i].Kind == common.KindBackfill {
				put[i].Concurrency = common.MaxBackfillConcurrency
			}
		}
		receive(whole, put, gone)
	}
}

// ofStore changes what a keeper writes.
func (m mutation) ofStore(store keep.Store) keep.Store {
	if m == retriesAll {
		return keepsNothing{store}
	}
	return store
}

// keepsNothing requests next attempts of flow runs that keep nothing.
type keepsNothing struct{ keep.Store }

func (k keepsNothing) Complete(ctx context.Context, run *common.FlowRun, outcome *common.Run,
	next *common.Trigger) (bool, error) {
	if next != nil {
		next.Keep = nil
	}
	return k.Store.Complete(ctx, run, outcome, next)
}

// ofRerun changes the claim of the re-run of a flow run.
func (m mutation) ofRerun(w *world, claim *common.Claim) {
	if claim.Head == nil || claim.Trigger == nil || claim.Trigger.Digest == "" {
		return
	}
	switch job := w.jobNow(claim.Job); {
	case m == forgetsKept:
		claim.Head.Base = nil
	case m == unpinned && job != nil && job.Flow != nil:
		claim.Head.Digest = job.Flow.Digest
	}
}

// slowly is how long decisions of keepers take to get to etcd: time for a live retry to take back what they were made
// on.
func (m mutation) slowly() time.Duration {
	if m == retriesBlindly || m == quietRetry || m == retriesDirty {
		return 6 * time.Second
	}
	return 0
}

// seesNothing hides what etcd holds of nodes.
func seesNothing(r *pb.TxnRequest, resp *pb.TxnResponse) {
	if !slices.ContainsFunc(r.Success, func(op *pb.RequestOp) bool {
		return under(op.GetRequestRange().GetKey(), common.FlowWaitsPrefix)
	}) {
		return
	}
	for i, op := range r.Success {
		if under(op.GetRequestRange().GetKey(), common.TriggersPrefix, common.RunsPrefix, common.FlowRunsPrefix) {
			resp.Responses[i].GetResponseRange().Kvs = nil
		}
	}
}
