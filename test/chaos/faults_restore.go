package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

// bump is how far the revision jumps at a restore, as docs/backup.md has it.
const bump = "1000000000"

// noticing is how long workers may take until they know that etcd was restored.
const noticing = time.Minute

// restoreEtcd takes a snapshot, lets jobs go on, puts all of etcd back to it, and accepts that as an operator does.
// Workers and masters run on through it.
func restoreEtcd(ctx context.Context, s *strike) error {
	member := s.rng.IntN(len(s.etcds))
	goOn := s.draw(3*time.Second, 20*time.Second)
	token := etcdToken // docs/backup.md asks for another one; half of the trials do without
	if s.rng.IntN(2) == 0 {
		token = "restored"
	}
	signal := []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}[s.rng.IntN(2)]
	wait := s.draw(0, 10*time.Second)
	s.say("snapshot of %s; servers %v after %v; restored with the token %q; recovery %v after all know",
		s.etcds[member].name, signal, goOn.Round(100*time.Millisecond), token, wait.Round(100*time.Millisecond))

	snapshot := filepath.Join(s.dir, "snapshot.db")
	span := check.Event{Kind: check.EtcdForgot, At: check.Now()}
	if err := s.snapshot(ctx, member, snapshot); err != nil {
		return err
	}
	if err := harness.Sleep(ctx, goOn); err != nil {
		return err
	}
	if err := s.noteOutboxes(ctx); err != nil {
		return err
	}
	away := s.begin(check.Event{Kind: check.EtcdAway, Text: "restored"})
	defer away()
	for _, u := range s.etcds {
		u.want(false, 100*time.Millisecond)
		defer u.want(true, time.Second)
	}
	for _, u := range s.etcds {
		if p := u.process(); p != nil {
			p.Signal(signal)
		}
	}
	for _, u := range s.etcds {
		if err := stop(ctx, u, signal); err != nil {
			return err
		}
	}
	span.Until, span.Wall = check.Now(), time.Now()
	s.add(span)
	for i := range s.etcds {
		if err := s.putBack(i, snapshot, token); err != nil {
			return err
		}
	}
	for _, u := range s.etcds {
		u.want(true, 100*time.Millisecond)
	}
	if err := s.etcdBack(ctx); err != nil {
		return err
	}
	away()
	held := s.begin(check.Event{Kind: check.EtcdHeld})
	defer held()
	began := time.Now()
	if err := s.noticed(ctx, true); err != nil {
		return promise(err)
	}
	s.figure("workers knew of the restore %v after etcd answered again", time.Since(began).Round(100*time.Millisecond))
	if err := harness.Sleep(ctx, wait); err != nil {
		return err
	}
	held()
	var done struct {
		Restored bool
		Total    int
	}
	if err := s.wait(ctx, noticing, "a master recovers", func() bool {
		err := s.do(ctx, http.MethodPost, "/api/v1/system/recover", map[string]any{}, &done)
		return err == nil || harness.Sleep(ctx, 500*time.Millisecond) != nil
	}); err != nil {
		return promise(err)
	}
	if !done.Restored {
		return promise(errors.New("the master does not know that etcd was restored"))
	}
	s.say("recovered: %d jobs", done.Total)
	return promise(s.noticed(ctx, false))
}

// noticed waits until all workers say that etcd was restored, or that it counts again.
func (s *strike) noticed(ctx context.Context, on bool) error {
	return s.wait(ctx, noticing, fmt.Sprintf("all workers say that etcd_went_back is %t", on), func() bool {
		for _, w := range s.workers {
			m, err := s.metrics(ctx, w)
			if err != nil || m[`carillon_condition{code="etcd_went_back"}`] > 0 != on {
				return harness.Sleep(ctx, 100*time.Millisecond) != nil
			}
		}
		return true
	})
}

// noteOutboxes writes down the outcomes that etcd holds and the log store may not have.
func (s *strike) noteOutboxes(ctx context.Context) error {
	const outboxes = "/cron/outbox/"
	resp, err := s.client.Get(ctx, outboxes, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return err
	}
	for _, kv := range resp.Kvs {
		if _, run, found := strings.Cut(strings.TrimPrefix(string(kv.Key), outboxes), "/"); found {
			s.add(check.Event{Kind: check.Undelivered, Run: run})
		}
	}
	s.say("%d outcomes wait for the log store", len(resp.Kvs))
	return nil
}

// snapshot copies what a member holds into a file.
func (s *strike) snapshot(ctx context.Context, member int, path string) error {
	at := s.etcdURLs[member : member+1]
	client, err := clientv3.New(clientv3.Config{Endpoints: at, DialTimeout: 5 * time.Second, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer client.Close()
	from, err := client.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("take a snapshot: %w", err)
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// putBack makes a member's data of a snapshot.
func (s *strike) putBack(member int, snapshot, token string) error {
	u := s.etcds[member]
	data := filepath.Join(s.dir, u.name)
	if err := os.RemoveAll(data); err != nil {
		return err
	}
	p, err := s.h.start(command{name: "etcdutl", program: "etcdutl", log: s.logOf("etcdutl"), args: []string{
		"snapshot", "restore", snapshot, "--name", u.name, "--data-dir", data,
		"--initial-cluster", s.etcdCluster, "--initial-cluster-token", token,
		"--initial-advertise-peer-urls", s.etcdPeers[member], "--bump-revision", bump, "--mark-compacted",
	}})
	if err != nil {
		return err
	}
	<-p.Done
	if !p.ProcessState.Success() {
		return fmt.Errorf("restore %s: %s", u.name, p.Tail())
	}
	return nil
}

// stop sends a signal to a unit's process and waits for its end; after a time it is killed.
func stop(ctx context.Context, u *unit, signal syscall.Signal) error {
	p := u.process()
	if p == nil || !p.Alive() {
		return nil
	}
	p.Signal(signal)
	force := time.NewTimer(5 * time.Second)
	defer force.Stop()
	for {
		select {
		case <-p.Done:
			return nil
		case <-force.C:
			p.Signal(syscall.SIGKILL)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
