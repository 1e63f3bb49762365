package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/scheduler"
)

// replicaRig is a keeper on worker me, with a store in memory and the replicas that it runs.
type replicaRig struct {
	*ReplicaKeeper
	t       *testing.T
	cluster *fakeCluster
	now     time.Time
	wall    time.Time

	pending, running []common.ReplicaKey
	created, removed []string
	moves            map[string]common.Move // by job
	revision         int64
	fail             error
	own              []OwnReplica
	ended            []string
	asks, forgets    time.Duration // how long etcd takes to name a successor, and to delete keys that may exist
	kills            []common.Kill
}

func newReplicaRig(t *testing.T, members ...common.Member) *replicaRig {
	r := &replicaRig{t: t, now: time.Unix(1000, 0), wall: time.Unix(1_700_000_000, 0).UTC(),
		moves: map[string]common.Move{}, cluster: &fakeCluster{members: members, generation: 1}}
	r.ReplicaKeeper = NewReplicaKeeper(ReplicaConfig{Store: r, Runs: r, Cluster: r.cluster,
		Life: common.Life{Worker: "me", Life: "life"}, Announce: func() {}, Written: func() {},
		Now: func() time.Time { return r.wall }, Log: slog.New(slog.DiscardHandler)})
	return r
}

func (r *replicaRig) Read(context.Context, string, string) (common.ReplicaKeys, error) {
	return common.ReplicaKeys{Pending: slices.Clone(r.pending), Running: slices.Clone(r.running)}, r.fail
}

func (r *replicaRig) Create(_ context.Context, _ int64, triggers []common.Trigger) (int, error) {
	for i := range triggers {
		r.created = append(r.created, triggers[i].Replica())
		r.pending = append(r.pending, common.ReplicaKey{ID: triggers[i].ID, Replica: triggers[i].Replica()})
	}
	return len(triggers), nil
}

func (r *replicaRig) Remove(_ context.Context, _ string, _ int64, pending []common.ReplicaKey,
	_ common.Reason) (bool, error) {
	for _, p := range pending {
		r.removed = append(r.removed, p.Replica)
		r.pending = slices.DeleteFunc(r.pending, func(k common.ReplicaKey) bool { return k.ID == p.ID })
	}
	return true, nil
}

func (r *replicaRig) Take(_ context.Context, m common.Move) (int64, error) {
	if _, busy := r.moves[m.Job]; busy {
		return 0, nil
	}
	r.revision++
	r.moves[m.Job] = m
	return r.revision, r.fail
}

func (r *replicaRig) Successor(_ context.Context, m common.Move, _ string, _ int64) (string, int64, bool, error) {
	time.Sleep(r.asks)
	_, held := r.moves[m.Job]
	for _, k := range r.running {
		if k.Replica == m.Replica {
			return k.ID, k.Revision, held, nil
		}
	}
	return "", 0, held, nil
}

func (r *replicaRig) Release(_ context.Context, m common.Move, _ int64) error {
	delete(r.moves, m.Job)
	return nil
}

func (r *replicaRig) Forget(ctx context.Context, m common.Move) error {
	time.Sleep(r.forgets)
	return r.Release(ctx, m, 0)
}

func (r *replicaRig) Daemons() []OwnReplica { return slices.Clone(r.own) }

func (r *replicaRig) Replicas() (own scheduler.OwnReplicas) {
	for i := range r.own {
		own.Slots += r.own[i].Slots
	}
	return own
}

func (r *replicaRig) End(run string, k common.Kill) bool {
	at := slices.IndexFunc(r.own, func(o OwnReplica) bool { return o.Record.Run == run })
	if at < 0 {
		return false
	}
	r.ended = append(r.ended, r.own[at].Record.Replica()+" "+k.Code)
	r.kills = append(r.kills, k)
	r.own = slices.Delete(r.own, at, at+1)
	r.running = slices.DeleteFunc(r.running, func(k common.ReplicaKey) bool { return k.ID == run })
	return true
}

// run makes this worker run a replica of a job.
func (r *replicaRig) run(j *common.JobState, replica string) {
	trigger := common.ReplicaTrigger(&j.StoredJob, replica, r.wall.Add(time.Duration(len(r.running))))
	r.own = append(r.own, OwnReplica{Slots: 1, Record: common.Record{Run: trigger.ID, RunsAs: j.RunsAs(),
		Fire: trigger.Fire, Job: j.Name, JobUID: j.UID, JobVersion: j.Version, ClaimedAt: r.wall}})
	r.running = append(r.running, common.ReplicaKey{ID: trigger.ID, Replica: replica})
}

