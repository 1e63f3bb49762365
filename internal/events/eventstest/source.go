// Package eventstest provides a source of events for the tests of what follows them.
package eventstest

import (
	"context"

	"carillon/internal/events"
)

// Source passes on the batches that a test sends to it, to the watch of one hub.
type Source chan events.Batch

// Revision returns the one before the first batch.
func (Source) Revision(context.Context) (int64, error) { return 1, nil }

// Watch passes on batches until the context ends.
func (s Source) Watch(ctx context.Context, _ int64, each func(events.Batch)) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case b := <-s:
			each(b)
		}
	}
}
