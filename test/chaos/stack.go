package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

// workers is the number of workers.
const workers = 3

// etcdToken distinguishes this cluster of etcd from others.
const etcdToken = "chaos"

// startLimit bounds the time until a process is ready.
const startLimit = time.Minute

// stack is a cluster of real processes: three etcd servers, a log store, two masters
// and three workers, each worker in a network of its own where that is permitted.
type stack struct {
	*api
	*journal
	h      *host
	net    *network
	dir    string
	env    []string // of the workers
	ledger string   // file that the commands append to
	cancel context.CancelFunc
	tasks  sync.WaitGroup
	failed chan error // of a process that could not be restarted

	etcds, masters []*unit
	mongo          *unit
	workers        []*worker

	etcdURLs    []string
	etcdPeers   []string // the URLs of the members among themselves
	etcdCluster string   // the members, as etcd's flag --initial-cluster names them
	masterEtcd  proxies  // of both masters
	masterMongo proxies
	client      *clientv3.Client // bypasses all proxies; root if etcd requires passwords
	passwords   bool             // etcd requires them
	accounts    *accounts        // nil if it does not
}

// worker is one of the three.
type worker struct {
	*unit
	dir, id     string
	place       *place
	etcd, mongo proxies

	clock time.Duration // how far its wall clock is off; owned under unit.mu
}

// newStack starts all processes, and waits until they are ready.
func newStack(ctx context.Context, h *host, dir string, env []string, passwords bool) (*stack, error) {
	// The stack outlives the faults, and the interrupt that ends them.
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &stack{
		h:         h,
		dir:       dir,
		env:       env,
		ledger:    filepath.Join(dir, "ledger"),
		journal:   &journal{},
		cancel:    cancel,
		failed:    make(chan error, 1),
		passwords: passwords,
	}
	if err := s.open(ctx, own); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *stack) open(ctx, own context.Context) (err error) {
	if s.net, err = newNetwork(); err != nil {
		return err
	}
	s.tasks.Go(func() { s.h.reap(own) })
	if err := s.startEtcd(ctx, own); err != nil {
		return err
	}
	if err := s.startMongo(own); err != nil {
		return err
	}
	if err := s.startMasters(ctx, own); err != nil {
		return err
	}
	for i := range workers {
		if err := s.startWorker(own, i); err != nil {
			return err
		}
	}
	if err := s.wait(ctx, startLimit, "all workers are registered", func() bool {
		return s.registered(ctx)
	}); err != nil {
		return err
	}
	for _, w := range s.workers {
		if w.id, err = readID(w.dir); err != nil {
			return err
		}
	}
	return nil
}

// readID reads a worker's id from its data folder.
func readID(dir string) (string, error) {
	id, err := os.ReadFile(filepath.Join(dir, "worker.id"))
	return strings.TrimSpace(string(id)), err
}

// wait is until, but ends with a process that cannot be started.
func (s *stack) wait(ctx context.Context, limit time.Duration, what string, condition func() bool) error {
	var failed error
	err := harness.Until(ctx, limit, what, func() bool {
		select {
		case failed = <-s.failed:
			return true
		default:
			return condition()
		}
	})
	if err == nil && failed == nil { // the condition may have ended with the context
		err = context.Cause(ctx)
	}
	return errors.Join(err, failed)
}

// keep starts a unit, and restarts it.
func (s *stack) keep(ctx context.Context, u *unit) *unit {
	s.tasks.Go(func() {
		if err := u.keep(ctx); err != nil {
			select {
			case s.failed <- err:
			default: // one is enough
			}
		}
	})
	return u
}

func (s *stack) logOf(name string) string { return filepath.Join(s.dir, name+".log") }

