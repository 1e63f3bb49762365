package executor

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCgroupPath(t *testing.T) {
	const (
		unified = "22 1 0:20 / /proc rw - proc proc rw\n30 20 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		hybrid  = "31 20 0:26 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
		inner   = "30 20 0:26 /user.slice /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		old     = "31 20 0:26 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
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

// A folder stands for the kernel's: what cannot be used is left as it was.
func TestCgroupsOfOthersAreLeftAlone(t *testing.T) {
	for name, c := range map[string]struct{ procs, why string }{
		"others in it":      {"12\n13\n14\n", "other processes"},
		"an old kernel":     {"12\n13\n", "cgroup.kill"},
		"no group":          {"", "cgroup.procs"},
		"nobody to be seen": {"\n", "cgroup.kill"},
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

func TestCgroupsThatFailAreGivenUp(t *testing.T) {
	groups := &cgroups{path: filepath.Join(t.TempDir(), "gone"), log: slog.New(slog.DiscardHandler)}
	if l, _ := groups.leaf(); l != nil || !groups.off.Load() {
		t.Errorf("%+v", l)
	}
	var none *leaf
	if none.kill() || !none.remove() {
		t.Error("there is something in no group")
	}
	none.close()
}
