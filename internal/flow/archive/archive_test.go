package archive

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/platform/virtualtime"
)

// library is etcd, the log store and the catalog of jobs. The test holds mu, but while it lets time pass.
type library struct {
	t        *testing.T
	mu       sync.Mutex
	bodies   map[flow.Stored][][]byte
	archive  map[string][][]byte
	jobs     map[string][2]string // name and digest, by uid
	held     map[string]bool      // digests that flow runs name
	promised map[flow.Stored]bool // nested flow runs are to go on with them
	asked    []string             // names of jobs for which a body was to be deleted
	fault    error
	away     bool
	partial  bool // not all jobs are known
	reported []error
}

func (l *library) Stored(context.Context) ([]flow.Stored, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.SortedFunc(maps.Keys(l.bodies), func(a, b flow.Stored) int {
		return strings.Compare(a.UID+a.Digest, b.UID+b.Digest)
	}), l.fault
}

func (l *library) Promised(context.Context, []flow.Stored) (map[flow.Stored]bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.promised), nil
}

func (l *library) Parts(_ context.Context, uid, digest string) ([][]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bodies[flow.Stored{UID: uid, Digest: digest}], nil
}

func (l *library) Delete(_ context.Context, job string, of flow.Stored, keep func() (bool, error)) (bool, error) {
	if kept, err := keep(); err != nil || kept {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, job)
	if l.held[of.Digest] {
		return false, nil
	}
	if _, err := flow.Decode(l.bodies[of], of.Digest); err == nil && l.archive[of.Digest] == nil {
		l.t.Errorf("%v is deleted, and the log store lacks it", of)
	}
	delete(l.bodies, of)
	return true, nil
}

func (l *library) Define(_ context.Context, digest string, parts [][]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.archive[digest] = parts
	return nil
}

func (l *library) Defined(_ context.Context, digests []string) (map[string]bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := map[string]bool{}
	for _, digest := range digests {
		if l.archive[digest] != nil {
			found[digest] = true
		}
	}
	return found, nil
}

func (l *library) Whole() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.partial
}

func (l *library) gone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.away
}

func (l *library) report(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reported = append(l.reported, err)
}

func (l *library) Flow(uid string) (job, digest string, exists bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, exists := l.jobs[uid]
	return found[0], found[1], exists
}

// add stores a definition in etcd.
func (l *library) add(uid, command string) flow.Stored {
	l.t.Helper()
	steps := []common.Step{{Name: "a", Command: command}}
	parts, digest, err := flow.Encode(&common.Job{Name: "f-" + uid, Steps: steps})
	if err != nil {
		l.t.Fatal(err)
	}
	of := flow.Stored{UID: uid, Digest: digest}
	l.bodies[of] = parts
	return of
}

// during works, and calls look meanwhile.
func during(t *testing.T, look func(l *library)) {
	virtualtime.Test(t, func(t *testing.T) {
		l := &library{t: t, bodies: map[flow.Stored][][]byte{}, archive: map[string][][]byte{}, held: map[string]bool{},
			jobs: map[string][2]string{}}
		a := New(Config{Bodies: l, Definitions: l, Jobs: l, Away: l.gone, Log: slog.New(slog.DiscardHandler),
			Report: l.report})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- a.Run(ctx) }()
		l.mu.Lock()
		look(l)
		l.mu.Unlock()
		cancel()
		<-ended
	})
}

// after returns when all work of this time is done.
func (l *library) after(d time.Duration) {
	l.mu.Unlock()
	time.Sleep(d)
	virtualtime.Wait()
	l.mu.Lock()
}

