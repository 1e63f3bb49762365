package system

import (
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// mixed are flows beside an older worker. Each has a step gate, which every worker keeps as it is defined, and does
// afterwards what its name says.
type mixed struct {
	*api
	*cluster
	client *clientv3.Client
}

func (m *mixed) save(job map[string]any) {
	m.api.t.Helper()
	job["overlap"] = "allow"
	m.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", job, nil)
}

// flow saves a flow: the step first, the gate, and what comes after them.
func (m *mixed) flow(name string, more map[string]any, after ...map[string]any) {
	m.api.t.Helper()
	job := map[string]any{"name": name, "timeout": "1h", "steps": append([]map[string]any{
		{"name": "first", "command": "true"},
		{"name": "gate", "after": []string{"first"}, "approval": map[string]any{"text": "Go on?", "timeout": "30m"}},
	}, after...)}
	maps.Copy(job, more)
	m.save(job)
}

func (m *mixed) start(name string, body map[string]any) (run string) {
	m.api.t.Helper()
	return m.accepted("/api/v1/jobs/"+name+"/run", body)
}

func (m *mixed) again(run string, body map[string]any) string {
	m.api.t.Helper()
	return m.accepted("/api/v1/runs/"+run+"/rerun", body)
}

func (m *mixed) accepted(path string, body map[string]any) string {
	m.api.t.Helper()
	var answer struct{ Run string }
	m.do(http.StatusAccepted, http.MethodPost, path, body, &answer)
	return answer.Run
}

func (m *mixed) shown(run string) (r common.Run) {
	m.api.t.Helper()
	m.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+run, nil, &r)
	return r
}

// asks waits for the gate of a flow run.
func (m *mixed) asks(run string) {
	m.api.t.Helper()
	eventually(m.api.t, "the gate of "+run+" waits", func() bool {
		var page struct {
			Items []struct{ Run string }
		}
		status, err := m.try(http.MethodGet, "/api/v1/approvals?limit=100", nil, &page)
		return err == nil && status == http.StatusOK &&
			slices.ContainsFunc(page.Items, func(a struct{ Run string }) bool { return a.Run == run })
	})
}

func (m *mixed) approve(run string) {
	m.api.t.Helper()
	m.asks(run)
	m.do(http.StatusNoContent, http.MethodPost, "/api/v1/runs/"+run+"/approve", map[string]any{"step": "gate"}, nil)
}

// ends waits until so many runs of a flow have succeeded.
func (m *mixed) ends(name string, n int) {
	m.api.t.Helper()
	eventually(m.api.t, name+" succeeds", func() bool { return m.count("job="+name, status("succeeded")) == n })
}

// needs returns the features that the head of a live flow run names.
func (m *mixed) needs(name, run string) string {
	m.api.t.Helper()
	resp, err := m.client.Get(m.api.t.Context(), common.FlowRunKey(name, run))
	if err != nil || len(resp.Kvs) != 1 {
		m.api.t.Fatalf("the head of %s: %v", name, err)
	}
	head, err := common.Decode[common.Head](resp.Kvs[0].Value)
	if err != nil {
		m.api.t.Fatal(err)
	}
	return strings.Join(head.Needs, " ")
}

// marks returns the nodes that the keepers of a live flow run have started or ended.
func (m *mixed) marks(run string) (nodes []string) {
	m.api.t.Helper()
	prefix := common.FlowNodesOf(run)
	resp, err := m.client.Get(m.api.t.Context(), prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		m.api.t.Fatal(err)
	}
	for _, kv := range resp.Kvs {
		nodes = append(nodes, strings.TrimPrefix(string(kv.Key), prefix))
	}
	return nodes
}

