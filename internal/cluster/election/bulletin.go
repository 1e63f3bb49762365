package election

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// ErrNotElected is returned for a write that was refused because this master is not elected.
var ErrNotElected = errors.New("this master is not elected")

// Bulletin is a value that the elected master publishes to all masters under a key. The key is deleted when the lease
// of its writer expires: readers ignore values written under an expired lease. It is safe for concurrent use.
type Bulletin[T any] struct {
	elector *Elector
	key     string
	latest  atomic.Pointer[T]
}

// NewBulletin returns a bulletin that this elector may write while it is elected.
func NewBulletin[T any](elector *Elector, key string) *Bulletin[T] {
	return &Bulletin[T]{elector: elector, key: key}
}

// Latest returns the last published value; the zero value if there is none.
func (b *Bulletin[T]) Latest() T {
	if value := b.latest.Load(); value != nil {
		return *value
	}
	var zero T
	return zero
}

// Run watches the key until the context ends.
func (b *Bulletin[T]) Run(ctx context.Context) error {
	log := b.elector.cfg.Log
	watch := etcdkit.Watch{Client: b.elector.cfg.Client, Prefix: b.key, End: etcdkit.OneKey(b.key),
		Report: func(err error) { b.elector.cfg.Report(WatchFindings, err) }}
	return watch.Follow(ctx, func(_ context.Context, u etcdkit.Changes) error {
		var latest *T // nil unless the key was put
		for _, kv := range u.Puts {
			value, err := common.Decode[T](kv.Value)
			if err != nil {
				log.Warn("bulletin_unreadable", "key", b.key, "error", err)
				continue
			}
			latest = &value
		}
		b.latest.Store(latest)
		return nil
	})
}

// Keep publishes the value that current returns until the context ends: it calls current every interval, and writes the
// value if it has changed, and once a minute otherwise. Only the elected master may call it. written is called after
// each round.
func (b *Bulletin[T]) Keep(ctx context.Context, every time.Duration, written func(), current func() T) error {
	const refresh = time.Minute
	var last []byte
	var at time.Time
	for {
		value, err := json.Marshal(current())
		if err != nil {
			return fmt.Errorf("encode %s: %w", b.key, err)
		}
		if !bytes.Equal(value, last) || time.Since(at) > refresh {
			if err := b.post(ctx, value); err != nil {
				return err
			}
			last, at = value, time.Now()
		}
		written()
		if !etcdkit.Sleep(ctx, every) {
			return context.Cause(ctx)
		}
	}
}

func (b *Bulletin[T]) post(ctx context.Context, value json.RawMessage) error {
	session := b.elector.cfg.Session
	lease, err := session.Lease(ctx)
	if err != nil {
		return err
	}
	if err = b.elector.write(ctx, b.key, value, lease); etcdkit.LeaseGone(err) {
		session.Invalidate(lease)
	}
	return err
}

// Findings are the results of the elected master, as every master receives them.
type Findings struct{ *Bulletin[common.Findings] }

// NewFindings returns the findings that this elector may publish while it is elected.
func NewFindings(elector *Elector) Findings {
	return Findings{NewBulletin[common.Findings](elector, common.FindingsKey)}
}

// Conditions returns the conditions that the elected master reports.
func (f Findings) Conditions() []common.Condition { return f.Latest().Conditions }

// Overdue returns the overdue jobs, longest first.
func (f Findings) Overdue(context.Context) ([]common.Overdue, error) { return f.Latest().Overdue, nil }

// publishEvery is the interval at which the elected master checks for findings to publish.
const publishEvery = 2 * time.Second

// Publish returns a duty that publishes the overdue jobs and the conditions of sources. who names this master.
func (f Findings) Publish(who string, written func(), overdue func() []common.Overdue,
	sources ...func() []common.Condition) func(context.Context) error {
	current := func() common.Findings {
		found := common.Findings{Overdue: overdue()}
		for _, source := range sources {
			for _, c := range source() {
				c.Who = who
				found.Conditions = append(found.Conditions, c)
			}
		}
		return found
	}
	return func(ctx context.Context) error { return f.Keep(ctx, publishEvery, written, current) }
}
