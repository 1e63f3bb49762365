package etcdkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"
)

// Changes is a change of a prefix. If Whole is set, Puts is the complete state at Revision, and the receiver
// drops everything else. Otherwise Puts and Deletes are the changes since the last one, one per key.
//
// If the watch delivers page by page, Whole begins such a list, and More reports that another part follows; an
// interrupted list is started again.
type Changes struct {
	Whole    bool
	More     bool
	Revision int64
	Puts     []*mvccpb.KeyValue
	Deletes  []*mvccpb.KeyValue // Key and ModRevision of the deletion
}

// Watch watches the keys that begin with a prefix.
type Watch struct {
	Client *clientv3.Client
	Prefix string
	// End is the end of the range of keys, exclusive; empty: that of the prefix. See OneKey.
	End string
	// Silence is how long the watch may be silent before it is ended; default 30 s. A progress request is sent
	// three times as often, the first one after Ask, if that is set.
	Silence time.Duration
	Ask     time.Duration
	// Report receives the reason each time that the keys are listed again, and nil each time that the server
	// has confirmed that all changes were received. It may be nil.
	Report func(error)
	// Paged delivers a list page by page, for prefixes that are too large for memory.
	Paged bool
	// Probe triggers a progress request each time that a value is received from it, and Progress is called
	// with the answer: the receiver has all changes up to that revision. Both may be nil. With a probe the
	// watch has a stream of its own: etcd answers only when all watches of a stream have caught up.
	Probe    <-chan struct{}
	Progress func(revision int64)
}

// OneKey returns the end of a range that contains only the key.
func OneKey(key string) (end string) { return key + "\x00" }

const (
	defaultSilence = 30 * time.Second
	listPage       = 2000
	retryFirst     = 100 * time.Millisecond
	retryMost      = 5 * time.Second
)

// Follow lists the keys, watches from there, and lists again after any gap, until the context ends or the
// receiver returns an error, which Follow returns.
func (w *Watch) Follow(ctx context.Context, receive func(context.Context, Changes) error) error {
	backoff := retryFirst
	for {
		revision, err := w.list(ctx, receive)
		if err == nil {
			backoff = retryFirst
			err = w.changes(ctx, revision+1, receive)
		}
		if r, ok := errors.AsType[receiverError](err); ok {
			return r.error
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		w.report(err)
		if !Sleep(ctx, backoff) {
			return context.Cause(ctx)
		}
		backoff = min(2*backoff, retryMost)
	}
}

func (w *Watch) report(err error) {
	if w.Report != nil {
		w.Report(err)
	}
}

func (w *Watch) end() string {
	if w.End == "" {
		return clientv3.GetPrefixRangeEnd(w.Prefix)
	}
	return w.End
}

// list delivers all keys.
func (w *Watch) list(ctx context.Context, receive func(context.Context, Changes) error) (revision int64, err error) {
	list := Changes{Whole: true}
	for page, err := range Pages(ctx, w.Client, w.Prefix, clientv3.WithRange(w.end()), clientv3.WithLimit(listPage)) {
		if err != nil {
			return 0, err
		}
		if list.Revision == 0 {
			list.Revision = page.Header.Revision
		}
		list.Puts, list.More = append(list.Puts, page.Kvs...), page.More
		if !page.More || w.Paged {
			w.report(nil)
			if err := receive(ctx, list); err != nil {
				return 0, receiverError{err}
			}
			list = Changes{Revision: list.Revision}
		}
	}
	return list.Revision, nil
}

// changes delivers the changes from a revision on.
func (w *Watch) changes(ctx context.Context, from int64, receive func(context.Context, Changes) error) error {
	return w.Stream(ctx, from, func(ctx context.Context, resp *clientv3.WatchResponse) error {
		if err := w.wentBack(ctx, resp, from); err != nil {
			return err
		}
		w.report(nil)
		if resp.IsProgressNotify() && w.Progress != nil {
			w.Progress(resp.Header.Revision)
		}
		if len(resp.Events) == 0 {
			return nil
		}
		merged := merge(resp.Events)
		from = merged.Revision + 1
		if err := receive(ctx, merged); err != nil {
			return receiverError{err}
		}
		return nil
	}, clientv3.WithFragment())
}

// receiverError marks an error of the receiver among those of the watch.
type receiverError struct{ error }

// Stream passes on the responses of a watch from a revision on, including confirmations of progress, until the
// context ends, the receiver returns an error, or the watch is interrupted: Compacted(err) means that changes
// were missed. A response contains whole revisions.
func (w *Watch) Stream(ctx context.Context, from int64,
	receive func(context.Context, *clientv3.WatchResponse) error, opts ...clientv3.OpOption) error {
	silence := cmp.Or(w.Silence, defaultSilence)
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	streamCtx := ctx
	if w.Probe != nil { // watches with the same metadata share a stream
		streamCtx = metadata.AppendToOutgoingContext(ctx, "carillon-watch", w.Prefix)
	}
	responses := w.Client.Watch(streamCtx, w.Prefix, append(opts, clientv3.WithRange(w.end()), clientv3.WithRev(from),
		clientv3.WithProgressNotify(), clientv3.WithCreatedNotify())...)
	ask := time.NewTimer(cmp.Or(w.Ask, silence/3))
	defer ask.Stop()
	heard := time.Now()
	for {
		select {
		case <-w.Probe:
			w.requestProgress(streamCtx, silence/3)
		case <-ask.C:
			if time.Since(heard) > silence {
				return fmt.Errorf("watch %s: silent for %v", w.Prefix, silence)
			}
			w.requestProgress(streamCtx, silence/3)
			ask.Reset(silence / 3)
		case resp, ok := <-responses:
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if !ok {
				return fmt.Errorf("watch %s: closed", w.Prefix)
			}
			if err := resp.Err(); err != nil {
				return Wrap(fmt.Errorf("watch %s: %w", w.Prefix, err))
			}
			heard = time.Now()
			if err := receive(ctx, &resp); err != nil {
				return err
			}
		}
	}
}

// requestProgress uses a context of its own: the call blocks while the stream is being opened. A missing
// answer is detected by Silence.
func (w *Watch) requestProgress(ctx context.Context, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_ = w.Client.RequestProgress(ctx)
}

// wentBack returns an error if etcd has fewer revisions than the watch begins at, as after a restore from a
// backup: such a watch stays open and receives nothing. A lagging member is no reason.
func (w *Watch) wentBack(ctx context.Context, resp *clientv3.WatchResponse, from int64) error {
	if len(resp.Events) > 0 || resp.Header.Revision >= from-1 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	now, err := w.Client.Get(ctx, w.Prefix, clientv3.WithCountOnly())
	if err != nil {
		return fmt.Errorf("watch %s: %w", w.Prefix, err)
	}
	if now.Header.Revision < from-1 {
		return fmt.Errorf("watch %s: etcd is at revision %d, after it was at %d", w.Prefix, now.Header.Revision, from-1)
	}
	return nil
}

// merge merges events: the last one of each key counts.
func merge(events []*clientv3.Event) Changes {
	// The header of the response may be ahead of the events while a watch catches up.
	merged := Changes{Revision: events[len(events)-1].Kv.ModRevision}
	last := make(map[string]int, len(events))
	for i, ev := range events {
		last[string(ev.Kv.Key)] = i
	}
	for i, ev := range events {
		switch {
		case last[string(ev.Kv.Key)] != i:
		case ev.Type == clientv3.EventTypeDelete:
			merged.Deletes = append(merged.Deletes, ev.Kv)
		default:
			merged.Puts = append(merged.Puts, ev.Kv)
		}
	}
	return merged
}
