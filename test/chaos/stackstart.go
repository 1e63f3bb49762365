package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

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
