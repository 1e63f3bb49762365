package leader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// ErrNotElected says that something was not written because another is elected, or nobody.
var ErrNotElected = errors.New("this master is not elected")

// Bulletin is what the elected one says to all: one value under a key. It goes with the lease of
// who wrote it, so that nobody believes what nobody stands for. It is safe for concurrent use.
type Bulletin[T any] struct {
	elector *Elector
	key     string
	latest  atomic.Pointer[T]
}

// NewBulletin makes a bulletin that this elector writes when it is elected.
func NewBulletin[T any](elector *Elector, key string) *Bulletin[T] {
	return &Bulletin[T]{elector: elector, key: key}
}

// Latest is what was said last; the zero value while nobody says anything.
func (b *Bulletin[T]) Latest() T {
	if said := b.latest.Load(); said != nil {
		return *said
	}
	var nothing T
	return nothing
}

// Run follows what is said until the context ends.
func (b *Bulletin[T]) Run(ctx context.Context) error {
	log := b.elector.cfg.Log
	follower := etcdkit.Follower{Client: b.elector.cfg.Client, Prefix: b.key,
		Trouble: func(err error) { b.elector.cfg.Report(WatchFindings, err) },
		Alive:   func() { b.elector.cfg.Report(WatchFindings, nil) }}
	return follower.Follow(ctx, func(_ context.Context, u etcdkit.Update) error {
		for _, kv := range u.Deletes {
			if string(kv.Key) == b.key {
				b.latest.Store(nil)
			}
		}
		if u.Whole {
			b.latest.Store(nil)
		}
		for _, kv := range u.Puts {
			if string(kv.Key) != b.key {
				continue
			}
			said, err := common.Decode[T](kv.Value)
			if err != nil {
				log.Warn("bulletin_unreadable", "key", b.key, "error", err)
				b.latest.Store(nil)
				continue
			}
			b.latest.Store(&said)
		}
		return nil
	})
}

// Keep says what tell gives until the context ends: looked at every interval, written where it has
// changed, and now and then anyway. It is for the elected one. written is called after each round.
func (b *Bulletin[T]) Keep(ctx context.Context, every time.Duration, written func(), tell func() T) error {
	const anyway = time.Minute
	said, at := "", time.Time{}
	for {
		value, err := json.Marshal(tell())
		if err != nil {
			return fmt.Errorf("encode %s: %w", b.key, err)
		}
		if string(value) != said || time.Since(at) > anyway {
			if err := b.post(ctx, string(value)); err != nil {
				return err
			}
			said, at = string(value), time.Now()
		}
		written()
		if !etcdkit.Sleep(ctx, every) {
			return context.Cause(ctx)
		}
	}
}

func (b *Bulletin[T]) post(ctx context.Context, value string) error {
	cfg := &b.elector.cfg
	lease, err := cfg.Session.Lease(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := cfg.Client.Txn(ctx).If(b.elector.Held()).Then(clientv3.OpPut(b.key, value, clientv3.WithLease(lease))).Commit()
	switch {
	case etcdkit.LeaseGone(err):
		cfg.Session.Invalidate(lease)
		return fmt.Errorf("write %s: %w", b.key, err)
	case err != nil:
		return fmt.Errorf("write %s: %w", b.key, err)
	case !resp.Succeeded:
		return ErrNotElected
	}
	return nil
}
