package executor

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"carillon/internal/common"
)

func TestCgroupPath(t *testing.T) {
	const (
		unified = "22 1 0:20 / /proc rw - proc proc rw\n30 20 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 " +
			"cgroup2 rw,nsdelegate\n"
		hybrid = "31 20 0:26 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n41 31 0:38 / " +
			"/sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
		inner = "30 20 0:26 /user.slice /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		old   = "31 20 0:26 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
	)
	for _, c := range []struct{ own, mounts, want string }{
		{"0::/system.slice/carillon-worker.service\n", unified, "/sys/fs/cgroup/system.slice/carillon-worker.service"},
		{"0::/\n", unified, "/sys/fs/cgroup"},
		{"3:pids:/a\n1:name=systemd:/b\n0::/b\n", hybrid, "/sys/fs/cgroup/unified/b"},
		{"0::/user.slice/x\n", inner, "/sys/fs/cgroup/x"},
		{"0::/system.slice\n", inner, ""},
		{"0::/../other\n", unified, ""},
		{"3:pids:/a\n", unified, ""},
		{"0::/a\n", old, ""},
		{"", "", ""},
	} {
		if got, err := cgroupPath(c.own, c.mounts); got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%q in %q: %q, %v; want %q", c.own, c.mounts, got, err, c.want)
		}
	}
}

// A folder replaces the kernel's: a group that cannot be used remains unchanged.
func TestCgroupsOfOtherWorkers_AreNotRemoved(t *testing.T) {
	for name, c := range map[string]struct{ procs, why string }{
		"others in it":       {"12\n13\n14\n", "other processes"},
		"an old kernel":      {"12\n13\n", "cgroup.kill"},
		"no group":           {"", "cgroup.procs"},
		"no process visible": {"\n", "cgroup.kill"},
	} {
		dir := t.TempDir()
		if c.procs != "" {
			if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(c.procs), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		groups := &cgroups{path: dir, log: slog.New(slog.DiscardHandler)}
		if err := groups.try(12, 13); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "run-*")); len(left) != 0 || err != nil {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
	}
}

func TestCgroups_Failure_IsNotRetried(t *testing.T) {
	groups := &cgroups{path: filepath.Join(t.TempDir(), "gone"), log: slog.New(slog.DiscardHandler)}
	if l, _ := groups.leaf(limits{}); l != nil || !groups.off.Load() {
		t.Errorf("%+v", l)
	}
	var none *leaf
	if none.kill() > 0 || !none.remove() {
		t.Error("there is something in no group")
	}
	none.close()
}

// fakeGroup returns a folder in the form of a delegated group with these controllers.
func fakeGroup(t *testing.T, controllers, procs string) *cgroups {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"cgroup.controllers": controllers, "cgroup.procs": procs} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &cgroups{path: dir, log: slog.New(slog.DiscardHandler)}
}

func wantFile(t *testing.T, want string, path ...string) {
	t.Helper()
	if got, err := os.ReadFile(filepath.Join(path...)); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", filepath.Join(path...), got, err, want)
	}
}

