package system

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"carillon/internal/common"
)

// auditStep is a part of a verification.
type auditStep struct {
	To      int64
	Checked int
	Intact  bool
	More    bool
	Waiting int
	Faults  []struct {
		Seq  int64
		Code string
		Text string
	}
	Head     struct{ Seq int64 }
	Restored *struct{ From, To int64 }
}

// verified goes through the chain and gives how many entries it has.
func (a *api) verified() (checked int, whole bool) {
	a.t.Helper()
	for from := int64(1); ; {
		var step auditStep
		a.do(http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/audit/verify?limit=1000&from=%d", from), nil, &step)
		if !step.Intact {
			a.t.Fatalf("the chain is not intact: %+v", step)
		}
		checked += step.Checked
		if !step.More {
			return checked, step.Waiting == 0 && step.Head.Seq == int64(checked)
		}
		from = step.To + 1
	}
}

// The master that seals is killed in the midst of it, another one is frozen until it is not elected
// any more and goes on then: each change that was acknowledged has one place in one chain.
func TestAuditChainOfKilledMasters(t *testing.T) {
	t.Parallel() // it mostly waits
	c := newCluster(t)
	var all []*api
	processes := map[string]*process{} // by the address
	for range 3 {
		address := freePort(t)
		processes["http://"+address] = start(t, "carillon-master", c.flags("--listen", address, "--api-rate", "0")...)
		all = append(all, &api{t: t, base: "http://" + address})
	}
	token := c.bootstrap()
	for _, a := range all {
		a.token = token
		eventually(t, "a master is ready", a.ready)
	}

	// Writers save their job again and again, with another master where one does not answer.
	const writers = 4
	var saved [writers]int
	var down atomic.Pointer[string]
	var stop atomic.Bool
	var writing sync.WaitGroup
	client := &http.Client{Timeout: 2 * time.Second}
	save := func(base string, writer, n int) bool {
		req, err := http.NewRequest(http.MethodPut, fmt.Sprintf("%s/api/v1/jobs/job-%d", base, writer),
			bytes.NewReader(fmt.Appendf(nil, `{"name":"job-%d","command":"true","title":"%d"}`, writer, n)))
		if err != nil {
			t.Error(err)
			return true
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := client.Do(req)
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode/100 == 2
	}
	for w := range writers {
		writing.Go(func() {
			pace := time.NewTicker(20 * time.Millisecond)
			defer pace.Stop()
			for n := 1; !stop.Load(); n++ {
				<-pace.C
				for try := w; ; try++ {
					base := all[try%len(all)].base
					if gone := down.Load(); gone != nil && *gone == base {
						continue
					}
					if save(base, w, n) { // the same again writes nothing
						break
					}
					if stop.Load() {
						return
					}
				}
				saved[w] = n
			}
		})
	}
	// The elected one says that it seals; its log is its own.
	seals := func() *api {
		for _, a := range all {
			if p := processes[a.base]; p.Alive() && p.Said("audit_entry") {
				return a
			}
		}
		return nil
	}
	eventually(t, "a master seals", func() bool { return seals() != nil })
	first := seals()
	down.Store(&first.base)
	if code := processes[first.base].end(syscall.SIGKILL); code != -1 {
		t.Fatalf("it was killed, but ended with %d", code)
	}
	c.expire(common.LeaderKey)
	eventually(t, "another one seals", func() bool { return seals() != nil })
	second := seals()
	down.Store(&second.base)
	processes[second.base].Signal(syscall.SIGSTOP)
	c.expire(common.LeaderKey)
	var third *api
	eventually(t, "the third one seals", func() bool {
		for _, a := range all {
			if a != first && a != second && processes[a.base].Said("audit_entry") {
				third = a
			}
		}
		return third != nil
	})
	processes[second.base].Signal(syscall.SIGCONT)
	eventually(t, "the second is back", second.ready)
	stop.Store(true)
	writing.Wait()

	// Whole is the chain also while changes wait that have no place in it yet. They get it in the order of the list.
	total := 0
	eventually(t, "all is sealed", func() (whole bool) {
		var newest struct{ Items []struct{ Seq int64 } }
		third.do(http.StatusOK, http.MethodGet, "/api/v1/audit?limit=1", nil, &newest)
		total, whole = third.verified()
		return whole && newest.Items[0].Seq > 0
	})
	for w := range writers {
		var seen int
		for cursor := ""; ; {
			var page struct {
				Items []struct {
					Seq   int64
					After struct{ Title string }
				}
				NextCursor string
			}
			third.do(http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/audit?kind=job&name=job-%d&limit=500%s", w,
				cursor), nil, &page)
			for _, e := range page.Items {
				if seen == 0 && e.After.Title != fmt.Sprint(saved[w]) && e.After.Title != fmt.Sprint(saved[w]+1) {
					t.Errorf("the last of writer %d is %q, it has saved %d", w, e.After.Title, saved[w])
				}
				if e.Seq == 0 {
					t.Error("an entry has no place")
				}
				seen++
			}
			if page.NextCursor == "" {
				break
			}
			cursor = "&cursor=" + page.NextCursor
		}
		// The last request may have been applied without a response.
		if seen != saved[w] && seen != saved[w]+1 {
			t.Errorf("%d entries of writer %d, which has saved %d times", seen, w, saved[w])
		}
		total -= seen
	}
	if total != 1 { // the bootstrap
		t.Errorf("%d entries have no actor", total)
	}
}
