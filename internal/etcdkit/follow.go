package etcdkit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"
)

// Update is a change of a prefix. If Whole is set, Puts is the complete state at Revision, and the receiver
// drops everything else. Otherwise Puts and Deletes are the changes since the last update, one per key.
//
// If the follower delivers page by page, Whole begins such a list, and More reports that another part
// follows; an interrupted list is started again.
type Update struct {
	Whole    bool
	More     bool
	Revision int64
	Puts     []*mvccpb.KeyValue
	Deletes  []*mvccpb.KeyValue // Key and ModRevision of the deletion
}

// Follower keeps a receiver up to date with a prefix.
type Follower struct {
	Client *clientv3.Client
	Prefix string
	// Paged delivers a list page by page, for prefixes that are too large for memory.
	Paged bool
	// Silence is how long a watch may be silent before it is closed; a progress request is sent three times
	// as often. Default 30 s.
	Silence time.Duration
	// Trouble is called with the reason when the follower lists again. It may be nil.
	Trouble func(error)
	// Alive is called when the server has confirmed that all changes were received. It may be nil.
	Alive func()
	// Probe triggers a progress request each time that a value is received from it, and Progress is called
	// with the answer: the receiver has all changes up to that revision. Both may be nil. With a probe the
	// watch has a stream of its own: etcd answers only when all watches of a stream have caught up.
	Probe    <-chan struct{}
	Progress func(revision int64)
}

const (
	pageSize   = 2000
	callLimit  = 10 * time.Second
	retryFirst = 100 * time.Millisecond
	retryMost  = 5 * time.Second
)

// Follow lists the prefix, watches from there, and lists again after any gap, until the context ends or the
// receiver returns an error, which Follow returns.
func (f *Follower) Follow(ctx context.Context, receive func(context.Context, Update) error) error {
	backoff := retryFirst
	for {
		revision, err := f.list(ctx, receive)
		if err == nil {
			backoff = retryFirst
			err = f.watch(ctx, revision+1, receive)
		}
		if r, ok := errors.AsType[receiverError](err); ok {
			return r.error
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if f.Trouble != nil {
			f.Trouble(err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(backoff):
		}
		backoff = min(2*backoff, retryMost)
	}
}

func (f *Follower) alive() {
	if f.Alive != nil {
		f.Alive()
	}
}

// list reads the complete prefix at one revision, page by page, and delivers it.
func (f *Follower) list(ctx context.Context, receive func(context.Context, Update) error) (revision int64, err error) {
	update := Update{Whole: true}
	key, end := f.Prefix, clientv3.GetPrefixRangeEnd(f.Prefix)
	for {
		opts := []clientv3.OpOption{clientv3.WithRange(end), clientv3.WithLimit(pageSize)}
		if update.Revision != 0 {
			opts = append(opts, clientv3.WithRev(update.Revision))
		}
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := f.Client.Get(callCtx, key, opts...)
		cancel()
		if err != nil {
			return 0, fmt.Errorf("list %s: %w", f.Prefix, err)
		}
		if update.Revision == 0 {
			update.Revision = resp.Header.Revision
		}
		update.Puts = append(update.Puts, resp.Kvs...)
		update.More = resp.More && len(resp.Kvs) > 0
		if !update.More || f.Paged {
			f.alive()
			if err := receive(ctx, update); err != nil {
				return 0, receiverError{err}
			}
			if !update.More {
				return update.Revision, nil
			}
			update = Update{Revision: update.Revision}
		}
		key = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

// receiverError marks an error of the receiver among those of the watch.
type receiverError struct{ error }

func (f *Follower) watch(ctx context.Context, from int64, receive func(context.Context, Update) error) error {
	silence := f.Silence
	if silence == 0 {
		silence = 30 * time.Second
	}
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	if f.Probe != nil { // watches with the same metadata share a stream
		ctx = metadata.AppendToOutgoingContext(ctx, "carillon-watch", f.Prefix)
	}
	ch := f.Client.Watch(ctx, f.Prefix, clientv3.WithPrefix(), clientv3.WithRev(from),
		clientv3.WithFragment(), clientv3.WithProgressNotify(), clientv3.WithCreatedNotify())
	ask := time.NewTicker(silence / 3)
	defer ask.Stop()
	heard := time.Now()
	for {
		select {
		case <-f.Probe:
			f.requestProgress(ctx, silence/3)
		case <-ask.C:
			if time.Since(heard) > silence {
				return fmt.Errorf("watch %s: silent for %v", f.Prefix, silence)
			}
			f.requestProgress(ctx, silence/3)
		case resp, ok := <-ch:
			if !ok {
				return fmt.Errorf("watch %s: closed", f.Prefix)
			}
			if err := resp.Err(); err != nil {
				return fmt.Errorf("watch %s: %w", f.Prefix, err)
			}
			if err := f.wentBack(ctx, resp, from); err != nil {
				return err
			}
			heard = time.Now()
			f.alive()
			if resp.IsProgressNotify() && f.Progress != nil {
				f.Progress(resp.Header.Revision)
			}
			if len(resp.Events) == 0 {
				continue
			}
			update := changes(resp)
			if err := receive(ctx, update); err != nil {
				return receiverError{err}
			}
			from = update.Revision + 1
		}
	}
}

// requestProgress uses a context of its own: the call blocks while the stream is being opened. A missing
// answer is detected by Silence.
func (f *Follower) requestProgress(ctx context.Context, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_ = f.Client.RequestProgress(ctx)
}

// wentBack returns an error if etcd has fewer revisions than the watch begins at, as after a restore from a
// backup: such a watch stays open and receives nothing. A lagging member is no reason.
func (f *Follower) wentBack(ctx context.Context, resp clientv3.WatchResponse, from int64) error {
	if len(resp.Events) > 0 || resp.Header.Revision >= from-1 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	now, err := f.Client.Get(ctx, f.Prefix, clientv3.WithCountOnly())
	if err != nil {
		return fmt.Errorf("watch %s: %w", f.Prefix, err)
	}
	if now.Header.Revision < from-1 {
		return fmt.Errorf("watch %s: etcd is at revision %d, after it was at %d", f.Prefix, now.Header.Revision, from-1)
	}
	return nil
}

// changes merges the events of a response: the last one of each key counts.
func changes(resp clientv3.WatchResponse) Update {
	// The header may be ahead of the events while a watch catches up.
	update := Update{Revision: resp.Events[len(resp.Events)-1].Kv.ModRevision}
	last := make(map[string]int, len(resp.Events))
	for i, ev := range resp.Events {
		last[string(ev.Kv.Key)] = i
	}
	for i, ev := range resp.Events {
		switch {
		case last[string(ev.Kv.Key)] != i:
		case ev.Type == clientv3.EventTypeDelete:
			update.Deletes = append(update.Deletes, ev.Kv)
		default:
			update.Puts = append(update.Puts, ev.Kv)
		}
	}
	return update
}
