package locks

import (
	"context"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// Resource serves named locks.
type Resource struct {
	Locks Locks
}

// Locks manages named locks.
type Locks interface {
	Sessions
	Locks(ctx context.Context) ([]common.NamedLock, error)
	// Lock returns CodeNotFound if the lock was never acquired.
	Lock(ctx context.Context, name string) (common.NamedLock, error)
	// ForceRelease returns CodeNotFound if the lock is not held.
	ForceRelease(ctx context.Context, actor common.Actor, name string) error
}

// Sessions acquires and releases locks for sessions.
type Sessions interface {
	Acquire(ctx context.Context, name string, r common.LockRequest) (common.LockGrant, error)
	KeepAlive(ctx context.Context, name, session string) (common.LockGrant, error)
	Release(ctx context.Context, name, session string) (common.LockGrant, error)
	Note(ctx context.Context, name, session, note string) (common.LockGrant, error)
}

// MaxWait is how long a request may wait for a lock.
const MaxWait = 30 * time.Second

// Lock is a named lock.
type Lock struct {
	Name      string       `json:"name" example:"imports.eu"`
	Group     string       `json:"group" doc:"The name up to the first dot: operators of this group may use the lock." example:"imports"`
	State     string       `json:"state" enum:"held,grace,free" doc:"grace: the owner has disappeared without a release, and has its grace period to come back."`
	Owner     *LockOwner   `json:"owner,omitempty" doc:"The client that has the lock, or had it last."`
	Waiting   int          `json:"waiting" doc:"Number of waiting clients."`
	Queue     []LockWaiter `json:"queue" nullable:"false" doc:"The first waiting clients, in order: 10 in lists, otherwise 100."`
	TookOver  *LockFormer  `json:"tookOver,omitempty" doc:"The owner from which the present one has taken the lock over."`
	Takeovers int64        `json:"takeovers" doc:"How often the lock was taken over from an owner that had disappeared."`
}

// LockOwner is the last owner of a lock.
type LockOwner struct {
	ID         string          `json:"id" doc:"Name that the client has given itself." example:"host-1:4711"`
	Fence      int64           `json:"fence" doc:"Fencing token; it grows from owner to owner."`
	TTL        common.Duration `json:"ttl" example:"10s"`
	Grace      common.Duration `json:"grace" example:"30s"`
	Note       string          `json:"note,omitempty" doc:"Left by the owner, for a client that takes over."`
	Since      time.Time       `json:"since"`
	ReleasedAt *time.Time      `json:"releasedAt,omitempty"`
}

// LockWaiter is a client in the queue.
type LockWaiter struct {
	ID    string    `json:"id"`
	Since time.Time `json:"since"`
}

// LockFormer is an owner that did not release its lock.
type LockFormer struct {
	ID    string    `json:"id"`
	Fence int64     `json:"fence"`
	Note  string    `json:"note,omitempty"`
	At    time.Time `json:"at" doc:"When the lock was taken over."`
}

// LockSession is the state of a client's session.
type LockSession struct {
	Session  string      `json:"session" doc:"Secret that names the session at every master: the client repeats its requests with it."`
	State    string      `json:"state" enum:"held,queued,grace,busy,released,lost" doc:"queued: repeat the request within the TTL. grace: the same, and the client is the first, behind an owner that has disappeared. busy: the lock is not free, and the client does not wait for it. lost: the session is not the owner (any more)."`
	Position int         `json:"position,omitempty" doc:"In the queue, from 1."`
	Fence    int64       `json:"fence,omitempty" doc:"Fencing token of the holder; it grows from owner to owner."`
	TookOver *LockFormer `json:"tookOver,omitempty" doc:"The owner from which the lock was taken over."`
}

// LockPath names a lock.
type LockPath struct {
	Name string `path:"name" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Name of the lock."`
}

// LockRequest is a request for a lock.
type LockRequest struct {
	ID      string          `json:"id" minLength:"1" maxLength:"256" doc:"Stable name of the client, for people." example:"host-1:4711"`
	Session string          `json:"session,omitempty" pattern:"^[0-9a-f]{64}$" doc:"256 random bits, from an earlier response or made by the client: a repeated request has no further effect. Default: a new one."`
	TTL     common.Duration `json:"ttl,omitempty" doc:"How long the session's lease lasts without a keep-alive: 5s to 5m; default 10s." example:"10s"`
	Grace   common.Duration `json:"grace,omitempty" doc:"How long the client may be away without losing the lock: at least ttl + 5s, at most 1h; default 30s." example:"30s"`
	Wait    common.Duration `json:"wait,omitempty" doc:"How long to wait for the lock, at most 30s; default: not at all." example:"30s"`
}

// LockSessionRequest names a session.
type LockSessionRequest struct {
	Session string `json:"session" pattern:"^[0-9a-f]{64}$"`
}

// LockNoteRequest is a note of a session.
type LockNoteRequest struct {
	Session string `json:"session" pattern:"^[0-9a-f]{64}$"`
	Note    string `json:"note" maxLength:"4096" doc:"Replaces the last note; a client that takes the lock over gets it."`
}

type acquireInput struct {
	LockPath
	Body LockRequest
}

type sessionInput struct {
	LockPath
	Body LockSessionRequest
}

type noteInput struct {
	LockPath
	Body LockNoteRequest
}

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	op := core.NewOperations("locks", "/api/v1/locks")
	core.Register(r, op.Get("list-locks", "", "List locks", core.Viewer), s.list)
	core.Register(r, op.Get("get-lock", "/{name}", "Get a lock", core.Viewer), s.get)
	acquire := op.Post("acquire-lock", "/{name}", "Acquire a lock, or wait for it", core.Operator)
	acquire.Patience = MaxWait
	core.Register(r, acquire, s.acquire)
	core.Register(r, op.Post("keep-lock-alive", "/{name}/keepalive", "Keep a session of a lock alive", core.Operator),
		s.keepAlive)
	core.Register(r, op.Post("release-lock", "/{name}/release", "Release a lock", core.Operator), s.release)
	core.Register(r, op.Post("note-lock", "/{name}/note", "Leave a note beside a lock", core.Operator), s.note)
	core.Register(r, op.Delete("force-release-lock", "/{name}", "Release a lock on behalf of its owner", core.Operator),
		s.force)
}

