package etcd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/common/zoneinfo"
	"carillon/internal/health"
)

func TestDoctorJudgesEtcd(t *testing.T) {
	status := func(change func(*clientv3.StatusResponse)) *clientv3.StatusResponse {
		s := &clientv3.StatusResponse{
			Version:     "3.6.14",
			Leader:      1,
			DbSize:      10 << 20,
			DbSizeInUse: 5 << 20,
			DbSizeQuota: 1 << 30,
		}
		change(s)
		return s
	}
	for name, c := range map[string]struct {
		status *clientv3.StatusResponse
		took   time.Duration
		check  string // that is not well; none where empty
		want   health.FindingStatus
		text   string
	}{
		"well": {status: status(func(*clientv3.StatusResponse) {})},
		"old": {
			status: status(func(s *clientv3.StatusResponse) { s.Version = "3.5.9" }),
			check:  "etcd_version",
			want:   health.FindingWarning,
			text:   "3.5.33",
		},
		"filling": {
			status: status(func(s *clientv3.StatusResponse) { s.DbSize = 750 << 20 }),
			check:  "etcd_space",
			want:   health.FindingWarning,
			text:   "73 %",
		},
		"nearly": {
			status: status(func(s *clientv3.StatusResponse) { s.DbSize = 1000 << 20 }),
			check:  "etcd_space",
			want:   health.FindingFailing,
		},
		"full": {
			status: status(func(s *clientv3.StatusResponse) { s.Errors = []string{"memberID:1 alarm:NOSPACE "} }),
			check:  "etcd_space",
			want:   health.FindingFailing,
			text:   "refuses writes",
		},
		"corrupt": {
			status: status(func(s *clientv3.StatusResponse) { s.Errors = []string{"memberID:1 alarm:CORRUPT "} }),
			check:  "etcd",
			want:   health.FindingFailing,
			text:   "CORRUPT",
		},
		"headless": {
			status: status(func(s *clientv3.StatusResponse) { s.Leader = 0 }),
			check:  "etcd",
			want:   health.FindingFailing,
			text:   "leader",
		},
		"learner": {
			status: status(func(s *clientv3.StatusResponse) { s.IsLearner = true }),
			check:  "etcd",
			want:   health.FindingWarning,
		},
		"slow": {
			status: status(func(*clientv3.StatusResponse) {}),
			took:   2 * time.Second,
			check:  "etcd",
			want:   health.FindingWarning,
			text:   "2s",
		},
		"quota not told": {
			status: status(func(s *clientv3.StatusResponse) { s.DbSizeQuota, s.DbSize = 0, 1900<<20 }),
			check:  "etcd_space",
			want:   health.FindingWarning,
			text:   "does not report its quota; the default quota is 2.0 GiB",
		},
		"quota not told, little taken": {status: status(func(s *clientv3.StatusResponse) {
			s.DbSizeQuota, s.DbSize = 0, 1000<<20
		})},
		"quota not told, and larger": {status: status(func(s *clientv3.StatusResponse) {
			s.DbSizeQuota, s.DbSize = 0, 3<<30
		})},
		"quota not told, full": {status: status(func(s *clientv3.StatusResponse) {
			s.DbSizeQuota, s.DbSize, s.Errors = 0, 3<<30, []string{"alarm:NOSPACE"}
		}), check: "etcd_space",
			want: health.FindingFailing, text: "refuses writes"},
	} {
		wrong := 0
		for _, f := range judgeEtcd("e", c.status, c.took) {
			if f.Status == health.FindingOK {
				continue
			}
			if wrong++; f.Check != c.check || f.Status != c.want || !strings.Contains(f.Text, c.text) ||
				f.Advice == "" {
				t.Errorf("%s: found %+v", name, f)
			}
		}
		if (wrong > 0) != (c.check != "") {
			t.Errorf("%s: %d findings", name, wrong)
		}
	}
}

func TestDoctorJudgesCertificates(t *testing.T) {
	for left, want := range map[time.Duration]health.FindingStatus{
		-time.Hour:          health.FindingFailing,
		time.Hour:           health.FindingFailing,
		10 * 24 * time.Hour: health.FindingWarning,
		60 * 24 * time.Hour: health.FindingOK,
	} {
		if f := health.Certificate("api", 90*24*time.Hour, left, time.Now().Add(left)); f.Status != want {
			t.Errorf("%v: %+v", left, f)
		}
	}
}

