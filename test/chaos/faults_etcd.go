package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

func etcdFaults() []fault {
	restart := func(name, about string, length time.Duration, signal syscall.Signal, like setLike) fault {
		return fault{
			name:     name,
			about:    about,
			takes:    length + 20*time.Second,
			alone:    length > 20*time.Second,
			needs:    []resource{theEtcd},
			jobs:     like,
			unharmed: true,
			run:      func(ctx context.Context, s *strike) error { return s.etcdDown(ctx, s.etcds, length, signal) },
		}
	}
	return []fault{
		restart("etcd-restart-5s", "all of etcd is stopped, for 5s", 5*time.Second, syscall.SIGTERM, likeShort),
		restart("etcd-restart-40s", "all of etcd is killed, for 40s, under jobs that allow for it", 40*time.Second,
			syscall.SIGKILL, likePatient),
		restart("etcd-killed-40s", "all of etcd is killed, for 40s, which is longer than jobs allow for",
			40*time.Second, syscall.SIGKILL, likeLong).harmful().resting(5 * time.Minute),
		{
			name:     "etcd-leader",
			about:    "etcd's leader is killed, and is back after 8s",
			takes:    25 * time.Second,
			needs:    []resource{theEtcd},
			unharmed: true,
			run:      killLeader,
		},
		{
			name:  "etcd-quorum",
			jobs:  likeLong,
			about: "two of three etcd servers are away for 2m",
			takes: 2*time.Minute + 30*time.Second,
			alone: true,
			needs: []resource{theEtcd},
			run: func(ctx context.Context, s *strike) error {
				return s.etcdDown(ctx, s.etcds[:2], 2*time.Minute, syscall.SIGKILL)
			},
		},
		{
			name:     "etcd-nospace",
			about:    "etcd is out of space for 25s: it answers, and takes no writes",
			takes:    40 * time.Second,
			needs:    []resource{theEtcd},
			unharmed: true,
			run:      noSpace,
		},
		{
			name: "etcd-tokens-expire",
			about: "etcd asks for passwords, and tokens end under open streams: by silence, by restarts of its " +
				"members, by changes of passwords",
			takes:     75 * time.Second,
			alone:     true,
			needs:     []resource{theEtcd},
			jobs:      likePatient,
			unharmed:  true,
			passwords: true,
			run:       endTokens,
		},
		{
			name: "etcd-restored",
			about: "all of etcd is put back to a snapshot some seconds old, under running jobs, and accepted by an " +
				"operator",
			takes:   70 * time.Second,
			alone:   true,
			needs:   []resource{theEtcd},
			jobs:    likeLong,
			forgets: true,
			run:     restoreEtcd,
		},
	}
}

// harmful is the fault when runs may die of it.
func (f fault) harmful() fault {
	f.unharmed = false
	return f
}

// resting returns the fault with more time until all is settled: long runs catch up one after another.
func (f fault) resting(longer time.Duration) fault {
	f.rest = longer
	return f
}

// etcdDown ends servers, for a time.
func (s *strike) etcdDown(ctx context.Context, which []*unit, length time.Duration, signal syscall.Signal) error {
	end := s.begin(check.Event{Kind: check.EtcdAway})
	defer end()
	for _, u := range which {
		u.want(false, time.Second)
		defer u.want(true, time.Second)
		if p := u.process(); p != nil {
			p.Signal(signal)
		}
	}
	if err := harness.Sleep(ctx, length); err != nil {
		return err
	}
	for _, u := range which {
		u.want(true, time.Second)
	}
	return s.etcdBack(ctx)
}

// leader finds etcd's.
func (s *strike) leader(ctx context.Context) (*unit, error) {
	var all []error
	for i, url := range s.etcdURLs {
		status, err := s.client.Status(ctx, url)
		if err == nil && status.Leader == status.Header.MemberId {
			return s.etcds[i], nil
		}
		all = append(all, err)
	}
	return nil, fmt.Errorf("etcd has no leader: %w", errors.Join(all...))
}

func killLeader(ctx context.Context, s *strike) error {
	u, err := s.leader(ctx)
	if err != nil {
		return err
	}
	s.say("it is %s", u.name)
	end := s.begin(check.Event{Kind: check.EtcdAway, Text: u.name})
	defer end()
	u.want(false, time.Second)
	defer u.want(true, time.Second)
	u.process().Signal(syscall.SIGKILL)
	if err := harness.Sleep(ctx, 100*time.Millisecond); err != nil {
		return err
	}
	if err := s.etcdBack(ctx); err != nil {
		return err
	}
	end()
	if err := harness.Sleep(ctx, 8*time.Second); err != nil {
		return err
	}
	u.want(true, time.Second)
	return s.etcdBack(ctx)
}

func noSpace(ctx context.Context, s *strike) error {
	status, err := s.client.Status(ctx, s.etcdURLs[0])
	if err != nil {
		return err
	}
	end := s.begin(check.Event{Kind: check.EtcdAway, Text: "no space"})
	defer end()
	alarm := &pb.AlarmRequest{
		MemberID: status.Header.MemberId,
		Action:   pb.AlarmRequest_ACTIVATE,
		Alarm:    pb.AlarmType_NOSPACE,
	}
	server := pb.NewMaintenanceClient(s.client.ActiveConnection())
	if _, err := server.Alarm(ctx, alarm); err != nil {
		return err
	}
	if s.etcdAnswers(ctx) {
		return errors.New("etcd takes writes in spite of the alarm")
	}
	err = harness.Sleep(ctx, 25*time.Second)
	alarm.Action = pb.AlarmRequest_DEACTIVATE
	_, undone := server.Alarm(context.WithoutCancel(ctx), alarm)
	return errors.Join(err, undone, s.etcdBack(ctx))
}
