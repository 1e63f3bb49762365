package model

import (
	"fmt"
	"slices"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"carillon/internal/common"
)

// mutationsOfFires leave out rules of the fires of jobs whose parents have succeeded.
const (
	blindConsumed  mutation = "a fire after the parents does not compare the consumed successes"
	blindSuccesses mutation = "a fire after the parents does not compare the successes"
	replacesFire   mutation = "a fire after the parents replaces a pending one"
	notNewer       mutation = "a fire after the parents consumes successes again"
	quietSuccess   mutation = "a finish does not write the success of a parent"
)

// parentsOf are the parents that a job of the play may have.
func (s *script) parentsOf(name string) []string {
	if s.world.lostAfter != "" || len(s.jobs) == 1 {
		return nil
	}
	switch name {
	case "d":
		return pickOf(s, []string{"a"}, []string{"a", "b"})
	case "e":
		return pickOf(s, nil, []string{"b"}, []string{"c", "a"})
	case "f":
		return pickOf(s, []string{"d"}, []string{"d", "e"})
	}
	return nil
}

// pickOf draws from a source of its own, so that the rest of the play stays as it is.
func pickOf[T any](s *script, from ...T) T {
	if s.kin == nil {
		s.kin = s.world.randomOf("kin")
	}
	return from[s.kin.IntN(len(from))]
}

// firesAfter reports whether a nested transaction is that of a fire after the parents.
func firesAfter(n *pb.TxnRequest) bool {
	return slices.ContainsFunc(n.Success, func(op *pb.RequestOp) bool {
		return under(op.GetRequestPut().GetKey(), common.AfterPrefix)
	})
}

// atFires makes a worker's life break a rule of fires after parents.
func (m mutation) atFires(l *life) {
	drop := ""
	switch m {
	case blindConsumed:
		drop = common.AfterPrefix
	case blindSuccesses:
		drop = common.SucceededPrefix
	case replacesFire:
		drop = common.TriggersPrefix
	case quietSuccess:
		l.link.rewrite = func(r *pb.TxnRequest) {
			eachNested(r, func(n *pb.TxnRequest) {
				if finishes(n) {
					dropPuts(n, common.SucceededPrefix)
				}
			})
		}
		return
	default:
		return
	}
	l.link.rewrite = func(r *pb.TxnRequest) {
		eachNested(r, func(n *pb.TxnRequest) {
			if firesAfter(n) {
				dropCompares(n, drop)
			}
		})
	}
}

// seenConsumed is what a keeper receives of the consumed successes; with a mutation, that none were consumed.
func (l *life) seenConsumed(u common.JobValues[common.After]) common.JobValues[common.After] {
	if l.world.mutation != notNewer {
		return u
	}
	for i := range u.Put {
		for parent := range u.Put[i].Value.Consumed {
			u.Put[i].Value.Consumed[parent] = 0
		}
	}
	return u
}

// rawParent is what the checker reads of a job.
type rawParent struct {
	UID   string   `json:"uid"`
	After []string `json:"after"`
	Needs []string `json:"needs"`
}

// kin is what the checker knows of jobs and their parents while it reads the history.
type kin struct {
	jobs    map[string]rawParent
	counts  map[string]map[string]int64 // by child and parent: successes after this revision count
	last    map[string]int64            // by job: revision of its last success; absent without one
	lastAt  map[string]time.Time
	named   map[string]int64  // by job: revision since which it must write its successes
	pending map[string]string // by child: the run of its trigger
	left    map[string]string // by trigger: runs that wait while their job is paused, as it is at the end
}

func newKin() *kin {
	return &kin{jobs: map[string]rawParent{}, counts: map[string]map[string]int64{}, last: map[string]int64{},
		lastAt: map[string]time.Time{}, named: map[string]int64{}, pending: map[string]string{},
		left: map[string]string{}}
}