func (s *Resource) list(ctx context.Context, _ *struct{}) (*core.Body[core.Page[Lock]], error) {
	found, err := s.Locks.Locks(ctx)
	if err != nil {
		return nil, err
	}
	items := []Lock{}
	for i := range found {
		if core.May(ctx, access.Viewer, common.LockGroup(found[i].Name)) {
			items = append(items, lockOf(&found[i], 10))
		}
	}
	return core.Reply(core.NewPage(items, ""))
}

func (s *Resource) get(ctx context.Context, in *LockPath) (*core.Body[Lock], error) {
	if err := core.Allow(ctx, access.Viewer, common.LockGroup(in.Name)); err != nil {
		return nil, err
	}
	found, err := s.Locks.Lock(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	return core.Reply(lockOf(&found, 100))
}

// allow returns an error for callers who may not use a lock.
func (p *LockPath) allow(ctx context.Context) error {
	return core.Allow(ctx, access.Operator, common.LockGroup(p.Name))
}

func (s *Resource) acquire(ctx context.Context, in *acquireInput) (*core.Body[LockSession], error) {
	if err := in.allow(ctx); err != nil {
		return nil, err
	}
	wait, err := in.Body.Wait.Value()
	if in.Body.Wait == "" {
		wait, err = 0, nil
	}
	if err != nil || wait > MaxWait {
		return nil, common.Invalid("the request is not valid", common.NewFault("body.wait", "bounds",
			string(in.Body.Wait), "must be a duration of at most %v", MaxWait))
	}
	return reply(s.Locks.Acquire(ctx, in.Name, common.LockRequest{
		ID:        in.Body.ID,
		Session:   in.Body.Session,
		LockTerms: common.LockTerms{TTL: in.Body.TTL, Grace: in.Body.Grace},
		Wait:      wait,
	}))
}

func (s *Resource) keepAlive(ctx context.Context, in *sessionInput) (*core.Body[LockSession], error) {
	if err := in.allow(ctx); err != nil {
		return nil, err
	}
	return reply(s.Locks.KeepAlive(ctx, in.Name, in.Body.Session))
}

func (s *Resource) release(ctx context.Context, in *sessionInput) (*core.Body[LockSession], error) {
	if err := in.allow(ctx); err != nil {
		return nil, err
	}
	return reply(s.Locks.Release(ctx, in.Name, in.Body.Session))
}

func (s *Resource) note(ctx context.Context, in *noteInput) (*core.Body[LockSession], error) {
	if err := in.allow(ctx); err != nil {
		return nil, err
	}
	return reply(s.Locks.Note(ctx, in.Name, in.Body.Session, in.Body.Note))
}

func (s *Resource) force(ctx context.Context, in *LockPath) (*struct{}, error) {
	if err := in.allow(ctx); err != nil {
		return nil, err
	}
	return nil, s.Locks.ForceRelease(ctx, core.Actor(ctx), in.Name)
}

func reply(g common.LockGrant, err error) (*core.Body[LockSession], error) {
	if err != nil {
		return nil, err
	}
	return core.Reply(LockSession{
		Session:  g.Session,
		State:    string(g.State),
		Position: g.Position,
		Fence:    g.Token,
		TookOver: formerOf(g.TookOver),
	})
}

func formerOf(f *common.LockFormer) *LockFormer {
	if f == nil {
		return nil
	}
	return &LockFormer{ID: f.ID, Fence: f.Token, Note: f.Note, At: f.At}
}

// lockOf describes a lock with its first waiters.
func lockOf(l *common.NamedLock, most int) Lock {
	lock := Lock{
		Name:    l.Name,
		Group:   common.LockGroup(l.Name),
		State:   "free",
		Waiting: len(l.Queue),
		Queue:   []LockWaiter{},
	}
	for _, w := range l.Queue[:min(len(l.Queue), most)] {
		lock.Queue = append(lock.Queue, LockWaiter{ID: w.ID, Since: w.Since})
	}
	o := l.Owner
	if o == nil {
		return lock
	}
	lock.Owner = &LockOwner{ID: o.ID, Fence: o.Token, TTL: o.TTL, Grace: o.Grace, Note: o.Note, Since: o.Since}
	lock.TookOver, lock.Takeovers = formerOf(o.TookOver), o.Takeovers
	switch {
	case o.State == common.LockReleased:
		lock.Owner.ReleasedAt = &o.ReleasedAt
	case l.Holder != nil:
		lock.State = "held"
	default:
		lock.State = "grace"
	}
	return lock
}
