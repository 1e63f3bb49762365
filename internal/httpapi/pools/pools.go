package pools

import (
	"context"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

// Resource serves pools.
type Resource struct {
	Pools      Pools
	References view.References
}

// Pools manages pools.
type Pools interface {
	States(ctx context.Context) ([]common.PoolState, error)
	State(ctx context.Context, name string) (common.PoolState, error)
	// Save creates or changes a pool; allow returns why the caller may not change a pool of a group.
	Save(ctx context.Context, actor common.Actor, name string, wanted common.PoolDefinition, pre common.Precondition,
		allow func(group string) error) (pool common.Pool, created bool, err error)
	// Delete returns CodeConflict with the names of the jobs if jobs use the pool.
	Delete(ctx context.Context, actor common.Actor, name string, pre common.Precondition,
		allow func(group string) error) error
}

// Pool is a limit on runs across jobs.
type Pool struct {
	Name      string       `json:"name" example:"reports-db"`
	Group     string       `json:"group,omitempty" doc:"Editors of this group may change the pool; without a group, those with the role everywhere."`
	Slots     int          `json:"slots" doc:"Number of slots."`
	Used      int          `json:"used" doc:"Number of slots in use. After slots was lowered, it may be greater than slots: then no run starts until enough have ended."`
	Waiting   int          `json:"waiting" doc:"Number of fires that wait for slots."`
	Holders   []PoolHolder `json:"holders" nullable:"false" doc:"The runs that have slots, by job: 10 in lists, otherwise all."`
	Queue     []PoolWaiter `json:"queue" nullable:"false" doc:"The first waiting fires, in the order in which they get slots: 10 in lists, otherwise 100."`
	Jobs      int          `json:"jobs" doc:"Number of jobs that use it."`
	UsedBy    []string     `json:"usedBy,omitempty" nullable:"false" doc:"The first 100 of these jobs, by name; in the response for a single pool."`
	Version   int64        `json:"version" doc:"Increases with each change; also the ETag."`
	CreatedAt time.Time    `json:"createdAt"`
	UpdatedAt time.Time    `json:"updatedAt"`
	UpdatedBy string       `json:"updatedBy,omitempty"`
}

// PoolHolder is a run that has slots of a pool.
type PoolHolder struct {
	Job   string `json:"job"`
	Run   string `json:"run"`
	Slots int    `json:"slots" doc:"Number of slots that it has."`
}

// PoolWaiter is a fire that waits for slots of a pool.
type PoolWaiter struct {
	Position  int       `json:"position" doc:"In the queue, from 1."`
	Job       string    `json:"job"`
	Run       string    `json:"run,omitempty" doc:"Id of the pending run; absent for a fire of the schedule."`
	PlannedAt time.Time `json:"plannedAt"`
	Since     time.Time `json:"since" doc:"Since when it is due."`
	Priority  int       `json:"priority"`
	Slots     int       `json:"slots" doc:"Number of slots that it needs."`
}

// PoolPath names a pool.
type PoolPath struct {
	Name string `path:"name" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Name of the pool."`
}

type poolPutInput struct {
	PoolPath
	IfMatch     string `header:"If-Match" doc:"Only if the pool has this ETag."`
	IfNoneMatch string `header:"If-None-Match" doc:"*: only if the pool does not exist."`
	Body        common.PoolDefinition
}

type poolDeleteInput struct {
	PoolPath
	IfMatch string `header:"If-Match" doc:"Only if the pool has this ETag."`
}

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	op := core.NewOperations("pools", "/api/v1/pools")
	core.Register(r, op.Get("list-pools", "", "List pools", core.Viewer), s.list)
	core.Register(r, op.Get("get-pool", "/{name}", "Get a pool", core.Viewer), s.get)
	put := op.Put("put-pool", "/{name}", "Create or change a pool", core.Editor)
	put.Responses = core.Created("Pool")
	core.Register(r, put, s.put)
	core.Register(r, op.Delete("delete-pool", "/{name}", "Delete a pool", core.Editor), s.delete)
}

// Limits of the lists within a pool.
const (
	mostInList = 10
	mostInPool = 100
)

func (s *Resource) list(ctx context.Context, _ *struct{}) (*core.Body[core.Page[Pool]], error) {
	found, err := s.Pools.States(ctx)
	if err != nil {
		return nil, err
	}
	jobs := s.References.References(ctx, common.ReferentPool)
	return core.Reply(core.NewPage(core.Items(found, func(p *common.PoolState) Pool {
		out := poolOf(p, mostInList, mostInList)
		out.Jobs = jobs[p.Name]
		return out
	}), ""))
}

func (s *Resource) get(ctx context.Context, in *PoolPath) (*core.Versioned[Pool], error) {
	found, err := s.Pools.State(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	return core.ReplyVersion(found.Version, false, s.one(ctx, &found))
}

// one returns a pool with the jobs that use it.
func (s *Resource) one(ctx context.Context, p *common.PoolState) Pool {
	out := poolOf(p, common.MaxPoolSlots, mostInPool)
	out.Jobs = s.References.References(ctx, common.ReferentPool)[p.Name]
	out.UsedBy = s.References.Referring(ctx, common.ReferentPool, p.Name, view.MaxUsedBy)
	return out
}

// allow returns a function that returns an error unless the caller is an editor of a group.
func allow(ctx context.Context) func(group string) error {
	return func(group string) error { return core.Allow(ctx, access.Editor, group) }
}

func (s *Resource) put(ctx context.Context, in *poolPutInput) (*core.Versioned[Pool], error) {
	pre, err := core.Precondition(in.IfMatch, in.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	saved, created, err := s.Pools.Save(ctx, core.Actor(ctx), in.Name, in.Body, pre, allow(ctx))
	if err != nil {
		return nil, err
	}
	state, err := s.Pools.State(ctx, in.Name)
	if err != nil || state.Version != saved.Version { // it has changed since, or etcd does not answer
		state = common.PoolState{Pool: saved}
	}
	return core.ReplyVersion(saved.Version, created, s.one(ctx, &state))
}

func (s *Resource) delete(ctx context.Context, in *poolDeleteInput) (*struct{}, error) {
	pre, err := core.Precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	return nil, s.Pools.Delete(ctx, core.Actor(ctx), in.Name, pre, allow(ctx))
}

func poolOf(p *common.PoolState, holders, queue int) Pool {
	out := Pool{
		Name:      p.Name,
		Group:     p.Group,
		Slots:     p.Slots,
		Used:      len(p.Used),
		Waiting:   p.Waits(),
		Holders:   []PoolHolder{},
		Queue:     []PoolWaiter{},
		Version:   p.Version,
		CreatedAt: p.CreatedAt,
		UpdatedAt: p.UpdatedAt,
		UpdatedBy: p.UpdatedBy,
	}
	by := map[common.PoolSlot]int{}
	for i := range p.Used {
		slot := p.Used[i].PoolSlot
		at, known := by[slot]
		if !known {
			at, by[slot] = len(out.Holders), len(out.Holders)
			out.Holders = append(out.Holders, PoolHolder{Job: slot.Job, Run: slot.Run})
		}
		out.Holders[at].Slots++
	}
	out.Holders = out.Holders[:min(len(out.Holders), holders)]
	for i := range p.Waiting {
		w := &p.Waiting[i]
		if !w.Waits || len(out.Queue) == queue {
			continue
		}
		out.Queue = append(out.Queue, PoolWaiter{Position: w.Position, Job: w.Job, Run: w.Run, PlannedAt: w.At.UTC(),
			Since: w.Due.UTC(), Priority: w.Priority, Slots: w.Slots})
	}
	return out
}
