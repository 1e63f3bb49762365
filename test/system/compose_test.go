package system

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/runlog/mongolog"
)

// topology is deploy/compose.yaml played with processes instead of containers: the same
// programs with the same arguments and environments, but for folders and addresses.
type topology struct {
	t        *testing.T
	dir      string
	services map[string]struct {
		Command     []string
		Environment map[string]string
		Healthcheck struct{ Test []string }
	}
	etcdAt, peerAt, masterAt, mongoAt string
	metricsAt                         map[string]string
}

func newTopology(t *testing.T) *topology {
	t.Helper()
	data, err := os.ReadFile("../../deploy/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := &topology{
		t:         t,
		dir:       t.TempDir(),
		etcdAt:    freePort(t),
		peerAt:    freePort(t),
		masterAt:  freePort(t),
		mongoAt:   freePort(t),
		metricsAt: map[string]string{"worker-1": freePort(t), "worker-2": freePort(t)},
	}
	var file struct{ Services any }
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	services, err := yaml.Marshal(file.Services) // with everything merged
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(services, &p.services); err != nil {
		t.Fatal(err)
	}
	return p
}

func port(address string) string { return address[strings.LastIndexByte(address, ':'):] }

// here puts folders and addresses of this machine in the place of a container's.
func (p *topology) here(service, text string) string {
	return strings.NewReplacer(
		"/run/carillon", filepath.Join(p.dir, "keys", service),
		"/var/lib/etcd", filepath.Join(p.dir, "data", "etcd"),
		"/var/lib/carillon-worker", filepath.Join(p.dir, "data", service),
		"/opt/carillon", filepath.Join("..", "..", "deploy"),
		"/usr/bin", bin, "/usr/local/bin", bin,
		"0.0.0.0:2379", p.etcdAt, "//etcd:2379", "//"+p.etcdAt, "127.0.0.1:2379", p.etcdAt, "127.0.0.1:2380", p.peerAt,
		"0.0.0.0:7070", "0.0.0.0"+port(p.masterAt), "localhost:7070", p.masterAt, "127.0.0.1:7071",
		p.metricsAt[service],
	).Replace(text)
}

func (p *topology) environ(service string) []string {
	env := []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "KEYS=" + filepath.Join(p.dir, "keys", service)}
	for key, value := range p.services[service].Environment {
		env = append(env, key+"="+p.here(service, value))
	}
	return env
}

// start runs a command in the place of a service: its own, if none is given.
func (p *topology) start(service string, command ...string) *process {
	p.t.Helper()
	if len(command) == 0 {
		command = p.services[service].Command
	}
	args := make([]string, len(command))
	for i, text := range command {
		args[i] = p.here(service, text)
	}
	if address := p.metricsAt[service]; address != "" {
		args = append(args, "--metrics-listen="+address) // the container has its own loopback
	}
	return launchWith(p.t, p.environ(service), service, args[0], args[1:]...)
}

// completes runs a service that is to end by itself, or a command in one's place.
func (p *topology) completes(service string, command ...string) *process {
	p.t.Helper()
	run := p.start(service, command...)
	if code := run.exit(); code != 0 {
		p.t.Fatalf("%s ended with %d: %s", service, code, run.Text())
	}
	return run
}

// healthy waits for a service's own health check to pass.
func (p *topology) healthy(service string) {
	p.t.Helper()
	test := p.services[service].Healthcheck.Test
	eventually(p.t, service+" is healthy", func() bool {
		args := make([]string, len(test)-1)
		for i, text := range test[1:] {
			args[i] = p.here(service, text)
		}
		check := exec.CommandContext(p.t.Context(), args[0], args[1:]...)
		check.Env = p.environ(service)
		return check.Run() == nil
	})
}

// secret is a file that a service is given.
func (p *topology) secret(service, name string) string {
	return filepath.Join(p.dir, "keys", service, name)
}

func (p *topology) authority() *x509.CertPool {
	p.t.Helper()
	data, err := os.ReadFile(p.secret("master", "ca.crt"))
	if err != nil {
		p.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		p.t.Fatal("no certificate authority")
	}
	return pool
}

