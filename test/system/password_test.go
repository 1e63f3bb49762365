package system

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// members are three servers of etcd that ask for a password, and forget a token that was not used for some seconds.
type members struct {
	t        *testing.T
	password string // file with that of the daemons
	urls     []string
	args     [][]string
	running  []*process
	root     *clientv3.Client
}

// Names and passwords in etcd.
const (
	etcdUser     = "carillon"
	etcdPassword = "bell-ringer"
	tokenTTL     = 5 * time.Second
)

func startMembers(t *testing.T, dir string) *members {
	t.Helper()
	m := &members{t: t, password: filepath.Join(dir, "etcd.password")}
	var peers, cluster []string
	for i := range 3 {
		m.urls, peers = append(m.urls, "http://"+freePort(t)), append(peers, "http://"+freePort(t))
		cluster = append(cluster, fmt.Sprintf("etcd-%d=%s", i, peers[i]))
	}
	for i := range m.urls {
		name := fmt.Sprintf("etcd-%d", i)
		m.args = append(m.args, []string{"--name", name, "--data-dir", filepath.Join(dir, name), "--log-level", "error",
			"--unsafe-no-fsync",
			"--listen-client-urls", m.urls[i], "--advertise-client-urls", m.urls[i], "--listen-peer-urls", peers[i],
			"--initial-advertise-peer-urls", peers[i],
			"--initial-cluster", strings.Join(cluster, ","), "--auth-token-ttl", fmt.Sprint(int(tokenTTL.Seconds())),
			"--bcrypt-cost", "4"})
		m.running = append(m.running, start(t, "etcd", m.args[i]...))
	}
	m.restrict()
	return m
}

// restrict makes the daemons' user, and switches authentication on.
func (m *members) restrict() {
	m.t.Helper()
	m.write(etcdPassword)
	client, err := clientv3.New(clientv3.Config{Endpoints: m.urls, Logger: zap.NewNop()})
	if err != nil {
		m.t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	eventually(m.t, "etcd has a leader", func() bool { _, err := client.Put(ctx, "ready", "1"); return err == nil })
	for _, step := range []func() error{
		func() error { _, err := client.UserAdd(ctx, "root", etcdPassword); return err },
		func() error { _, err := client.UserAdd(ctx, etcdUser, etcdPassword); return err },
		func() error { _, err := client.RoleAdd(ctx, "root"); return err },
		func() error { _, err := client.RoleAdd(ctx, etcdUser); return err },
		func() error {
			_, err := client.RoleGrantPermission(ctx, etcdUser, "/cron/", "/cron0",
				clientv3.PermissionType(clientv3.PermReadWrite))
			return err
		},
		func() error { _, err := client.UserGrantRole(ctx, "root", "root"); return err },
		func() error { _, err := client.UserGrantRole(ctx, etcdUser, etcdUser); return err },
		func() error { _, err := client.AuthEnable(ctx); return err },
	} {
		if err := step(); err != nil {
			m.t.Fatal(err)
		}
	}
	if m.root, err = clientv3.New(clientv3.Config{
		Endpoints: m.urls,
		Username:  "root",
		Password:  etcdPassword,
		Logger:    zap.NewNop(),
	}); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = m.root.Close() })
}

func (m *members) write(password string) {
	m.t.Helper()
	if err := os.WriteFile(m.password, []byte(password+"\n"), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// change gives the daemons' user another password, which ends all its tokens.
func (m *members) change(password string) {
	m.t.Helper()
	m.write(password)
	ctx, cancel := context.WithTimeout(m.t.Context(), 20*time.Second)
	defer cancel()
	if _, err := m.root.UserChangePassword(ctx, etcdUser, password); err != nil {
		m.t.Fatal(err)
	}
}

// restart kills a member and starts it again: it has forgotten all tokens then.
func (m *members) restart(i int) {
	m.t.Helper()
	m.running[i].end(syscall.SIGKILL)
	m.running[i] = start(m.t, "etcd", m.args[i]...)
	eventually(m.t, "the member answers again", func() bool {
		ctx, cancel := context.WithTimeout(m.t.Context(), 2*time.Second)
		defer cancel()
		_, err := m.root.Status(ctx, m.urls[i])
		return err == nil
	})
}

// events collects what a master tells of runs, as it comes.
type events struct {
	mu   sync.Mutex
	text strings.Builder
}

func (a *api) events() *events {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodGet, a.base+"/api/v1/events?types=run", nil)
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		a.t.Fatalf("follow events: %+v, %v", resp, err)
	}
	e, ended := &events{}, make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			e.mu.Lock()
			e.text.WriteString(lines.Text() + "\n")
			e.mu.Unlock()
		}
	}()
	a.t.Cleanup(func() { _ = resp.Body.Close(); <-ended })
	return e
}

