package etcdkit_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/etcdtest"
)

// An etcd that comes back after a long time must be found soon: the client tries at a steady pace. With
// grpc's default backoff these tries would take most of a minute.
func TestDialKeepsTrying(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	tried := make(chan struct{}, 100)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
			tried <- struct{}{}
		}
	}()
	client, err := etcdkit.Dial(etcdkit.Config{Endpoints: []string{"http://" + listener.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	go func() { _, _ = client.Get(t.Context(), "x") }()
	deadline := time.After(30 * time.Second)
	for n := range 9 {
		select {
		case <-tried:
		case <-deadline:
			t.Fatalf("%d tries only", n)
		}
	}
}

func TestWrap_ReturnsCodeAndReason(t *testing.T) {
	for _, c := range []struct {
		err    error
		code   common.Code
		reason string
		maybe  bool
	}{
		{rpctypes.ErrNoSpace, common.CodeUnavailable, "etcd_full", false},
		{rpctypes.ErrInvalidAuthToken, common.CodeUnavailable, "etcd_login", false},
		{rpctypes.ErrAuthOldRevision, common.CodeUnavailable, "etcd_login", false},
		{rpctypes.ErrUserEmpty, common.CodeUnavailable, "etcd_login", false},
		{status.Error(codes.Unauthenticated, "etcd refuses the login of user u"), common.CodeUnavailable,
			"etcd_login", false},
		{rpctypes.ErrNoLeader, common.CodeUnavailable, "etcd_away", true},
		{context.DeadlineExceeded, common.CodeUnavailable, "etcd_away", true},
		{rpctypes.ErrPermissionDenied, common.CodeInternal, "", false},
	} {
		wrapped := etcdkit.Wrap(fmt.Errorf("read: %w", c.err))
		got, ok := errors.AsType[*common.Error](wrapped)
		if !ok || got.Code != c.code || got.Reason != c.reason || etcdkit.OutcomeUnknown(c.err) != c.maybe {
			t.Errorf("%v: %+v, may be done: %t; want %+v", c.err, wrapped, etcdkit.OutcomeUnknown(c.err), c)
		}
	}
}

// A watch that begins after the last revision ends: after a restore it would miss all changes up to there.
func TestDial_WatchAfterTheLastRevision_Ends(t *testing.T) {
	t.Parallel()
	client, err := etcdkit.Dial(etcdkit.Config{Endpoints: []string{"http://" + etcdtest.StartServer(t).Endpoint}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	put, err := client.Put(t.Context(), "key", "value")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for range client.Watch(ctx, "key", clientv3.WithRev(put.Header.Revision+1000)) {
	}
	if ctx.Err() != nil {
		t.Error("the watch did not end")
	}
	// Other watches begin as before.
	next := client.Watch(ctx, "key", clientv3.WithRev(put.Header.Revision+1))
	if _, err := client.Put(ctx, "key", "value"); err != nil {
		t.Fatal(err)
	}
	if resp, open := <-next; !open || len(resp.Events) != 1 {
		t.Errorf("the watch of the next revision received %+v, open: %t", resp, open)
	}
}