func TestPass_CopiesBodies_AndDeletesThoseThatAreUnused(t *testing.T) {
	during(t, func(l *library) {
		old, current := l.add("u", "old"), l.add("u", "current")
		l.jobs["u"] = [2]string{"f-u", current.Digest}
		gone := l.add("v", "of a deleted job")
		l.after(time.Minute)
		if len(l.archive) != 3 || len(l.bodies) != 3 {
			t.Fatalf("%d of 3 are archived, %d are left in etcd", len(l.archive), len(l.bodies))
		}
		if def, err := flow.Decode(l.archive[old.Digest], old.Digest); err != nil || def.Job.Name != "f-u" {
			t.Errorf("archived is %v, %v", def, err)
		}
		l.held[gone.Digest] = true
		l.after(unused - 2*time.Minute)
		if len(l.bodies) != 3 {
			t.Errorf("%d are left before they were unused for %v", len(l.bodies), unused)
		}
		l.after(2 * time.Minute)
		if len(l.bodies) != 2 || l.bodies[old] != nil {
			t.Errorf("%d are left, want 2", len(l.bodies))
		}
		if !slices.Equal(l.asked[:2], []string{"f-u", "f-v"}) {
			t.Errorf("deleted for the jobs %q", l.asked)
		}
		l.held[gone.Digest] = false
		l.after(time.Minute)
		if len(l.bodies) != 1 || l.bodies[current] == nil {
			t.Errorf("%d are left, want the current one", len(l.bodies))
		}
	})
}

// A step that has not started yet is to go on with it.
func TestPass_BodyThatWasPromised_Stays(t *testing.T) {
	during(t, func(l *library) {
		old, current := l.add("u", "old"), l.add("u", "current")
		l.jobs["u"] = [2]string{"f-u", current.Digest}
		l.promised = map[flow.Stored]bool{old: true}
		l.after(time.Hour)
		if len(l.bodies) != 2 {
			t.Errorf("%d are left, want 2", len(l.bodies))
		}
		l.promised = nil
		l.after(time.Minute)
		if len(l.bodies) != 1 || l.bodies[current] == nil {
			t.Errorf("%d are left, want the current one", len(l.bodies))
		}
	})
}

// A rollback makes an earlier definition the current one.
func TestPass_BodyThatIsUsedAgain_Stays(t *testing.T) {
	during(t, func(l *library) {
		old, current := l.add("u", "old"), l.add("u", "current")
		l.jobs["u"] = [2]string{"f-u", current.Digest}
		l.after(unused - time.Minute)
		l.jobs["u"] = [2]string{"f-u", old.Digest}
		l.after(time.Minute)
		l.jobs["u"] = [2]string{"f-u", current.Digest}
		l.after(unused - time.Minute)
		if len(l.bodies) != 2 {
			t.Errorf("%d are left, want 2", len(l.bodies))
		}
		l.after(3 * time.Minute)
		if len(l.bodies) != 1 {
			t.Errorf("%d are left, want 1", len(l.bodies))
		}
	})
}

// A body that is being put has not all of its parts yet; one whose save has failed never has.
func TestPass_IncompleteBody_IsNotCopied(t *testing.T) {
	during(t, func(l *library) {
		l.bodies[flow.Stored{UID: "x", Digest: strings.Repeat("0", 64)}] = [][]byte{{1}}
		l.after(unused - time.Minute)
		if len(l.archive) != 0 || len(l.bodies) != 1 {
			t.Errorf("%d are archived, %d are left", len(l.archive), len(l.bodies))
		}
		l.after(3 * time.Minute)
		if len(l.bodies) != 0 {
			t.Error("it is left")
		}
	})
}

func TestPass_LogStoreAway_OrJobsUnknown_DoesNothing(t *testing.T) {
	during(t, func(l *library) {
		l.add("u", "x")
		l.away = true
		l.after(time.Hour)
		l.away, l.partial = false, true
		l.after(time.Hour)
		if len(l.archive) != 0 || len(l.bodies) != 1 {
			t.Errorf("%d are archived, %d are left", len(l.archive), len(l.bodies))
		}
		l.partial = false
		l.after(time.Minute)
		if len(l.archive) != 1 || len(l.bodies) != 1 {
			t.Errorf("%d are archived, %d are left", len(l.archive), len(l.bodies))
		}
	})
}

func TestPass_StoreFails(t *testing.T) {
	during(t, func(l *library) {
		l.fault = errors.New("no etcd")
		l.after(2 * time.Minute)
		if last := l.reported[len(l.reported)-1]; last == nil {
			t.Error("the error is not reported")
		}
		l.fault = nil
		l.add("u", "x")
		l.after(time.Minute)
		if last := l.reported[len(l.reported)-1]; last != nil || len(l.archive) != 1 {
			t.Errorf("after it: %v, %d archived", last, len(l.archive))
		}
	})
}
