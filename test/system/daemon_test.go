package system

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// consumer is a daemon job whose replicas each hold a lock: a second run of a replica leaves a note.
type consumer struct {
	t   *testing.T
	api *api
	dir string
}

func (c *consumer) save(version string) {
	c.t.Helper()
	command := fmt.Sprintf(`exec 9>%[1]s/lock.$CARILLON_REPLICA
flock -n 9 || echo "replica $CARILLON_REPLICA" >> %[1]s/twice
%[2]s`, c.dir, version)
	status, err := c.api.try(http.MethodPut, "/api/v1/jobs/consumer", map[string]any{
		"name":      "consumer",
		"command":   command,
		"daemon":    map[string]any{"count": 3, "healthyAfter": "2s", "maxBackoff": "2s"},
		"killGrace": "2s",
		"lostAfter": "20s",
	}, nil)
	if err != nil || status != http.StatusOK && status != http.StatusCreated {
		c.t.Fatal(status, err)
	}
}

// running returns the workers that run replicas, one entry for each.
func (c *consumer) running() (workers []string) {
	c.t.Helper()
	for _, r := range c.api.runs("job=consumer&status=running") {
		workers = append(workers, r.WorkerName)
	}
	slices.Sort(workers)
	return workers
}

func (c *consumer) expect(what string, workers ...string) {
	c.t.Helper()
	eventually(c.t, what, func() bool { return slices.Equal(c.running(), workers) })
}

// A consumer survives the death of a worker, moves away from one that is drained, and is updated one replica at a time:
// a version that fails stops at the first one.
func TestDaemon(t *testing.T) {
	t.Parallel()
	c, a := readyCluster(t)
	client := c.keys()
	east := c.joined(client, "east")
	c.joined(client, "north")
	c.joined(client, "west")
	job := consumer{t, a, t.TempDir()}
	const sleeps = "exec sleep 100000"
	job.save(sleeps)
	job.expect("each worker runs a replica", "east", "north", "west")

	east.Signal(syscall.SIGKILL)
	eventually(t, "the replica of the dead worker runs on another one", func() bool {
		now := job.running()
		return len(now) == 3 && !slices.Contains(now, "east")
	})
	north := registered(t, client)["north"].Worker
	a.do(http.StatusOK, http.MethodPost, "/api/v1/workers/"+north+"/drain", map[string]any{}, nil)
	job.expect("the replicas of the drained worker have moved", "west", "west", "west")
	a.do(http.StatusOK, http.MethodPost, "/api/v1/workers/"+north+"/undrain", map[string]any{}, nil)

	job.save("exit 3")
	eventually(t, "the new version fails", func() bool {
		return a.count("job=consumer", func(r run) bool { return r.Status == "failed" }) > 3
	})
	if now := job.running(); len(now) != 2 {
		t.Errorf("%d replicas run beside a version that fails, want 2", len(now))
	}
	job.save(sleeps)
	eventually(t, "three replicas run again", func() bool { return len(job.running()) == 3 })
	if twice, err := os.ReadFile(filepath.Join(job.dir, "twice")); err == nil {
		t.Errorf("two runs at a time of:\n%s", strings.TrimSpace(string(twice)))
	}
	a.do(http.StatusNoContent, http.MethodDelete, "/api/v1/jobs/consumer?kill=true", nil, nil)
	eventually(t, "no replica runs", func() bool { return len(job.running()) == 0 })
}