func (s *stack) startEtcd(ctx, own context.Context) error {
	var names, peers []string
	for i := range 3 {
		client, err := harness.FreeAddress()
		if err != nil {
			return err
		}
		peer, err := harness.FreeAddress()
		if err != nil {
			return err
		}
		names, peers = append(names, fmt.Sprintf("etcd-%d=http://%s", i+1, peer)), append(peers, "http://"+peer)
		s.etcdURLs = append(s.etcdURLs, "http://"+client)
	}
	s.etcdPeers, s.etcdCluster = peers, strings.Join(names, ",")
	for i, url := range s.etcdURLs {
		name := fmt.Sprintf("etcd-%d", i+1)
		// Data written by a killed process is kept by the kernel: no fsync is needed here.
		args := []string{"--name", name, "--data-dir", filepath.Join(s.dir, name),
			"--unsafe-no-fsync", "--log-level", "warn", "--heartbeat-interval", "100", "--election-timeout", "1000",
			"--listen-client-urls", url, "--advertise-client-urls", url, "--listen-peer-urls", peers[i],
			"--initial-advertise-peer-urls", peers[i],
			"--initial-cluster", s.etcdCluster, "--initial-cluster-token", etcdToken}
		if s.passwords {
			args = append(args, etcdFlags()...)
		}
		s.etcds = append(s.etcds, s.keep(own, newUnit(name, func() (*process, error) {
			return s.h.start(command{name: name, program: "etcd", log: s.logOf(name), args: args})
		})))
	}
	var err error
	if s.client, err = clientv3.New(clientv3.Config{
		Endpoints:            s.etcdURLs,
		DialTimeout:          5 * time.Second,
		Logger:               zap.NewNop(),
		DialKeepAliveTime:    2 * time.Second,
		DialKeepAliveTimeout: 2 * time.Second,
	}); err != nil {
		return err
	}
	if err := s.wait(ctx, startLimit, "etcd answers", func() bool {
		return s.etcdAnswers(ctx)
	}); err != nil || !s.passwords {
		return err
	}
	return s.restrict(ctx)
}

// etcdAnswers reports whether the cluster accepts writes.
func (s *stack) etcdAnswers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := s.client.Put(ctx, "/chaos/probe", "")
	return err == nil
}

func (s *stack) startMongo(own context.Context) error {
	address, err := harness.FreeAddress()
	if err != nil {
		return err
	}
	s.mongo = s.keep(own, newUnit("mongofast", func() (*process, error) {
		return s.h.start(command{
			name:    "mongofast",
			program: "mongofast",
			log:     s.logOf("mongofast"),
			args:    []string{"--listen", address, "--dir", filepath.Join(s.dir, "mongo")},
		})
	}))
	s.masterMongo, err = s.newProxies(own, "127.0.0.1", []string{address})
	if err != nil {
		return err
	}
	return s.wait(own, startLimit, "the log store listens", func() bool {
		p := s.mongo.process()
		return p != nil && p.Said("mongodb://")
	})
}

func (s *stack) newProxies(ctx context.Context, at string, upstreams []string) (proxies, error) {
	var all proxies
	for _, u := range upstreams {
		p, err := newProxy(ctx, at, strings.TrimPrefix(u, "http://"))
		if err != nil {
			return all, err
		}
		all = append(all, p)
	}
	return all, nil
}

// servers returns the flags with the addresses of etcd and the log store.
func servers(etcd, mongo proxies) []string {
	var urls []string
	for _, p := range etcd {
		urls = append(urls, "http://"+p.address())
	}
	return []string{"--etcd-endpoints", strings.Join(urls, ","), "--mongodb-uri", "mongodb://" + mongo[0].address()}
}

