package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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
	unread   int // so many looks find a record that cannot be read
	looks    int
}

func (f *fakeOrphans) OfEarlierLives(context.Context, string) ([]common.Orphan, []error, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks++
	if f.looks <= f.unread {
		return slices.Clone(f.left), []error{errors.New("unreadable")}, f.listErr
	}
	return slices.Clone(f.left), nil, f.listErr
}

func (f *fakeOrphans) Resolve(_ context.Context, o common.Orphan, reason common.Reason, _ time.Time) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.refuse[o.Record.Run]; err != nil {
		return false, err
	}
	if f.changed[o.Record.Run] {
		return false, nil
	}
	f.left = slices.DeleteFunc(f.left, func(x common.Orphan) bool { return x.Record.Run == o.Record.Run })
	f.resolved = append(f.resolved, o.Record.Run+" "+reason.Code)
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
	return &Recovery{Orphans: f, Life: common.Life{Worker: "w", Life: "new", BootID: "boot", PIDNamespace: "pid"}, Swept: true,
		Written: func() {}, Resolved: func(string) {}, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
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
		r := recovery(orphans)
		ended := make(chan error, 1)
		go func() { ended <- r.Run(t.Context()) }()
		time.Sleep(time.Minute)
		orphans.expect(t)
		orphans.change(func() { orphans.left[0].Locked = false }) // its lease ended
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		orphans.expect(t, "r worker_died")
	})
}

// One orphan that cannot be resolved does not keep the others, and is tried again.
func TestRecoveryGoesOnAfterErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		orphans := &fakeOrphans{refuse: map[string]error{"r1": errors.New("too large")}, listErr: errors.New("away")}
		for i := range 3 {
			orphans.left = append(orphans.left, orphan(fmt.Sprint("r", i), nil))
		}
		r := recovery(orphans)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		orphans.expect(t)
		orphans.change(func() { orphans.listErr = nil })
		time.Sleep(recoverEvery)
		synctest.Wait()
		orphans.expect(t, "r0 worker_died", "r2 worker_died")
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	})
}

// A record that cannot be read blocks its job: it is told of until it is gone.
func TestUnreadableRecordsAreToldOfAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeOrphans{unread: 5}
		r := recovery(f)
		began := time.Now()
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if f.looks != 6 || time.Since(began) != 5*unreadEvery {
			t.Fatalf("looked %d times within %v", f.looks, time.Since(began))
		}
	})
}
