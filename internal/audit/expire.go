package audit

import (
	"context"
	"fmt"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// Expirer finds the entries whose retention has ended.
type Expirer struct {
	chain Chain
	store interface {
		Changes(ctx context.Context, q runlog.ChangeQuery) ([]common.Change, error)
	}
}

// NewExpirer returns an Expirer.
func NewExpirer(chain Chain, store runlog.Reader) *Expirer {
	return &Expirer{chain: chain, store: store}
}

// expireLook is how many entries before a time are searched for a sealed one.
const expireLook = 100

// Expire returns the place up to which entries may be deleted because they are older than a time.
// The place is stored in the head first, so that verification knows where the chain begins.
func (e *Expirer) Expire(ctx context.Context, before time.Time) (int64, error) {
	head, revision, err := checked(ctx, e.chain)
	if err != nil {
		return 0, err
	}
	old, err := e.store.Changes(ctx, runlog.ChangeQuery{To: before, Limit: expireLook})
	if err != nil {
		return 0, err
	}
	for i := range old {
		l := old[i].Link
		if l == nil {
			continue
		}
		if l.Seq <= head.Kept.Seq || l.Seq > head.Seq {
			break
		}
		head.Kept = Anchor{Seq: l.Seq, Hash: l.Hash}
		if head.Restored.To <= head.Kept.Seq {
			head.Restored = Gap{}
		}
		if err := e.chain.Put(ctx, head, revision); err != nil {
			return 0, fmt.Errorf("expire audit entries: %w", err)
		}
		break
	}
	return head.Kept.Seq, nil
}
