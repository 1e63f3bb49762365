package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
)

func newLockStage(t *testing.T) (*stage, *apitest.FakeLocks) {
	t.Helper()
	locks := &apitest.FakeLocks{}
	return newStageWith(t, func(cfg *httpapi.Config) { cfg.Locks = locks }), locks
}

func (s *stage) held(locks *apitest.FakeLocks, name string) string {
	s.t.Helper()
	g, err := locks.Acquire(s.t.Context(), name, common.LockRequest{ID: "other", Session: strings.Repeat("0", 64)})
	if err != nil || g.State != common.SessionHeld {
		s.t.Fatal(g, err)
	}
	return g.Session
}

func TestLock_RunsTheCommandAndReleases(t *testing.T) {
	s, locks := newLockStage(t)
	s.stdin = "from stdin\n"
	s.run("lock", "imports.eu", "--id", "me", "--", "/bin/sh", "-c",
		`cat; echo "$CARILLON_LOCK $CARILLON_FENCE ${CARILLON_LOCK_NOTE-none} ${#CARILLON_LOCK_SESSION}"; exit 3`).
		want(t, 3, "from stdin\nimports.eu 1 none 64\n")
	l, err := locks.Lock(t.Context(), "imports.eu")
	if err != nil || l.Owner.State != common.LockReleased || l.Owner.ID != "me" {
		t.Errorf("%+v, %v", l.Owner, err)
	}
	s.run("lock", "imports.eu", "--", "/bin/sh", "-c", "kill -9 $$").want(t, 137)
	s.run("lock", "imports.eu", "--", "/nowhere/none").want(t, exitUsage, "cannot start the command")
	if l, _ := locks.Lock(t.Context(), "imports.eu"); l.Owner.State != common.LockReleased {
		t.Error("the lock was not released")
	}
}

func TestLock_HeldByAnother(t *testing.T) {
	s, locks := newLockStage(t)
	s.held(locks, "imports.eu")
	ran := filepath.Join(t.TempDir(), "ran")
	s.run("lock", "imports.eu", "--wait", "0", "--", "/usr/bin/touch", ran).
		want(t, exitNotAcquired, "is held by another client")
	if _, err := os.Stat(ran); err == nil {
		t.Error("the command was run")
	}
}

// The first keep-alives are answered, then the session has lost its lock.
func TestLock_Lost_EndsTheProcessGroup(t *testing.T) {
	s, locks := newLockStage(t)
	dir := t.TempDir()
	began := filepath.Join(dir, "began")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if _, err := os.Stat(began); err == nil {
				break
			}
		}
		if err := locks.ForceRelease(t.Context(), common.Actor{}, "imports.eu"); err != nil {
			t.Error(err)
		}
	}()
	s.run("lock", "imports.eu", "--ttl", "5s", "--grace", "20s", "--stop-grace", "1s", "--", "/bin/sh", "-c",
		"trap '' TERM; sleep 1000 & echo >"+began+"; wait; wait; sleep 1000").
		want(t, exitLockLost, "lock imports.eu was lost")
	<-done
}

// A master that does not answer is passed over.
func TestLock_SeveralMasters(t *testing.T) {
	s, _ := newLockStage(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	s.runWith([]string{"CARILLON_SERVER=" + gone.URL + "," + s.server.URL, "CARILLON_TOKEN=" + goodToken},
		"lock", "imports.eu", "--", "/bin/echo", "ran").want(t, exitOK, "ran")
}

// With the shortest grace period there is no time for the default between TERM and KILL.
func TestLock_ShortestGrace(t *testing.T) {
	s, _ := newLockStage(t)
	s.run("lock", "imports.eu", "--ttl", "10s", "--grace", "15s", "--", "/bin/echo", "ran").want(t, exitOK, "ran")
}

func TestLock_Usage(t *testing.T) {
	s, _ := newLockStage(t)
	for text, args := range map[string][]string{
		"write cronctl lock NAME -- COMMAND": {"lock", "imports.eu", "true"},
		"not a valid name":                   {"lock", "A/b", "--", "true"},
		"must be at least ttl":               {"lock", "a", "--grace", "11s", "--", "true"},
		"must be at most":                    {"lock", "a", "--stop-grace", "25s", "--", "true"},
	} {
		s.run(args...).want(t, exitUsage, text)
	}
}

func TestGetAndReleaseLocks(t *testing.T) {
	s, locks := newLockStage(t)
	s.held(locks, "imports.eu")
	s.run("get", "locks").want(t, exitOK, "NAME", "imports.eu", "held", "other")
	s.run("get", "lock", "imports.eu", "-o", "json").want(t, exitOK, `"state": "held"`)
	s.run("release", "imports.eu").want(t, exitUsage, "--force")
	s.run("release", "imports.eu", "--force").want(t, exitOK, "released imports.eu\n")
	s.run("release", "imports.eu", "--force").want(t, exitNotFound)
	s.run("get", "locks").want(t, exitOK, "free")
}
