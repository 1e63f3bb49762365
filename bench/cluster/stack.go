package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"carillon/test/harness"
)

// startLimit bounds the time until a process is ready.
const startLimit = 2 * time.Minute

// standalone runs everything in one process.
type standalone struct {
	*harness.Process
	*api
	dir    string
	ledger string // file that the helper appends to
}

// newStandalone starts one on a directory, which may contain jobs already.
func (b *bench) newStandalone(ctx context.Context, dir string, more ...string) (*standalone, error) {
	address, err := harness.FreeAddress()
	if err != nil {
		return nil, err
	}
	p, err := b.start(dir, "standalone", "carillon-standalone", nil, append(more, "--data-dir",
		filepath.Join(dir, "data"), "--listen", address, "--log-level", "warn", "--api-rate", "0")...)
	if err != nil {
		return nil, err
	}
	s := &standalone{Process: p, api: newAPI("http://" + address), dir: dir, ledger: filepath.Join(dir, "ledger")}
	token := filepath.Join(dir, "data", "admin.token")
	err = harness.Until(ctx, startLimit, "the standalone is ready", func() bool {
		return !p.Alive() || s.Ready(ctx) && p.Said(token)
	})
	if err == nil && !p.Alive() {
		err = fmt.Errorf("the standalone ended: %s", p.Tail())
	}
	if err == nil {
		var text []byte
		text, err = os.ReadFile(token)
		s.Token = strings.TrimSpace(string(text))
	}
	if err != nil {
		p.Kill()
		return nil, err
	}
	return s, nil
}

// cluster is an etcd, a log store, a master and workers, each a process.
type cluster struct {
	*api
	b                   *bench
	dir, ledger         string
	etcdURL, mongoURI   string
	etcd, mongo, master *harness.Process
	masterFlags         []string
	etcdOptions         []string
	workers             []*worker
}

type worker struct {
	*harness.Process
	dir    string
	offset time.Duration // of its wall clock
}

// newEtcd starts an etcd server on a directory; fsync is on by default.
func (b *bench) newEtcd(ctx context.Context, dir string, more ...string) (p *harness.Process, url string, err error) {
	client, err := harness.FreeAddress()
	if err != nil {
		return nil, "", err
	}
	peer, err := harness.FreeAddress()
	if err != nil {
		return nil, "", err
	}
	url = "http://" + client
	args := append([]string{"--data-dir", filepath.Join(dir, "etcd"), "--log-level", "error", "--quota-backend-bytes",
		"8589934592",
		"--listen-client-urls", url, "--advertise-client-urls", url, "--listen-peer-urls", "http://" + peer,
		"--initial-advertise-peer-urls", "http://" + peer, "--initial-cluster", "default=http://" + peer}, more...)
	if p, err = b.start(dir, "etcd", "etcd", nil, args...); err != nil {
		return nil, "", err
	}
	a := newAPI(url)
	if err := harness.Until(ctx, startLimit, "etcd is healthy", func() bool {
		return !p.Alive() || a.Want(ctx, http.StatusOK, http.MethodGet, "/health", nil, nil) == nil
	}); err != nil {
		return nil, "", err
	}
	if !p.Alive() {
		return nil, "", fmt.Errorf("etcd ended: %s", p.Tail())
	}
	return p, url, nil
}

// newCluster starts a cluster with workers whose clocks are off by the offsets.
func (b *bench) newCluster(ctx context.Context, offsets ...time.Duration) (*cluster, error) {
	dir, err := os.MkdirTemp(b.dir, "cluster-")
	if err != nil {
		return nil, err
	}
	c := &cluster{
		b:           b,
		dir:         dir,
		ledger:      filepath.Join(dir, "ledger"),
		etcdOptions: []string{"--auto-compaction-retention", "5m"},
	}
	if err := c.open(ctx, offsets); err != nil {
		c.kill()
		return nil, err
	}
	return c, nil
}

