package daemon

import (
	"context"
	"slices"

	"carillon/internal/common"
	"carillon/internal/jobmgr"
)

// recovery repairs cursors. It detects by itself whether etcd was restored.
type recovery struct {
	store *jobmgr.Store
	state state
}

// Recover moves back cursors that are in the future and, after a restore of etcd, accepts its data.
func (r recovery) Recover(ctx context.Context, actor common.Actor,
	request common.RecoverRequest) (common.Recovered, error) {
	wentBack := func(c common.Condition) bool { return c.Code == common.ConditionEtcdWentBack }
	request.Restored = request.Restored || slices.ContainsFunc(r.state.Conditions(), wentBack)
	return r.store.Recover(ctx, actor, request)
}
