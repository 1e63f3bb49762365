package system

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/test/harness"
)

// The master that takes a request on a flow run, and the worker that keeps that, are killed at the moment of the
// request, which is then repeated with its key on another master. It takes effect once, and the flow run goes on.
func TestFlow_RequestAtTheDeathOfMasterAndKeeper_TakesEffectOnce(t *testing.T) {
	t.Parallel() // it mostly waits
	d := newDeaths(t)
	for round := range 2 {
		for name, play := range map[string]func(string){"accept": d.accepts, "rerun": d.reruns, "approve": d.approves} {
			play(fmt.Sprintf("%s%d", name, round))
		}
	}
}

// deaths is a cluster of three workers and two masters, of which one is killed and started again.
type deaths struct {
	*fleet
	t      *testing.T
	random *rand.Rand
	// effects counts the requests: at every other one the master dies when the request has taken effect.
	effects int
	dead    string // the worker that was killed; empty if it was started again
}

func newDeaths(t *testing.T) *deaths {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return &deaths{fleet: newFleet(t), t: t, random: rand.New(rand.NewPCG(seed, 0))}
}

// path returns the name of a file of a job.
func (d *deaths) path(job, file string) string { return filepath.Join(d.dir, job+"-"+file) }

// does returns a step that notes that it ran, and then does more.
func (d *deaths) does(job, name, more string, after ...string) map[string]any {
	return map[string]any{"name": name, "after": after, "command": fmt.Sprintf(
		"echo %s $CARILLON_RUN_ID >>%s\n%s", name, d.path(job, "ran"), more)}
}

// create saves a flow.
func (d *deaths) create(name string, steps ...map[string]any) {
	d.t.Helper()
	d.a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": name, "steps": steps,
		"timeout": "10m", "onLost": "rerun", "lostAfter": "20s", "killGrace": "1s"}, nil)
}

// awaits waits until a node of a flow run has a status.
func (d *deaths) awaits(run, node string, status common.Status) (n keptNode) {
	d.t.Helper()
	eventually(d.t, fmt.Sprintf("%s of %s is %s", node, run, status), func() bool {
		var page struct{ Items []keptNode }
		code, err := d.a.try(http.MethodGet, "/api/v1/runs/"+run+"/nodes?limit=100", nil, &page)
		for _, n = range page.Items {
			if n.Node == node {
				return err == nil && code == http.StatusOK && n.Status == status
			}
		}
		return false
	})
	return n
}

// dies makes a request to a master that is killed meanwhile, as is the worker that keeps a flow run, and repeats it on
// the other master. In half of the cases the worker is started again only when the flow run has ended.
func (d *deaths) dies(keeps, path string, body, out any, want ...int) {
	d.t.Helper()
	victim, doomed := d.masterAt(freePort(d.t))
	doomed.token = d.a.token
	eventually(d.t, "the master that will be killed is ready", doomed.ready)
	live := registered(d.t, d.client)
	keeper := keeperOf(live, keeps).Name
	key := fmt.Sprintf("%x", d.random.Uint64())
	ask := func(a *api, out any) (int, error) {
		ctx, cancel := context.WithTimeout(d.t.Context(), patience)
		defer cancel()
		remote := harness.API{Base: a.base, Token: a.token, Client: http.DefaultClient}
		return remote.Ask(ctx, http.MethodPost, path, body, out, "Idempotency-Key", key)
	}
	took := d.effects%2 == 0
	d.effects++
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	changes := d.client.Watch(clientv3.WithRequireLeader(ctx), common.ChangesPrefix, clientv3.WithPrefix(),
		clientv3.WithFilterDelete(), clientv3.WithCreatedNotify())
	<-changes // it has begun
	first := make(chan string, 1)
	go func() {
		status, err := ask(doomed, nil)
		first <- fmt.Sprint(status, " ", err)
	}()
	if took {
		<-changes // each request that takes effect is audited in the same transaction
	} else {
		time.Sleep(time.Duration(d.random.Int64N(int64(20 * time.Millisecond)))) // any moment will do
	}
	victim.Kill()
	d.workers[keeper].Kill()
	d.t.Logf("%s: the master was killed, after the effect: %t; it answered %s", path, took, <-first)
	if status, err := ask(d.a, out); !slices.Contains(want, status) || status < 300 && err != nil {
		d.t.Fatalf("POST %s: %d, %v; want one of %d", path, status, err, want)
	}
	if d.dead = keeper; d.random.IntN(2) == 0 {
		d.revive()
	}
}

// revive starts the worker again that was killed, unless it has been started.
func (d *deaths) revive() {
	if d.dead != "" {
		d.workers[d.dead] = d.worker(d.dead)
		d.dead = ""
	}
}

