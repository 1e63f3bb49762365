package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"carillon/internal/common"
)

func dial(url string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: []string{url}, Logger: zap.NewNop(), DialTimeout: 10 * time.Second})
}

// fillOptions are the options of an etcd that is filled before the measurement.
func fillOptions() []string { return []string{"--unsafe-no-fsync", "--max-txn-ops", "2000"} }

// fill writes n jobs that fire once a year directly to etcd, like a master, many in a transaction: through
// the API a million would take too long.
func fill(ctx context.Context, url string, n int, more ...common.Job) error {
	client, err := dial(url)
	if err != nil {
		return err
	}
	defer client.Close()
	const batch, writers = 500, 4
	now := time.Now().UTC()
	month := int(now.AddDate(0, 6, 0).Month())
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	parts := make(chan []common.Job)
	for range writers {
		group.Go(func() {
			for part := range parts {
				if err := put(ctx, client, part, now); err != nil {
					cancel(err)
				}
			}
		})
	}
	part := more
	for i := range n {
		part = append(part, common.Job{Name: fmt.Sprintf("job-%07d", i), Command: "true", Timezone: "UTC",
			CronExpr: fmt.Sprintf("%d %d %d %d *", i%60, i/60%24, 1+i%28, month)})
		if len(part) >= batch || i == n-1 {
			parts <- part
			part = nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	close(parts)
	group.Wait()
	return context.Cause(ctx)
}

func put(ctx context.Context, client *clientv3.Client, jobs []common.Job, now time.Time) error {
	ops := make([]clientv3.Op, 0, 2*len(jobs))
	for _, j := range jobs {
		data, err := json.Marshal(common.StoredJob{Job: j, UID: common.NewID(), CreatedAt: now, UpdatedAt: now})
		if err != nil {
			return err
		}
		ops = append(ops, clientv3.OpPut(common.JobKey(j.Name), string(data)),
			clientv3.OpPut(common.CursorKey(j.Name), common.TimeKey(now)))
	}
	_, err := client.Txn(ctx).Then(ops...).Commit()
	return err
}

// fillStandalone creates a standalone's data directory that holds jobs: its keyspace is that of an etcd
// server with one member of this name.
func (b *bench) fillStandalone(ctx context.Context, dir string, n int, more ...common.Job) error {
	const peer = "http://localhost:2380"
	server, url, err := b.newEtcd(ctx, dir, append(fillOptions(), "--name", "carillon", "--data-dir",
		filepath.Join(dir, "data", "etcd", "data"),
		"--initial-advertise-peer-urls", peer, "--initial-cluster", "carillon="+peer)...)
	if err != nil {
		return err
	}
	defer server.Stop()
	return fill(ctx, url, n, more...)
}