// etcdAs is a client of etcd that shows the certificate of a service, or none.
func (p *topology) etcdAs(service string) *clientv3.Client {
	p.t.Helper()
	secure := &tls.Config{RootCAs: p.authority(), MinVersion: tls.VersionTLS12}
	if service != "" {
		pair, err := tls.LoadX509KeyPair(p.secret(service, "etcd.crt"), p.secret(service, "etcd.key"))
		if err != nil {
			p.t.Fatal(err)
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"https://" + p.etcdAt}, TLS: secure})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestCompose(t *testing.T) {
	t.Parallel() // it mostly waits
	for _, tool := range []string{"openssl", "curl", "base32"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s, which the image has, is not installed", tool)
		}
	}
	built(t, "etcdctl") // scripts find it in PATH
	p := newTopology(t)
	makeSecrets := func() {
		t.Helper()
		command := p.services["secrets"].Command
		script := exec.Command(p.here("secrets", command[0]), command[1:]...)
		for key, folder := range map[string]string{"SECRETS": "secrets", "KEYS": "keys", "DATA": "data"} {
			script.Env = append(script.Environ(), key+"="+filepath.Join(p.dir, folder))
		}
		if out, err := script.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command[0], err, out)
		}
	}
	makeSecrets()
	uri, err := os.ReadFile(p.secret("worker-1", "mongodb.uri"))
	if err != nil || !strings.HasPrefix(string(uri), "mongodb://carillon-worker:") {
		t.Fatalf("%q, %v", uri, err)
	}
	makeSecrets() // each start does, and changes nothing
	if again, err := os.ReadFile(p.secret("worker-1", "mongodb.uri")); err != nil || string(again) != string(uri) {
		t.Fatalf("it was %q, and is %q, %v", uri, again, err)
	}

	p.start("etcd")
	p.healthy("etcd")
	for range 2 { // the second run changes nothing
		p.completes("etcd-users")
	}
	p.healthy("etcd")
	mongo := start(t, "mongodouble", "--listen", p.mongoAt, "--dir", filepath.Join(p.dir, "mongo"))
	eventually(t, "the log store listens", func() bool { return strings.Contains(mongo.Text(), "mongodb://") })
	gate := p.mongoGate()
	master := p.start("master")
	p.healthy("master")
	workers := map[string]*process{}
	for _, name := range []string{"worker-1", "worker-2"} {
		workers[name] = p.start(name)
		p.healthy(name)
	}

	token := p.completes("master", "/usr/bin/carillon-master", "bootstrap").Text()
	a := &api{t: t, base: "https://" + p.masterAt, token: strings.TrimSpace(token),
		client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
			RootCAs:    p.authority(),
			MinVersion: tls.VersionTLS12,
		}}}}
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":      "tick",
		"cronExpr":  "* * * * * * *",
		"command":   "echo on $CARILLON_JOB",
		"placement": map[string]any{"strategy": "any"},
	}, nil)
	for name := range workers {
		eventually(t, name+" takes fires", func() bool {
			return a.count("job=tick", func(r run) bool { return r.WorkerName == name && r.Status == "succeeded" }) > 0
		})
	}

	if id := p.completes("worker-1", "/usr/bin/carillon-worker", "id",
		"--data-dir=/var/lib/carillon-worker").Text(); strings.TrimSpace(id) != registered(t,
		p.etcdAs("etcd-users"))["worker-1"].Worker {
		t.Errorf("worker-1 says that it is %q", id)
	}
	workers["worker-2"] = p.wholeLife(a, workers["worker-2"])

	// A client without a certificate is refused; a worker's has the permissions of a worker.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := p.etcdAs("").Get(ctx, common.JobsPrefix+"tick"); err == nil {
		t.Error("etcd answers without authentication")
	}
	client := p.etcdAs("worker-1")
	root := p.etcdAs("etcd-users")
	ids := registered(t, root)
	for what, try := range map[string]func() error{
		"define jobs": func() error { _, err := client.Put(t.Context(), common.JobKey("tick"), "{}"); return err },
		"read tokens": func() error {
			_, err := client.Get(t.Context(), common.AuthPrefix, clientv3.WithPrefix())
			return err
		},
		"be another": func() error {
			_, err := client.Put(t.Context(), common.WorkerKey(ids["worker-2"].Worker), "{}")
			return err
		},
		"change its rules": func() error {
			_, err := client.Put(t.Context(), common.WorkerSettingsKey(ids["worker-1"].Worker), "{}")
			return err
		},
	} {
		if err := try(); !errors.Is(err, rpctypes.ErrPermissionDenied) {
			t.Errorf("a worker may %s: %v", what, err)
		}
	}

	for name, worker := range workers {
		if code := worker.end(syscall.SIGTERM); code != 0 {
			t.Errorf("%s stopped with %d", name, code)
		}
		if left := leftBehind(t, root, ids[name].Worker); len(left) > 0 {
			t.Errorf("%s left behind %v", name, left)
		}
	}
	a.do(http.StatusNoContent, http.MethodDelete, "/api/v1/jobs/tick", nil, nil)
	everyFireOnce(t, a.runs("job=tick"))
	p.keepsToItsRole(gate)
	for _, daemon := range append(slices.Collect(maps.Values(workers)), master) {
		if text := daemon.Text(); strings.Contains(text, "permission denied") {
			t.Errorf("%s lacks a right in etcd: %s", daemon.Name, text)
		}
	}
}

