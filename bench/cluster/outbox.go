package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/test/harness"
)

// full reports whether a worker has the condition outbox_full.
func (c *cluster) full(ctx context.Context) bool {
	var page struct {
		Items []struct{ Conditions []struct{ Code string } }
	}
	if c.Want(ctx, http.StatusOK, http.MethodGet, "/api/v1/workers", nil, &page) != nil {
		return false
	}
	for _, w := range page.Items {
		for _, condition := range w.Conditions {
			if condition.Code == common.ConditionOutboxFull {
				return true
			}
		}
	}
	return false
}

// filled returns the outcomes of jobs that fired each second after a time, up to another.
type filled struct {
	jobs     []string
	from, to time.Time
	count    int
}

// fillOutbox writes outcomes of the last hours, in whole seconds, into the outbox of a worker.
func fillOutbox(ctx context.Context, client *clientv3.Client, owner, jobs string,
	enough func(count int, bytes int64) bool) (f filled, err error) {
	const batch, writers = 100, 4
	start := time.Now().UTC().Truncate(time.Second).Add(-2 * time.Hour)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	parts := make(chan []clientv3.Op)
	for range writers {
		group.Go(func() {
			for part := range parts {
				if _, err := client.Txn(ctx).Then(part...).Commit(); err != nil {
					cancel(err)
				}
			}
		})
	}
	uids := make([]string, outageJobs)
	for i := range uids {
		uids[i] = common.NewID()
		f.jobs = append(f.jobs, fmt.Sprintf("%s-%05d", jobs, i))
	}
	var part []clientv3.Op
	count, bytes := 0, int64(0)
	for ; (count%outageJobs > 0 || !enough(count, bytes)) && ctx.Err() == nil; count++ {
		at := start.Add(time.Duration(count/outageJobs) * time.Second)
		claimed, began, ended, exit := at.Add(3*time.Millisecond), at.Add(7*time.Millisecond),
			at.Add(19*time.Millisecond), count%50/49
		n := count % outageJobs
		run := common.Run{
			Job:         f.jobs[n],
			JobUID:      uids[n],
			JobVersion:  1000,
			Fire:        common.PlannedFire(uids[n], at),
			PlannedAt:   at,
			Cause:       common.CauseCron,
			Attempt:     1,
			Status:      common.StatusSucceeded,
			Worker:      owner,
			WorkerName:  "worker-0",
			ClaimedAt:   &claimed,
			StartedAt:   &began,
			EndedAt:     &ended,
			ExitCode:    &exit,
			CPUSeconds:  0.001,
			MaxRSSBytes: 2 << 20,
			Delays:      &common.Delays{Plan: "3.1ms", Claim: "2.2ms", Start: "1.7ms"},
		}
		if run.ID = common.RunID(run.Fire, 1); exit != 0 {
			run.Status, run.Reason = common.StatusFailed, &common.Reason{
				Code: "exit_code",
				Data: map[string]string{"exitCode": "1"},
				Text: "exit code 1",
			}
		}
		data, err := json.Marshal(run)
		if err != nil {
			return f, err
		}
		key := common.OutboxKey(run.Worker, run.ID)
		bytes += int64(len(key) + len(data))
		if part = append(part, clientv3.OpPut(key, string(data))); len(part) == batch {
			parts <- part
			part = nil
		}
	}
	if len(part) > 0 {
		parts <- part
	}
	close(parts)
	group.Wait()
	f.from, f.to, f.count = start.Add(-time.Second), start.Add(time.Duration(count/outageJobs-1)*time.Second), count
	return f, context.Cause(ctx)
}

// putHeld writes jobs whose cursors are far in the past, as if their fires had been held since.
func putHeld(ctx context.Context, client *clientv3.Client, cursor time.Time) (names []string, err error) {
	for i := range outageJobs {
		stored := common.StoredJob{
			Job: common.Job{Name: fmt.Sprintf("day-%05d", i), Command: "true", Timezone: "UTC", CronExpr: everySecond,
				CatchUp: &common.CatchUp{Policy: common.CatchUpNone}},
			UID:       common.NewID(),
			CreatedAt: cursor,
			UpdatedAt: cursor,
		}
		data, err := json.Marshal(stored)
		if err != nil {
			return nil, err
		}
		if _, err := client.Txn(ctx).Then(clientv3.OpPut(common.JobKey(stored.Name), string(data)),
			clientv3.OpPut(common.CursorKey(stored.Name), common.TimeKey(cursor))).Commit(); err != nil {
			return nil, err
		}
		names = append(names, stored.Name)
	}
	return names, nil
}

// outboxes counts the outcomes in etcd, and returns the size of etcd's file.
func outboxes(ctx context.Context, client *clientv3.Client) (count, size int64, err error) {
	resp, err := client.Get(ctx, common.OutboxPrefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return 0, 0, err
	}
	status, err := client.Status(ctx, client.Endpoints()[0])
	if err != nil {
		return 0, 0, err
	}
	return resp.Count, status.DbSize, nil
}

// etcdSizes holds the largest size of etcd's file, and how much of it was in use.
type etcdSizes struct {
	mu         sync.Mutex
	file, used int64
}

// watchSizes measures each second until the context ends.
func watchSizes(ctx context.Context, client *clientv3.Client) *etcdSizes {
	s := &etcdSizes{}
	go func() {
		for harness.Sleep(ctx, time.Second) == nil {
			if status, err := client.Status(ctx, client.Endpoints()[0]); err == nil {
				s.mu.Lock()
				s.file, s.used = max(s.file, status.DbSize), max(s.used, status.DbSizeInUse)
				s.mu.Unlock()
			}
		}
	}()
	return s
}

func (s *etcdSizes) most() (file, used int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file, s.used
}
