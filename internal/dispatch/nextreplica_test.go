package dispatch

import (
	"testing"
	"time"

	"carillon/internal/common"
)

func TestNextReplica(t *testing.T) {
	at := time.Unix(1_700_000_000, 0).UTC()
	job := daemonJob(1, 5)
	terms := job.Terms()
	trigger := common.ReplicaTrigger(&job.StoredJob, "000", at)
	const killed = common.StatusKilled
	for name, c := range map[string]struct {
		status   common.Status
		code     string
		lasted   time.Duration
		before   int
		restarts int
		pause    time.Duration
		avoid    string
		none     bool
		why      common.RestartReason
	}{
		"first short run": {status: common.StatusFailed, lasted: time.Second, restarts: 1, pause: time.Second,
			why: common.RestartShort},
		"third short run": {status: common.StatusSucceeded, lasted: time.Second, before: 2, restarts: 3,
			pause: 4 * time.Second, why: common.RestartShort},
		"healthy run": {status: common.StatusFailed, lasted: time.Minute, before: 7, pause: time.Second,
			why: common.RestartEnded},
		"killed by a user": {status: killed, code: "killed_by_user", lasted: time.Minute, pause: time.Second,
			why: common.RestartEnded},
		"lost":      {status: common.StatusLost, before: 2, restarts: 2, why: common.RestartLost},
		"updated":   {status: killed, code: common.ReasonUpdated, lasted: time.Second, before: 3},
		"restarted": {status: killed, code: common.ReasonRestarted, lasted: time.Second, before: 3},
		"moved":     {status: killed, code: common.ReasonMoved, lasted: time.Second, avoid: "w"},
		"the worker stopped": {status: killed, code: common.ReasonWorkerStopping, lasted: time.Second,
			why: common.RestartStopped},
		"no longer wanted": {status: killed, code: common.ReasonScaledDown, none: true},
		"command not startable": {status: common.StatusRefused, code: "x", restarts: 1, pause: time.Second,
			why: common.RestartShort},
	} {
		record := common.Record{Run: trigger.ID, Fire: trigger.Fire, Job: "j", JobUID: "uid", PlannedAt: at,
			Restarts: c.before, RunsAs: job.RunsAs(), Policy: terms.Policy, Owner: common.Life{Worker: "w"}}
		run := record.AsRun(c.status)
		run.Reason = &common.Reason{Code: c.code}
		ended := at.Add(c.lasted)
		if c.lasted > 0 {
			run.StartedAt, run.EndedAt = &at, &ended
		}
		next := nextReplica(&record, &run, ended.Add(time.Second))
		if next == nil != c.none {
			t.Errorf("%s: %+v", name, next)
		}
		if next != nil && restartReason(&run, next) != c.why {
			t.Errorf("%s: restarted because %q, want %q", name, restartReason(&run, next), c.why)
		}
		if next != nil && (next.Restarts != c.restarts || next.NotBefore.Sub(ended.Add(time.Second)) != c.pause ||
			next.Avoid != c.avoid || next.Replica() != "000" || next.ID == trigger.ID ||
			next.RunsAs != job.RunsAs()) {
			t.Errorf("%s: %+v", name, next)
		}
	}
}

// The claim stores how the job runs the replica; the outcome of a short run, and the next start, count it.
func TestReplica_ShortRun_CountsInItsOutcomeAndItsNextStart(t *testing.T) {
	var restarted []common.RestartReason
	bubble(t, func(c *Config) {
		c.Restarted = func(why common.RestartReason) { restarted = append(restarted, why) }
	}, func(r *rig) {
		f := r.shot("j", "x", func(t *common.Terms) {
			t.Overlap, t.Daemon = common.OverlapAllow, common.DaemonPolicy{Count: 1, HealthyAfter: time.Minute}
		})
		f.RunsAs = "now"
		f.Trigger.Fire, f.Trigger.Cause = common.ReplicaFire(f.UID, "000", f.At), common.CauseDaemon
		f.Trigger.ID, f.Trigger.Restarts, f.Trigger.RunsAs = f.Trigger.RunID(), 2, "before"
		r.hand(f)
		time.Sleep(time.Second)
		r.finisher.mu.Lock()
		defer r.finisher.mu.Unlock()
		if len(r.finisher.batches) != 1 {
			t.Fatalf("finished %v", r.finisher.batches)
		}
		o := r.finisher.batches[0][0]
		if o.Run.Restarts != 3 || o.Next == nil || o.Next.Restarts != 3 || o.Next.RunsAs != "now" {
			t.Errorf("outcome %+v, next %+v", o.Run, o.Next)
		}
		if len(restarted) != 1 || restarted[0] != common.RestartShort {
			t.Errorf("restarted %v", restarted)
		}
	})
}
