package system

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// Ten jobs on two workers share a pool with two slots, and a worker is killed with its runs: by the ledger that the
// commands write themselves, no more than two ever run, and the slots of the dead worker are free after the recovery.
func TestPool_WorkerIsKilled_LimitHoldsAndSlotsAreFreed(t *testing.T) {
	t.Parallel() // it mostly waits
	c, a := readyCluster(t)
	client := c.keys()
	workers := map[string]*process{"east": c.joined(client, "east"), "west": c.joined(client, "west")}
	known := registered(t, client)
	a.do(http.StatusCreated, http.MethodPut, "/api/v1/pools/db", map[string]any{"slots": 2}, nil)
	ledger := filepath.Join(c.dir, "ledger")
	for i := range 10 {
		a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
			"name": fmt.Sprint("job-", i), "cronExpr": "@every 1s", "pool": "db", "lostAfter": "20s", "killGrace": "1s",
			"command": "echo + $CARILLON_RUN_ID $CARILLON_WORKER_NAME >> $LEDGER; sleep 0.5; " +
				"echo - $CARILLON_RUN_ID >> $LEDGER",
			"env": map[string]string{"LEDGER": ledger},
		}, nil)
	}
	ended := func() int { return strings.Count(read(t, ledger), "- ") }
	eventually(t, "runs have ended", func() bool { return ended() > 20 })

	// Both of its slots may be in use, or one, or none: it is stopped while it has one.
	owned := func() (n int) {
		resp, err := client.Get(t.Context(), common.LockPrefix, clientv3.WithPrefix())
		if err != nil {
			t.Fatal(err)
		}
		for _, kv := range resp.Kvs {
			if strings.Contains(string(kv.Value), known["east"].Worker) {
				n++
			}
		}
		return n
	}
	eventually(t, "a worker stops with a run", func() bool {
		if owned() == 0 {
			return false
		}
		if err := syscall.Kill(known["east"].PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		return true
	})
	workers["east"].exit() // its guardian ends with it, and so do its commands
	note(t, ledger, "x east")

	slots := func() (held []string) {
		resp, err := client.Get(t.Context(), common.PoolSlotsPrefix, clientv3.WithPrefix())
		if err != nil {
			t.Fatal(err)
		}
		for _, kv := range resp.Kvs {
			slot, err := common.Decode[common.PoolSlot](kv.Value)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, slot.Run)
		}
		return held
	}
	for _, run := range slots() {
		eventually(t, "the slot of "+run+" is free again", func() bool {
			return !strings.Contains(strings.Join(slots(), " "), run)
		})
	}
	before := ended()
	eventually(t, "runs go on", func() bool { return ended() > before+10 })
	if most := mostAtOnce(read(t, ledger)); most != 2 {
		t.Errorf("%d commands ran at once", most)
	}
	a.do(http.StatusConflict, http.MethodDelete, "/api/v1/pools/db", nil, nil)
}

// mostAtOnce returns how many of the commands of a ledger ran at once. Those of a killed worker end with it.
func mostAtOnce(ledger string) (most int) {
	running := map[string]string{} // workers, by run
	for line := range strings.Lines(ledger) {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 2:
		case fields[0] == "+":
			running[fields[1]] = strings.Join(fields[2:], " ")
		case fields[0] == "-":
			delete(running, fields[1])
		default:
			for run, worker := range running {
				if worker == fields[1] {
					delete(running, run)
				}
			}
		}
		most = max(most, len(running))
	}
	return most
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

// note adds a line to a ledger.
func note(t *testing.T, path, line string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := fmt.Fprintln(f, line); err != nil {
		t.Fatal(err)
	}
}
