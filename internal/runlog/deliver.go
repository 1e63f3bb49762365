package runlog

import "context"

// Deliver brings all that a source holds into the store, and tells how many outcomes,
// late ends and changes it was. What cannot be read stays in the source.
func Deliver(ctx context.Context, source Source, store Writer) (n int, err error) {
	limit := deliverAtOnce
	for bad := 0; ; {
		pending, err := source.Pending(ctx, limit+bad)
		if err != nil || pending.Batch.Empty() && (!pending.More || len(pending.Bad) == bad) {
			return n, err
		}
		bad = len(pending.Bad)
		if pending.Batch.Empty() {
			continue // what can be read comes after a page that cannot
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

// A part of a long row may be larger than the first one, which shows whether the store takes so many.
const (
	deliverAtOnce = 500
	deliverAtMost = 4 * deliverAtOnce
)
