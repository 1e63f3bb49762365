package model

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	flowetcd "carillon/internal/flow/etcd"
	"carillon/internal/joblock"
	"carillon/internal/jobmgr"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/jobmgr/live"
)

const (
	chaos = 4 * time.Minute   // of disturbances
	rest  = 220 * time.Second // after them, in which everything is to come to an end
	slack = 45 * time.Second
	// mostAhead is how far ahead of the true time a cursor may be: the clocks of the
	// honest ones go up to five seconds ahead, a claim two more.
	mostAhead = 8 * time.Second
	workers   = 4
)

// box is a machine with a worker's data folder. Its mutex guards what stands on it.
type box struct {
	id   string
	skew time.Duration // of its wall clock
	rate float64       // by how much its boot clock goes too fast
	mu   sync.Mutex
	now  *life
	boot int
	born int
	busy bool // being crashed or moved: one life at a time is on a machine
}

// master is a store behind a link of its own.
type master struct {
	link   *link
	client *clientv3.Client
	now    func() time.Time
	store  *jobmgr.Store
	bodies *flowetcd.Bodies
}

// script is the play of one seed.
type script struct {
	world      *world
	random     *rand.Rand
	boxes      []*box
	masters    []*master
	jobs       []string
	actors     sync.WaitGroup
	background sync.WaitGroup // what the masters do all the time
	kin        *rand.Rand     // for the parents of jobs
	lives      []*life        // guarded by mu
	mu         sync.Mutex
}

var modelActor = common.Actor{Name: "model"}

// play lets a cluster live through its disturbances, and come to rest.
func play(ctx context.Context, w *world) (until time.Time) {
	random := w.randomOf("clocks")
	skews := make([]time.Duration, workers)
	for i := range skews {
		skews[i] = time.Duration(random.Int64N(int64(10*time.Second))) - 5*time.Second
	}
	if w.oneIsAhead() {
		skews[random.IntN(workers)] = 24 * time.Hour
	}
	return run(ctx, w, []string{"a", "b", "c", "d", "e", "f"}, skews, func(ctx context.Context, s *script) {
		for began := time.Now(); time.Since(began) < chaos; {
			time.Sleep(s.between(100*time.Millisecond, 6*time.Second))
			s.disturb(ctx)
		}
	})
}

// run sets a cluster up, has part done with it, and brings it to rest. It tells until
// when every fire of the jobs that live is to be accounted for.
func run(ctx context.Context, w *world, jobs []string, skews []time.Duration,
	part func(context.Context, *script)) (until time.Time) {
	ctx, cancel := context.WithCancel(ctx)
	w.changed = make(chan struct{}) // in virtual time: the masters wait for the first change
	w.start = time.Now().Add(-time.Hour)
	s := &script{world: w, random: w.randomOf("script"), jobs: jobs}
	for i := range 2 {
		s.masters = append(s.masters, s.newMaster(ctx, fmt.Sprintf("master%d", i),
			s.between(-2*time.Second, 2*time.Second)))
	}
	for i, skew := range skews {
		s.boxes = append(s.boxes, &box{id: fmt.Sprintf("worker%d", i), skew: skew, rate: s.rate(i)})
	}
	if w.pooled {
		w.setSlots(poolSlots)
	}
	var children []common.Job
	for _, job := range s.jobs {
		def := s.define(job)
		if len(def.After) > 0 {
			children = append(children, def)
			def.After = nil // until its parents exist
		}
		s.act(func() {
			s.try(func(m *master) error {
				_, _, err := m.store.Put(ctx, modelActor, def, common.Precondition{})
				return err
			})
		})
	}
	time.Sleep(10 * time.Second) // the masters' clocks are there to be heard
	for i, b := range s.boxes {
		after := s.between(0, 3*time.Second)
		if w.lostAfter != "" && i > 0 {
			after += 20 * time.Second // the first one has all the jobs
		}
		s.act(func() { time.Sleep(after); s.start(ctx, b, true) })
	}
	s.actors.Wait()
	for _, def := range children {
		s.act(func() { _, _, _ = s.masters[0].store.Put(ctx, modelActor, def, common.Precondition{}) })
	}
	part(ctx, s)
	s.actors.Wait()
	s.settle(ctx)
	time.Sleep(s.world.rest())
	until = time.Now().Add(-slack)
	for _, jobs := range s.ends() { // what is on its way is to arrive
		s.drained(jobs)
		s.everyOf(jobs, func(m *master, job string) error { return s.finish(ctx, m, job) })
		s.ended(jobs)
		time.Sleep(slack)
	}
	for _, b := range s.boxes {
		s.actors.Go(func() { b.now.stop(ctx) })
	}
	s.actors.Wait()
	s.collect(ctx)
	cancel()
	s.background.Wait()
	return until
}