// examine waits until what is found of a check has a status, and gives the first such.
func (r *rig) examine(check string, want health.FindingStatus) health.Finding {
	r.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		found := r.state.Examine(r.Context())
		for _, f := range found.Findings {
			if f.Check == check && f.Status == want {
				if rank := health.Worst(found.Findings); rank != found.Status {
					r.Fatalf("all is %s, and the worst %s", found.Status, rank)
				}
				return f
			}
		}
		if time.Now().After(deadline) {
			r.Fatalf("%s is not %s: %+v", check, want, found)
		}
	}
}

func TestDoctor(t *testing.T) {
	r := newRig(t)
	r.state.collect(t.Context())
	r.examine("etcd", health.FindingOK)
	r.examine("etcd_version", health.FindingOK)
	r.examine("etcd_space", health.FindingOK)
	r.examine("watch", health.FindingOK)
	r.examine("log_store", health.FindingOK)
	r.examine("outbox", health.FindingOK)
	r.examine("jobs", health.FindingOK)
	r.examine("elected", health.FindingFailing)
	if f := r.examine("workers", health.FindingFailing); !strings.Contains(f.Advice, "carillon-worker") {
		t.Errorf("no worker: %+v", f)
	}
	register := func(id, version string, clock time.Time, trouble string) {
		t.Helper()
		reg := common.Registration{
			Life:    common.Life{Worker: id, Name: "name-" + id, Life: "l-" + id},
			Version: version, ZoneData: map[string]string{"1.2": zoneinfo.Version(), "1.1": "2019a"}[version],
			Slots:   1,
			Clock:   clock,
			Trouble: trouble,
			Lease:   1,
		}
		r.put(common.WorkerKey(id), reg)
	}
	register("w1", "1.2", time.Now(), "")
	r.alive(1)
	r.examine("versions", health.FindingOK)
	r.examine("zone_data", health.FindingOK)
	r.examine("clock", health.FindingOK)
	register("w2", "1.1", time.Now().Add(time.Minute), "the disk is full")
	r.alive(2)
	if f := r.examine("versions", health.FindingWarning); !strings.Contains(f.Text, "worker name-w2") {
		t.Errorf("%+v", f)
	}
	if f := r.examine("zone_data", health.FindingWarning); !strings.Contains(f.Text, "version 2019a: worker name-w2") {
		t.Errorf("%+v", f)
	}
	if f := r.examine("clock", health.FindingWarning); !strings.Contains(f.Who, "name-w2") ||
		!strings.Contains(f.Advice, "NTP") {
		t.Errorf("%+v", f)
	}
	r.put(common.WorkerSettingsKey("w3"), common.WorkerSettings{Drain: true})
	if f := r.examine("worker", health.FindingWarning); f.Who != "w3" {
		t.Errorf("%+v", f)
	}
	if f := r.examine("versions", health.FindingWarning); strings.Contains(f.Text, "w3") {
		t.Errorf("a worker that is gone has a version: %+v", f)
	}
	r.put(common.JobsPrefix+"broken", "no job")
	r.away(errors.New("refused"))
	r.state.collect(t.Context())
	if f := r.examine("log_store", health.FindingFailing); !strings.Contains(f.Text, "refused") || f.Advice == "" {
		t.Errorf("%+v", f)
	}
	r.examine("jobs", health.FindingFailing)
	full := &pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, Alarm: pb.AlarmType_NOSPACE}
	if _, err := pb.NewMaintenanceClient(r.etcd.ActiveConnection()).Alarm(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	r.examine("etcd_space", health.FindingFailing)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found := r.state.Examine(ctx); found.Status != health.FindingFailing {
		t.Errorf("no source is available: %+v", found)
	}
}

// Fencing tokens of locks are revisions of etcd, which may be lower after a restore.
func TestDoctor_EtcdRestored_ReportsTokensOfLocks(t *testing.T) {
	r := newRig(t)
	reported := func() bool {
		findings := r.state.Examine(t.Context()).Findings
		return slices.ContainsFunc(findings, func(f health.Finding) bool {
			return f.Check == "lock" && strings.Contains(f.Text, "fencing tokens")
		})
	}
	r.put(common.LockOwnerKey("imports.eu"), common.LockOwner{ID: "one"})
	if reported() {
		t.Error("reported without a restore")
	}
	r.put(common.WorkerKey("w"), common.Registration{
		Life:       common.Life{Worker: "w", Name: "w", Life: "1"},
		Conditions: []common.Condition{{Code: common.ConditionEtcdWentBack, From: wall()}},
	})
	r.alive(1)
	if !reported() {
		t.Error("not reported after a restore")
	}
	r.erase(common.LockOwnerKey("imports.eu"))
	if reported() {
		t.Error("reported without a lock")
	}
}
