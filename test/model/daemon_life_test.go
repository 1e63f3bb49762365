package model

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/dispatch"
	"carillon/internal/joblock"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/scheduler"
)

// newReplicas returns the keeper of replicas of a life; nil in a world without daemon jobs.
func (l *life) newReplicas(client *clientv3.Client) *dispatch.ReplicaKeeper {
	if l.world.daemons == nil {
		return nil
	}
	return dispatch.NewReplicaKeeper(dispatch.ReplicaConfig{
		Store:    joblock.NewReplicas(client, l.session, l.id.Worker, func(error) {}, l.gate),
		Runs:     l.dispatcher,
		Cluster:  l.world.mutation.ofCluster(l),
		Life:     l.id,
		Announce: l.gate.keeper.Announce,
		Written:  l.rouse,
		Moved:    func(why common.MoveReason) { l.world.count("handovers: " + string(why)) },
		Now:      l.wall,
		Log:      l.world.log,
	})
}

// keepReplicas keeps the replicas until the context ends.
func (l *life) keepReplicas(ctx context.Context) func() {
	return func() {
		if l.replicas != nil {
			_ = l.replicas.Run(ctx)
		}
	}
}

// takeDaemons sends changes of jobs to the keeper of replicas.
func (l *life) takeDaemons(u catalog.Update) {
	if l.replicas != nil {
		l.replicas.Jobs(u.Whole, u.More, l.world.mutation.ofJobs(u.Jobs), u.Gone)
	}
}

// lengthOfReplica is how long the command of a replica runs: it crashes only while there are disturbances.
func (l *life) lengthOfReplica() time.Duration {
	switch {
	case l.world.isCalm():
	case l.chance(0.2):
		return l.draw(10*time.Millisecond, 3*time.Second)
	case l.chance(0.3):
		return l.draw(3*time.Second, stillAfter/2)
	}
	return time.Hour
}

// ownCluster is the cluster as the keeper of replicas sees it, for a mutation.
type ownCluster struct {
	scheduler.Cluster
	self string
}

// Members is scheduler.Cluster's: the daemons of the other workers seem to use one slot less.
func (c ownCluster) Members() ([]common.Member, uint64) {
	members, generation := c.Cluster.Members()
	seen := make([]common.Member, len(members))
	for i := range members {
		if seen[i] = members[i]; seen[i].Worker != c.self {
			seen[i].DaemonSlots--
		}
	}
	return seen, generation
}

// ill notes that a disturbance lasts for some time, and a while after it.
func (w *world) ill(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.ills = append(w.ills, span{now, now.Add(d + recoversIn)})
}

// span is the time between two moments.
type span struct{ from, to time.Time }
