package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

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

func (s *stack) logOf(name string) string { return filepath.Join(s.dir, name+".log") }

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
	for _, prefix := range []string{"/cron/runs/", "/cron/lock/", "/cron/outbox/", "/cron/triggers/", "/cron/killer/",
		"/cron/flowruns/", "/cron/flownodes/", "/cron/flowwaits/", "/cron/moves/"} {
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