// settles waits for the end of a flow run, and checks that no run of its steps began twice.
func (d *deaths) settles(job, run string) map[string]int {
	d.t.Helper()
	if end := endedRun(d.a, run); end.Status != common.StatusSucceeded {
		d.t.Errorf("%s is %s (%s)", job, end.Status, end.Reason)
	}
	d.revive()
	data, err := os.ReadFile(d.path(job, "ran"))
	if err != nil {
		d.t.Fatal(err)
	}
	began, runs := map[string]int{}, map[string]bool{}
	for line := range strings.Lines(string(data)) {
		step, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		if runs[id] {
			d.t.Errorf("%s: run %s began twice:\n%s", job, id, data)
		}
		runs[id] = true
		began[step]++
	}
	eventually(d.t, "all workers are registered", func() bool {
		return len(registered(d.t, d.client)) == len(d.workers)
	})
	return began
}

// accepts accepts the failure of a step while another one runs.
func (d *deaths) accepts(job string) {
	d.create(job, d.does(job, "load", "exit 1"), d.does(job, "publish", "", "load"),
		d.does(job, "slow", "while ! [ -e "+d.path(job, "go")+" ]; do sleep 0.05; done"))
	run := d.run(job)
	d.awaits(run, "load", common.StatusFailed)
	d.awaits(run, "slow", common.StatusRunning)
	d.dies(run, "/api/v1/runs/"+run+"/rerun", map[string]any{"accept": []string{"load"}, "note": "by hand"}, nil,
		http.StatusAccepted)
	d.awaits(run, "publish", common.StatusSucceeded)
	if err := os.WriteFile(d.path(job, "go"), nil, 0o600); err != nil {
		d.t.Fatal(err)
	}
	if n := d.settles(job, run); n["load"] != 1 {
		d.t.Errorf("%s: the step that was accepted began %d times", job, n["load"])
	}
	load := d.awaits(run, "load", common.StatusFailed)
	if load.Accepted == nil || load.Accepted.Note != "by hand" {
		d.t.Errorf("%s: accepted %+v", job, load.Accepted)
	}
}

// reruns re-runs a flow run whose step ran a flow that goes on from its failure.
func (d *deaths) reruns(job string) {
	inner := job + "-inner"
	d.create(inner, d.does(job, "x", ""), d.does(job, "y", "test -e "+d.path(job, "mended"), "x"))
	d.create(job, d.does(job, "first", ""), map[string]any{"name": "etl", "job": inner, "after": []string{"first"}},
		d.does(job, "last", "", "etl"))
	failed := d.run(job)
	if end := endedRun(d.a, failed); end.Status != common.StatusFailed {
		d.t.Fatalf("%s is %s", job, end.Status)
	}
	if err := os.WriteFile(d.path(job, "mended"), nil, 0o600); err != nil {
		d.t.Fatal(err)
	}
	var planned, got struct{ Run string }
	path := "/api/v1/runs/" + failed + "/rerun"
	d.a.do(http.StatusOK, http.MethodPost, path, map[string]any{"dryRun": true}, &planned)
	d.dies(planned.Run, path, map[string]any{}, &got, http.StatusAccepted)
	if got.Run != planned.Run {
		d.t.Errorf("%s: the repeated request made %s, want %s", job, got.Run, planned.Run)
	}
	if n := d.settles(job, got.Run); n["first"] != 1 || n["x"] != 1 || n["y"] < 2 || n["last"] < 1 {
		d.t.Errorf("%s: what is kept ran again, or what failed did not: %v", job, n)
	}
}

// approves answers an approval with a parameter, which the next step reads.
func (d *deaths) approves(job string) {
	publish := d.does(job, "publish", `test "$TICKET" = FIN-7`, "release")
	publish["env"] = map[string]string{"TICKET": "${{ steps.release.outputs.TICKET }}"}
	d.create(job, map[string]any{"name": "release", "approval": map[string]any{"text": "Publish?",
		"timeout": "5m", "params": map[string]any{"TICKET": map[string]any{"pattern": `FIN-\d+`}}}}, publish)
	run := d.run(job)
	eventually(d.t, "the approval waits", func() bool {
		var page struct{ Items []struct{ Run string } }
		code, err := d.a.try(http.MethodGet, "/api/v1/approvals?job="+job, nil, &page)
		return err == nil && code == http.StatusOK && len(page.Items) == 1
	})
	d.dies(run, "/api/v1/runs/"+run+"/approve", map[string]any{"step": "release",
		"params": map[string]string{"TICKET": "FIN-7"}}, nil, http.StatusNoContent,
		http.StatusConflict, http.StatusNotFound) // it was approved, or the flow run has ended
	d.settles(job, run)
}