// saveAll saves one flow for each feature that a definition may need, by its name, one that needs none, and those whose
// requests need a feature. It returns the features of definitions, and saves with often one that needs all of these, at
// each second.
func (m *mixed) saveAll(dir string) (features []string, often func()) {
	m.api.t.Helper()
	last := map[string]any{"name": "last", "after": []string{"gate"}, "command": "true"}
	join := map[string]any{"name": "join", "after": []string{"gate"}, "join": true}
	finally := map[string]any{"name": "clean", "finally": true, "command": "true"}
	day := map[string]any{"name": "day", "after": []string{"gate"}, "command": `test -n "$DAY"`,
		"env": map[string]any{"DAY": "${{ run.plannedDate }}"}}
	each := map[string]any{"name": "each", "after": []string{"gate"}, "command": `printf 1 >"$CARILLON_OUTPUT/v"`,
		"outputs": map[string]any{"v": map[string]any{}},
		"forEach": map[string]any{"items": []string{"a", "b"}, "collect": "v"}}
	asks := map[string]any{"name": "asks", "after": []string{"gate"}, "when": "run.cause == 'cron'",
		"approval": map[string]any{"text": "And on?"}}
	m.save(map[string]any{"name": "yearly", "cronExpr": "0 0 1 1 *", "timezone": "UTC", "command": "true"})
	wait := map[string]any{"name": "wait", "after": []string{"gate"}, "when": "run.cause == 'cron'",
		"wait": map[string]any{"job": "yearly"}}
	fails := map[string]any{"name": "last", "after": []string{"gate"}, // in the first attempt of its flow run
		"command": `test "${CARILLON_FLOW_RUN%.1}" = "$CARILLON_FLOW_RUN"`}
	retry := map[string]any{"retry": map[string]any{"max": 1, "backoff": "0s"}}
	for feature, after := range map[string]map[string]any{
		common.FeatureValues:    day,
		common.FeatureFinally:   finally,
		common.FeatureJoins:     join,
		common.FeatureCollect:   each,
		common.FeatureApprovals: asks,
		common.FeatureWaits:     wait,
	} {
		m.flow(feature, nil, after)
		features = append(features, feature)
	}
	m.flow(common.FeatureFlowRetry, retry, fails)
	features = append(features, common.FeatureFlowRetry)

	m.flow("plain", nil, last)
	m.flow("quiet", nil, last)
	m.save(map[string]any{"name": "child", "after": []string{"quiet"}, "command": "true"})
	mended := "test -e " + common.ShellWord(filepath.Join(dir, "mended"))
	m.save(map[string]any{"name": "inner", "timeout": "1h",
		"steps": []any{map[string]any{"name": "one", "command": "true"}, map[string]any{"name": "two",
			"after": []string{"one"}, "command": mended}}})
	for name, first := range map[string]map[string]any{
		common.FeatureNested: {"name": "first", "job": "inner"},
		common.FeatureAccept: {"name": "first", "command": "false"},
	} {
		m.save(map[string]any{"name": name, "timeout": "1h", "steps": []any{first,
			map[string]any{"name": "gate", "after": []string{"first"},
				"approval": map[string]any{"text": "Go on?", "timeout": "30m"}}, last}})
	}
	m.save(map[string]any{"name": "live", "timeout": "1h", "steps": []any{
		map[string]any{"name": "first", "command": "false"},
		map[string]any{"name": "gate", "approval": map[string]any{"text": "Go on?", "timeout": "30m"}},
		map[string]any{"name": "last", "after": []string{"first", "gate"}, "command": "true"}}})
	return features, func() {
		m.api.t.Helper()
		scheduled := maps.Clone(retry)
		scheduled["cronExpr"], scheduled["startDeadline"] = "* * * * * * *", "2s"
		m.flow("often", scheduled, day, finally, join, each, asks, wait)
	}
}