// elsewhere makes another worker run a replica.
func (r *replicaRig) elsewhere(replica string) {
	r.revision++
	r.running = append(r.running, common.ReplicaKey{ID: fmt.Sprintf("run%d", r.revision), Replica: replica,
		Revision: r.revision})
}

// pass advances the clocks second by second.
func (r *replicaRig) pass(d time.Duration) {
	r.t.Helper()
	for range max(1, int(d/time.Second)) {
		if err := r.Pass(r.t.Context(), r.now); err != nil && r.fail == nil {
			r.t.Fatal(err)
		}
		r.now, r.wall = r.now.Add(time.Second), r.wall.Add(time.Second)
	}
}

func (r *replicaRig) expect(what string, got []string, want ...string) {
	r.t.Helper()
	if slices.Sort(got); !slices.Equal(got, want) {
		r.t.Fatalf("%s: %q, want %q", what, got, want)
	}
}

func daemonJob(count common.Fleet, version int64, change ...func(*common.Job)) common.JobState {
	j := common.JobState{StoredJob: common.StoredJob{Job: common.Job{Name: "j", Command: "true",
		Daemon: &common.Daemon{Count: count}}, UID: "uid"}, Version: version, Created: 1}
	for _, c := range change {
		c(&j.Job)
	}
	return j
}

func (r *replicaRig) save(j common.JobState) { r.Jobs(false, false, []common.JobState{j}, nil) }

// daemons is a worker that can run daemons.
func daemons(id string, change ...func(*common.Member)) common.Member {
	m := member(id, func(m *common.Member) { m.Features, m.Slots = []string{common.FeatureDaemon}, 100 })
	for _, c := range change {
		c(&m)
	}
	return m
}

func (r *replicaRig) join(members ...common.Member) {
	r.cluster.mu.Lock()
	defer r.cluster.mu.Unlock()
	r.cluster.members = members
	r.cluster.generation++
}

func TestReplicaKeeper_CreatesWhatIsMissing_AndRemovesSurplus(t *testing.T) {
	r := newReplicaRig(t, daemons("me"))
	job := daemonJob(3, 5)
	r.elsewhere("001")
	r.save(job)
	r.pass(0)
	r.expect("created", r.created, "000", "002")
	r.save(daemonJob(1, 6))
	r.pass(0)
	r.expect("removed", r.removed, "002")
	r.expect("created", r.created, "000", "002")
}

// A replica that has vanished is created again within a minute, also if the first pass failed.
func TestReplicaKeeper_MissingReplica_IsCreatedWithinAMinute(t *testing.T) {
	r := newReplicaRig(t, daemons("me"))
	r.fail = errors.New("etcd is away")
	r.save(daemonJob(1, 5))
	r.pass(3 * time.Second)
	r.fail = nil
	r.pass(time.Second)
	r.pending, r.created = nil, nil
	r.pass(time.Minute)
	r.expect("created", r.created, "000")
}

func TestReplicaKeeper_JobThatIsNoDaemonAnyMore_LosesItsReplicas(t *testing.T) {
	r := newReplicaRig(t, daemons("me"))
	job := daemonJob(2, 5)
	r.save(job)
	r.pass(0)
	r.pending = r.pending[:1]
	r.run(&job, "001")
	plain := daemonJob(0, 6, func(j *common.Job) { j.Daemon = nil })
	plain.WasDaemon = true
	r.save(plain)
	r.pass(0)
	r.expect("removed", r.removed, "000")
	r.expect("ended", r.ended, "001 scaled_down")
}

// No worker ran when the job was changed: a keeper that starts later finds its replicas.
func TestReplicaKeeper_StartedAfterTheJobBecameNoDaemon_RemovesItsReplicas(t *testing.T) {
	r := newReplicaRig(t, daemons("me"))
	r.pending = []common.ReplicaKey{{ID: "uid.d000.1.1", Replica: "000"}, {ID: "uid.d-a.1.1", Replica: "-a"}}
	never := daemonJob(0, 6, func(j *common.Job) { j.Daemon = nil })
	r.save(never)
	r.pass(time.Minute)
	r.expect("removed of a job that never was a daemon", r.removed)
	plain := never
	plain.WasDaemon = true
	r.save(plain)
	r.pass(0)
	r.expect("removed", r.removed, "-a", "000")
}

