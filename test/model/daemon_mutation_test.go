package model

import (
	"bytes"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// mutationsOfDaemons leave out rules of daemon jobs.
const (
	createsBlindly  mutation = "the creation of a replica does not look for its keys"
	createsLate     mutation = "the creation of a replica does not compare its job"
	removesBlindly  mutation = "the removal of a replica does not compare its trigger"
	quietStop       mutation = "the end of a replica does not put its next start"
	quietLoss       mutation = "the recovery of a replica does not put its next start"
	startsUnwanted  mutation = "the recovery of a replica does not look at what its job wants"
	followsGone     mutation = "the next start of a replica does not compare its job"
	movesBlindly    mutation = "a handover does not look for another one"
	balancesByOne   mutation = "a replica is moved to a worker whose daemons use one slot less"
	takesDownAtOnce mutation = "a handover does not wait for a healthy successor"
)

// daemonMutations are tried by chance among daemon jobs.
var daemonMutations = []mutation{createsBlindly, createsLate, removesBlindly, quietStop, quietLoss, startsUnwanted,
	followsGone, movesBlindly, balancesByOne, takesDownAtOnce}

// creates recognizes the creation of a replica, which alone compares a range of records, and puts only a trigger.
func creates(n *pb.TxnRequest) bool {
	return len(n.Success) == 1 && puts(n, common.TriggersPrefix) && compares(n, common.RunsPrefix) &&
		compares(n, common.JobsPrefix)
}

// removes recognizes the removal of a pending replica.
func removes(n *pb.TxnRequest) bool {
	return len(n.Success) == 2 && deletes(n, common.TriggersPrefix) && puts(n, common.OutboxPrefix) &&
		len(n.Compare) == 2 && compares(n, common.JobsPrefix)
}

// follows recognizes the part of a finish or a recovery that puts the trigger of the next start.
func follows(n *pb.TxnRequest) bool {
	return len(n.Success) == 1 && puts(n, common.TriggersPrefix) && !compares(n, common.RunsPrefix) &&
		compares(n, common.JobsPrefix)
}

// ofDaemons changes the transactions of a process; nil where it does not.
func (m mutation) ofDaemons() func(n *pb.TxnRequest) {
	switch m {
	case createsBlindly:
		return func(n *pb.TxnRequest) {
			if creates(n) {
				time.Sleep(3 * time.Second) // in which another worker creates it
				dropCompares(n, common.TriggersPrefix)
				dropCompares(n, common.RunsPrefix)
			}
		}
	case createsLate:
		return func(n *pb.TxnRequest) {
			if creates(n) {
				time.Sleep(3 * time.Second) // in which the job may be deleted, or scaled down
				dropCompares(n, common.JobsPrefix)
			}
		}
	case removesBlindly:
		return func(n *pb.TxnRequest) {
			if removes(n) {
				time.Sleep(6 * time.Second) // in which its worker may be back, and claim it
				dropCompares(n, common.TriggersPrefix)
			}
		}
	case quietStop:
		return func(n *pb.TxnRequest) {
			if finishes(n) && !recovers(n) {
				dropTriggers(n)
			}
		}
	case quietLoss:
		return func(n *pb.TxnRequest) {
			if recovers(n) {
				dropTriggers(n)
			}
		}
	case followsGone:
		return func(n *pb.TxnRequest) {
			if follows(n) {
				dropCompares(n, common.JobsPrefix)
			}
		}
	case movesBlindly:
		return func(n *pb.TxnRequest) {
			if puts(n, common.MovesPrefix) {
				dropCompares(n, common.MovesPrefix)
			}
		}
	}
	return nil
}

// atDaemons makes a worker break a rule of daemon jobs.
func (m mutation) atDaemons(l *link) {
	if change := m.ofDaemons(); change != nil {
		l.rewrite = func(r *pb.TxnRequest) { eachTxn(r, change) }
	}
	if m == startsUnwanted {
		l.reread = wantsAll
	}
}

// wantsAll makes a recovery see a job that has all replicas.
func wantsAll(r *pb.TxnRequest, resp *pb.TxnResponse) {
	if len(r.Success) != 2 || !under(r.Success[0].GetRequestRange().GetKey(), common.JobsPrefix) ||
		!under(r.Success[1].GetRequestRange().GetKey(), common.KillerPrefix) {
		return
	}
	for _, kv := range resp.Responses[0].GetResponseRange().Kvs {
		for count := range 10 {
			kv.Value = bytes.Replace(kv.Value, []byte{'"', 'c', 'o', 'u', 'n', 't', '"', ':', '0' + byte(count), ','},
				[]byte(`"count":999,`), 1)
		}
	}
}

// counts are the numbers of replicas of the jobs.
func (m mutation) counts() []common.Fleet {
	if m == removesBlindly { // it matters where workers come and go
		return []common.Fleet{common.AllWorkers}
	}
	return []common.Fleet{common.AllWorkers, 1, 2, 3, 3, 4, 5, 6}
}

// ofJobs changes what a keeper of replicas learns of jobs.
func (m mutation) ofJobs(jobs []common.JobState) []common.JobState {
	if m != takesDownAtOnce {
		return jobs
	}
	jobs = slices.Clone(jobs)
	for i := range jobs {
		if jobs[i].Daemon != nil {
			daemon := *jobs[i].Daemon
			daemon.HealthyAfter, jobs[i].Daemon = "1ms", &daemon
		}
	}
	return jobs
}

// ofCluster is the cluster as a keeper of replicas sees it.
func (m mutation) ofCluster(l *life) scheduler.Cluster {
	if m == balancesByOne {
		return ownCluster{l, l.id.Worker}
	}
	return l
}