// finish lets nothing more of a job begin.
func (s *script) finish(ctx context.Context, m *master, job string) error {
	if s.world.daemons != nil {
		return m.store.Delete(ctx, modelActor, job, common.Precondition{}, common.DeleteRequest{Kill: true})
	}
	_, err := m.store.Pause(ctx, modelActor, job, common.PauseRequest{}, common.Precondition{})
	return err
}

// drained waits until nothing is requested of jobs: their flow runs may take 20 seconds each, one after the other.
func (s *script) drained(jobs []string) {
	waits := func(job string) bool {
		return len(s.world.keysNow(common.TriggersPrefix+job+"/")) > 0 ||
			len(s.world.keysNow(common.FlowRunsPrefix+job+ofBackfill)) > 0
	}
	for range 240 {
		if !slices.ContainsFunc(jobs, waits) {
			return
		}
		time.Sleep(5 * time.Second)
	}
}

// ended waits until the flow runs of jobs have ended, with the further attempts that follow them.
func (s *script) ended(jobs []string) {
	goesOn := func(job string) bool {
		if len(s.world.keysNow(common.FlowRunsPrefix+job+"/")) > 0 {
			return true
		}
		return slices.ContainsFunc(s.world.keysNow(common.TriggersPrefix+job+"/"), func(key string) bool {
			return decode[rawAsked](s.world.valueOf(key)).isRetry()
		})
	}
	for range 60 {
		if s.world.flows == nil || !slices.ContainsFunc(jobs, goesOn) {
			return
		}
		time.Sleep(5 * time.Second)
	}
}

func (s *script) newMaster(ctx context.Context, name string, skew time.Duration) *master {
	m := &master{link: newLink(s.world, name)}
	client, interner := m.link.client(ctx), schedule.NewInterner()
	now := func() time.Time { return time.Now().Add(skew).Round(0) }
	m.client, m.now = client, now
	jobs := catalog.New(catalog.NewWatcher(client, nil), interner, now)
	m.bodies = flowetcd.NewBodies(client)
	m.store = jobmgr.NewStore(jobmgr.Config{Client: client, Interner: interner, Timezone: "UTC", Now: now,
		Catalog: jobs, Bodies: m.bodies,
		Runs: live.New(live.Config{Client: client, Catalog: jobs, Now: now,
			Unplaced: func(*common.StoredJob) *common.Reason { return nil }})})
	session := joblock.NewSession(client, ttl, sinceNow(), s.world.log, func() {})
	presence := members.NewPresence(client, session, s.world.log, s.world.registerEvery(), func(error) {},
		func() common.MasterPresence {
			return common.MasterPresence{ID: name, Host: name, Clock: time.Now().Add(skew).UTC()}
		})
	s.background.Go(func() { _ = jobs.Run(ctx) })
	s.background.Go(func() { _ = session.Run(ctx) })
	s.background.Go(func() { _ = presence.Run(ctx) })
	s.world.mutation.atSave(m.link)
	s.world.mutation.atFlows(m.link)
	return m
}

// act does something beside the script.
func (s *script) act(f func()) { s.actors.Go(f) }