// open starts the processes, each when its dependencies are ready.
func (c *cluster) open(ctx context.Context, offsets []time.Duration) (err error) {
	b := c.b
	if c.etcd, c.etcdURL, err = b.newEtcd(ctx, c.dir, c.etcdOptions...); err != nil {
		return err
	}
	if err := c.startMongo(ctx); err != nil {
		return err
	}
	address, err := harness.FreeAddress()
	if err != nil {
		return err
	}
	c.masterFlags = c.flags("--listen", address, "--log-level", "warn", "--api-rate", "0")
	c.api = newAPI("http://" + address)
	if err := c.startMaster(ctx); err != nil {
		return err
	}
	token, err := exec.CommandContext(ctx, filepath.Join(b.bin, "carillon-master"), c.flags("bootstrap")...).Output()
	if err != nil {
		return fmt.Errorf("make a token: %w", err)
	}
	c.Token = strings.TrimSpace(string(token))
	for i, offset := range offsets {
		if err := c.startWorker(ctx, fmt.Sprintf("worker-%d", i+1), offset); err != nil {
			return err
		}
	}
	return nil
}

// startMaster starts the master, at its previous address, and waits until it is ready.
func (c *cluster) startMaster(ctx context.Context) (err error) {
	if c.master, err = c.b.start(c.dir, "master", "carillon-master", nil, c.masterFlags...); err != nil {
		return err
	}
	return harness.Until(ctx, startLimit, "the master is ready", func() bool { return c.Ready(ctx) })
}

func (c *cluster) startMongo(ctx context.Context) error {
	address, err := harness.FreeAddress()
	if err != nil {
		return err
	}
	return c.mongoAt(ctx, address)
}

// mongoAt starts the log store at an address, with its existing data.
func (c *cluster) mongoAt(ctx context.Context, address string) (err error) {
	if c.mongo, err = c.b.start(c.dir, "mongofast", "mongofast", nil, "--listen", address, "--dir",
		filepath.Join(c.dir, "mongo")); err != nil {
		return err
	}
	c.mongoURI = "mongodb://" + address
	return harness.Until(ctx, startLimit, "the log store listens", func() bool { return c.mongo.Said("mongodb://") })
}

func (c *cluster) flags(more ...string) []string {
	return append(more, "--etcd-endpoints", c.etcdURL, "--mongodb-uri", c.mongoURI)
}

// startWorker starts a worker whose wall clock is off by an offset, and waits until it is registered.
func (c *cluster) startWorker(ctx context.Context, name string, offset time.Duration, more ...string) error {
	w := &worker{dir: filepath.Join(c.dir, name), offset: offset}
	var err error
	var env []string
	if offset != 0 {
		env = append(env, "CARILLON_CLOCK_OFFSET="+offset.String())
	}
	w.Process, err = c.b.start(c.dir, name, "carillon-worker", env,
		c.flags(append(more, "--name", name, "--data-dir", w.dir, "--metrics-listen", "off", "--log-level",
			"warn")...)...)
	if err != nil {
		return err
	}
	c.workers = append(c.workers, w)
	var ahead time.Duration
	if err := harness.Until(ctx, startLimit, name+" is registered", func() bool {
		clocks, err := c.Workers(ctx)
		clock, there := clocks[name]
		ahead = time.Until(clock)
		return !w.Alive() || err == nil && there
	}); err != nil {
		return err
	}
	if !w.Alive() {
		return fmt.Errorf("%s ended: %s", name, w.Tail())
	}
	// It has just registered. A worker that is built without support for the variable has the right time.
	if (ahead - offset).Abs() > 300*time.Millisecond {
		return fmt.Errorf("the clock of %s is off by %v, and was to be by %v: was it built with -tags clockoffset?",
			name, ahead.Round(time.Millisecond), offset)
	}
	return nil
}

// offsets returns the offsets of the workers' clocks, by worker id.
func (c *cluster) offsets() (map[string]time.Duration, error) {
	all := map[string]time.Duration{}
	for _, w := range c.workers {
		id, err := os.ReadFile(filepath.Join(w.dir, "worker.id"))
		if err != nil {
			return nil, err
		}
		all[strings.TrimSpace(string(id))] = w.offset
	}
	return all, nil
}

func (c *cluster) processes() []*harness.Process {
	all := []*harness.Process{c.etcd, c.mongo, c.master}
	for _, w := range c.workers {
		all = append(all, w.Process)
	}
	return all
}

// kill ends all processes, the newest first.
func (c *cluster) kill() {
	all := c.processes()
	for i := range all { // some are missing if the start failed
		if p := all[len(all)-1-i]; p != nil {
			p.Kill()
		}
	}
}
