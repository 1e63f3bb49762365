package jobmgr

import (
	"context"

	"carillon/internal/common"
)

// Restart requests that all runs of a daemon job be replaced, one replica after the other; the note of the actor is the
// reason. The definition of the job stays; its version changes.
func (s *Store) Restart(ctx context.Context, actor common.Actor, name string,
	pre common.Precondition) (common.JobState, error) {
	return s.edit(ctx, actor, "restart", name, pre, func(old *common.StoredJob) (definition, error) {
		if old.Daemon == nil {
			return definition{}, common.Errorf(common.CodeConflict, "job %q is not a daemon", name).
				WithReason("no_daemon").WithHint("run it, or kill its run, instead")
		}
		d := storedDefinition(old)
		d.restarted = &common.Restart{At: s.cfg.Now().UTC(), By: actor.Name, Note: actor.Note}
		return d, nil
	})
}