// between and the others that draw are the script's goroutine's alone.
func (s *script) between(least, most time.Duration) time.Duration {
	return least + time.Duration(s.random.Int64N(int64(most-least)))
}

// mostAwaited is how long the answer to a keep-alive is waited for.
const mostAwaited = ttl / 5

// mostOff is by how much of the time a boot clock may be wrong; two of them differ by one percent.
const mostOff = 0.005

// rate is that of a boot clock: often the worst that it may be, and always where a moment is
// played: the first worker's goes too slowly, those of the others too fast.
func (s *script) rate(box int) float64 {
	if s.world.lostAfter != "" && box > 0 {
		return mostOff
	} else if s.world.lostAfter != "" {
		return -mostOff
	}
	if s.random.IntN(3) == 0 {
		return mostOff * (2*s.random.Float64() - 1)
	}
	return pick(s, -mostOff, mostOff)
}

func pick[T any](s *script, from ...T) T { return from[s.random.IntN(len(from))] }

// ends are the jobs in the order in which they are paused at the end: flows before the jobs that they run.
func (s *script) ends() [][]string {
	if s.world.flows != nil {
		return s.world.flows.ends
	}
	return [][]string{s.jobs}
}

// define makes a job.
func (s *script) define(name string) common.Job {
	if f := s.world.flows; f != nil {
		return f.define(s, name)
	}
	if s.world.daemons != nil {
		return s.defineDaemon(name)
	}
	j := common.Job{Name: name, Timezone: "UTC", Command: "true",
		CronExpr: pick(s, "@every 7s", "@every 11s", "@every 13s", "@every 29s", "@every 41s", "* * * * *"),
		Overlap: pick(s, common.OverlapSkip, common.OverlapSkip, common.OverlapQueue, common.OverlapReplace,
			common.OverlapAllow),
		OnLost:        pick(s, common.LostRerun, common.LostRerun, common.LostAbandon, common.LostDetach),
		LostAfter:     pick(s, s.world.mutation.lostAfter()...),
		StartDeadline: pick[common.Duration](s, "3s", "10s", "30s"),
		Jitter:        pick[common.Duration](s, "", "", "4s"),
		CatchUp: &common.CatchUp{Policy: pick(s, common.CatchUpNone, common.CatchUpLatest, common.CatchUpAll),
			Window: pick[common.Duration](s, "20s", "2m"), Max: pick(s, 1, 3)},
		Placement: &common.Placement{Strategy: pick(s, common.StrategyHash, common.StrategyLeast, common.StrategyAny)},
	}
	j.After = s.parentsOf(name)
	j.KillGrace = pick(s, "0s", "1s", common.Duration((j.LostAfter.Or(0) / 3).String()))
	switch s.world.mutation {
	case termsOfNow:
		j.OnLost = common.LostRerun
	case blindRetake:
		j.OnLost = common.LostDetach
	case overtakes:
		j.Overlap, j.CronExpr = common.OverlapQueue, "@every 7s"
	}
	if s.world.pooled {
		s.usePool(&j)
	}
	if s.world.lostAfter != "" {
		j.CronExpr, j.Overlap, j.OnLost, j.LostAfter, j.KillGrace = "@every 13s", common.OverlapSkip, common.LostRerun,
			s.world.lostAfter, "0s"
	}
	if s.random.IntN(2) == 0 {
		j.Retry = &common.Retry{Max: pick(s, 1, 2), Backoff: "2s", MaxBackoff: "10s"}
	}
	if j.CronExpr == minutely && j.Jitter == "" {
		j.CronExpr, j.Timezone, j.Schedules = "", "", everyMinute()
	}
	return j
}

// minutely is a line that fires every minute.
const minutely = "* * * * *"

// everyMinute returns schedules that together fire every minute, some minutes in several of them.
func everyMinute() []common.JobSchedule {
	return []common.JobSchedule{
		{CronExpr: "*/2 * * * *", Timezone: "UTC", Label: "even"},
		{CronExpr: "*/3 * * * *", Timezone: "Asia/Shanghai"},
		{CronExpr: "1-59/2 * * * *", Timezone: "America/New_York", Label: "odd"},
	}
}

