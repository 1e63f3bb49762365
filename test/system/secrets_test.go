package system

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"net"
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

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"carillon/internal/executor/proctree"
	"carillon/internal/secrets/crypt"
)

// canary is a secret that is looked for wherever it must not be.
const canary = "canary-4711-swordfish"

// secretive is a cluster whose master and worker know keys.
type secretive struct {
	*cluster
	master, worker *process
	api            *api
	keyFile        string
	more           []string // flags of the worker
}

// keyed starts a master and a worker that know keys, the first of which seals.
func (s *secretive) keyed(keys ...string) {
	s.t.Helper()
	if err := os.WriteFile(s.keyFile, []byte(strings.Join(keys, "\n")+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	for _, p := range []*process{s.master, s.worker} {
		if p != nil {
			p.end(syscall.SIGTERM)
		}
	}
	address := freePort(s.t)
	s.api.base = "http://" + address
	s.master = start(s.t, "carillon-master", s.flags("--listen", address, "--secrets-key-file", s.keyFile,
		"--log-level", "debug")...)
	s.worker = start(s.t, "carillon-worker", append(s.flags("--name", "east", "--data-dir",
		filepath.Join(s.dir, "east"), "--metrics-listen", freePort(s.t), "--secrets-key-file", s.keyFile,
		"--log-level", "debug"), s.more...)...)
	eventually(s.t, "the master is ready", s.api.ready)
}

func (s *secretive) put(name, value string, groups ...string) {
	s.t.Helper()
	status, err := s.api.try(http.MethodPut, "/api/v1/secrets/"+name,
		map[string]any{"value": value, "groups": groups}, nil)
	if err != nil || status >= 300 {
		s.t.Fatalf("put secret %s: %d, %v", name, status, err)
	}
}

// ran runs a job and gives how it ended, and what it printed.
func (s *secretive) ran(job string) (run, string) {
	s.t.Helper()
	var accepted struct{ Run string }
	s.api.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+job+"/run", map[string]string{}, &accepted)
	var ended run
	eventually(s.t, job+" ends", func() bool {
		ended = run{}
		status, err := s.api.try(http.MethodGet, "/api/v1/runs/"+accepted.Run, nil, &ended)
		return err == nil && status == http.StatusOK && ended.Status != "" &&
			!slices.Contains([]string{"waiting", "running"}, ended.Status)
	})
	var output string
	if ended.Status == "succeeded" {
		eventually(s.t, "its output is there", func() bool {
			status, err := s.api.try(http.MethodGet, "/api/v1/runs/"+accepted.Run+"/output", nil, &output)
			return err == nil && status == http.StatusOK && int64(len(output)) == ended.OutputBytes
		})
	}
	return ended, output
}

// A secret reaches the command, and nothing else: neither etcd nor the log store, no answer, no history of
// changes, no log and no command line has it. A new value is the next run's; a key can be replaced.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	s := &secretive{cluster: newCluster(t)}
	s.keyFile = filepath.Join(s.dir, "secrets.key")
	s.api = &api{t: t, token: s.bootstrap()}
	old, next := crypt.NewKey(), crypt.NewKey()
	s.keyed(old)
	s.put("db", canary, "reports")
	s.put("theirs", canary+"-theirs", "theirs")
	gate := filepath.Join(s.dir, "gate")
	job := map[string]any{"name": "report", "group": "reports", "env": map[string]string{"PGPASSWORD": "secret:db"},
		"command": `echo "I print $PGPASSWORD"; [ "$PGPASSWORD" = ` + "canary-4711-'swordfish' ] && echo same; touch " +
			gate + "; while [ -e " + gate + " ]; do sleep 0.05; done"}
	s.api.do(http.StatusCreated, http.MethodPut, "/api/v1/jobs/report", job, nil)
	for name, value := range map[string]string{"unknown": "secret:none", "foreign": "secret:theirs"} {
		s.api.do(http.StatusUnprocessableEntity, http.MethodPut, "/api/v1/jobs/"+name, map[string]any{
			"name":    name,
			"group":   "reports",
			"command": "true",
			"env":     map[string]string{"A": value},
		}, nil)
	}

	open := make(chan string, 1) // what can be seen of the processes while it runs
	go func() {
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat(gate); err == nil {
				open <- commandLines(s.worker.PID())
				_ = os.Remove(gate)
				return
			}
		}
		open <- ""
	}()
	ended, output := s.ran("report")
	if ended.Status != "succeeded" || output != "I print [secret:db]\nsame\n" {
		t.Errorf("%+v printed %q", ended, output)
	}
	if lines := <-open; strings.Contains(lines, canary) || !strings.Contains(lines, "sleep") &&
		!strings.Contains(lines, "/bin/sh") {
		t.Errorf("command lines:\n%s", lines)
	}

	// A secret that goes is missed; one that comes back is another.
	s.api.do(http.StatusConflict, http.MethodDelete, "/api/v1/secrets/db", nil, nil) // jobs refer to it
	s.api.do(http.StatusNoContent, http.MethodDelete, "/api/v1/secrets/db?force=true", nil, nil)
	if ended, _ := s.ran("report"); ended.Status != "refused" || ended.Reason.Code != "secret_missing" {
		t.Errorf("without the secret: %+v", ended)
	}
	s.put("db", canary, "other")
	if ended, _ := s.ran("report"); ended.Status != "refused" || ended.Reason.Code != "secret_not_allowed" {
		t.Errorf("of another group: %+v", ended)
	}
	s.put("db", canary+"-2", "reports")
	job["command"] = `[ "$PGPASSWORD" = canary-4711-'swordfish'-2 ] && echo "the new $PGPASSWORD"`
	s.api.do(http.StatusOK, http.MethodPut, "/api/v1/jobs/report", job, nil)
	if ended, output := s.ran("report"); ended.Status != "succeeded" || output != "the new [secret:db]\n" {
		t.Errorf("the new value: %+v printed %q", ended, output)
	}

	for what, text := range map[string]string{
		"etcd":                everything(t, s.keys()),
		"the log store":       documents(t, s.mongoAt),
		"the worker's folder": files(t, filepath.Join(s.dir, "east")),
		"the master's log":    s.master.Text(),
		"the worker's log":    s.worker.Text(),
		"answers":             answers(s.api),
	} {
		if strings.Contains(text, canary) {
			t.Errorf("%s has the secret", what)
		}
		if what == "the log store" && !strings.Contains(text, "[secret:db]") {
			t.Errorf("%s was not looked at", what) // it has what the command printed
		}
		if len(text) < 100 {
			t.Errorf("%s were not looked at: %q", what, text)
		}
	}
	if text := answers(s.api); !strings.Contains(text, `"kind":"secret"`) || !strings.Contains(text, "secret:db") {
		t.Errorf("the audit does not tell of secrets:\n%s", text)
	}

	// The key is replaced as the handbook says.
	s.keyed(old, next)
	s.keyed(next, old)
	reseal := append(s.flags("reseal"), "--secrets-key-file", s.keyFile)
	if out, err := exec.Command(filepath.Join(bin, "carillon-master"), reseal...).CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "2 secrets") {
		t.Errorf("reseal: %v, %s", err, out)
	}
	s.keyed(next)
	if ended, output := s.ran("report"); ended.Status != "succeeded" || output != "the new [secret:db]\n" {
		t.Errorf("with the new key: %+v printed %q", ended, output)
	}
	s.keyed(old)
	if ended, _ := s.ran("report"); ended.Status != "refused" || ended.Reason.Code != "secret_sealed_otherwise" {
		t.Errorf("with the old key: %+v", ended)
	}
}

