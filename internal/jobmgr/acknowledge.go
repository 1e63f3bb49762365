package jobmgr

import (
	"context"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/runlog"
)

// Acknowledge records that a failed fire needs no further attention, or with undo that it does again. The audit entry
// is the record: it needs no other object.
func (s *Store) Acknowledge(ctx context.Context, actor common.Actor, fire string, state runlog.AckState,
	undo bool) error {
	_, err := s.etcd.Update(ctx, "fire "+fire, func(t *etcdkit.Txn) error {
		if undo {
			t.Audit(actor, runlog.AckUndo, runlog.AckKind, fire, nil,
				runlog.AckState{Job: state.Job, Group: state.Group})
		} else {
			t.Audit(actor, runlog.AckVerb, runlog.AckKind, fire, nil, state)
		}
		return nil
	})
	return err
}