// Disturbances that a mutation may want more often.
const (
	aCut     = 1
	aCrash   = 4
	aMove    = 5
	aSave    = 8
	aTrigger = 16
	aTheft   = 19
	aFlap    = 21
	aRerun   = 26
	kinds    = 27
)

// disturb does one thing that a cluster has to bear.
func (s *script) disturb(ctx context.Context) {
	i := s.random.IntN(workers)
	b, m, job := s.boxes[i], s.masters[s.random.IntN(2)], s.jobs[s.random.IntN(len(s.jobs))]
	d := s.between(time.Second, 30*time.Second)
	if s.random.IntN(3) == 0 {
		d = s.between(30*time.Second, 100*time.Second)
	}
	what := s.random.IntN(kinds)
	if often := s.world.mutation.often(); len(often) > 0 && s.random.IntN(2) == 0 {
		what = pick(s, often...)
	}
	switch what {
	case 0, aCut:
		b.with(func(l *life) { l.link.cut(d) })
	case 2:
		b.with(func(l *life) { l.link.deaf(d) })
	case 3:
		b.with(func(l *life) { l.link.stall(d) })
	case aCrash:
		power := s.random.IntN(2) == 0
		s.act(func() { b.alone(func() { s.crash(ctx, b, min(d, 40*time.Second), power) }) })
	case aMove:
		s.act(func() { b.alone(func() { s.move(ctx, b) }) })
	case 6, 7, aSave:
		def := s.define(job)
		s.act(func() { _, _, _ = m.store.Put(ctx, modelActor, def, common.Precondition{}) })
	case 9: // two saves race
		for _, m := range s.masters {
			def := s.define(job)
			s.act(func() { _, _, _ = m.store.Put(ctx, modelActor, def, common.Precondition{}) })
		}
	case 10:
		var until *time.Time
		if s.random.IntN(2) == 0 {
			until = new(time.Now().Add(s.between(3*time.Second, 60*time.Second)))
		}
		s.act(func() {
			_, _ = m.store.Pause(ctx, modelActor, job, common.PauseRequest{Until: until}, common.Precondition{})
		})
	case 11, 12:
		s.act(func() { _, _ = m.store.Resume(ctx, modelActor, job, common.Precondition{}) })
	case 13: // deleted, and made again under its name
		kill, after, def := s.random.IntN(2) == 0, s.between(0, 10*time.Second), s.define(job)
		s.act(func() {
			_ = m.store.Delete(ctx, modelActor, job, common.Precondition{},
				common.DeleteRequest{Kill: kill, Force: true})
			time.Sleep(after)
			_, _ = m.store.Create(ctx, modelActor, def)
		})
	case 14, 15, aTrigger:
		n := 1 + s.random.IntN(3)
		s.act(func() {
			for range n {
				_, _ = m.store.Trigger(ctx, modelActor, common.TriggerRequest{Job: job})
			}
		})
	case 17:
		run := s.anyRun("")
		s.act(func() { _ = m.store.Kill(ctx, modelActor, run, common.KillRequest{}) })
	case 18: // the lease is revoked
		b.with(func(l *life) { s.world.expire(clientv3.LeaseID(l.session.Proof().Lease)) })
	case aTheft: // a lock is deleted
		if locks := s.world.locks(); len(locks) > 0 {
			s.world.remove(pick(s, locks...))
		}
	case 20: // the worst moment for a lease to go: when it was just found to live, or rather
		late, long := pick(s, 0, 0, s.between(0, mostAwaited)), s.between(40*time.Second, 140*time.Second)
		b.with(func(l *life) { l.link.sever(false, true, long, late) })
	case aFlap: // cut off, back for as long as a lease takes, cut off again
		first, then := s.between(ttl, 40*time.Second), s.between(20*time.Second, 100*time.Second)
		b.with(func(l *life) {
			if l.link.works() {
				l.link.cut(first)
				l.link.sever(true, false, then, 0)
			}
		})
	case 22:
		s.blink(b, s.boxes[(i+1+s.random.IntN(workers-1))%workers])
	case 23:
		atStart := s.random.IntN(2) == 0
		if atStart {
			d = s.between(40*time.Second, 100*time.Second)
		}
		s.act(func() { b.alone(func() { s.freeze(ctx, b, d, atStart) }) })
	case 24: // a kill request that the worker does not receive
		b.with(func(l *life) {
			run := s.anyRun(l.id.Life)
			l.link.cut(s.between(10*time.Second, 60*time.Second))
			s.act(func() { _ = m.store.Kill(ctx, modelActor, run, common.KillRequest{}) })
		})
	case aRerun: // two users run a fire again
		if fire, job := s.anyFire(); fire != "" {
			for _, m := range s.masters {
				s.runAgain(ctx, m, job, fire, s.between(0, 8*time.Second))
			}
		}
	default: // back when the others are about to resolve its runs
		lostAfter := pick(s, s.world.mutation.lostAfter()...).Or(0)
		b.with(func(l *life) { l.link.cut(ttl + lostAfter + s.between(-4*time.Second, 10*time.Second)) })
	}
}

