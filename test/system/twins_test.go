package system

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// keys is a client of the cluster's etcd, for what no API shows.
func (c *cluster) keys() *clientv3.Client {
	c.t.Helper()
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   []string{"http://" + c.etcdAt},
		DialTimeout: 10 * time.Second,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = client.Close() })
	return client
}

// expire ends the lease of a key at once, as its TTL does some seconds after its process was killed.
func (c *cluster) expire(key string) {
	c.t.Helper()
	client := c.keys()
	ctx, cancel := context.WithTimeout(c.t.Context(), 10*time.Second)
	defer cancel()
	resp, err := client.Get(ctx, key)
	if err == nil && len(resp.Kvs) == 1 {
		_, err = client.Revoke(ctx, clientv3.LeaseID(resp.Kvs[0].Lease))
	}
	if err != nil {
		c.t.Fatalf("expire the lease of %s: %v", key, err)
	}
}

// registered gives what is registered just now, by name.
func registered(t testing.TB, client *clientv3.Client) map[string]common.Registration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	resp, err := client.Get(ctx, common.WorkersPrefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]common.Registration{}
	for _, kv := range resp.Kvs {
		reg, err := common.Decode[common.Registration](kv.Value)
		if err != nil {
			t.Fatal(err)
		}
		found[reg.Name] = reg
	}
	return found
}

// machine is a network and a set of processes of its own, with a wire to this one.
type machine struct {
	name string
	host string // the address of this machine on the wire
}

// newMachine makes one, or skips the test.
func newMachine(t *testing.T) machine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make another network")
	}
	n := os.Getpid() % 16384
	m := machine{name: fmt.Sprintf("bells%d", n), host: fmt.Sprintf("198.18.%d.%d", n/64, n%64*4+1)}
	there := fmt.Sprintf("198.18.%d.%d/30", n/64, n%64*4+2)
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", m.name).Run() })
	for _, line := range []string{
		"netns add " + m.name,
		"link add " + m.name + "a type veth peer name " + m.name + "b netns " + m.name,
		"addr add " + m.host + "/30 dev " + m.name + "a",
		"link set " + m.name + "a up",
		"-n " + m.name + " addr add " + there + " dev " + m.name + "b",
		"-n " + m.name + " link set " + m.name + "b up",
		"-n " + m.name + " link set lo up",
	} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Skipf("another network cannot be made here: ip %s: %v: %s", line, err, out)
		}
	}
	if out, err := exec.Command("ip", m.enter("true")...).CombinedOutput(); err != nil {
		t.Skipf("a set of processes of its own cannot be made here: %v: %s", err, out)
	}
	return m
}

// enter are the arguments of ip(8) that run a program on the machine.
func (m machine) enter(program ...string) []string {
	return append([]string{"netns", "exec", m.name, "unshare", "--pid", "--fork", "--kill-child", "--mount-proc"},
		program...)
}

// free returns an unused address of the network.
func (m machine) free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", m.host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func copyFolder(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// patient makes a job whose runs last until the gate is there, and runs it once.
func (a *api) patient(gate string) (id string) {
	a.t.Helper()
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": "patient", "onLost": "abandon",
		"command": "while [ ! -e " + gate + " ]; do sleep 0.05; done"}, nil)
	var accepted struct{ Run string }
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/patient/run", map[string]string{}, &accepted)
	eventually(a.t, "it runs", func() bool { return a.count("job=patient", status("running")) == 1 })
	return accepted.Run
}