func TestHandover_Restart_NamesWhoAndWhy(t *testing.T) {
	r := newReplicaRig(t, daemons("me"))
	job := daemonJob(1, 5)
	r.run(&job, "000")
	restarted := daemonJob(1, 6)
	restarted.Restarted = &common.Restart{At: r.wall, By: "ada", Note: "leaks"}
	r.save(restarted)
	r.pass(0)
	r.expect("ended", r.ended, "000 restarted")
	if k := r.kills[0]; k.By != "ada" || k.Note != "leaks" || r.moves["j"].Reason != common.MoveRestart {
		t.Fatalf("kill %+v, moves %v", k, r.moves)
	}
	r.elsewhere("000")
	r.pass(13 * time.Second)
	changed := daemonJob(1, 7, func(j *common.Job) { j.Command = "false" })
	changed.Restarted = &common.Restart{At: r.wall, By: "ada"}
	r.run(&job, "000") // a run from before both
	r.save(changed)
	r.pass(0)
	r.expect("ended", r.ended, "000 restarted", "000 updated")
}

func TestReplicaKeeper_All_FollowsTheEligibleWorkers(t *testing.T) {
	web := func(m *common.Member) { m.Labels = map[string]string{"role": "web"} }
	r := newReplicaRig(t, daemons("me", web), daemons("a", web), daemons("b"))
	job := daemonJob(common.AllWorkers, 5,
		func(j *common.Job) { j.Placement = &common.Placement{Selector: "role=web"} })
	r.save(job)
	r.pass(20 * time.Second)
	r.expect("created", r.created, "-a", "-me")
	r.join(daemons("me", web), daemons("b", web))
	r.pass(20 * time.Second)
	r.expect("created", r.created, "-a", "-b", "-me")
	r.expect("removed", r.removed, "-a")
	r.pending = nil
	r.run(&job, "-me")
	r.join(daemons("me", web, func(m *common.Member) { m.Settings.Drain = true }))
	r.pass(time.Second)
	r.expect("ended", r.ended, "-me scaled_down")
}

func TestReplicaKeeper_PausedJob_EndsAllItsReplicas(t *testing.T) {
	r := newReplicaRig(t, daemons("me"))
	job := daemonJob(2, 5)
	r.run(&job, "000")
	r.run(&job, "001")
	r.save(daemonJob(2, 6, func(j *common.Job) { j.Paused = true }))
	r.pass(0)
	r.expect("ended", r.ended, "000 paused", "001 paused")
}

func TestHandover_Update_OneReplicaAtATime_AfterTheSuccessorIsHealthy(t *testing.T) {
	r := newReplicaRig(t, daemons("me"), daemons("a"))
	job := daemonJob(2, 5)
	r.run(&job, "000")
	r.run(&job, "001")
	r.save(job)
	r.pass(20 * time.Second)
	r.expect("ended", r.ended)
	r.save(daemonJob(2, 6, func(j *common.Job) { j.Title = "other" }))
	r.pass(20 * time.Second)
	r.expect("ended without a change of what is run", r.ended)

	r.save(daemonJob(2, 7, func(j *common.Job) { j.Command = "false" }))
	r.pass(20 * time.Second)
	r.expect("ended", r.ended, "000 updated") // it has no successor
	for range 4 {                             // that fails again and again
		r.elsewhere("000")
		r.pass(8 * time.Second)
		r.running = slices.DeleteFunc(r.running, func(k common.ReplicaKey) bool { return k.Replica == "000" })
	}
	r.expect("ended beside a failing successor", r.ended, "000 updated")
	r.elsewhere("000")
	r.pass(13 * time.Second)
	r.expect("ended", r.ended, "000 updated", "001 updated")
	r.elsewhere("001")
	r.pass(13 * time.Second)
	if len(r.moves) != 0 {
		t.Fatalf("keys %v", r.moves)
	}
}

// The job was scaled up during the pass, and its new replica claimed at once: the definition that the pass began with
// does not want it, but must not end it. Nothing would be pending then, so that a repeated request could create the
// start again.
func TestReplicaKeeper_ReplicaOfANewerVersion_IsNotEndedByTheOlderDefinition(t *testing.T) {
	r := newReplicaRig(t, daemons("me"))
	newer := daemonJob(4, 7)
	r.run(&newer, "003")
	r.save(daemonJob(3, 5))
	r.pass(time.Second)
	r.expect("ended", r.ended)
	r.save(newer)
	r.pass(time.Second)
	r.expect("ended", r.ended)
	r.save(daemonJob(3, 8))
	r.pass(time.Second)
	r.expect("ended", r.ended, "003 scaled_down")
}

