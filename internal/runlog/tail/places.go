package tail

import (
	"context"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/quota"
)

// retryAfter is when a refused client may try again.
const retryAfter = 5 * time.Second

// Wait is a place for a client that waits for the end of a run. These places are separate from those of
// followers, so that live output leaves room for them. The caller closes it; its methods are for one
// goroutine.
type Wait struct {
	hub    *Hub
	client string
}

// Reserve reserves a place to wait, before the run exists. It returns common.CodeTooMany if too many wait,
// and common.CodeUnavailable if the hub is stopped.
func (h *Hub) Reserve(client string) (*Wait, error) {
	if err := h.enter(&h.waits, client, "too_many_wait_for_runs",
		"too many requests wait for the end of a run at this server",
		"try again later, or without wait"); err != nil {
		return nil, err
	}
	return &Wait{hub: h, client: client}, nil
}

// End waits until a run has ended and returns it. All waiters and followers of one run share one reader.
func (w *Wait) End(ctx context.Context, id string) (common.Run, error) {
	run, err := w.hub.src.Run(ctx, id)
	if err != nil {
		return common.Run{}, err
	}
	f := w.hub.join(run, Place{Tail: 1}, nil)
	defer f.Close()
	for {
		part, err := f.Next(ctx)
		switch {
		case err != nil:
			return common.Run{}, err
		case part.End != nil:
			return part.End.Run, nil
		case part.Run != nil && part.Run.Status.Terminal():
			return *part.Run, nil
		}
	}
}

// Close releases the place.
func (w *Wait) Close() { w.hub.exit(&w.hub.waits, w.client) }

// enter reserves a place for a client.
func (h *Hub) enter(of *quota.Places, client, reason, message, hint string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.stopped:
		return &common.Error{
			Code:    common.CodeUnavailable,
			Reason:  "stopping",
			Message: "the server is stopping",
			Hint:    "try again, or use another server",
			Err:     ErrStopped,
		}
	default:
	}
	if !of.Take(client) {
		return &common.Error{
			Code:       common.CodeTooMany,
			Reason:     reason,
			Message:    message,
			Hint:       hint,
			RetryAfter: retryAfter,
		}
	}
	return nil
}

func (h *Hub) exit(of *quota.Places, client string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	of.GiveBack(client)
}