// A second life of a worker does not start while the first lives, wherever it is
// started, and does the first no harm.
func TestWorker_SecondIncarnation_DoesNotStart(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	a := c.master()
	a.token = c.bootstrap()
	eventually(t, "the master is ready", a.ready)
	first, home := c.worker("east"), filepath.Join(c.dir, "east")
	gate := filepath.Join(c.dir, "gate")
	id := a.patient(gate)
	// Between fork and exec, a child of the shell bears its name as well.
	var command []string
	eventually(t, "the command is one process", func() bool {
		command = processes(t, "^/bin/sh .*"+gate)
		return len(command) == 1
	})
	life := registered(t, c.keys())["east"].Life
	args := func(dir string) []string {
		return c.flags("--name", "east", "--data-dir", dir, "--metrics-listen", "off")
	}
	for name, begin := range map[string]func(t *testing.T) *process{
		"on the same folder": func(t *testing.T) *process { return start(t, "carillon-worker", args(home)...) },
		"on a copy": func(t *testing.T) *process {
			return start(t, "carillon-worker", args(copyFolder(t, home))...)
		},
		// It has no network to ask etcd by, but sees the commands of the first.
		"on a copy, in another network": func(t *testing.T) *process {
			if out, err := exec.Command("unshare", "--net", "true").CombinedOutput(); err != nil {
				t.Skipf("another network cannot be made here: %v: %s", err, out)
			}
			return launch(t, "carillon-worker", "unshare",
				append([]string{"--net", filepath.Join(bin, "carillon-worker")}, args(copyFolder(t, home))...)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			second := begin(t)
			if code := second.exit(); code != 4 || !strings.Contains(second.Text(), "in use") {
				t.Errorf("ended with %d: %s", code, second.Text())
			}
			eventually(t, "the command runs, once", func() bool {
				return slices.Equal(processes(t, "^/bin/sh .*"+gate), command)
			})
			if now := registered(t, c.keys())["east"].Life; now != life || !first.Alive() {
				t.Errorf("the life was %+v, and is %+v", life, now)
			}
		})
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the run succeeds", func() bool { return a.count("job=patient", status("succeeded")) == 1 })
	if all := a.runs("job=patient"); len(all) != 1 || all[0].ID != id {
		t.Errorf("runs of the job: %+v", all)
	}
	if code := first.end(syscall.SIGTERM); code != 0 {
		t.Errorf("the first stopped with %d", code)
	}
}

// A copy on another machine asks etcd who lives, and gives up; when the first is dead,
// a copy becomes the worker, here and there.
func TestDataFolder_MovedToAnotherMachine(t *testing.T) {
	t.Parallel()
	there := newMachine(t)
	c := &cluster{t: t, dir: t.TempDir(), etcdAt: there.free(t), mongoAt: there.free(t)}
	c.startEtcd()
	c.startMongo()
	a := c.master()
	a.token = c.bootstrap()
	eventually(t, "the master is ready", a.ready)
	first, home := c.worker("east"), filepath.Join(c.dir, "east")
	gate := filepath.Join(c.dir, "gate")
	a.patient(gate)
	life := registered(t, c.keys())["east"].Life
	args := func(dir string) []string {
		return c.flags("--name", "east", "--data-dir", dir, "--metrics-listen", "off")
	}
	away := func() *process {
		return launch(t, "carillon-worker", "ip",
			there.enter(append([]string{filepath.Join(bin, "carillon-worker")}, args(copyFolder(t, home))...)...)...)
	}
	second := away()
	if code := second.exit(); code != 4 || !strings.Contains(second.Text(), "another process is registered") {
		t.Fatalf("the copy ended with %d: %s", code, second.Text())
	}
	if now := registered(t, c.keys())["east"].Life; now != life || !first.Alive() ||
		a.count("job=patient", status("running")) != 1 {
		t.Fatalf("the life was %+v, and is %+v", life, now)
	}

	client := c.keys()
	becomes := func(what string) {
		t.Helper()
		old := life
		eventually(t, what, func() bool {
			reg, found := registered(t, client)["east"]
			life = reg.Life
			return found && life.Worker == old.Worker && life.Life != old.Life
		})
	}
	gone := func() {
		t.Helper()
		eventually(t, "every process of the first has ended", func() bool {
			return len(processes(t, "carillon-worker .*"+filepath.Dir(c.dir))) == 0
		})
	}
	if code := first.end(syscall.SIGKILL); code != -1 {
		t.Fatalf("killed, but ended with %d", code)
	}
	gone()
	copied := copyFolder(t, home)
	third := start(t, "carillon-worker", args(copied)...)
	becomes("a copy here is the worker")
	eventually(t, "what the first ran is written down", func() bool {
		return a.count("job=patient", status("lost")) == 1
	})
	if code := third.end(syscall.SIGKILL); code != -1 {
		t.Fatalf("killed, but ended with %d", code)
	}
	gone()
	away()
	becomes("a copy elsewhere is the worker")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/patient/run", map[string]string{}, nil)
	eventually(t, "it runs commands", func() bool { return a.count("job=patient", status("succeeded")) == 1 })
}