func TestHandover_OfAnotherWorkerInProgress_Waits(t *testing.T) {
	r := newReplicaRig(t, daemons("me"), daemons("a"))
	job := daemonJob(2, 5)
	r.run(&job, "000")
	r.moves["j"] = common.Move{Job: "j", Worker: "a"}
	r.save(daemonJob(2, 7, func(j *common.Job) { j.Command = "false" }))
	r.pass(time.Minute)
	r.expect("ended", r.ended)
	delete(r.moves, "j")
	r.pass(3 * time.Second)
	r.expect("ended", r.ended, "000 updated")
}

func TestHandover_WithoutHealthySuccessor_IsACondition_UntilTheJobIsSavedAgain(t *testing.T) {
	r := newReplicaRig(t, daemons("me"))
	job := daemonJob(2, 5)
	r.run(&job, "000")
	r.run(&job, "001")
	r.save(daemonJob(2, 7, func(j *common.Job) { j.Command = "false" }))
	r.pass(9 * time.Minute)
	if len(r.Conditions()) != 0 {
		t.Fatalf("conditions %v", r.Conditions())
	}
	r.pass(2 * time.Minute)
	if c := r.Conditions(); len(c) != 1 || c[0].Code != common.ConditionUpdateStuck || c[0].Data["job"] != "j" {
		t.Fatalf("conditions %v", c)
	}
	r.save(daemonJob(2, 8)) // back
	r.pass(2 * time.Second)
	if len(r.Conditions()) != 0 || len(r.moves) != 0 {
		t.Fatalf("conditions %v, keys %v", r.Conditions(), r.moves)
	}
	r.expect("ended", r.ended, "000 updated")
}

// The answer of a request for the key was lost: the key may exist, and is deleted before it is requested again.
func TestHandover_KeyOfUnknownOutcome_IsDeleted(t *testing.T) {
	r := newReplicaRig(t, daemons("me"))
	job := daemonJob(1, 5)
	r.run(&job, "000")
	r.pass(time.Second)
	r.save(daemonJob(1, 7, func(j *common.Job) { j.Command = "false" }))
	r.fail = errors.New("etcd is away")
	r.pass(time.Second)
	if r.expect("ended", r.ended); len(r.moves) != 1 {
		t.Fatalf("keys %v", r.moves)
	}
	r.fail = nil
	r.pass(4 * time.Second)
	r.expect("ended", r.ended, "000 updated")
}

// A request for the key that reaches etcd after its answer was given up, and the key deleted, does not block the
// handovers of the job for as long as this worker lives.
func TestHandover_RequestForTheKeyArrivesLate_IsDeletedAsWell(t *testing.T) {
	r := newReplicaRig(t, daemons("me"))
	job := daemonJob(1, 5)
	r.run(&job, "000")
	r.pass(time.Second)
	r.save(daemonJob(1, 7, func(j *common.Job) { j.Command = "false" }))
	r.fail = errors.New("etcd is away")
	r.pass(time.Second)
	late := r.moves["j"]
	r.fail = nil
	if r.pass(time.Second); len(r.moves) != 0 {
		t.Fatalf("keys %v", r.moves)
	}
	r.moves["j"] = late
	r.pass(lateFor + 3*time.Second)
	r.expect("ended", r.ended, "000 updated")
}

