package members_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/cluster/members"
	"carillon/internal/common"
)

func TestPresence(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	m, _ := follow(t, client)
	session := &leases{client: client, ttl: 600}
	clock := noon
	presence := members.NewPresence(client, session, slog.New(slog.DiscardHandler), tick, func(error) {},
		func() common.MasterPresence {
			clock = clock.Add(time.Second)
			return common.MasterPresence{ID: "m", Host: "box", Version: "v", Clock: clock}
		})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- presence.Run(ctx) }()
	fresh := func(after time.Time) func(*members.Snapshot) bool {
		return func(s *members.Snapshot) bool {
			return len(s.Masters) == 1 && s.Masters[0].Clock.After(after) && s.Masters[0].Host == "box" &&
				!s.Masters[0].Heard.IsZero()
		}
	}
	first := until(t, m, "it is listed", fresh(noon))
	until(t, m, "it is written again", fresh(first.Masters[0].Clock))

	session.mu.Lock()
	lost := session.live
	session.mu.Unlock()
	if _, err := client.Revoke(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is written under another lease", func() bool {
		resp, err := client.Get(t.Context(), common.MasterKey("m"))
		if err != nil {
			t.Fatal(err)
		}
		return len(resp.Kvs) == 1 && resp.Kvs[0].Lease != 0 && clientv3.LeaseID(resp.Kvs[0].Lease) != lost
	})
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	session.mu.Lock()
	live := session.live
	session.mu.Unlock()
	if _, err := client.Revoke(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	until(t, m, "it is gone with its lease", func(s *members.Snapshot) bool { return len(s.Masters) == 0 })
}