// everything is all that etcd holds, as text.
func everything(t *testing.T, client *clientv3.Client) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	resp, err := client.Get(ctx, "\x00", clientv3.WithFromKey())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, kv := range resp.Kvs {
		fmt.Fprintf(&b, "%s=%s\n", kv.Key, kv.Value)
	}
	return b.String()
}

// documents are all that a log store holds, as it is sent.
func documents(t *testing.T, address string) string {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + address))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(context.WithoutCancel(t.Context()))
	db := client.Database("carillon")
	names, err := db.ListCollectionNames(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range names {
		found, err := db.Collection(name).Find(t.Context(), bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		for found.Next(t.Context()) {
			b.Write(found.Current)
		}
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// files are the contents of all files in a folder.
func files(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // it may have gone meanwhile
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		fmt.Fprintf(&b, "%s:\n", path)
		b.Write(data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// answers are what the API says of all that has to do with secrets.
func answers(a *api) string {
	a.t.Helper()
	var b strings.Builder
	for _, path := range []string{"/secrets", "/secrets/db", "/jobs", "/jobs/report", "/jobs/report/versions",
		"/runs?limit=100", "/fires?limit=100", "/workers", "/audit?limit=100", "/stats/overview"} {
		var text string
		a.do(http.StatusOK, http.MethodGet, "/api/v1"+path, nil, &text)
		b.WriteString(text)
	}
	return b.String()
}

// commandLines are those of a process and of all that stems from it.
func commandLines(pid int) string {
	var b strings.Builder
	for _, p := range proctree.Below(pid) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
		b.WriteString(strings.ReplaceAll(string(line), "\x00", " ") + "\n")
	}
	return b.String()
}

// A worker listens nowhere but on loopback, and there only for its metrics.
func TestWorkersExposeNothing(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root: a worker's files are readable by its user only")
	}
	c := newCluster(t)
	a := c.master()
	a.token = c.bootstrap()
	eventually(t, "the master is ready", a.ready)
	metrics := freePort(t)
	open := start(t, "carillon-worker", c.flags("--name", "east", "--data-dir", filepath.Join(c.dir, "east"),
		"--metrics-listen", metrics)...)
	closed := c.worker("west")
	client := c.keys()
	eventually(t, "both are registered", func() bool { return len(registered(t, client)) == 2 })
	eventually(t, "the metrics are there", func() bool {
		resp, err := http.Get("http://" + metrics + "/readyz")
		if err != nil {
			return false
		}
		return resp.Body.Close() == nil
	})
	if found := listening(t, open.PID()); !slices.Equal(found, []string{metrics}) {
		t.Errorf("it listens on %q, want %q", found, metrics)
	}
	if found := listening(t, closed.PID()); len(found) != 0 {
		t.Errorf("one without metrics listens on %q", found)
	}
}

// listening are the TCP and UDP addresses on which a process, or what stems from it, waits.
func listening(t *testing.T, pid int) (found []string) {
	t.Helper()
	sockets := map[string]bool{}
	for _, id := range append([]int{pid}, pidsBelow(pid)...) {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", id))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if link, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", id, e.Name())); err == nil {
				sockets[link] = true
			}
		}
	}
	if len(sockets) == 0 {
		t.Fatal("no socket can be seen")
	}
	for table, state := range map[string]string{"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"} {
		file, err := os.Open("/proc/net/" + table)
		if err != nil {
			continue // no such family here
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			if len(fields) > 9 && fields[3] == state && sockets["socket:["+fields[9]+"]"] {
				found = append(found, address(t, fields[1]))
			}
		}
		_ = file.Close()
	}
	slices.Sort(found)
	return found
}

