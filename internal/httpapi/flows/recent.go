package flows

import (
	"context"
	"sync"
	"time"

	"carillon/internal/flow/nodes"
)

const (
	// recentFor is how long the nodes of a flow run are kept for the requests of its further pages, and mostRecent the
	// number of flow runs that are kept.
	recentFor  = 10 * time.Second
	mostRecent = 8
)

// recent keeps the nodes of flow runs whose first page was requested: reading them costs as much as all pages together.
// The zero value is empty.
type recent struct {
	mu   sync.Mutex
	kept map[string]kept // by id
}

// kept are the nodes of a flow run, which must not be modified.
type kept struct {
	at    time.Time
	found nodes.Found
}

// of returns the nodes of a flow run: for a further page those of the page before it, if they are still kept.
func (r *recent) of(ctx context.Context, from Nodes, id string, further bool) (nodes.Found, error) {
	if further {
		r.mu.Lock()
		k, known := r.kept[id]
		r.mu.Unlock()
		if known && time.Since(k.at) < recentFor {
			return k.found, nil
		}
	}
	found, err := from.Of(ctx, id)
	if err == nil && len(found.Nodes) > 100 {
		r.put(id, found)
	}
	return found, err
}

func (r *recent) put(id string, found nodes.Found) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil {
		r.kept = map[string]kept{}
	}
	r.kept[id] = kept{time.Now(), found}
	oldest := id
	for other, k := range r.kept {
		if time.Since(k.at) >= recentFor {
			delete(r.kept, other)
		} else if k.at.Before(r.kept[oldest].at) {
			oldest = other
		}
	}
	if len(r.kept) > mostRecent {
		delete(r.kept, oldest)
	}
}
