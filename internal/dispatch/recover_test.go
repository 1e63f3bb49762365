package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// fakeOrphans is what earlier lives left.
type fakeOrphans struct {
	mu       sync.Mutex
	left     []common.Orphan
	listErr  error
	refuse   map[string]error
	changed  map[string]bool // resolving finds that it is not what was seen
	resolved []string
	outcomes []common.Run      // of resolved
	next     []*common.Trigger // in the same order
	unread   int               // so many looks find a record that cannot be read
	looks    int
}

func (f *fakeOrphans) Unresolved(context.Context) ([]common.Orphan, []error, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks++
	if f.looks <= f.unread {
		return slices.Clone(f.left), []error{errors.New("unreadable")}, f.listErr
	}
	return slices.Clone(f.left), nil, f.listErr
}

func (f *fakeOrphans) Resolve(_ context.Context, o common.Orphan, outcome common.Run,
	next *common.Trigger) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.refuse[o.Record.Run]; err != nil {
		return false, err
	}
	if f.changed[o.Record.Run] {
		return false, nil
	}
	f.left = slices.DeleteFunc(f.left, func(x common.Orphan) bool { return x.Record.Run == o.Record.Run })
	f.resolved = append(f.resolved, outcome.ID+" "+outcome.Reason.Code)
	f.outcomes, f.next = append(f.outcomes, outcome), append(f.next, next)
	return true, nil
}

func (f *fakeOrphans) Created(context.Context, *common.Record) (int64, error) { return 7, nil }

func (f *fakeOrphans) change(to func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	to()
}

func (f *fakeOrphans) expect(t *testing.T, want ...string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Equal(f.resolved, want) {
		t.Fatalf("resolved %q, want %q", f.resolved, want)
	}
}

const lostAfter = 100 * time.Second

func orphan(run string, change func(*common.Orphan)) common.Orphan {
	o := common.Orphan{
		ModRevision: 5,
		Record: common.Record{Run: run, Job: "job-" + run, Policy: common.Policy{LostAfter: lostAfter},
			Owner: common.Life{Worker: "w", Life: "old", BootID: "boot", PIDNamespace: "pid", Marked: true}},
	}
	if change != nil {
		change(&o)
	}
	return o
}

func recovery(f *fakeOrphans) *Recovery {
	cluster := &fakeCluster{}
	cluster.alive(member("w"))
	return &Recovery{
		Orphans:  f,
		Cluster:  cluster,
		Life:     common.Life{Worker: "w", Life: "new", BootID: "boot", PIDNamespace: "pid"},
		Swept:    true,
		Written:  func() {},
		Resolved: func(string) {},
		Owns:     func(string) bool { return false },
		Release:  func(common.Orphan, int64) {},
		Now:      time.Now,
		Log:      slog.New(slog.DiscardHandler),
	}
}

func TestOrphan_IsResolvedAfterItsWait(t *testing.T) {
	const patient = lostAfter + 2*time.Second + time.Second // two seconds and one percent
	for _, c := range []struct {
		name   string
		swept  bool
		change func(*common.Orphan)
		after  time.Duration
	}{
		{"swept, same boot", true, nil, 0},
		{"not swept", false, nil, patient},
		{"not marked", true, func(o *common.Orphan) { o.Record.Owner.Marked = false }, patient},
		{"another boot", true, func(o *common.Orphan) { o.Record.Owner.BootID = "before" }, patient},
		{"boot unknown", true, func(o *common.Orphan) { o.Record.Owner.BootID = "" }, patient},
		{"another pid namespace", true, func(o *common.Orphan) { o.Record.Owner.PIDNamespace = "container" }, patient},
		{"pid namespace unknown", true, func(o *common.Orphan) { o.Record.Owner.PIDNamespace = "" }, patient},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtualtime.Test(t, func(t *testing.T) {
				orphans := &fakeOrphans{left: []common.Orphan{orphan("r", c.change)}}
				r := recovery(orphans)
				r.Swept = c.swept
				told := 0
				r.Written = func() { told++ }
				began := time.Now()
				for {
					left, err := r.Pass(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if left == 0 {
						break
					}
					if time.Since(began) > time.Hour {
						t.Fatal("never resolved")
					}
					time.Sleep(time.Second)
				}
				if took := time.Since(began); took != c.after {
					t.Fatalf("resolved after %v, want %v", took, c.after)
				}
				orphans.expect(t, "r worker_died")
				if told != 1 {
					t.Fatalf("told %d times", told)
				}
			})
		})
	}
}