func pidsBelow(pid int) (ids []int) {
	for _, p := range proctree.Below(pid) {
		ids = append(ids, p.PID)
	}
	return ids
}

// address reads one as /proc/net writes it: words of the host's byte order in hexadecimals.
func address(t *testing.T, text string) string {
	t.Helper()
	host, port, _ := strings.Cut(text, ":")
	var ip net.IP
	for ; len(host) >= 8; host = host[8:] {
		for i := 6; i >= 0; i -= 2 {
			b, err := strconv.ParseUint(host[i:i+2], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			ip = append(ip, byte(b))
		}
	}
	n, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort(ip.String(), strconv.FormatUint(n, 10))
}

// A job's user is only a request: a worker without a run-as file refuses it, and the ledger shows it.
func TestRunAs(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	c := newCluster(t)
	a := c.master()
	a.token = c.bootstrap()
	eventually(t, "the master is ready", a.ready)
	s := &secretive{cluster: c, api: a}
	rules := filepath.Join(c.dir, "run-as.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(rules+".new", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(rules+".new", rules); err != nil {
			t.Fatal(err)
		}
	}
	write("default: nobody\ngroups: {ops: {users: [daemon]}}\n")
	client := c.keys()
	c.joined(client, "plain")
	c.joined(client, "ruled", "--run-as", rules, "--max-run-time", "2s")
	only := func(worker string) map[string]any { return map[string]any{"workers": []string{worker}} }
	for _, job := range []map[string]any{
		{"name": "wanted", "group": "ops", "user": "daemon", "command": "id -un", "placement": only("plain")},
		{"name": "switch", "group": "ops", "user": "daemon", "command": "id -un", "placement": only("ruled")},
		{"name": "nobody", "command": "id -un", "placement": only("ruled")},
		{"name": "root", "group": "ops", "user": "root", "command": "id -un", "placement": only("ruled")},
		{"name": "long", "command": "trap '' TERM; sleep 600", "killGrace": "1s", "placement": only("ruled")},
	} {
		a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", job, nil)
	}
	for job, want := range map[string]string{
		"wanted": "user_not_allowed",
		"switch": "daemon\n",
		"nobody": "nobody\n",
		"root":   "user_not_allowed",
		"long":   "max_run_time",
	} {
		ended, output := s.ran(job)
		got := output
		if ended.Status != "succeeded" {
			got = ended.Reason.Code
		}
		if got != want {
			t.Errorf("%s: %q, want %q: %+v", job, got, want, ended)
		}
	}
	write("default: nobody\n")
	if ended, _ := s.ran("switch"); ended.Status != "refused" || ended.Reason.Code != "user_not_allowed" {
		t.Errorf("after the file changed: %+v", ended)
	}
	if err := os.Chmod(rules, 0o666); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the invalid file is reported", func() bool {
		var page string
		status, err := a.try(http.MethodGet, "/api/v1/workers", nil, &page)
		return err == nil && status == http.StatusOK && strings.Contains(page, "run_as_ignored")
	})
	refused := launch(t, "carillon-worker", filepath.Join(bin, "carillon-worker"),
		c.flags("--name", "third", "--data-dir", filepath.Join(c.dir, "third"), "--run-as", rules)...)
	if code := refused.exit(); code != 78 || !strings.Contains(refused.Text(), "users other than root may write it") {
		t.Errorf("a worker with such a file ended with %d: %s", code, refused.Text())
	}
}

