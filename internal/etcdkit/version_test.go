package etcdkit

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/platform/virtualtime"
)

func TestVersionFault(t *testing.T) {
	for version, good := range map[string]bool{
		"3.5.33":     true,
		"3.5.32":     false,
		"3.5.9":      false,
		"3.6.14":     true,
		"3.6.0-rc.1": false,
		"3.7.1":      true,
		"3.7.0":      false,
		"3.8.0":      true,
		"4.0.0":      true,
		"3.4.42":     false,
		"2.3.8":      false,
		"":           false,
		"x.y.z":      false,
		"3.5":        false,
	} {
		if fault := VersionFault(version); (fault == "") != good {
			t.Errorf("%q: %q", version, fault)
		}
	}
}

func TestEtcdVersions(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		var back atomic.Bool
		asked := map[string]int{}
		var log bytes.Buffer
		serve := logOutdated([]string{"old", "new", "old too", "away"},
			func(_ context.Context, endpoint string) (*clientv3.StatusResponse, error) {
				asked[endpoint]++
				switch {
				case endpoint == "new":
					return &clientv3.StatusResponse{Version: "3.7.1"}, nil
				case endpoint == "away" && !back.Load():
					return nil, errors.New("away")
				}
				return &clientv3.StatusResponse{Version: "3.6.9"}, nil
			}, slog.New(slog.NewTextHandler(&log, nil)))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- serve(ctx) }()
		virtualtime.Wait()
		if n := strings.Count(log.String(),
			`msg=etcd_outdated version=3.6.9 endpoints="[old old too]" fault=`); n != 1 {
			t.Errorf("at first: %s", log.String())
		}
		time.Sleep(2 * time.Minute)
		virtualtime.Wait()
		back.Store(true)
		time.Sleep(2 * time.Minute)
		virtualtime.Wait()
		if got := log.String(); strings.Count(got, "etcd_outdated") != 2 || !strings.Contains(got, "endpoints=[away]") {
			t.Errorf("then: %s", got)
		}
		if asked["old"] != 1 || asked["new"] != 1 || asked["away"] < 3 {
			t.Errorf("asked %v", asked)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A real etcd reports its version to any logged-in user, and is new enough.
func TestEtcdVersionOfARealOne(t *testing.T) {
	t.Parallel()
	client := etcdtest.Start(t)
	var log bytes.Buffer
	status, err := client.Status(t.Context(), client.Endpoints()[0])
	if err != nil || status.Version == "" {
		t.Fatalf("%v, %v", status, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := LogOutdated(client, slog.New(slog.NewTextHandler(&log, nil)))(ctx); err != nil || log.Len() > 0 {
		t.Errorf("%v: %s", err, log.String())
	}
}
