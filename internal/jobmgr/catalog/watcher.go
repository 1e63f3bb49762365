package catalog

import (
	"context"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Update is a change of the jobs. If Whole is set, Jobs and Bad are all jobs, or the first part of them
// if More is set.
type Update struct {
	Whole    bool
	More     bool
	Revision int64
	Jobs     []common.JobState
	Gone     []string
	Bad      []BadJob // these have no plan until they are repaired
}

// BadJob is a job whose value, or cursor, cannot be read.
type BadJob struct {
	Name string
	Err  error
}

// Watcher follows /cron/jobs and reads the cursor of each job that changes.
type Watcher struct {
	Silence time.Duration // how long a watch may be silent; 0: the default of etcdkit.Follower

	freshness

	client *clientv3.Client
	report func(error)
}

// NewWatcher returns a watcher. report receives the reason when it lists again, and nil while it is up to date; it may
// be nil.
func NewWatcher(client *clientv3.Client, report func(error)) *Watcher {
	return &Watcher{client: client, report: report}
}

func (w *Watcher) tell(err error) {
	if err == nil {
		w.mark()
	}
	if w.report != nil {
		w.report(err)
	}
}

// Run delivers all jobs, in parts, then every change, and all jobs again after any gap, until the context
// ends.
func (w *Watcher) Run(ctx context.Context, receive func(context.Context, Update) error) error {
	follower := etcdkit.Watch{
		Client:  w.client,
		Prefix:  common.JobsPrefix,
		Paged:   true,
		Silence: w.Silence,
		Report:  w.tell,
	}
	listing := false
	return follower.Follow(ctx, func(ctx context.Context, u etcdkit.Changes) error {
		page := u.Whole || listing
		listing = page && u.More
		puts := decodePuts(u.Puts)
		if err := w.readCursors(ctx, puts, page && len(puts) > 0); err != nil {
			return err
		}
		return receive(ctx, newUpdate(&u, puts))
	})
}

// put is a job of an update.
type put struct {
	name   string
	kv     *mvccpb.KeyValue
	stored common.StoredJob
	err    error            // why it cannot be read
	cursor *mvccpb.KeyValue // nil if it is unknown or absent
	gone   bool             // it was deleted since
}

func decodePuts(kvs []*mvccpb.KeyValue) []put {
	puts := make([]put, len(kvs))
	for i, kv := range kvs {
		puts[i] = put{name: jobOf(kv), kv: kv}
		puts[i].stored, puts[i].err = decodeStored(kv)
	}
	return puts
}

func newUpdate(u *etcdkit.Changes, puts []put) Update {
	out := Update{Whole: u.Whole, More: u.More, Revision: u.Revision, Jobs: make([]common.JobState, 0, len(puts))}
	for i := range puts {
		p := &puts[i]
		if p.gone {
			continue
		}
		state, err := common.JobState{}, p.err
		if err == nil {
			state, err = withCursor(p.stored, p.kv, p.cursor)
		}
		if err != nil {
			out.Bad = append(out.Bad, BadJob{Name: p.name, Err: err})
			continue
		}
		out.Jobs = append(out.Jobs, state)
	}
	for _, kv := range u.Deletes {
		out.Gone = append(out.Gone, jobOf(kv))
	}
	return out
}

// cursorsPerTxn keeps a transaction, of two operations for each cursor, below etcd's limit.
const cursorsPerTxn = 50

// readCursors reads the cursors of the jobs that an update puts, trying until it succeeds: an update must not be
// delivered without them. It marks jobs that were deleted since. A page is a part of a list, and so in the
// order of its keys.
func (w *Watcher) readCursors(ctx context.Context, puts []put, page bool) error {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		var err error
		if page {
			err = w.readCursorRange(ctx, puts)
		} else {
			setInitialCursors(puts)
		}
		if err == nil {
			err = w.readMissingCursors(ctx, puts)
		}
		if err == nil {
			return nil
		}
		w.tell(err)
		if !etcdkit.Sleep(ctx, wait) {
			return context.Cause(ctx)
		}
	}
}

// setInitialCursors gives new jobs the cursors that they were created with, which saves a read. A cursor that has moved
// since does no harm: it is compared when it is used.
func setInitialCursors(puts []put) {
	for i := range puts {
		if p := &puts[i]; p.kv.CreateRevision == p.kv.ModRevision && p.err == nil && !p.stored.CreatedAt.IsZero() {
			p.cursor = &mvccpb.KeyValue{
				Key:   []byte(common.CursorKey(p.name)),
				Value: []byte(common.TimeKey(p.stored.CreatedAt)),
			}
		}
	}
}

// readCursorRange reads the cursors of a page in one range. They may be newer than the jobs, which does no
// harm either.
func (w *Watcher) readCursorRange(ctx context.Context, puts []put) error {
	first, last := common.CursorKey(puts[0].name), common.CursorKey(puts[len(puts)-1].name)
	at := 0
	return eachCursor(ctx, w.client, first, last+"\x00", func(job string, kv *mvccpb.KeyValue) {
		for at < len(puts) && puts[at].name < job {
			at++
		}
		if at < len(puts) && puts[at].name == job {
			puts[at].cursor = kv
		}
	})
}

// readMissingCursors reads the missing cursors, with their jobs. A job that has neither a cursor nor the version of
// the update was deleted meanwhile: it is not broken, and the watch delivers its deletion, or the event after
// it.
func (w *Watcher) readMissingCursors(ctx context.Context, puts []put) error {
	var without []*put
	for i := range puts {
		if puts[i].cursor == nil && puts[i].err == nil {
			without = append(without, &puts[i])
		}
	}
	for part := range slices.Chunk(without, cursorsPerTxn) {
		ops := make([]clientv3.Op, 0, 2*len(part))
		for _, p := range part {
			ops = append(ops, clientv3.OpGet(common.CursorKey(p.name)),
				clientv3.OpGet(common.JobKey(p.name), clientv3.WithKeysOnly()))
		}
		results, err := etcdkit.Read(ctx, w.client, ops...)
		if err != nil {
			return err
		}
		for i, p := range part {
			cursor, job := results[2*i].Kvs, results[2*i+1].Kvs
			switch {
			case len(cursor) > 0:
				p.cursor = cursor[0]
			case len(job) == 0 || job[0].ModRevision != p.kv.ModRevision:
				p.gone = true
			}
		}
	}
	return nil
}

func jobOf(kv *mvccpb.KeyValue) string { return string(kv.Key[len(common.JobsPrefix):]) }