func TestOrphan_RecordChanges_WaitsAgain(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		orphans := &fakeOrphans{left: []common.Orphan{orphan("r", nil)}}
		r := recovery(orphans)
		r.Swept = false
		pass := func(want int) {
			t.Helper()
			left, err := r.Pass(t.Context())
			if err != nil || left != want {
				t.Fatalf("%d left (%v) after %v, want %d", left, err, time.Now(), want)
			}
		}
		pass(1)
		time.Sleep(lostAfter)
		orphans.left[0].ModRevision++ // its owner took it back: the time starts again
		pass(1)
		time.Sleep(lostAfter)
		pass(1)
		orphans.left[0].Locked = true // it lives
		pass(1)
		time.Sleep(10 * lostAfter)
		pass(1)
		orphans.left[0].Locked = false
		pass(1)
		time.Sleep(lostAfter)
		pass(1)
		time.Sleep(3 * time.Second)
		orphans.changed = map[string]bool{"r": true}
		pass(1)
		orphans.changed = nil
		pass(0)
	})
}

func TestOrphan_LockExists_IsLeft(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		orphans := &fakeOrphans{left: []common.Orphan{orphan("r", func(o *common.Orphan) { o.Locked = true })}}
		recovering(t, recovery(orphans), func(chan struct{}) {
			time.Sleep(time.Minute)
			orphans.expect(t)
			orphans.change(func() { orphans.left[0].Locked = false }) // its lease ended
			time.Sleep(recoverEvery)
			virtualtime.Wait()
			orphans.expect(t, "r worker_died")
		})
	})
}

// Runs of other workers are resolved when an owner without a connection must have ended them, by one live worker after
// the other.
func TestOrphan_WaitDependsOnItsOwner(t *testing.T) {
	others := func(o *common.Orphan) {
		o.Record.Owner = common.Life{Worker: "dead", Name: "Dead", Life: "l", BootID: "boot", PIDNamespace: "pid"}
	}
	for order, want := range map[int]time.Duration{
		0: lostAfter + 3*time.Second,
		1: lostAfter + 4*time.Second,
		2: lostAfter + 5*time.Second,
		7: lostAfter + 7*time.Second,
	} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			virtualtime.Test(t, func(t *testing.T) {
				orphans := &fakeOrphans{}
				r := recovery(orphans)
				cluster := r.Cluster.(*fakeCluster)
				members := []common.Member{member("w")}
				for i := range 8 {
					members = append(members, member(fmt.Sprint("other-", i)))
				}
				cluster.alive(members...)
				o := orphan("r", others)
				o.Record.Job = (&rig{T: t, cluster: cluster}).settledJob(order)
				o.Locked = true
				orphans.left = []common.Orphan{o}
				for range 10 { // it lives
					if left, err := r.Pass(t.Context()); left != 0 || err != nil {
						t.Fatalf("%d left, %v", left, err)
					}
					time.Sleep(lostAfter)
				}
				orphans.left[0].Locked = false
				began := time.Now()
				for {
					left, err := r.Pass(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if left == 0 {
						break
					}
					time.Sleep(time.Second)
				}
				if took := time.Since(began); took != want {
					t.Fatalf("resolved after %v, want %v", took, want)
				}
			})
		})
	}
}

// The wait is measured on the monotonic clock: no run becomes lost because a wall clock jumps.
func TestOrphan_WallClockJumps_WaitIsUnchanged(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		orphans := &fakeOrphans{left: []common.Orphan{orphan("r", nil)}}
		r := recovery(orphans)
		r.Swept = false
		r.Now = func() time.Time { return time.Now().Add(1000 * time.Hour) }
		for range 2 {
			if left, err := r.Pass(t.Context()); left != 1 || err != nil {
				t.Fatalf("%d left, %v", left, err)
			}
			r.Now = func() time.Time { return time.Now().Add(2000 * time.Hour) }
		}
		if last := r.observed["r"]; time.Since(last.since) != 0 {
			t.Fatalf("seen since %v", last.since)
		}
	})
}

// Whether a lost run is re-run is in its record, as of its claim.
func TestLostRun_IsRerunAsItsRecordSays(t *testing.T) {
	for _, c := range []struct {
		name    string
		onLost  common.OnLost
		attempt int
		next    bool
	}{
		{"rerun", common.LostRerun, 1, true},
		{"rerun, the second time", common.LostRerun, 2, true},
		{"rerun, for the last time", common.LostRerun, common.MaxAttempts, false},
		{"rerun, after retries", common.LostRerun, 9, false},
		{"abandon", common.LostAbandon, 1, false},
		{"a record of an older version", "", 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtualtime.Test(t, func(t *testing.T) {
				orphans := &fakeOrphans{left: []common.Orphan{orphan("r", func(o *common.Orphan) {
					o.Record.Policy.OnLost, o.Record.Attempt, o.Record.Fire, o.Record.JobUID = c.onLost, c.attempt,
						"fire", "uid"
					o.Record.Cause, o.Record.By, o.Record.Params = common.CauseManual, "me", map[string]string{"p": "v"}
				})}}
				r := recovery(orphans)
				var resolved []string
				r.Resolved = func(job string) { resolved = append(resolved, job) }
				if left, err := r.Pass(t.Context()); left != 0 || err != nil {
					t.Fatalf("%d left, %v", left, err)
				}
				outcome, next := orphans.outcomes[0], orphans.next[0]
				if outcome.Status != common.StatusLost || !outcome.EndedAt.Equal(time.Now()) || outcome.Worker != "w" ||
					!slices.Equal(resolved, []string{"job-r"}) {
					t.Fatalf("resolved %v as %+v", resolved, outcome)
				}
				if (next != nil) != c.next {
					t.Fatalf("next %+v", next)
				}
				if next == nil {
					return
				}
				if next.Attempt != c.attempt+1 || next.ID != next.RunID() || next.Fire != "fire" ||
					next.Cause != common.CauseRerun || next.Avoid != "w" ||
					next.By != "me" || next.Params["p"] != "v" || next.JobUID != "uid" ||
					!next.NotBefore.Equal(time.Now()) {
					t.Fatalf("next %+v", next)
				}
			})
		})
	}
}