func (e *events) tellOf(job string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Contains(e.text.String(), `"job":"`+job+`"`)
}

// A cluster on three members of etcd with passwords, whose tokens end all the time: by age, by a change of the
// password, and with the member that knew them. Masters are elected when they have been up for longer than a token
// lives. Whatever ends, notifications, live events, kill requests, new jobs and triggers go on, and no fire is lost.
func TestEtcdTokensExpire_NothingIsLost(t *testing.T) {
	t.Parallel() // it mostly waits
	ear := listen(t)
	c := &cluster{t: t, dir: t.TempDir(), mongoAt: freePort(t)}
	etcd := startMembers(t, c.dir)
	c.startMongo()
	flags := func(more ...string) []string {
		return append(more, "--etcd-endpoints", strings.Join(etcd.urls, ","), "--etcd-username", etcdUser,
			"--etcd-password-file", etcd.password, "--mongodb-uri", "mongodb://"+c.mongoAt)
	}
	environ := append(ear.settings(), "CARILLON_SECRETS_KEY="+
		base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("s"), 32)))
	out := start(t, "carillon-master", flags("bootstrap")...)
	if code := out.exit(); code != 0 {
		t.Fatalf("bootstrap ended with %d", code)
	}
	token := strings.TrimSpace(out.Text())
	master := func() (*process, *api) {
		address := freePort(t)
		p := launchWith(t, environ, "carillon-master", filepath.Join(bin, "carillon-master"),
			flags("--listen", address)...)
		a := &api{t: t, base: "http://" + address, token: token}
		eventually(t, "the master is ready", a.ready)
		return p, a
	}
	first, a := master()
	eventually(t, "the first master is elected", func() bool { return strings.Contains(first.Text(), "elected") })
	second, b := master()
	start(t, "carillon-worker", flags("--name", "east", "--data-dir", filepath.Join(c.dir, "east"),
		"--metrics-listen", "off")...)
	ear.channels(a)
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":     "tick",
		"cronExpr": "* * * * * * *",
		"command":  "true",
	}, nil)

	told := 0
	works := func(when string, a *api) {
		t.Helper()
		name := "job-" + fmt.Sprint(told)
		live := a.events()
		frail(a, name, filepath.Join(c.dir, "none"))
		runAndWait(a, name, "failed")
		told++
		eventually(t, when+": the failure is notified", func() bool {
			calls, _ := ear.heard()
			return len(calls["run.failed"]) == told
		})
		eventually(t, when+": live events come", func() bool { return live.tellOf(name) && live.tellOf("tick") })
		a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
			"name":    name + "-long",
			"command": "exec sleep 600",
		}, nil)
		a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+name+"-long/run", map[string]any{}, nil)
		long := ""
		eventually(t, when+": a run begins", func() bool {
			runs := a.runs("job=" + name + "-long")
			if i := slices.IndexFunc(runs, status("running")); i >= 0 {
				long = runs[i].ID
			}
			return long != ""
		})
		a.do(http.StatusAccepted, http.MethodPost, "/api/v1/runs/"+long+"/kill", map[string]any{}, nil)
		eventually(t, when+": the run is killed", func() bool {
			return a.count("job="+name+"-long", status("killed")) == 1
		})
		var findings struct{ Conditions []struct{ Code string } }
		a.do(http.StatusOK, http.MethodGet, "/api/v1/stats/overview", nil, &findings)
		for _, c := range findings.Conditions {
			if strings.HasPrefix(c.Code, "notif") || strings.HasPrefix(c.Code, "etcd") {
				t.Errorf("%s: condition %s", when, c.Code)
			}
		}
	}
	works("at the start", a)
	ticks := a.count("job=tick", status("succeeded"))
	eventually(t, "the second master is up for longer than a token lives", func() bool {
		return a.count("job=tick", status("succeeded")) > ticks+2*int(tokenTTL.Seconds())
	})
	first.end(syscall.SIGKILL)
	eventually(t, "the second master is elected", func() bool {
		return strings.Contains(second.Text(), "elected")
	})
	works("after the election", b)
	etcd.change("bell-ringer-2")
	works("after the change of the password", b)
	for i := range etcd.urls {
		etcd.restart(i)
	}
	works("after the restart of each member", b)
	b.do(http.StatusNoContent, http.MethodDelete, "/api/v1/jobs/tick", nil, nil)
	everyFireOnce(t, b.runs("job=tick"))
}
