package system

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"carillon/internal/common"
)

// masterAt starts a master at an address.
func (c *cluster) masterAt(address string) (*process, *api) {
	c.t.Helper()
	p := start(c.t, "carillon-master", c.flags("--listen", address)...)
	return p, &api{t: c.t, base: "http://" + address}
}

// locked runs a command of a shell under the lock imports.eu.
func locked(t *testing.T, servers, token, id, command string, flags ...string) *process {
	t.Helper()
	args := append([]string{"lock", "--server", servers, "imports.eu", "--id", id, "--ttl", "10s"}, flags...)
	return launchWith(t, []string{"CARILLON_TOKEN=" + token, "PATH=" + os.Getenv("PATH")}, "cronctl",
		filepath.Join(bin, "cronctl"), append(args, "--", "/bin/sh", "-c", command)...)
}

// namedLock is a lock, as far as it is looked at here.
type namedLock struct {
	State   string
	Owner   struct{ ID, Note string }
	Queue   []struct{ ID string }
	Waiting int
}

func (a *api) lock() (l namedLock) {
	a.do(http.StatusOK, http.MethodGet, "/api/v1/locks/imports.eu", nil, &l)
	return l
}

// A script keeps its lock through the death of each master, also if its lease expires meanwhile; the next one waits.
func TestLock_SurvivesTheDeathOfEachMaster(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	first, second := freePort(t), freePort(t)
	servers := "http://" + first + ",http://" + second
	one, a := c.masterAt(first)
	two, b := c.masterAt(second)
	a.token = c.bootstrap()
	b.token = a.token
	eventually(t, "the masters are ready", func() bool { return a.ready() && b.ready() })

	gate := filepath.Join(c.dir, "gate")
	script := locked(t, servers, a.token, "one",
		"echo began $CARILLON_LOCK; until [ -e "+gate+" ]; do sleep 0.05; done; exit 7", "--grace", "10m")
	eventually(t, "the script runs", func() bool { return script.Said("began imports.eu") })
	next := locked(t, servers, a.token, "two", "echo fence $CARILLON_FENCE", "--grace", "10m")
	eventually(t, "the next one waits", func() bool { l := b.lock(); return l.State == "held" && l.Waiting == 1 })
	before := c.token()

	// backAt requires that a master gives the lock back after its lease was revoked.
	backAt := func(at *api) {
		t.Helper()
		c.expire(common.LockHolderKey("imports.eu"))
		eventually(t, "the script has its lock back", func() bool {
			l := at.lock()
			return l.State == "held" && l.Owner.ID == "one"
		})
	}
	one.end(syscall.SIGKILL)
	backAt(b)
	one, a = c.masterAt(first)
	a.token = b.token
	eventually(t, "the first master is ready again", a.ready)
	two.end(syscall.SIGKILL)
	backAt(a)
	if after := c.token(); after != before {
		t.Errorf("the token was %d and is %d", before, after)
	}
	if !script.Alive() || next.Said("fence") {
		t.Fatalf("the script has ended, or another one has begun: %s%s", script.Text(), next.Text())
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := script.exit(); code != 7 {
		t.Errorf("the script ended with %d: %s", code, script.Text())
	}
	if code := next.exit(); code != 0 {
		t.Errorf("the next one ended with %d: %s", code, next.Text())
	}
	var fence int64
	if _, err := fmt.Sscanf(next.Text(), "fence %d", &fence); err != nil || fence <= before {
		t.Errorf("after token %d: %q", before, next.Text())
	}
}

// token is the fencing token of the lock's owner.
func (c *cluster) token() int64 {
	c.t.Helper()
	resp, err := c.keys().Get(c.t.Context(), common.LockOwnerKey("imports.eu"))
	if err != nil || len(resp.Kvs) != 1 {
		c.t.Fatal(resp, err)
	}
	o, err := common.Decode[common.LockOwner](resp.Kvs[0].Value)
	if err != nil {
		c.t.Fatal(err)
	}
	if o.Token == 0 {
		return resp.Kvs[0].ModRevision
	}
	return o.Token
}

// A script whose lock is released by force is ended with 76; one that is killed is succeeded after its grace period,
// its command is gone by then, and its note is passed on.
func TestLock_LostAndTakenOver(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	_, a := c.masterAt(freePort(t))
	a.token = c.bootstrap()
	eventually(t, "the master is ready", a.ready)

	diary := filepath.Join(c.dir, "work")
	endless := "trap '' TERM; echo session $CARILLON_LOCK_SESSION; while :; do date >>" + diary + "; sleep 0.05; done"
	lost := locked(t, a.base, a.token, "lost", endless, "--stop-grace", "1s")
	eventually(t, "the script runs", func() bool { return lost.Said("session") })
	a.do(http.StatusNoContent, http.MethodDelete, "/api/v1/locks/imports.eu", nil, nil)
	if code := lost.exit(); code != 76 || !lost.Said("imports.eu was lost") {
		t.Errorf("the script ended with %d: %s", code, lost.Text())
	}

	killed := locked(t, a.base, a.token, "killed", endless, "--grace", "15s")
	eventually(t, "the script runs", func() bool { return killed.Said("session") })
	_, session, _ := strings.Cut(strings.TrimSpace(killed.Text()), "session ")
	a.do(http.StatusOK, http.MethodPost, "/api/v1/locks/imports.eu/note",
		map[string]any{"session": session[:64], "note": "row 17"}, nil)
	busy := locked(t, a.base, a.token, "busy", "true", "--wait", "0")
	if code := busy.exit(); code != 75 {
		t.Errorf("the lock is held, but cronctl --wait 0 ended with %d: %s", code, busy.Text())
	}
	next := locked(t, a.base, a.token, "next",
		"echo note $CARILLON_LOCK_NOTE; wc -l <"+diary+"; sleep 1; wc -l <"+diary)
	eventually(t, "the next one waits", func() bool { return a.lock().Waiting == 1 })
	killed.end(syscall.SIGKILL)
	c.expire(common.LockHolderKey("imports.eu"))
	eventually(t, "the owner has its grace period", func() bool {
		return a.lock().State == "grace" || next.Said("note")
	})
	if code := next.exit(); code != 0 || !next.Said("note row 17") {
		t.Fatalf("the next one ended with %d: %s", code, next.Text())
	}
	if lines := strings.Fields(next.Text()); len(lines) < 5 || lines[len(lines)-1] != lines[len(lines)-2] {
		t.Errorf("the command of the killed one goes on: %s", next.Text())
	}
}