func (s *stack) startMasters(ctx, own context.Context) (err error) {
	if s.masterEtcd, err = s.newProxies(own, "127.0.0.1", s.etcdURLs); err != nil {
		return err
	}
	flags := append(servers(s.masterEtcd, s.masterMongo), s.accounts.flags(mastersUser)...)
	var bases []string
	for i := range 2 {
		address, err := harness.FreeAddress()
		if err != nil {
			return err
		}
		bases = append(bases, "http://"+address)
		name := fmt.Sprintf("master-%d", i+1)
		s.masters = append(s.masters, s.keep(own, newUnit(name, func() (*process, error) {
			return s.h.start(command{
				name:    name,
				program: "carillon-master",
				log:     s.logOf(name),
				args:    append([]string{"--listen", address, "--log-level", "info", "--api-rate", "0"}, flags...),
			})
		})))
	}
	s.api = newAPI(bases...)
	if err := s.wait(ctx, startLimit, "the masters are ready", func() bool {
		return s.ready(ctx, 0) && s.ready(ctx, 1)
	}); err != nil {
		return err
	}
	p, err := s.h.start(command{
		name:    "bootstrap",
		program: "carillon-master",
		log:     s.logOf("bootstrap"),
		args:    append([]string{"bootstrap"}, flags...),
	})
	if err != nil {
		return err
	}
	<-p.Done
	text, err := os.ReadFile(p.Log)
	if err != nil || !p.ProcessState.Success() {
		return fmt.Errorf("make a token: %w: %s", err, text)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	s.token = strings.TrimSpace(line)
	return nil
}

func (s *stack) startWorker(own context.Context, i int) (err error) {
	name := fmt.Sprintf("worker-%d", i+1)
	w := &worker{dir: filepath.Join(s.dir, name)}
	if w.place, err = s.net.newPlace(); err != nil {
		return err
	}
	s.workers = append(s.workers, w)
	if w.etcd, err = s.newProxies(own, s.net.address(), s.etcdURLs); err != nil {
		return err
	}
	if w.mongo, err = s.newProxies(own, s.net.address(), []string{s.masterMongo[0].upstream}); err != nil {
		return err
	}
	args := append([]string{"--name", name, "--data-dir", w.dir, "--metrics-listen",
		"unix:" + filepath.Join(s.dir, name+".sock"), "--log-level", "info"}, servers(w.etcd, w.mongo)...)
	args = append(args, s.accounts.flags(workerUser(i))...)
	w.unit = newUnit(name, func() (*process, error) {
		env := slices.Clone(s.env)
		if w.clock != 0 {
			env = append(env, "CARILLON_CLOCK_OFFSET="+w.clock.String())
		}
		if w.id != "" {
			s.add(check.Event{Kind: check.WorkerStarted, Worker: w.id})
		}
		return s.h.start(command{
			name:    name,
			program: "carillon-worker",
			log:     s.logOf(name),
			at:      w.place,
			env:     env,
			args:    args,
		})
	})
	s.keep(own, w.unit)
	return nil
}

// setClock sets the wall clock of the worker's next incarnation.
func (w *worker) setClock(offset time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = offset
}

// registered reports whether all workers are registered.
func (s *stack) registered(ctx context.Context) bool {
	clocks, err := s.liveWorkers(ctx)
	if err != nil {
		return false
	}
	for _, w := range s.workers {
		if clocks[w.name].IsZero() || !w.alive() {
			return false
		}
	}
	return true
}

// count returns how many keys are below a prefix.
func (s *stack) count(ctx context.Context, prefix string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	resp, err := s.client.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return resp.Count, nil
}

// unsettled returns what is not settled yet: the number of keys, by prefix, that must be deleted.
func (s *stack) unsettled(ctx context.Context) (map[string]int64, error) {
	left := map[string]int64{}
	for _, prefix := range []string{"/cron/runs/", "/cron/lock/", "/cron/outbox/", "/cron/triggers/", "/cron/killer/"} {
		n, err := s.count(ctx, prefix)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			left[prefix] = n
		}
	}
	return left, nil
}

func (s *stack) units() []*unit {
	all := slices.Concat(s.etcds, s.masters)
	if s.mongo != nil {
		all = append(all, s.mongo)
	}
	for _, w := range s.workers {
		if w.unit != nil {
			all = append(all, w.unit)
		}
	}
	return all
}

// close ends all processes.
func (s *stack) close() {
	s.cancel()
	s.tasks.Wait()
	s.h.killAll()
	all := slices.Concat(s.masterEtcd, s.masterMongo)
	for _, w := range s.workers {
		all = slices.Concat(all, w.etcd, w.mongo)
	}
	all.wait()
	if s.client != nil {
		_ = s.client.Close()
	}
	for _, w := range s.workers {
		_ = w.place.remove() // removed with the namespace in any case
	}
	if s.net != nil {
		_ = s.net.remove()
	}
}

// ready requests the readiness of one of the masters.
func (s *stack) ready(ctx context.Context, master int) bool {
	status, err := s.one(s.bases[master]).Ask(ctx, http.MethodGet, "/readyz", nil, nil)
	return err == nil && status == http.StatusOK
}
