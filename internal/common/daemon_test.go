package common

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestDaemon_Faults(t *testing.T) {
	daemon := func(change func(*Job)) *Job {
		j := &Job{Name: "a", Command: "true", Daemon: &Daemon{Count: 3}}
		change(j)
		return j
	}
	for name, c := range map[string]struct {
		job  *Job
		want []string
	}{
		"valid": {daemon(func(j *Job) {
			j.Daemon = &Daemon{Count: AllWorkers, Backoff: "2s", MaxBackoff: "1m", HealthyAfter: "5s",
				Rebalance: &Rebalance{After: NeverRebalance}}
			j.OnLost, j.Slots, j.KillGrace = LostRerun, 2, "20s"
		}), nil},
		"excluded fields": {daemon(func(j *Job) {
			j.CronExpr, j.Timeout, j.Overlap, j.CatchUp, j.StartDeadline = "@daily", "1m", OverlapSkip, &CatchUp{}, "1m"
			j.Jitter, j.Retry, j.After, j.OnLost = "1s", &Retry{}, []string{"b"}, LostDetach
			j.RunOn = &RunOn{Workers: 2}
		}), []string{"after", "catchUp", "cronExpr", "jitter", "onLost", "overlap", "retry", "runOn",
			"startDeadline", "timeout"}},
		"no replicas":        {daemon(func(j *Job) { j.Daemon.Count = 0 }), []string{"daemon.count"}},
		"too many replicas":  {daemon(func(j *Job) { j.Daemon.Count = 1001 }), []string{"daemon.count"}},
		"most below backoff": {daemon(func(j *Job) { j.Daemon.Backoff = "10m" }), []string{"daemon.maxBackoff"}},
		"no durations": {daemon(func(j *Job) {
			j.Daemon.Backoff, j.Daemon.HealthyAfter, j.Daemon.Rebalance = "x", "x", &Rebalance{After: "x"}
		}), []string{"daemon.backoff", "daemon.healthyAfter", "daemon.rebalance.after"}},
	} {
		var got []string
		for _, f := range c.job.Faults() {
			got = append(got, f.Location)
		}
		slices.Sort(got)
		if !slices.Equal(slices.Compact(got), c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestFleet_OfReplicas_JSON(t *testing.T) {
	for _, text := range []string{`{"count":7}`, `{"count":"all"}`} {
		var d Daemon
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		if data, err := json.Marshal(&d); err != nil || string(data) != text {
			t.Errorf("%s became %s, %v", text, data, err)
		}
	}
	for _, text := range []string{`"some"`, `1.5`, `[]`} {
		if n := Fleet(0); json.Unmarshal([]byte(text), &n) == nil {
			t.Errorf("%s was decoded to %d", text, n)
		}
	}
}

func TestDaemonPolicy_Pause_DoublesUpToItsLimit(t *testing.T) {
	p := (&Daemon{Count: 1, Backoff: "1s", MaxBackoff: "5s"}).policy()
	for restarts, want := range []time.Duration{1, 1, 2, 4, 5, 5} {
		if got := p.Pause(restarts); got != want*time.Second {
			t.Errorf("after %d short runs: %v, want %vs", restarts, got, want)
		}
	}
	if p.Pause(1<<40) != 5*time.Second {
		t.Error("overflow")
	}
}

func TestReplica_IDs(t *testing.T) {
	at := time.Unix(5, 0)
	job := StoredJob{Job: Job{Name: "j"}, UID: "uid"}
	for replica, label := range map[string]string{ReplicaName(7): "7", WorkerReplica("w1"): "w1"} {
		trigger := ReplicaTrigger(&job, replica, at)
		if trigger.Replica() != replica || ReplicaLabel(replica) != label || trigger.ID != trigger.RunID() {
			t.Errorf("%s: %+v, label %q", replica, trigger, ReplicaLabel(replica))
		}
		record := Record{JobUID: "uid", Fire: trigger.Fire, Job: "j", PlannedAt: trigger.PlannedAt}
		next := record.NextStart(at.Add(-time.Hour), time.Second, 2)
		if next.Replica() != replica || !(next.ID > trigger.ID) || next.Restarts != 2 || next.Worker != trigger.Worker {
			t.Errorf("after the clock was set back: %+v", next)
		}
	}
	for _, id := range []string{PlannedFire("uid", at), TriggeredFire("uid", "d1"), "other.d001." + TimeKey(at),
		"uid.d"} {
		if got := ReplicaOf("uid", id); got != "" {
			t.Errorf("%s is replica %q", id, got)
		}
	}
}

func TestDaemonPolicy_Wants(t *testing.T) {
	three, all, none := DaemonPolicy{Count: 3}, DaemonPolicy{Count: AllWorkers}, DaemonPolicy{}
	if !three.Wants("002") || three.Wants("003") || three.Wants("-w") || !all.Wants("-w") || all.Wants("000") ||
		none.Wants("000") || none.Wants("-w") {
		t.Error("wrong replicas")
	}
}

func TestRunsAs_ChangesWithWhatIsRun(t *testing.T) {
	base := StoredJob{Job: Job{Name: "a", Command: "run", Daemon: &Daemon{Count: 1}}}
	same := base
	same.Title, same.Daemon, same.Paused, same.Labels = "x", &Daemon{Count: 9}, true, map[string]string{"a": "b"}
	if base.RunsAs() != same.RunsAs() {
		t.Error("a change of count, labels or pause replaces the runs")
	}
	for name, change := range map[string]func(*StoredJob){
		"command":   func(s *StoredJob) { s.Command = "other" },
		"env":       func(s *StoredJob) { s.Env = map[string]string{"A": "b"} },
		"user":      func(s *StoredJob) { s.User = "nobody" },
		"limit":     func(s *StoredJob) { s.MemoryMax = "1GiB" },
		"placement": func(s *StoredJob) { s.Placement = &Placement{Selector: "a"} },
		"restart":   func(s *StoredJob) { s.Restarted = &Restart{At: time.Unix(9, 0)} },
	} {
		changed := base
		if change(&changed); changed.RunsAs() == base.RunsAs() {
			t.Errorf("a change of the %s does not replace the runs", name)
		}
	}
}

func TestDaemon_NeedsItsFeature(t *testing.T) {
	s := StoredJob{Job: Job{Name: "a", Command: "true", Daemon: &Daemon{Count: 1}}}
	if terms := s.Terms(); !strings.Contains(terms.Needs, FeatureDaemon) || terms.Overlap != OverlapAllow ||
		terms.OnLost != LostRerun {
		t.Errorf("terms %+v", terms)
	}
}
