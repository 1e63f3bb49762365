package runlog

import "context"

// Deliver writes all entries of a source to the store, and returns the number of outcomes, late ends and
// changes. Unreadable entries stay in the source.
func Deliver(ctx context.Context, source Source, store Writer) (n int, err error) {
	limit := deliverAtOnce
	for bad := 0; ; {
		pending, err := source.Pending(ctx, limit+bad)
		if err != nil || pending.Batch.Empty() && (!pending.More || len(pending.Bad) == bad) {
			return n, err
		}
		bad = len(pending.Bad)
		if pending.Batch.Empty() {
			continue // readable entries follow an unreadable page
		}
		if err := store.Write(ctx, pending.Batch); err != nil {
			return n, err
		}
		if err := pending.Ack(ctx); err != nil {
			return n, err
		}
		n += len(pending.Batch.Runs) + len(pending.Batch.Changes) + len(pending.Batch.Late)
		if !pending.More {
			return n, nil
		}
		limit = min(2*limit, deliverAtMost)
	}
}

// A later page of a long backlog may be larger than the first one, which shows whether the store accepts so
// many.
const (
	deliverAtOnce = 500
	deliverAtMost = 4 * deliverAtOnce
)