// readKin checks the fires after parents of a revision: each is that of a job that exists, replaces no pending one, and
// each parent has succeeded since the fire before, or since the job names it.
func (c *checker) readKin(r *revision) {
	k, rev := c.kin, r.keys[0].rev
	for _, e := range r.under("/cron/succeeded/") {
		job := e.key[len("/cron/succeeded/"):]
		if delete(k.last, job); e.created != 0 {
			k.last[job], k.lastAt[job] = rev, e.at
		}
	}
	c.readSuccesses(r)
	saved := map[string]bool{}
	for _, e := range r.under("/cron/jobs/") {
		name := e.key[len("/cron/jobs/"):]
		saved[name] = true
		if e.created == 0 {
			delete(k.jobs, name)
			delete(k.counts, name)
			delete(k.named, name)
			continue
		}
		job := decode[rawParent](e.value)
		before := k.counts[name]
		if e.created == e.rev {
			before = nil
		}
		k.jobs[name], k.counts[name] = job, map[string]int64{}
		for _, parent := range job.After {
			k.counts[name][parent] = rev
			if since, kept := before[parent]; kept {
				k.counts[name][parent] = since
			}
		}
		if _, known := k.named[name]; !known && slices.Contains(job.Needs, "successes") {
			k.named[name] = rev
		}
	}
	fired := map[string]bool{}
	for _, e := range r.under("/cron/triggers/") {
		child, id, _ := strings.Cut(e.key[len("/cron/triggers/"):], "/")
		if delete(k.left, e.key); e.created != 0 {
			if t := decode[rawTrigger](e.value); t.Cause == "after" {
				k.left[e.key] = fmt.Sprintf("%s.%d", t.Fire, t.Attempt)
			}
		}
		if id != "after" {
			continue
		}
		if e.created == 0 {
			delete(k.pending, child)
			continue
		}
		fired[child] = true
		c.fireAfter(e, child)
	}
	for _, e := range r.under("/cron/after/") {
		if child := e.key[len("/cron/after/"):]; e.created != 0 && !saved[child] && !fired[child] {
			c.breaks("after", "what %s has consumed was written without a save or a fire by %s", child, e.by)
		}
	}
}

func (c *checker) fireAfter(e event, child string) {
	k := c.kin
	t := decode[rawTrigger](e.value)
	if e.created != e.rev {
		c.breaks("after", "a pending fire of %s was replaced at %s by %s", child, wallTime(e.at), e.by)
	}
	k.pending[child] = t.Fire + ".1"
	counts, exists := k.counts[child]
	if !exists || k.jobs[child].UID != t.UID {
		c.breaks("after", "%s was fired at %s by %s, and does not exist", child, wallTime(e.at), e.by)
		return
	}
	for parent, since := range counts {
		if last, succeeded := k.last[parent]; !succeeded || last <= since {
			c.breaks("after", "%s was fired at %s by %s, and %s has not succeeded since", child, wallTime(e.at), e.by,
				parent)
		}
		counts[parent] = e.rev
	}
	c.world.counts["fires after parents"]++
}

// readSuccesses wants the success of a run that was claimed when its job was a parent to be written with its finish.
func (c *checker) readSuccesses(r *revision) {
	for _, e := range r.under("/cron/runs/") {
		job, run, _ := strings.Cut(e.key[len("/cron/runs/"):], "/")
		named, must := c.kin.named[job]
		if e.created != 0 || !must || c.claimed[run] <= named {
			continue
		}
		for _, put := range r.under("/cron/outbox/") {
			if put.created == 0 || !strings.HasSuffix(put.key, "/"+run) ||
				decode[rawRun](put.value).Status != "succeeded" {
				continue
			}
			if !slices.ContainsFunc(r.under("/cron/succeeded/"), func(s event) bool {
				return s.key == "/cron/succeeded/"+job
			}) {
				c.breaks("after", "%s of %s succeeded at %s, and its success was not written", run, job, wallTime(e.at))
			}
		}
	}
}

// waits reports whether a run is pending at the end because its job is paused.
func (k *kin) waits(run string) bool {
	for _, left := range k.left {
		if left == run {
			return true
		}
	}
	return false
}

// unfired wants no job to be left that should have been fired some time ago.
func (c *checker) unfired(until time.Time) {
	k := c.kin
	for child, counts := range k.counts {
		if _, waits := k.pending[child]; waits {
			continue
		}
		ready := len(counts) > 0
		for parent, since := range counts {
			last, succeeded := k.last[parent]
			ready = ready && succeeded && last > since && k.lastAt[parent].Before(until)
		}
		if ready {
			c.breaks("after", "%s was not fired, although all its parents have succeeded", child)
		}
	}
}
