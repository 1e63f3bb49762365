package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

// whom a signal is sent to.
type whom string

const (
	theWorker   whom = "worker"
	theGuardian whom = "guardian"
	theBoth     whom = "both"
)

// pids are the processes meant, the guardian first.
func (p *process) pids(who whom) []int {
	switch who {
	case theWorker:
		return []int{p.proper()}
	case theGuardian:
		return []int{p.PID()}
	}
	return slices.Compact([]int{p.PID(), p.proper()})
}

// moment is when a worker is killed.
type moment struct {
	name, about string
	await       func(context.Context, *strike) (seen string, err error)
}

// The five moments are hit from outside: by the clock, by what comes to stand in etcd,
// and by what the commands write down.
func moments() []moment {
	return []moment{
		{"before-claim", "some milliseconds before fires are due", beforeClaim},
		{"after-claim", "when its claim has come to stand in etcd, before or about the fork", afterClaim},
		{"in-command", "while commands run", inCommand},
		{"before-finish", "when a command has written its last line", beforeFinish},
		{"after-finish", "when an outcome has come to stand in etcd, and the log store is slow to answer", afterFinish},
	}
}

func killFaults() []fault {
	var all []fault
	for _, who := range []whom{theWorker, theGuardian, theBoth} {
		for _, m := range moments() {
			f := fault{
				name:  fmt.Sprintf("kill-%s-%s", who, m.name),
				about: fmt.Sprintf("SIGKILL to %s, %s", who, m.about),
				takes: 25 * time.Second,
				needs: []resource{aWorker},
			}
			if m.name == "in-command" {
				f.name, f.jobs = fmt.Sprintf("kill-%s", who), likeLong
			}
			f.run = func(ctx context.Context, s *strike) error {
				ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
				defer cancel()
				seen, err := m.await(ctx, s)
				if err != nil {
					return fmt.Errorf("the moment did not come: %w", err)
				}
				s.say("%s", seen)
				return s.kill(ctx, who)
			}
			all = append(all, f)
		}
	}
	return append(all, fault{
		name:  "kill-for-good",
		jobs:  likeLong,
		about: "SIGKILL to the worker, which stays away for a minute",
		takes: 70 * time.Second,
		alone: true,
		needs: []resource{aWorker},
		run:   killForGood,
	})
}

// kill sends SIGKILL, and looks how long commands stay.
func (s *strike) kill(ctx context.Context, who whom) error {
	p := s.w.process()
	if p == nil || !p.Alive() {
		return fmt.Errorf("%s is not there to be killed", s.w.name)
	}
	tree := map[int]string{}
	for _, pid := range descendants(p.PID()) {
		if pid != p.proper() {
			tree[pid] = startedAt(pid)
		}
	}
	at := check.Now()
	s.add(check.Event{Kind: check.WorkerKilled, At: at, Worker: s.w.id, Text: string(who)})
	for _, pid := range p.pids(who) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			return fmt.Errorf("kill %s: %w", who, err)
		}
	}
	left := func() (n int) {
		for pid, began := range tree {
			if runs(pid) && startedAt(pid) == began {
				n++
			}
		}
		return n
	}
	commands := len(tree)
	for left() > 0 && check.Now().Sub(at) < 30*time.Second {
		if err := harness.Sleep(ctx, time.Millisecond); err != nil {
			break
		}
	}
	took := check.Now().Sub(at)
	if n := left(); n > 0 {
		s.say("%d of %d processes below it live still", n, commands)
	} else {
		s.say("%d processes below it were gone after %v", commands, took.Round(time.Millisecond))
	}
	if commands > 0 {
		s.gone(who, took)
	}
	return nil
}

func beforeClaim(ctx context.Context, s *strike) (string, error) {
	ahead := time.Duration(s.rng.Int64N(int64(15 * time.Millisecond)))
	at := time.Now().Add(time.Second).Truncate(time.Second).Add(time.Second - ahead)
	return fmt.Sprintf("killed %v before the second", ahead.Round(time.Millisecond)), harness.SleepUntil(ctx, at)
}

// appears waits until the worker puts a key below a prefix.
func appears(ctx context.Context, s *strike, prefix string, mine func(key, value []byte) bool) (string, error) {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	for answer := range s.client.Watch(ctx, prefix, clientv3.WithPrefix(), clientv3.WithFilterDelete()) {
		if err := answer.Err(); err != nil {
			return "", err
		}
		for _, e := range answer.Events {
			if mine(e.Kv.Key, e.Kv.Value) {
				return fmt.Sprintf("%s at revision %d", e.Kv.Key, e.Kv.ModRevision), nil
			}
		}
	}
	return "", context.Cause(ctx)
}

