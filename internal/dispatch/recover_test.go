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
	"testing/synctest"
	"time"

	"carillon/internal/common"
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
	next     []*common.Trigger // likewise
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

func (f *fakeOrphans) Resolve(_ context.Context, o common.Orphan, outcome common.Run, next *common.Trigger) (bool, error) {
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
	o := common.Orphan{ModRevision: 5, Record: common.Record{Run: run, Job: "job-" + run, Policy: common.Policy{LostAfter: lostAfter},
		Owner: common.Life{Worker: "w", Life: "old", BootID: "boot", PIDNamespace: "pid"}}}
	if change != nil {
		change(&o)
	}
	return o
}

func recovery(f *fakeOrphans) *Recovery {
	cluster := &fakeCluster{}
	cluster.alive(member("w"))
	return &Recovery{Orphans: f, Cluster: cluster, Life: common.Life{Worker: "w", Life: "new", BootID: "boot", PIDNamespace: "pid"}, Swept: true,
		Written: func() {}, Resolved: func(string) {}, Owns: func(string) bool { return false }, Disown: func(common.Orphan) {}, Now: time.Now,
		Log: slog.New(slog.DiscardHandler)}
}

func TestWhenAnOrphanIsResolved(t *testing.T) {
	const patient = lostAfter + 2*time.Second + time.Second // two seconds and one percent
	for _, c := range []struct {
		name   string
		swept  bool
		change func(*common.Orphan)
		after  time.Duration
	}{
		{"swept, same boot", true, nil, 0},
		{"not swept", false, nil, patient},
		{"another boot", true, func(o *common.Orphan) { o.Record.Owner.BootID = "before" }, patient},
		{"boot unknown", true, func(o *common.Orphan) { o.Record.Owner.BootID = "" }, patient},
		{"another pid namespace", true, func(o *common.Orphan) { o.Record.Owner.PIDNamespace = "container" }, patient},
		{"pid namespace unknown", true, func(o *common.Orphan) { o.Record.Owner.PIDNamespace = "" }, patient},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
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

func TestOrphansThatChangeAreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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

func TestLockedOrphanIsLeftThoughItsProcessesAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		orphans := &fakeOrphans{left: []common.Orphan{orphan("r", func(o *common.Orphan) { o.Locked = true })}}
		recovering(t, recovery(orphans), func(chan struct{}) {
			time.Sleep(time.Minute)
			orphans.expect(t)
			orphans.change(func() { orphans.left[0].Locked = false }) // its lease ended
			time.Sleep(recoverEvery)
			synctest.Wait()
			orphans.expect(t, "r worker_died")
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
	synctest.Wait()
	story(gone)
}

// One orphan that cannot be resolved does not keep the others, and is tried again.
func TestRecoveryGoesOnAfterErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		orphans := &fakeOrphans{refuse: map[string]error{"r1": errors.New("too large")}, listErr: errors.New("away")}
		for i := range 3 {
			orphans.left = append(orphans.left, orphan(fmt.Sprint("r", i), nil))
		}
		recovering(t, recovery(orphans), func(chan struct{}) {
			time.Sleep(time.Minute)
			synctest.Wait()
			orphans.expect(t)
			orphans.change(func() { orphans.listErr = nil })
			time.Sleep(recoverEvery)
			synctest.Wait()
			orphans.expect(t, "r0 worker_died", "r2 worker_died")
			orphans.change(func() { clear(orphans.refuse) })
			time.Sleep(recoverEvery)
			synctest.Wait()
			orphans.expect(t, "r0 worker_died", "r2 worker_died", "r1 worker_died")
		})
	})
}

// A record that cannot be read blocks its job: it is told of until it is gone.
func TestUnreadableRecordsAreToldOfAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said lines
		orphans := &fakeOrphans{unread: 5}
		r := recovery(orphans)
		r.Log = slog.New(slog.NewTextHandler(&said, nil))
		recovering(t, r, func(gone chan struct{}) {
			for want := range 5 {
				if n := said.count("record_unreadable"); n != want+1 {
					t.Fatalf("told %d times after %v, want %d", n, time.Duration(want)*searchEvery, want+1)
				}
				time.Sleep(searchEvery)
				synctest.Wait()
			}
			gone <- struct{}{}
			synctest.Wait()
			if n := said.count("record_unreadable"); n != 5 {
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