// What needs a feature that an older worker lacks, waits as long as that worker is present, and a flow run that has
// begun before is advanced by the others only: of each feature of a definition, and of each that a request may need.
func TestMixedVersions_FeaturesOfFlowRuns(t *testing.T) {
	t.Parallel() // it mostly waits
	oldWorker := built(t, "older/carillon-worker")
	c, a := readyCluster(t)
	m := &mixed{a, c, c.keys()}
	newer := c.joined(m.client, "newer")
	dir := t.TempDir()
	features, often := m.saveAll(dir)

	// Before the older worker joins, a flow run of each kind comes to its gate.
	type flowRun struct{ name, run string }
	begun := map[flowRun]string{} // with what it needs
	for _, feature := range features {
		begun[flowRun{feature, m.start(feature, map[string]any{})}] = feature
	}
	begun[flowRun{"quiet", m.start("quiet", map[string]any{"after": false})}] = common.FeatureNoAfter
	plain, live := m.start("plain", map[string]any{}), m.start("live", map[string]any{})
	failed := map[string][]string{}
	for _, name := range []string{common.FeatureNested, common.FeatureAccept} {
		for range 2 {
			run := m.start(name, map[string]any{})
			if end := endedRun(a, run); end.Status != common.StatusFailed {
				t.Fatalf("%s: %+v", name, end)
			}
			failed[name] = append(failed[name], run)
		}
	}
	(&rerunStory{api: a, dir: dir}).does("mended", "")
	requests := map[string]map[string]any{common.FeatureNested: {}, common.FeatureAccept: {"accept": []string{"first"}}}
	for name, request := range requests {
		begun[flowRun{name, m.again(failed[name][0], request)}] = name
	}
	for f := range begun {
		m.asks(f.run)
	}
	m.asks(plain)
	m.asks(live)

	older := launch(t, "older worker", oldWorker, c.flags("--name", "older", "--data-dir",
		filepath.Join(c.dir, "older"), "--metrics-listen", "off")...)
	var workers map[string]common.Registration
	eventually(t, "the older worker is registered", func() bool {
		workers = registered(t, m.client)
		return workers["older"].Worker != ""
	})
	// The former by TestMixedVersions; the latter has no code of its own in a worker.
	tested := []string{common.FeatureDetach, common.FeatureGroups}
	for _, feature := range begun {
		tested = append(tested, feature)
	}
	lacking := common.Lacking(workers["newer"].Features, workers["older"].Features)
	if missing := common.Lacking(lacking, tested); len(missing) > 0 {
		t.Errorf("the older worker lacks features that this test does not exercise: %v", missing)
	}

	// Beside it, new fires are missed or wait, and re-runs wait. All workers know it once the first fire was missed.
	often()
	var missed []run
	eventually(t, "fires of the schedule are missed", func() bool {
		missed = slices.DeleteFunc(m.runs("job=often"), func(r run) bool { return r.Status != "missed" })
		return len(missed) > 2
	})
	since := missed[0].PlannedAt
	for _, r := range missed {
		since = slices.MinFunc([]time.Time{since, r.PlannedAt}, time.Time.Compare)
		why := m.shown(r.ID).Reason
		for _, feature := range features {
			if why == nil || why.Code != common.ReasonNoWorker || !strings.Contains(why.Data["needs"], feature) {
				t.Errorf("a fire that needs %s was missed because of %+v", feature, why)
			}
		}
	}
	waiting := map[flowRun]string{}
	for _, feature := range features {
		waiting[flowRun{feature, m.start(feature, map[string]any{})}] = feature
	}
	for name, request := range requests {
		waiting[flowRun{name, m.again(failed[name][1], request)}] = name
	}
	waits := func(where string) {
		t.Helper()
		for f, feature := range waiting {
			eventually(t, where+", what needs "+feature+" waits because of that", func() bool {
				r := m.shown(f.run)
				if r.Status != common.StatusWaiting {
					t.Fatalf("%s, what needs %s is %s", where, feature, r.Status)
				}
				return r.Reason != nil && r.Reason.Code == common.ReasonNoWorker &&
					strings.Contains(r.Reason.Data["needs"], feature)
			})
		}
	}
	m.again(live, map[string]any{"accept": []string{"first"}})
	begun[flowRun{"live", live}] = common.FeatureAccept
	quiet := m.start("quiet", map[string]any{"after": false}) // the newer worker claims it
	begun[flowRun{"quiet", quiet}] = common.FeatureNoAfter
	m.asks(quiet)
	both := m.start("plain", map[string]any{})
	m.approve(both)
	if end := endedRun(a, both); end.Status != common.StatusSucceeded {
		t.Errorf("beside the older worker, a plain flow run is %s", end.Status)
	}
	waits("beside the older worker")
	for _, r := range m.runs("job=often") {
		if r.PlannedAt.After(since) && r.Status != "missed" && r.Status != "waiting" {
			t.Errorf("beside the older worker, a flow run that needs all features is %s", r.Status)
		}
	}
	for _, feature := range append(features, common.FeatureNoAfter) {
		eventually(t, "a condition names "+feature, func() bool {
			for _, condition := range m.overview().Degraded {
				if condition.Code == common.ConditionMissesFeature && condition.Data["worker"] == "older" &&
					strings.Contains(condition.Data["needs"], feature) {
					return true
				}
			}
			return false
		})
	}

	// The older worker alone takes over the plain flow run, and none of the others, whose gates open first.
	if code := newer.end(syscall.SIGTERM); code != 0 {
		t.Fatalf("the newer worker ended with %d", code)
	}
	before := map[string][]string{}
	for f, feature := range begun {
		before[f.run] = m.marks(f.run)
		if needs := m.needs(f.name, f.run); needs != feature {
			t.Errorf("the head of %s needs %q, want %s", f.name, needs, feature)
		}
		m.approve(f.run)
	}
	second := flowRun{"quiet", m.start("quiet", map[string]any{"after": false})}
	waiting[second] = common.FeatureNoAfter
	m.approve(plain)
	alone := m.start("plain", map[string]any{})
	m.approve(alone)
	for _, run := range []string{plain, alone} {
		if end := endedRun(a, run); end.Status != common.StatusSucceeded {
			t.Errorf("by the older worker, a plain flow run is %s", end.Status)
		}
	}
	for f, feature := range begun {
		if now := m.marks(f.run); m.shown(f.run).Status != common.StatusRunning || !slices.Equal(now, before[f.run]) {
			t.Errorf("the older worker advanced a flow run that needs %s: %s, %v were %v", feature,
				m.shown(f.run).Status, now, before[f.run])
		}
	}
	waits("by the older worker")

	// The newer one advances them when it is back. Only fires wait for the older one to leave, and the retry is one.
	c.joined(m.client, "newer")
	for f, feature := range begun {
		end, want := endedRun(a, f.run), common.StatusSucceeded
		if feature == common.FeatureFlowRetry {
			want = common.StatusFailed
		}
		if end.Status != want {
			t.Errorf("by the newer worker, the flow run that needs %s is %s", feature, end.Status)
		}
	}
	m.approve(second.run)
	if end := endedRun(a, second.run); end.Status != common.StatusSucceeded {
		t.Errorf("by the newer worker, a flow run that needs %s is %s", waiting[second], end.Status)
	}
	delete(waiting, second)
	retried := ""
	for f, feature := range begun {
		if feature == common.FeatureFlowRetry {
			retried = strings.TrimSuffix(f.run, "1") + "2"
			waiting[flowRun{f.name, retried}] = feature
		}
	}
	waits("beside the older worker again")

	if code := older.end(syscall.SIGTERM); code != 0 {
		t.Fatalf("the older worker ended with %d", code)
	}
	for f, feature := range waiting {
		if f.run != retried { // its gate is kept
			m.approve(f.run)
		}
		want := common.StatusSucceeded
		if feature == common.FeatureFlowRetry && f.run != retried {
			want = common.StatusFailed // and is tried again
		}
		if end := endedRun(a, f.run); end.Status != want {
			t.Errorf("once the older worker has left, the flow run that needs %s is %s", feature, end.Status)
		}
	}
	m.ends(common.FeatureFlowRetry, 2)
	for _, r := range m.runs("job=child") {
		t.Errorf("a flow run with after: false has started %s", r.ID)
	}
	m.approve(m.start("quiet", map[string]any{}))
	m.ends("child", 1)
}