// A successor that begins during a slow pass counts as healthy no earlier than it is.
func TestHandover_EtcdIsSlow_TheSuccessorIsNotHealthyTooSoon(t *testing.T) {
	for name, slow := range map[string]func(r *replicaRig){
		"read of the successor": func(r *replicaRig) { r.asks = 4 * time.Second },
		"request before it": func(r *replicaRig) {
			r.forgets = 4 * time.Second
			r.unsure = append(r.unsure, unsureMove{Move: common.Move{Job: "other"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtualtime.Test(t, func(t *testing.T) {
				r := newReplicaRig(t, daemons("me"))
				job := daemonJob(2, 5)
				r.run(&job, "000")
				r.run(&job, "001")
				r.save(daemonJob(2, 7, func(j *common.Job) { j.Command = "false" }))
				r.pass(time.Second)
				r.elsewhere("000")
				slow(r)
				if err := r.Pass(t.Context(), r.now); err != nil {
					t.Fatal(err)
				}
				r.now, r.asks = r.now.Add(job.Daemon.HealthyAfter.Or(common.DefaultHealthyAfter)), 0
				if err := r.Pass(t.Context(), r.now); err != nil {
					t.Fatal(err)
				}
				r.expect("ended", r.ended, "000 updated")
			})
		})
	}
}

// A successor whose command could not be started is returned, and claimed again as the same run: it counts as healthy
// from then on.
func TestHandover_SuccessorIsReturned_IsNotHealthyTooSoon(t *testing.T) {
	r := newReplicaRig(t, daemons("me"))
	job := daemonJob(2, 5)
	r.run(&job, "000")
	r.run(&job, "001")
	r.save(daemonJob(2, 7, func(j *common.Job) { j.Command = "false" }))
	r.pass(time.Second)
	r.elsewhere("000")
	r.pass(8 * time.Second)
	r.running[len(r.running)-1].Revision++ // between two passes
	r.pass(8 * time.Second)
	r.expect("ended", r.ended, "000 updated")
	r.pass(5 * time.Second)
	r.expect("ended", r.ended, "000 updated", "001 updated")
}

func TestHandover_DrainAndIneligible(t *testing.T) {
	for name, change := range map[string]func(*common.Member){
		"drain":  func(m *common.Member) { m.Settings.Drain = true },
		"labels": func(m *common.Member) { m.Labels = nil },
	} {
		t.Run(name, func(t *testing.T) {
			web := func(m *common.Member) { m.Labels = map[string]string{"role": "web"} }
			r := newReplicaRig(t, daemons("me", web), daemons("a", web))
			job := daemonJob(2, 5, func(j *common.Job) { j.Placement = &common.Placement{Selector: "role=web"} })
			r.save(job)
			r.run(&job, "000")
			r.run(&job, "001")
			r.pass(time.Second)
			r.join(daemons("me", web, change), daemons("a", web))
			r.pass(5 * time.Second)
			r.expect("ended", r.ended, "000 moved")
			r.elsewhere("000")
			r.pass(13 * time.Second)
			r.expect("ended", r.ended, "000 moved", "001 moved")
		})
	}
}

func TestRebalance_OnceTheMembersAreStable_OneAtATime(t *testing.T) {
	r := newReplicaRig(t, daemons("me"))
	job := daemonJob(5, 5)
	r.save(job)
	for i := range 5 {
		r.run(&job, common.ReplicaName(i))
	}
	r.pass(10 * time.Minute)
	r.expect("ended alone", r.ended)
	others := 0
	other := func() common.Member {
		return daemons("a", func(m *common.Member) { m.DaemonSlots = others })
	}
	r.join(daemons("me"), other())
	r.pass(4 * time.Minute)
	r.expect("ended before the members were stable", r.ended)
	r.pass(90 * time.Second)
	if len(r.ended) != 1 || !strings.HasSuffix(r.ended[0], " moved") {
		t.Fatalf("ended %v", r.ended)
	}
	for range 5 { // the moved replica runs on the other worker
		if len(r.moves) == 1 {
			others++
			r.elsewhere(r.moves["j"].Replica)
			r.join(daemons("me"), other())
		}
		r.pass(time.Minute)
	}
	if len(r.ended) != 2 { // 3 on this worker, 2 on the other one
		t.Fatalf("ended %v", r.ended)
	}
}

func TestRebalance_PinnedJobs_AndThoseThatNeverMove_Stay(t *testing.T) {
	for name, change := range map[string]func(*common.Job){
		"pinned": func(j *common.Job) { j.Placement = &common.Placement{Workers: []string{"me", "a"}} },
		"never":  func(j *common.Job) { j.Daemon.Rebalance = &common.Rebalance{After: common.NeverRebalance} },
	} {
		r := newReplicaRig(t, daemons("me"), daemons("a"))
		job := daemonJob(4, 5, change)
		r.save(job)
		for i := range 4 {
			r.run(&job, common.ReplicaName(i))
		}
		r.pass(10 * time.Minute)
		r.expect(name, r.ended)
	}
}

func TestReplicaKeeper_ReportsItsPasses(t *testing.T) {
	r := newReplicaRig(t, daemons("me"))
	var reports []error
	ctx, cancel := context.WithCancel(t.Context())
	r.cfg.Report = func(err error) {
		if reports = append(reports, err); len(reports) == 2 {
			cancel()
		}
	}
	r.fail = errors.New("etcd is away")
	r.save(daemonJob(1, 5))
	if err := r.Run(ctx); err != nil || len(reports) != 2 || reports[0] == nil {
		t.Fatalf("reports %v, %v", reports, err)
	}
}