// mongoGate is what the services find in the place of MongoDB, by the addresses that the
// script has made for them: only where it is, and where files are, is changed.
func (p *topology) mongoGate() *mongoGate {
	p.t.Helper()
	passwords := map[string]string{}
	for _, user := range []string{"carillon-master", "carillon-worker"} {
		passwords[user] = mongoPassword(p.t, p.secret("mongo", user+".password"))
	}
	gate := newMongoGate(p.t, p.mongoAt, p.secret("mongo", "mongo.crt"), p.secret("mongo", "mongo.key"),
		p.authority(), passwords,
		map[string][]string{"carillon-worker": {"find", "getmore", "insert", "createindexes", "update usage"},
			"CN=carillon-worker-1": {"find", "getmore", "insert", "createindexes", "update usage"},
			"carillon-master": {"aggregate", "find", "getmore", "killcursors", "insert", "delete", "createindexes",
				"dropindexes", "listindexes", "listcollections"}})
	for _, service := range []string{"master", "worker-1", "worker-2"} {
		uri := strings.Replace(mongoPassword(p.t, p.secret(service, "mongodb.uri")), "@mongo:27017",
			"@"+gate.address(), 1)
		if err := os.WriteFile(p.secret(service, "mongodb.uri"),
			[]byte(p.here(service, uri)+"&authMechanism=SCRAM-SHA-256\n"), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	return gate
}

// keepsToItsRole fails if a client sent MongoDB a command beyond the roles of mongodb-users.js
// do not give, and only those to have been let in whom the script has made.
func (p *topology) keepsToItsRole(gate *mongoGate) {
	t := p.t
	t.Helper()
	for _, user := range []string{"", "carillon-worker", "carillon-master"} {
		asked, refused := gate.asked(user)
		if len(refused) > 0 {
			t.Errorf("%q asked MongoDB for %v, which its role does not give", user, refused)
		}
		if user != "" && (!slices.Contains(asked, "find") || !slices.Contains(asked, "insert")) {
			t.Errorf("%s asked MongoDB for %v alone", user, asked)
		}
	}
	data, err := os.ReadFile(p.secret("worker-1", "mongodb.uri"))
	if err != nil {
		t.Fatal(err)
	}
	uri, password := strings.TrimSpace(string(data)), mongoPassword(t, p.secret("mongo", "carillon-worker.password"))
	ping := func(uri string) error {
		store, err := mongolog.Open(t.Context(), mongolog.Config{URI: uri + "&serverSelectionTimeoutMS=500"})
		if err != nil {
			return err
		}
		return errors.Join(store.Ping(t.Context()), store.Close())
	}
	// By the certificate that it shows instead of a password.
	var both []byte
	for _, name := range []string{"etcd.crt", "etcd.key"} {
		both = append(both, mongoPassword(t, p.secret("worker-1", name))+"\n"...)
	}
	certificate := filepath.Join(t.TempDir(), "client.pem")
	if err := os.WriteFile(certificate, both, 0o600); err != nil {
		t.Fatal(err)
	}
	shows := "mongodb://" + gate.address() + "/?authMechanism=MONGODB-X509&authSource=$external&tls=true&tlsCAFile=" +
		p.secret("worker-1", "ca.crt")
	if err := ping(shows + "&tlsCertificateKeyFile=" + certificate); err != nil {
		t.Errorf("with a certificate: %v", err)
	}
	if asked, refused := gate.asked("CN=carillon-worker-1"); len(asked) == 0 || len(refused) > 0 {
		t.Errorf("with a certificate it asked for %v, and was refused %v", asked, refused)
	}
	for what, other := range map[string]string{
		"no certificate":   shows,
		"a wrong password": strings.Replace(uri, password, "wrong-"+password, 1),
		"an unknown name":  strings.Replace(uri, "carillon-worker:", "mallory:", 1),
		"another authority": strings.Replace(uri, "tlsCAFile="+p.secret("worker-1", "ca.crt"),
			"tlsCAFile="+p.secret("master", "tls.crt"), 1),
		"no TLS": strings.Replace(uri, "tls=true&tlsCAFile="+p.secret("worker-1", "ca.crt"),
			"tls=false", 1),
		"no name, no password": strings.Replace(strings.Replace(uri, "carillon-worker:"+password+"@", "", 1),
			"&authMechanism=SCRAM-SHA-256", "", 1),
	} {
		if other == uri {
			t.Fatalf("%s is no other address", what)
		}
		if err := ping(strings.Replace(other, "authSource=carillon&", "", 1)); err == nil ||
			strings.Contains(err.Error(), password) {
			t.Errorf("with %s: %v", what, err)
		}
	}
}

// wholeLife takes worker-2 through what workers do in etcd: attempts, queues, kills,
// secrets, what one leaves behind that dies, and its return.
func (p *topology) wholeLife(a *api, worker *process) *process {
	t := p.t
	t.Helper()
	for name, job := range map[string]map[string]any{
		"fails":  {"command": `[ "$CARILLON_ATTEMPT" -gt 1 ]`, "retry": map[string]any{"max": 1, "backoff": "1s"}},
		"queues": {"command": "sleep 600", "overlap": "queue", "killGrace": "1s"},
		"gives":  {"command": "sleep 5", "overlap": "replace", "killGrace": "1s", "cronExpr": "*/2 * * * * * *"},
		"dies":   {"command": `[ "$CARILLON_ATTEMPT" -gt 1 ] || sleep 600`, "lostAfter": "20s", "killGrace": "1s"},
	} {
		job["name"] = name
		a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", job, nil)
	}
	begin := func(name string, wanted map[string]any) {
		t.Helper()
		a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+name+"/run", wanted, nil)
	}
	begin("dies", map[string]any{"worker": "worker-2"})
	begin("fails", map[string]any{})
	begin("queues", map[string]any{})
	begin("queues", map[string]any{})
	eventually(t, "the second attempt succeeds", func() bool {
		return a.count("job=fails", func(r run) bool { return r.Status == "succeeded" && r.Attempt == 2 }) == 1
	})
	for killed := range 2 {
		eventually(t, "one of the queue runs", func() bool { return a.count("job=queues", status("running")) == 1 })
		for _, r := range a.runs("job=queues") {
			if r.Status == "running" {
				a.do(http.StatusAccepted, http.MethodPost, "/api/v1/runs/"+r.ID+"/kill",
					map[string]string{"note": "enough"}, nil)
			}
		}
		eventually(t, "it is killed", func() bool { return a.count("job=queues", status("killed")) == killed+1 })
	}
	eventually(t, "a fire makes the one before give way", func() bool {
		return a.count("job=gives", status("killed")) > 1
	})
	a.do(http.StatusNoContent, http.MethodDelete, "/api/v1/jobs/gives", nil, nil)

	a.do(http.StatusCreated, http.MethodPut, "/api/v1/secrets/db",
		map[string]any{"value": "correct horse battery"}, nil)
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":    "knows",
		"env":     map[string]string{"PASSWORD": "secret:db"},
		"command": `[ "$PASSWORD" = "correct horse battery" ]`,
	}, nil)
	for _, name := range []string{"worker-1", "worker-2"} {
		begin("knows", map[string]any{"worker": name})
		eventually(t, name+" opens a secret", func() bool {
			return a.count("job=knows", func(r run) bool {
				return r.Status == "succeeded" && r.WorkerName == name
			}) == 1
		})
	}

	eventually(t, "worker-2 runs what dies with it", func() bool { return a.count("job=dies", status("running")) == 1 })
	if code := worker.end(syscall.SIGKILL); code != -1 {
		t.Fatalf("worker-2 was killed, but ended with %d", code)
	}
	eventually(t, "the other one resolves what worker-2 ran, and runs it again", func() bool {
		return a.count("job=dies", status("lost")) == 1 &&
			a.count("job=dies", func(r run) bool {
				return r.Status == "succeeded" && r.WorkerName == "worker-1" && r.Attempt == 2
			}) == 1
	})
	worker = p.start("worker-2")
	p.healthy("worker-2")
	return worker
}