// blink has a worker's lease go twice, and another one see only that: not that the runs
// were taken back between the two.
func (s *script) blink(b, other *box) {
	seen, blind := s.between(time.Second, 4*time.Second), s.between(20*time.Second, 40*time.Second)
	b.with(func(l *life) { s.world.expire(clientv3.LeaseID(l.session.Proof().Lease)) })
	s.act(func() {
		time.Sleep(seen)
		other.with(func(l *life) { l.link.cut(blind) })
		time.Sleep(blind - 5*time.Second)
		b.with(func(l *life) { l.link.sever(false, true, blind, 0) })
	})
}

// anyRun is one that is being executed: the last that began, in a life if one is named.
func (s *script) anyRun(life string) string {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	for _, x := range slices.Backward(s.world.diary) {
		if x.ended.IsZero() && (life == "" || x.life == life) {
			return x.run
		}
	}
	return "none"
}

// anyFire is one that has ended after a run, with its job; empty where there is none.
func (s *script) anyFire() (fire, job string) {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(s.world.ledger)) {
		// Each is chosen with the same probability, in one pass.
		if run := s.world.ledger[id][0]; run.Attempt > 0 && s.random.IntN(8) == 0 {
			fire, job = run.Fire, run.Job
		}
	}
	return fire, job
}

// runAgain requests the next attempt of a fire. The log store takes a while to answer.
func (s *script) runAgain(ctx context.Context, m *master, job, fire string, takes time.Duration) {
	last := func(context.Context) (common.Run, error) {
		run, err := s.world.lastOf(fire)
		time.Sleep(takes)
		return run, err
	}
	s.act(func() {
		if _, err := m.store.Trigger(ctx, modelActor, common.TriggerRequest{Job: job,
			Again: &common.AgainRequest{Fire: fire, Last: last}}); err == nil {
			s.world.count("run again on request")
		}
	})
}

func (b *box) with(f func(*life)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now != nil {
		f(b.now)
	}
}

// alone does something to a box, unless something is being done to it.
func (b *box) alone(do func()) {
	b.mu.Lock()
	busy := b.busy
	b.busy = true
	b.mu.Unlock()
	if busy {
		return
	}
	do()
	b.mu.Lock()
	b.busy = false
	b.mu.Unlock()
}

// unmarkedEvery is how many of a worker's lives there are for one that cannot mark its processes.
const unmarkedEvery = 2

