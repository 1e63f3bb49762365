package worker

import (
	"context"
	"slices"

	"carillon/internal/chains"
	"carillon/internal/common"
	"carillon/internal/joblock"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/platform/wallclock"
)

func (w *Worker) followCluster(ctx context.Context) error {
	w.cluster.follow(ctx, w.cfg.Log, w.loop.Retry, w.keeper.Announce, w.orphaned, w.abandoned)
	return nil
}

func (w *Worker) followJobs(ctx context.Context) error {
	return w.watcher.Run(ctx, func(ctx context.Context, u catalog.Update) error {
		bad := make([]string, len(u.Bad))
		for i, b := range u.Bad {
			w.cfg.Log.Error("job_unreadable", "job", b.Name, "error", b.Err)
			bad[i] = b.Name
		}
		w.alarm(u.Jobs)
		if err := w.chains.Jobs(ctx, chains.JobsOf(u.Whole, u.More, u.Jobs, u.Gone, bad)); err != nil {
			return err
		}
		w.replicas.Jobs(u.Whole, u.More, u.Jobs, append(slices.Clone(u.Gone), bad...))
		news := w.feed.Jobs(u.Whole, u.Jobs, u.Gone, bad)
		news.More = u.More
		return w.loop.Jobs(ctx, news)
	})
}

// alarm logs the cursors that a wrong clock has moved into the future.
func (w *Worker) alarm(jobs []common.JobState) {
	latest := w.cluster.guard.Recent().Limit(wallclock.Now())
	for i := range jobs {
		if common.CursorAhead(jobs[i].Cursor, latest) {
			w.cfg.Log.Error("cursor_in_future", "job", jobs[i].Name, "cursor", jobs[i].Cursor)
		}
	}
}

// followSecrets follows the secrets if they can be decrypted: without a key, and possibly without the
// permission to read them in etcd, none are.
func (w *Worker) followSecrets(ctx context.Context) error {
	if w.cfg.Box == nil {
		<-ctx.Done()
		return nil
	}
	follow := func(ctx context.Context) error { return w.secrets.Follow(ctx, w.loops.ReportOf("secrets")) }
	return w.loops.Serving(follow, "watch_secrets")(ctx)
}

func (w *Worker) followWindows(ctx context.Context) error {
	return w.windows.Follow(ctx, w.loops.ReportOf("windows"))
}

func (w *Worker) followSuccesses(ctx context.Context) error {
	return joblock.FollowSuccesses(ctx, w.cfg.Etcd, w.loops.ReportOf("successes"), w.chains.Successes)
}

func (w *Worker) followConsumed(ctx context.Context) error {
	return joblock.FollowConsumed(ctx, w.cfg.Etcd, w.loops.ReportOf("after"), w.chains.Consumed)
}

func (w *Worker) followPools(ctx context.Context) error {
	return joblock.FollowPools(ctx, w.cfg.Etcd, w.loops.ReportOf("pools"), w.loop.PoolChanges)
}

func (w *Worker) followKills(ctx context.Context) error {
	return joblock.FollowKills(ctx, w.cfg.Etcd, w.cfg.Life.Worker, w.loops.ReportOf("kills"), w.dispatcher.Kills)
}
