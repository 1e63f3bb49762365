package jobmgr

import (
	"context"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// poolFaults lists the faults of the pool that a job uses: that it does not exist, or has fewer slots than a run takes.
func (s *Store) poolFaults(ctx context.Context, job *common.Job) (faults common.Faults, err error) {
	if job.Pool == "" || !common.ValidName(job.Pool) {
		return nil, nil
	}
	kv, err := etcdkit.Get(ctx, s.cfg.Client, common.PoolKey(job.Pool))
	if err != nil {
		return nil, err
	}
	if kv == nil {
		faults.Add("pool", "unknown_pool", job.Pool, "pool %q does not exist", job.Pool).With("name", job.Pool).Hint =
			"create it with: cronctl create pool " + job.Pool + " --slots 5"
		return faults, nil
	}
	pool, err := common.Decode[common.Pool](kv.Value)
	if err == nil && job.PoolSlotsOfRun() > pool.Slots {
		faults.Add("poolSlots", "range", job.PoolSlots, "must be from %d to %d, the slots of the pool", 1, pool.Slots).
			With("least", 1, "most", pool.Slots)
	}
	return faults, nil
}

// poolUser is the value of common.PoolUsersKey: the last save that made a job use the pool.
type poolUser struct {
	ID  string `json:"id"`
	Job string `json:"job"`
}

// setPool adds what makes sure that the pool of a job exists, if the job did not use it before.
func setPool(t *etcdkit.Txn, old, job *common.Job) {
	if job.Pool == "" || old != nil && old.Pool == job.Pool {
		return
	}
	t.If(etcdkit.Exists(common.PoolKey(job.Pool)))
	t.Put(common.PoolUsersKey(job.Pool), poolUser{ID: common.NewID(), Job: job.Name})
}
