package joblock_test

import (
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"carillon/internal/common"
	"carillon/internal/joblock"
)

// gate is a worker's registration, and what is known of etcd.
type gate struct {
	registered int64
	refuses    error
	wentBack   string
}

func (g *gate) Check() error        { return g.refuses }
func (g *gate) Registered() int64   { return g.registered }
func (g *gate) WentBack(why string) { g.wentBack = why }

// In an etcd that was restored from a backup the worker's registration is older than it knows: a claim, which could
// have been made before, writes nothing there.
func TestClaim_RegistrationIsOlder_WritesNothing(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	put := func() int64 {
		resp, err := s.client.Put(t.Context(), common.WorkerKey(me), "{}")
		if err != nil {
			t.Fatal(err)
		}
		return resp.Header.Revision
	}
	restored := put()
	g := &gate{registered: restored + 1000}
	claimer := joblock.NewClaimer(s.client, s.session, me, quiet, g)
	version := s.put("a", t0)
	result := claimer.Claim(t.Context(), []common.Claim{planned("a", version, t0, t1)})[0]
	if result.Err == nil || g.wentBack == "" {
		t.Fatalf("the claim came to %+v; went back: %q", result, g.wentBack)
	}
	resp, err := s.client.Get(t.Context(), common.RunsPrefix, clientv3.WithPrefix())
	if err != nil || len(resp.Kvs) != 0 {
		t.Fatalf("it left %v, %v", resp, err)
	}
	g.registered = put()
	if result := claimer.Claim(t.Context(),
		[]common.Claim{planned("a", version, t0, t1)})[0]; result.Verdict != common.Claimed {
		t.Fatalf("under its registration: %+v", result)
	}
	g.refuses = errors.New("etcd went back")
	if result := claimer.Claim(t.Context(),
		[]common.Claim{planned("a", version, t1, t1.Add(1))})[0]; !errors.Is(result.Err, g.refuses) {
		t.Fatalf("refused: %+v", result)
	}
}

// A claim that was not answered is not tried again in an etcd that was restored meanwhile, although the worker has
// written its registration there again by then.
func TestClaim_EtcdIsRestoredBetweenTries_WritesNothing(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	version := s.put("a", t0)
	g, sent := &gate{registered: 1}, 0
	claimer := joblock.NewClaimer(s.intercepted(func(method string, call func() error) error {
		if method != "/etcdserverpb.KV/Txn" {
			return call()
		}
		if sent++; sent > 1 {
			return call()
		}
		if _, err := s.client.Put(t.Context(), common.WorkerKey(me), "{}"); err != nil {
			t.Error(err)
		}
		g.refuses = errors.New("etcd went back")
		return status.Error(codes.Unavailable, "the connection is gone")
	}), s.session, me, quiet, g)
	result := claimer.Claim(t.Context(), []common.Claim{planned("a", version, t0, t1)})[0]
	if !errors.Is(result.Err, g.refuses) || !result.Unsure || sent != 1 || len(s.keys(common.RunsPrefix)) != 0 {
		t.Fatalf("%+v after %d tries", result, sent)
	}
}
