package namedlock

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Types of the values in etcd, and of errors.
type (
	Terms   = common.LockTerms
	Former  = common.LockFormer
	Process = common.LockProcess
)

// MaxNote is the size of a note, in bytes.
const MaxNote = common.MaxLockNote

// Client is one life of a client of a lock.
type Client struct {
	ID      string // stable name
	Session string // of this life
	Terms
	Process Process
}

// View is the state of a lock as one client sees it, at one revision. Holder, owner and place are nil if the key does
// not exist.
type View struct {
	Revision int64
	Holder   *Holder
	Owner    *Owner
	Place    *Place // of the client in the queue
	Before   string // key of the waiter directly before the client, or of the last one if it has no place; "": none
}

// Holder is the current holder.
type Holder struct {
	common.LockHolder
	Created int64
	Lease   clientv3.LeaseID
}

// Owner is the last owner.
type Owner struct {
	common.LockOwner
	Revision int64 // of the last change
}

// Place is a place in the queue.
type Place struct {
	Created int64
	Lease   clientv3.LeaseID
}

// Read reads the state of a lock. entered is the CreateRevision of the client's place in the queue, or 0. It reads the
// whole queue in etcd; ReadHolder does not.
func Read(ctx context.Context, client *clientv3.Client, name, session string, entered int64) (*View, error) {
	before := clientv3.WithLastCreate()
	if entered != 0 {
		before = append(before, clientv3.WithMaxCreateRev(entered-1))
	}
	v, queue, err := read(ctx, client, name, session,
		clientv3.OpGet(common.LockQueueOf(name), append(before, clientv3.WithKeysOnly())...))
	switch {
	case err != nil:
		return nil, err
	case v.Place != nil && v.Place.Created != entered:
		return Read(ctx, client, name, session, v.Place.Created) // it was not known where to look
	case v.Place == nil && entered != 0:
		return Read(ctx, client, name, session, 0)
	}
	for _, kv := range queue[0].Kvs {
		v.Before = string(kv.Key)
	}
	return v, nil
}

// ReadHolder reads the state of a lock without the waiters before the client: for a holder, and for the first in the
// queue, which remains the first.
func ReadHolder(ctx context.Context, client *clientv3.Client, name, session string) (*View, error) {
	v, _, err := read(ctx, client, name, session)
	return v, err
}

// read reads holder, owner and place, and further keys at the same revision.
func read(ctx context.Context, client *clientv3.Client, name, session string, more ...clientv3.Op) (v *View,
	rest []*clientv3.GetResponse, err error) {
	results, err := etcdkit.Read(ctx, client, append([]clientv3.Op{
		clientv3.OpGet(common.LockHolderKey(name)),
		clientv3.OpGet(common.LockOwnerKey(name)),
		clientv3.OpGet(common.LockWaiterKey(name, session)),
	}, more...)...)
	if err != nil {
		return nil, nil, err
	}
	v = &View{Revision: results[0].Header.Revision}
	for _, kv := range results[0].Kvs {
		if v.Holder, err = DecodeHolder(kv); err != nil {
			return nil, nil, err
		}
	}
	for _, kv := range results[1].Kvs {
		if v.Owner, err = DecodeOwner(kv); err != nil {
			return nil, nil, err
		}
	}
	for _, kv := range results[2].Kvs {
		v.Place = &Place{Created: kv.CreateRevision, Lease: clientv3.LeaseID(kv.Lease)}
	}
	return v, results[3:], nil
}

// DecodeHolder decodes the value of a holder's key.
func DecodeHolder(kv *mvccpb.KeyValue) (*Holder, error) {
	value, err := common.Decode[common.LockHolder](kv.Value)
	if err != nil {
		return nil, damaged(kv, err)
	}
	return &Holder{LockHolder: value, Created: kv.CreateRevision, Lease: clientv3.LeaseID(kv.Lease)}, nil
}