// A record of this incarnation without an active run is released once no claim of it can be in flight any more.
func TestOrphan_OfThisIncarnation_IsReleased(t *testing.T) {
	for _, locked := range []bool{false, true} {
		virtualtime.Test(t, func(t *testing.T) {
			mine := func(o *common.Orphan) { o.Record.Owner.Life, o.Locked = "new", locked }
			orphans := &fakeOrphans{left: []common.Orphan{orphan("stray", mine), orphan("runs", mine)}}
			r := recovery(orphans)
			r.Owns = func(run string) bool { return run == "runs" }
			var disowned []string
			r.Release = func(o common.Orphan, created int64) {
				if disowned = append(disowned, o.Record.Run); created != 7 {
					t.Errorf("the job was created at %d", created)
				}
			}
			began := time.Now()
			for len(disowned) == 0 {
				if _, err := r.Pass(t.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
			}
			if took := time.Since(began) - time.Second; took != strayPatience ||
				!slices.Equal(disowned, []string{"stray"}) {
				t.Fatalf("disowned %v after %v", disowned, took)
			}
			orphans.expect(t)
		})
	}
}

// A pass follows the end of a worker, and one is made every minute otherwise.
func TestRecovery_WorkerIsGone_MakesAPass(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		orphans := &fakeOrphans{}
		recovering(t, recovery(orphans), func(gone chan struct{}) {
			expect := func(want int) {
				t.Helper()
				virtualtime.Wait()
				orphans.mu.Lock()
				defer orphans.mu.Unlock()
				if orphans.looks != want {
					t.Fatalf("%d looks, want %d", orphans.looks, want)
				}
			}
			expect(1)
			gone <- struct{}{}
			expect(2)
			time.Sleep(searchEvery - time.Second)
			expect(2)
			time.Sleep(time.Second)
			expect(3)
			orphans.change(func() {
				orphans.left = []common.Orphan{orphan("r", func(o *common.Orphan) { o.Record.Owner.Worker = "dead" })}
			})
			gone <- struct{}{}
			expect(4)
			time.Sleep(10 * recoverEvery)
			expect(14)
		})
	})
}

// recovering tells a story while a recovery runs.
func recovering(t *testing.T, r *Recovery, story func(gone chan struct{})) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended, gone := make(chan error, 1), make(chan struct{}, 1)
	go func() { ended <- r.Run(ctx, gone) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	virtualtime.Wait()
	story(gone)
}

// An orphan that cannot be resolved does not delay the others, and is tried again.
func TestRecovery_ResolveFails_OthersAreResolved(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		orphans := &fakeOrphans{refuse: map[string]error{"r1": errors.New("too large")}, listErr: errors.New("away")}
		for i := range 3 {
			orphans.left = append(orphans.left, orphan(fmt.Sprint("r", i), nil))
		}
		recovering(t, recovery(orphans), func(chan struct{}) {
			time.Sleep(time.Minute)
			virtualtime.Wait()
			orphans.expect(t)
			orphans.change(func() { orphans.listErr = nil })
			time.Sleep(recoverEvery)
			virtualtime.Wait()
			orphans.expect(t, "r0 worker_died", "r2 worker_died")
			orphans.change(func() { clear(orphans.refuse) })
			time.Sleep(recoverEvery)
			virtualtime.Wait()
			orphans.expect(t, "r0 worker_died", "r2 worker_died", "r1 worker_died")
		})
	})
}

// A record that cannot be decoded blocks its job: each is logged once.
func TestUnreadableRecord_IsLoggedOnce(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		var said lines
		orphans := &fakeOrphans{unread: 5}
		r := recovery(orphans)
		r.Log = slog.New(slog.NewTextHandler(&said, nil))
		recovering(t, r, func(gone chan struct{}) {
			for range 5 {
				if n := said.count("record_unreadable"); n != 1 {
					t.Fatalf("told %d times", n)
				}
				time.Sleep(searchEvery)
				virtualtime.Wait()
			}
			gone <- struct{}{}
			virtualtime.Wait()
			if n := said.count("record_unreadable"); n != 1 {
				t.Fatalf("told %d times of what is gone", n)
			}
		})
	})
}

// lines is a log that can be counted.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) count(word string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), word)
}