// The worker leaves the delegated group before it turns the controllers on: the kernel wants no process there.
func TestControllersAreTurnedOnForRuns(t *testing.T) {
	c := fakeGroup(t, "cpuset cpu io memory hugetlb pids\n", "12\n")
	worker := filepath.Join(c.path, workerLeaf)
	if err := os.Mkdir(worker, 0o700); err != nil { // of an earlier life
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(worker, "cgroup.procs"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.path, "cgroup.subtree_control"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.control([]int{12, 13}); err != nil {
		t.Fatal(err)
	}
	wantFile(t, "12", worker, "cgroup.procs")
	wantFile(t, "+memory +pids", c.path, "cgroup.subtree_control")
	if !c.can(controllerMemory) || !c.can(controllerPids) {
		t.Errorf("on: %q", c.controllers)
	}
	c.turnOff(os.ErrInvalid)
	if c.can(controllerMemory) {
		t.Error("a group that is given up limits nothing")
	}

	none := fakeGroup(t, "cpuset hugetlb\n", "12\n")
	if err := none.control([]int{12}); err == nil || none.can(controllerPids) {
		t.Errorf("%v, on: %q", err, none.controllers)
	}
	if _, err := os.Stat(filepath.Join(none.path, workerLeaf)); !os.IsNotExist(err) {
		t.Error("a worker that turns nothing on has moved")
	}
}

func TestLimitsOfARun(t *testing.T) {
	for name, c := range map[string]struct {
		controllers []string
		job         common.Job
		files       map[string]string
	}{
		"default": {[]string{"memory", "pids"}, common.Job{}, map[string]string{"pids.max": "512"}},
		"asked for": {[]string{"memory", "pids"}, common.Job{MemoryMax: "64MiB", TasksMax: 20}, map[string]string{
			"pids.max":         "20",
			"memory.max":       "67108864",
			"memory.oom.group": "1",
		}},
		"without controller": {[]string{"pids"}, common.Job{MemoryMax: "64MiB"}, map[string]string{"pids.max": "512"}},
		"none":               {nil, common.Job{TasksMax: 7}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			groups := fakeGroup(t, "", "")
			groups.controllers = c.controllers
			for file := range c.files {
				if err := os.MkdirAll(filepath.Join(groups.path, "run-1"), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(groups.path, "run-1", file), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			l := &leaf{path: filepath.Join(groups.path, "run-1")}
			if err := groups.limit(l, limitsOf(&c.job)); err != nil {
				t.Fatal(err)
			}
			entries, _ := os.ReadDir(l.path)
			if len(entries) != len(c.files) {
				t.Errorf("wrote %v", entries)
			}
			for file, want := range c.files {
				wantFile(t, want, l.path, file)
			}
		})
	}
}

func TestReachedLimits_AreReported(t *testing.T) {
	for name, c := range map[string]struct {
		memory, pids string
		job          common.Job
		reason       string
	}{
		"nothing": {"low 0\nhigh 0\nmax 5\noom 0\noom_kill 0\noom_group_kill 0\n", "max 0\n",
			common.Job{MemoryMax: "1MiB"}, ""},
		"memory": {"max 5\noom 1\noom_kill 3\noom_group_kill 1\n", "max 0\n",
			common.Job{MemoryMax: "1MiB"}, common.ReasonOutOfMemory},
		"tasks":                 {"oom_kill 0\n", "max 12\n", common.Job{MemoryMax: "1MiB"}, common.ReasonTooManyTasks},
		"memory of the machine": {"oom_kill 1\n", "max 0\n", common.Job{}, ""},
		"not counted":           {"", "", common.Job{MemoryMax: "1MiB"}, ""},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"memory.events": c.memory, "pids.events": c.pids} {
			if text == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		if o := (&leaf{path: dir}).hit(limitsOf(&c.job)); o != nil {
			got = o.Reason.Code
		}
		if got != c.reason {
			t.Errorf("%s: %q, want %q", name, got, c.reason)
		}
	}
	if (*leaf)(nil).hit(limits{}) != nil {
		t.Error("no group reached a limit")
	}
}

// A worker whose machine cannot limit runs lacks the features, and refuses what asks for them.
func TestLimitsAreFeaturesOfTheMachine(t *testing.T) {
	x := &Executor{}
	if got := common.Lacking(common.Features[:], x.Features()); !slices.Equal(got,
		[]string{common.FeatureMemoryMax, common.FeatureTasksMax}) {
		t.Errorf("lacks %q", got)
	}
	x.cgroups = &cgroups{controllers: []string{controllerPids}}
	if got := common.Lacking(common.Features[:], x.Features()); !slices.Equal(got,
		[]string{common.FeatureMemoryMax}) {
		t.Errorf("lacks %q", got)
	}
}

// A group that no process can be in: a run without limits starts outside of it, and one with limits is left to other
// workers. No further group is made.
func TestGroupThatCannotBeEntered(t *testing.T) {
	for name, c := range map[string]struct {
		job  common.Job
		want common.Status
		why  string
	}{
		"no limits": {common.Job{Command: "true"}, common.StatusSucceeded, ""},
		"limits":    {common.Job{Command: "true", TasksMax: 10}, common.StatusFailed, common.ReasonCannotStart},
	} {
		x, err := New(Config{BaseDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		x.cgroups = fakeGroup(t, "", "") // the kernel lets no process start in an ordinary folder
		x.cgroups.controllers = []string{controllerPids}
		c.job.Name = "job"
		record := common.Record{Job: c.job.Name, Run: "run.1", Policy: c.job.Terms().Policy}
		run := x.Run(t.Context(), Task{Job: common.StoredJob{Job: c.job}, Record: record}, nowhere{})
		code := ""
		if run.Reason != nil {
			code = run.Reason.Code
		}
		if run.Status != c.want || code != c.why || !x.cgroups.off.Load() {
			t.Errorf("%s: %s %+v, groups given up: %t", name, run.Status, run.Reason, x.cgroups.off.Load())
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}
