package model

import (
	"context"
	"encoding/json"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

const (
	chaosOfDaemons = 150 * time.Second
	restOfDaemons  = 240 * time.Second
	daemonWorkers  = 4
	// stillAfter is how long after the disturbances no replica crashes any more.
	stillAfter = 60 * time.Second
	// recoversIn is how long after a disturbance all workers know of each other again.
	recoversIn = 25 * time.Second
)

// daemonPlay is what a world with daemon jobs plays.
type daemonPlay struct{}

// The jobs of the play. Each run of the last one uses two slots.
var daemonJobs = []string{"p", "q", "r", "s"}

func slotsOf(job string) int {
	if job == "s" {
		return 2
	}
	return 1
}

// playDaemons lets a cluster with daemon jobs live through its disturbances, and come to rest.
func playDaemons(ctx context.Context, w *world) (until time.Time) {
	w.daemons = &daemonPlay{}
	random := w.randomOf("clocks")
	skews := make([]time.Duration, daemonWorkers)
	for i := range skews {
		skews[i] = time.Duration(random.Int64N(int64(time.Second))) - 500*time.Millisecond
	}
	return run(ctx, w, daemonJobs, skews, func(ctx context.Context, s *script) {
		for began := time.Now(); time.Since(began) < chaosOfDaemons; {
			time.Sleep(s.between(100*time.Millisecond, 6*time.Second))
			s.disturbDaemons(ctx)
		}
	})
}

// defineDaemon makes a daemon job.
func (s *script) defineDaemon(name string) common.Job {
	return common.Job{
		Name:      name,
		Timezone:  "UTC",
		Command:   pick(s, "true", "false"),
		Slots:     slotsOf(name),
		LostAfter: pick[common.Duration](s, "20s", "30s"),
		KillGrace: pick[common.Duration](s, "0s", "2s"),
		Daemon: &common.Daemon{
			Count:        pick(s, s.world.mutation.counts()...),
			Backoff:      "500ms",
			MaxBackoff:   "5s",
			HealthyAfter: pick[common.Duration](s, "2s", "5s"),
			Rebalance:    &common.Rebalance{After: pick[common.Duration](s, "5s", "15s", "15s", common.NeverRebalance)},
		},
	}
}

// Disturbances of daemon jobs that a mutation may want more often.
const (
	aDaemonCut     = 0
	aDaemonDeath   = 5
	aDaemonSave    = 8
	aScale         = 10
	aRestart       = 12
	aDaemonLoss    = 15
	aLeaseLoss     = 16
	aDaemonDrain   = 21
	aDaemonRemoval = 19
	kindsOfDaemon  = 24
)

// disturbDaemons does one thing that a cluster with daemon jobs has to bear.
func (s *script) disturbDaemons(ctx context.Context) {
	b, m := s.boxes[s.random.IntN(len(s.boxes))], s.masters[s.random.IntN(len(s.masters))]
	job, d := s.jobs[s.random.IntN(len(s.jobs))], s.between(time.Second, 30*time.Second)
	what := s.random.IntN(kindsOfDaemon)
	if often := s.world.mutation.often(); len(often) > 0 && s.random.IntN(2) == 0 {
		what = pick(s, often...)
	}
	switch what {
	case aDaemonCut:
		b.with(func(l *life) { l.link.cut(d) })
	case 1:
		b.with(func(l *life) { l.link.deaf(d) })
	case 2, 3: // the views of jobs, triggers and workers lag independently
		prefix := pick(s, common.JobsPrefix, common.TriggersPrefix, common.WorkersPrefix)
		b.with(func(l *life) { l.link.lag(prefix, d/2) })
	case 4:
		prefix := pick(s, common.JobsPrefix, common.TriggersPrefix, common.WorkersPrefix)
		b.with(func(l *life) { l.link.interrupt(prefix) })
	case aDaemonDeath:
		power := s.random.IntN(2) == 0
		s.world.ill(d)
		s.act(func() { b.alone(func() { s.crash(ctx, b, d, power) }) })
	case 6:
		s.world.ill(2 * d)
		s.act(func() { b.alone(func() { s.freeze(ctx, b, 2*d, false) }) })
	case 7: // SIGTERM, and a new start
		s.world.ill(d + time.Minute)
		s.act(func() { b.alone(func() { s.restartWorker(ctx, b, d/4) }) })
	case aDaemonSave, 9: // two saves race
		for _, m := range s.masters[:1+s.random.IntN(2)] {
			def := s.define(job)
			s.act(func() { _, _, _ = m.store.Put(ctx, modelActor, def, common.Precondition{}) })
		}
	case aScale, 11:
		count := pick[common.Fleet](s, 1, 2, 4, 6)
		s.act(func() { s.scale(ctx, m, job, count) })
	case aRestart, 13, 14:
		s.act(func() { _, _ = m.store.Restart(ctx, modelActor, job, common.Precondition{}) })
	case aDaemonLoss: // scaled down while a worker is cut off
		b.with(func(l *life) { l.link.cut(min(2*d, 50*time.Second)) })
		s.act(func() {
			time.Sleep(d / 2)
			s.scale(ctx, m, job, 1)
		})
	case aLeaseLoss:
		b.with(func(l *life) { s.world.expire(clientv3.LeaseID(l.session.Proof().Lease)) })
		s.world.ill(0)
	case 17, 18:
		s.act(func() {
			_, _ = m.store.Pause(ctx, modelActor, job, common.PauseRequest{}, common.Precondition{})
			time.Sleep(d / 2)
			_, _ = m.store.Resume(ctx, modelActor, job, common.Precondition{})
		})
	case aDaemonRemoval: // deleted, and made again under its name
		kill, def := s.random.IntN(2) == 0, s.define(job)
		s.act(func() {
			_ = m.store.Delete(ctx, modelActor, job, common.Precondition{}, common.DeleteRequest{Kill: kill})
			time.Sleep(d / 4)
			_, _ = m.store.Create(ctx, modelActor, def)
		})
	case 20:
		run := s.anyRun("")
		s.act(func() { _ = m.store.Kill(ctx, modelActor, run, common.KillRequest{}) })
	case aDaemonDrain: // an operator drains a worker
		s.act(func() {
			s.world.drain(b.id, true)
			time.Sleep(d)
			s.world.drain(b.id, false)
		})
	case 22:
		s.world.ill(80 * time.Second)
		s.act(func() { b.alone(func() { s.move(ctx, b) }) })
	default:
		b.with(func(l *life) { l.link.stall(d) })
	}
}

// scale changes the number of replicas of a job.
func (s *script) scale(ctx context.Context, m *master, job string, count common.Fleet) {
	state, err := m.store.Get(ctx, job)
	if err != nil || state.Daemon == nil {
		return
	}
	def := state.Job
	daemon := *def.Daemon
	daemon.Count, def.Daemon = count, &daemon
	_, _, _ = m.store.Put(ctx, modelActor, def, common.Precondition{Version: state.Version})
}

// restartWorker stops a worker, and starts it again.
func (s *script) restartWorker(ctx context.Context, b *box, after time.Duration) {
	var l *life
	b.with(func(now *life) { l = now })
	if l == nil {
		return
	}
	l.stop(ctx)
	l.kill()
	time.Sleep(after)
	s.start(ctx, b, true)
}

// drain sets whether a worker is drained by an operator.
func (w *world) drain(worker string, on bool) {
	data, err := json.Marshal(common.WorkerSettings{Drain: on})
	if err != nil {
		panic(err)
	}
	w.atEtcd("operator", func(s *server) {
		if _, err := s.kv.Put(context.Background(), &pb.PutRequest{
			Key: []byte(common.WorkerSettingsKey(worker)), Value: data}); err != nil {
			panic(err)
		}
	})
}

// undrain ends the drains of all workers.
func (s *script) undrain() {
	for _, key := range s.world.keysNow(common.WorkerSettingsPrefix) {
		s.world.remove(key)
	}
}