// DecodeOwner decodes the value of an owner's key.
func DecodeOwner(kv *mvccpb.KeyValue) (*Owner, error) {
	value, err := common.Decode[common.LockOwner](kv.Value)
	if err != nil {
		return nil, damaged(kv, err)
	}
	if value.Token == 0 {
		value.Token = kv.ModRevision
	}
	return &Owner{LockOwner: value, Revision: kv.ModRevision}, nil
}

func damaged(kv *mvccpb.KeyValue, err error) error {
	return common.Errorf(common.CodeInternal, "damaged lock in etcd: %s", common.Excerpt(string(kv.Key))).
		WithCause(err).WithHint("delete the key once no client uses the lock")
}

// ownerRevision is the revision of the owner's last change, or 0.
func (v *View) ownerRevision() int64 {
	if v.Owner == nil {
		return 0
	}
	return v.Owner.Revision
}

// Free reports whether no client has the lock, and no owner of it may come back.
func (v *View) Free() bool {
	return v.Holder == nil && (v.Owner == nil || v.Owner.State == common.LockReleased)
}

// HeldBy reports whether a session holds the lock.
func (v *View) HeldBy(session string) bool { return v.Holder != nil && v.Holder.Session == session }

// OwnedBy reports whether a session is the owner and has not released the lock.
func (v *View) OwnedBy(session string) bool {
	return v.Owner != nil && v.Owner.Session == session && v.Owner.State == common.LockHeld
}

// Absence is since when a client has seen a lock without a holder and with the same owner. Each put of a holder puts
// the owner too, and so the lock had no holder at any time since then, even if the client did not look.
type Absence struct {
	owner int64         // revision of the owner's last change; 0: no absence
	since time.Duration // on the boot clock
}

// See records a view that was received at a time.
func (a *Absence) See(v *View, now time.Duration) {
	switch {
	case v.Holder != nil || v.Owner == nil || v.Owner.State != common.LockHeld:
		*a = Absence{}
	case a.owner != v.Owner.Revision:
		*a = Absence{owner: v.Owner.Revision, since: now}
	}
}

// End returns when the owner may be succeeded, and whether it is absent.
func (a *Absence) End(v *View) (end time.Duration, absent bool) {
	if a.owner == 0 || v.Owner == nil || a.owner != v.Owner.Revision {
		return 0, false
	}
	return a.since + v.Owner.Succession(), true
}

// Step is what a client does next about a lock that it wants.
type Step int

// The steps.
const (
	Held   Step = iota // nothing: it holds the lock
	Take               // take the free lock
	Back               // take the lock back, as its owner
	Resume             // take the lock of an earlier life of the client, whose process is dead
	Over               // take the lock over from an owner whose grace period has passed
	Behind             // wait for the waiter before it to leave the queue
	First              // wait for the holder or the owner to change
	Grace              // as First, until the end of the owner's grace period
)

// Waits reports whether the client needs a place in the queue for the step.
func (s Step) Waits() bool { return s == Behind || s == First || s == Grace }

// Next returns the client's next step, and when the grace period ends if it waits for that. dead reports whether the
// process of an owner is proven to have ended.
func (v *View) Next(c *Client, absence *Absence, now time.Duration, dead func(Process) bool) (s Step,
	end time.Duration) {
	absent := v.Holder == nil
	held := v.Owner != nil && v.Owner.State == common.LockHeld
	switch {
	case v.HeldBy(c.Session):
		return Held, 0
	case absent && v.OwnedBy(c.Session):
		return Back, 0
	case absent && held && v.Owner.ID == c.ID && dead(v.Owner.LockProcess):
		return Resume, 0
	case v.Before != "":
		return Behind, 0
	case !absent:
		return First, 0
	case !held:
		return Take, 0
	}
	end, seen := absence.End(v)
	if seen && now >= end {
		return Over, 0
	}
	return Grace, end
}

// String names the step.
func (s Step) String() string {
	names := [...]string{"held", "take", "back", "resume", "over", "behind", "first", "grace"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("step %d", int(s))
	}
	return names[s]
}