// A standalone's folder has everything but its secrets; with a new key before the old one in
// secrets.key it seals anew when it starts, and needs the old one no longer.
func TestSecretsOfAStandalone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, a := standalone(t, dir)
	s := &secretive{cluster: &cluster{t: t, dir: dir}, api: a}
	s.put("db", canary)
	a.do(http.StatusCreated, http.MethodPut, "/api/v1/jobs/report", map[string]any{
		"name":    "report",
		"env":     map[string]string{"PGPASSWORD": "secret:db"},
		"command": `echo "I print $PGPASSWORD"`,
	}, nil)
	works := func() {
		t.Helper()
		if ended, output := s.ran("report"); ended.Status != "succeeded" || output != "I print [secret:db]\n" {
			t.Errorf("%+v printed %q", ended, output)
		}
	}
	works()
	again := func(keys ...string) {
		t.Helper()
		if code := p.end(syscall.SIGTERM); code != 0 {
			t.Fatalf("it stopped with %d", code)
		}
		text := files(t, dir)
		if strings.Contains(text+p.Text(), canary) {
			t.Error("its folder, or its log, has the secret")
		}
		if !strings.Contains(text, "secret:db") {
			t.Error("its folder was not looked at")
		}
		if err := os.WriteFile(filepath.Join(dir, "secrets.key"), []byte(strings.Join(keys, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		p, s.api = standalone(t, dir)
	}
	old, err := os.ReadFile(filepath.Join(dir, "secrets.key"))
	if err != nil {
		t.Fatal(err)
	}
	next := crypt.NewKey()
	again(next, string(old))
	if !strings.Contains(p.Text(), "secrets_resealed") {
		t.Error("nothing was sealed anew")
	}
	again(next)
	works()
}