// start begins the next life on a box. swept says that nothing of an earlier one goes on
// there, as far as the new one can see.
func (s *script) start(ctx context.Context, b *box, swept bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.born++
	life := common.Life{
		Worker:       b.id,
		Name:         b.id,
		Life:         fmt.Sprintf("%s-%d", b.id, b.born),
		BootID:       fmt.Sprintf("%s-boot-%d", b.id, b.boot),
		PIDNamespace: "1",
		Marked:       b.born%unmarkedEvery != 0,
	}
	b.now = s.world.born(ctx, life, b.skew, b.rate, swept)
	s.mu.Lock()
	s.lives = append(s.lives, b.now)
	s.mu.Unlock()
}

// crash ends a worker with all its processes, and starts it again.
func (s *script) crash(ctx context.Context, b *box, after time.Duration, power bool) {
	b.with(func(l *life) {
		l.hiding.Store(!power && !l.id.Marked)
		l.kill()
		if power {
			b.boot++
		}
	})
	time.Sleep(after)
	s.start(ctx, b, true)
}

// freeze stops a worker for a time, when it has just started a command if asked to. If
// its guardian ends it meanwhile, it is started again.
func (s *script) freeze(ctx context.Context, b *box, d time.Duration, atStart bool) {
	var l *life
	b.with(func(now *life) { l = now })
	if l == nil {
		return
	}
	if atStart {
		select {
		case <-l.dead:
		case <-l.nextBegin():
		case <-time.After(10 * time.Second):
		}
	}
	l.freeze(d)
	select {
	case <-l.dead:
		time.Sleep(time.Second)
		s.start(ctx, b, true)
	default:
	}
}

// move starts the worker's next life on another machine, while the one before it goes on,
// cut off, until it has stopped all its runs.
func (s *script) move(ctx context.Context, b *box) {
	var before *life
	b.with(func(l *life) {
		before = l
		l.link.cut(time.Hour)
		if s.world.mutation != sweepsForAll {
			b.boot++
		}
	})
	time.Sleep(ttl + 2*time.Second)
	s.start(ctx, b, false)
	time.Sleep(70 * time.Second)
	before.kill()
}

// try repeats what a master is to do until it is done.
func (s *script) try(do func(*master) error) {
	for i := 0; ; i++ {
		err := do(s.masters[i%2])
		if code := common.CodeOf(err); err == nil || code == common.CodeNotFound || code == common.CodeExists {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func (s *script) everyJob(do func(m *master, job string) error) { s.everyOf(s.jobs, do) }

func (s *script) everyOf(jobs []string, do func(m *master, job string) error) {
	for _, job := range jobs {
		s.try(func(m *master) error { return do(m, job) })
	}
}

// settle ends the disturbances: all processes live and reach each other, and no job is paused.
func (s *script) settle(ctx context.Context) {
	s.world.beCalm()
	for _, b := range s.boxes {
		b.with(func(l *life) { l.link.heal() })
		select {
		case <-b.now.dead:
			s.start(ctx, b, true)
		default:
		}
	}
	s.undrain()
	time.Sleep(mostLate) // a job may have been paused by a request whose answer was lost
	s.everyJob(func(m *master, job string) error {
		_, err := m.store.Resume(ctx, modelActor, job, common.Precondition{})
		return err
	})
	s.resumeFlowRuns(ctx)
}

// collect waits for what is left of all lives and delivers what is still in outboxes.
func (s *script) collect(ctx context.Context) {
	for _, l := range s.lives {
		l.kill()
		l.parts.Wait()
	}
	client := newLink(s.world, "collector").client(ctx)
	for _, owner := range append([]string{common.MasterOutbox}, s.ids()...) {
		for {
			pending, err := joblock.NewOutbox(client, owner).Pending(ctx, 1000)
			if err != nil {
				s.world.complain("collect: %v", err)
				return
			}
			s.world.store(pending.Batch.Runs)
			if len(pending.Batch.Runs)+len(pending.Batch.Late) == 0 {
				break
			}
			if err := pending.Ack(ctx); err != nil {
				s.world.complain("collect: %v", err)
			}
		}
	}
}

func (s *script) ids() (ids []string) {
	for _, b := range s.boxes {
		ids = append(ids, b.id)
	}
	return ids
}