func afterClaim(ctx context.Context, s *strike) (string, error) {
	id := []byte(`"` + s.w.id + `"`)
	return appears(ctx, s, "/cron/runs/", func(_, value []byte) bool { return bytes.Contains(value, id) })
}

func inCommand(ctx context.Context, s *strike) (string, error) {
	if err := harness.Sleep(ctx, time.Duration(s.rng.Int64N(int64(2*time.Second)))); err != nil {
		return "", err
	}
	for {
		below := 0
		if p := s.w.process(); p != nil {
			below = len(descendants(p.PID()))
			if p.proper() != p.PID() {
				below--
			}
		}
		if below >= 2 {
			return fmt.Sprintf("%d processes run", below), nil
		}
		if err := harness.Sleep(ctx, time.Millisecond); err != nil {
			return "", err
		}
	}
}

func beforeFinish(ctx context.Context, s *strike) (seen string, err error) {
	err = follow(ctx, s.ledger, func(e entry) bool {
		seen = fmt.Sprintf("%s has written its end", e.run)
		return e.what == "end" && e.worker == s.w.id
	})
	return seen, err
}

func afterFinish(ctx context.Context, s *strike) (string, error) {
	s.w.mongo.set(manner{delay: 300 * time.Millisecond})
	defer s.w.mongo.set(manner{})
	return appears(ctx, s, "/cron/outbox/"+s.w.id+"/", func([]byte, []byte) bool { return true })
}

func killForGood(ctx context.Context, s *strike) error {
	if _, err := inCommand(ctx, s); err != nil {
		return err
	}
	s.w.want(false, time.Second)
	defer s.w.want(true, time.Second)
	if err := s.kill(ctx, theBoth); err != nil {
		return err
	}
	return harness.Sleep(ctx, time.Minute)
}

// stopFaults freeze what they hit.
func stopFaults() []fault {
	stop := func(who whom, name string, length time.Duration, permitted ...check.Rule) fault {
		return fault{
			name:      fmt.Sprintf("stop-%s-%s", who, name),
			jobs:      likeLong,
			about:     fmt.Sprintf("SIGSTOP to %s for %v", who, length),
			takes:     length + 5*time.Second,
			alone:     length > 20*time.Second,
			needs:     []resource{aWorker},
			permitted: permitted,
			run:       func(ctx context.Context, s *strike) error { return s.freeze(ctx, who, length, false) },
		}
	}
	const short, long = 8 * time.Second, 40 * time.Second
	return []fault{
		stop(theWorker, "short", short), stop(theGuardian, "short", short), stop(theBoth, "short", short),
		stop(theWorker, "long", long), stop(theGuardian, "long", long),
		// With both of them frozen no process is left to end the commands.
		stop(theBoth, "long", long, check.Overlaps, check.Survivor),
		{
			name:      "freeze",
			jobs:      likeLong,
			about:     "SIGSTOP to everything of a worker, commands too, for 40s, as when a machine sleeps",
			takes:     long + 5*time.Second,
			alone:     true,
			needs:     []resource{aWorker},
			permitted: []check.Rule{check.Overlaps, check.Survivor},
			run:       func(ctx context.Context, s *strike) error { return s.freeze(ctx, theBoth, long, true) },
		},
	}
}

// freeze stops processes for a time.
func (s *strike) freeze(ctx context.Context, who whom, length time.Duration, commands bool) error {
	p := s.w.process()
	if p == nil || !p.Alive() {
		return fmt.Errorf("%s is not there to be stopped", s.w.name)
	}
	pids := p.pids(who)
	if commands {
		pids = append(pids, descendants(p.PID())...)
	}
	began := map[int]string{}
	end := s.begin(check.Event{Kind: check.WorkerStopped, Worker: s.w.id, Text: string(who)})
	defer end()
	for _, pid := range pids {
		began[pid] = startedAt(pid)
		_ = syscall.Kill(pid, syscall.SIGSTOP) // a command may have ended meanwhile
	}
	defer func() {
		for pid, at := range began {
			if startedAt(pid) == at {
				_ = syscall.Kill(pid, syscall.SIGCONT)
			}
		}
	}()
	return harness.Sleep(ctx, length)
}