// In its container the worker is process 1, to which the kernel gives all orphans, and
// whose end is the end of everything.
func TestWorker_AsProcessOne(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("unshare", "--pid", "--fork", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("a set of processes of its own cannot be made here: %v: %s", err, out)
	}
	c, a := readyCluster(t)
	begin := func() (outside *process, one string) {
		t.Helper()
		outside = launch(t, "carillon-worker", "unshare",
			append([]string{"--pid", "--fork", "--kill-child", "--mount-proc", filepath.Join(bin, "carillon-worker")},
				c.flags("--name", "east", "--data-dir", filepath.Join(c.dir, "east"), "--metrics-listen", "off")...)...)
		eventually(t, "the worker is process 1", func() bool {
			below := children(t, strconv.Itoa(outside.PID()))
			if len(below) == 1 {
				one = below[0]
			}
			return len(below) == 1
		})
		return outside, one
	}
	runs := func(name, command string) {
		t.Helper()
		a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
			"name":    name,
			"command": command,
			"onLost":  "abandon",
		}, nil)
		a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+name+"/run", map[string]string{}, nil)
	}
	outside, one := begin()
	runs("litter",
		"for i in 1 2 3; do (setsid sh -c 'sleep 0.0'$i &); (true &); done; (setsid sleep 3600 &); sleep 0.2")
	eventually(t, "the run has ended", func() bool { return a.count("job=litter", status("succeeded")) == 1 })
	eventually(t, "nothing is left of it, neither living nor dead", func() bool {
		workers := children(t, one)
		return len(workers) == 1 && len(children(t, workers[0])) == 0
	})
	if err := signalTo(one, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := outside.exit(); code != 0 {
		t.Errorf("it stopped with %d", code)
	}

	outside, one = begin()
	marker := fmt.Sprintf("36%d.5", os.Getpid())
	runs("long", "setsid sleep "+marker+" & sleep "+marker)
	eventually(t, "it runs", func() bool { return len(processes(t, "^sleep "+marker)) == 2 })
	if err := signalTo(children(t, one)[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := outside.exit(); code != 128+int(syscall.SIGKILL) {
		t.Errorf("its worker was killed, and it ended with %d", code)
	}
	if left := processes(t, "^sleep "+marker); len(left) > 0 {
		t.Errorf("left running: %v", left)
	}
}

// children lists the children of a process, including zombies.
func children(t *testing.T, pid string) (found []string) {
	t.Helper()
	lists, err := filepath.Glob("/proc/" + pid + "/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			continue // that thread has ended
		}
		found = append(found, strings.Fields(string(data))...)
	}
	return found
}

func signalTo(pid string, s syscall.Signal) error {
	n, err := strconv.Atoi(pid)
	if err != nil {
		return err
	}
	return syscall.Kill(n, s)
}
