package events_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"carillon/internal/common"
	"carillon/internal/events"
	"carillon/internal/platform/virtualtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// river is a source in memory. Revisions up to floor are compacted.
type river struct {
	mu      sync.Mutex
	all     []events.Batch
	latest  int64
	floor   int64
	away    bool
	watches int // open watches
	most    int
	changed chan struct{}
}

func newRiver() *river { return &river{latest: 100, floor: 1, changed: make(chan struct{})} }

func (r *river) touch() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// put changes jobs.
func (r *river) put(jobs ...string) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latest++
	b := events.Batch{Revision: r.latest}
	for _, job := range jobs {
		b.Events = append(b.Events, events.Event{Kind: events.Job, Job: job, Data: job})
	}
	r.all = append(r.all, b)
	r.touch()
	return r.latest
}

func (r *river) set(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	r.touch()
}

func (r *river) Revision(context.Context) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away {
		return 0, errors.New("away")
	}
	return r.latest, nil
}

func (r *river) Watch(ctx context.Context, after int64, each func(events.Batch)) error {
	r.set(func() { r.watches++; r.most = max(r.most, r.watches) })
	defer r.set(func() { r.watches-- })
	for {
		r.mu.Lock()
		var due []events.Batch
		for _, b := range r.all {
			if b.Revision > after {
				due = append(due, b)
			}
		}
		away, gone, changed, latest := r.away, after < r.floor, r.changed, r.latest
		r.mu.Unlock()
		switch {
		case away:
			return errors.New("away")
		case gone:
			return events.ErrGone
		}
		for _, b := range due {
			each(b)
			after = b.Revision
		}
		if after < latest {
			after = latest
			each(events.Batch{Revision: latest}) // progress without events
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		}
	}
}

// watched returns the number of open watches.
func (r *river) watched() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.watches
}

// stage is a running hub in a bubble.
type stage struct {
	*testing.T
	*river
	hub *events.Hub
}

func play(t *testing.T, cfg events.Config, do func(s *stage)) {
	virtualtime.Test(t, func(t *testing.T) {
		s := &stage{T: t, river: newRiver()}
		cfg.Source, cfg.Log = s.river, slog.New(slog.NewTextHandler(io.Discard, nil))
		s.hub = events.NewHub(cfg)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := s.hub.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		do(s)
		cancel()
		running.Wait()
	})
}

func (s *stage) follow(since int64, want func(*events.Event) bool) *events.Follower {
	s.Helper()
	f, err := s.hub.Follow(s.Context(), since, want, "me")
	if err != nil {
		s.Fatal(err)
	}
	return f
}

// hears takes everything that a follower can receive by now.
func (s *stage) hears(f *events.Follower, want ...string) {
	s.Helper()
	virtualtime.Wait()
	var got []string
	for {
		ctx, cancel := context.WithTimeout(s.Context(), time.Millisecond)
		part, err := f.Next(ctx)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			break
		}
		if err != nil {
			s.Fatal(err)
		}
		if part.Reset {
			got = append(got, fmt.Sprintf("reset %d", part.Revision))
		}
		for _, b := range part.Batches {
			for _, e := range b.Events {
				got = append(got, fmt.Sprintf("%d %v", b.Revision, e.Data))
			}
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.Errorf("received %q, want %q", got, want)
	}
}

func TestFollow(t *testing.T) {
	play(t, events.Config{}, func(s *stage) {
		s.put("early")
		f := s.follow(0, nil)
		if f.Revision() != 101 {
			s.Errorf("it begins after %d", f.Revision())
		}
		s.hears(f)
		s.put("a", "b")
		s.put("c")
		s.hears(f, "102 a", "102 b", "103 c")
		g := s.follow(102, nil) // from memory
		s.hears(g, "103 c")
		onlyB := s.follow(101, func(e *events.Event) bool { return e.Job == "b" })
		s.hears(onlyB, "102 b")
		h := s.follow(100, nil) // from before the watch
		s.put("d")
		s.hears(h, "101 early", "102 a", "102 b", "103 c", "104 d")
		s.hears(f, "104 d")
		s.hears(onlyB)
		for _, f := range []*events.Follower{f, g, h, onlyB} {
			f.Close()
		}
		if s.most != 2 { // the hub's, and the one that reads again
			s.Errorf("%d watches at a time", s.most)
		}
	})
}

// There is no watch without followers, and a returning follower misses nothing.
func TestHub_NoFollowers_NoWatch(t *testing.T) {
	play(t, events.Config{Linger: time.Minute}, func(s *stage) {
		virtualtime.Wait()
		if s.most != 0 {
			s.Error("there is a watch without followers")
		}
		f := s.follow(0, nil)
		s.put("a")
		s.hears(f, "101 a")
		f.Close()
		time.Sleep(30 * time.Second)
		if s.watched() != 1 {
			s.Error("not watched on for a while")
		}
		time.Sleep(time.Minute)
		if s.watched() != 0 {
			s.Error("the watch goes on without followers")
		}
		s.put("b")
		s.put("c")
		g := s.follow(101, nil)
		s.hears(g, "102 b", "103 c")
		g.Close()
	})
}

func TestReset(t *testing.T) {
	play(t, events.Config{Keep: 10, Catch: 5}, func(s *stage) {
		f, quick := s.follow(0, nil), s.follow(0, nil)
		for range 8 {
			s.put("a")
		}
		s.hears(quick, "101 a", "102 a", "103 a", "104 a", "105 a", "106 a", "107 a", "108 a")
		for range 8 {
			s.put("b")
		}
		s.hears(f, "reset 116") // it was too slow
		s.hears(quick, "109 b", "110 b", "111 b", "112 b", "113 b", "114 b", "115 b", "116 b")
		s.put("c")
		s.hears(f, "117 c")
		s.hears(s.follow(101, nil), "reset 117")  // too much to read again
		s.hears(s.follow(5000, nil), "reset 117") // etcd went back
		s.set(func() { s.floor = 103 })
		s.hears(s.follow(102, nil), "reset 117") // compacted
		s.hears(s.follow(105, nil), "106 a", "107 a", "108 a", "109 b", "110 b", "111 b", "112 b", "113 b", "114 b",
			"115 b", "116 b", "117 c")
		// A watch that broke and cannot be resumed.
		s.set(func() { s.away = true })
		virtualtime.Wait()
		s.set(func() { s.latest, s.floor = 200, 190 })
		s.set(func() { s.away = false })
		time.Sleep(time.Minute)
		s.hears(f, "reset 200")
		s.hears(quick, "reset 200")
		s.put("d")
		s.hears(f, "201 d")
		// A watch that broke and can be resumed.
		s.set(func() { s.away = true })
		s.put("e")
		time.Sleep(time.Second)
		s.hears(f)
		s.set(func() { s.away = false })
		time.Sleep(time.Minute)
		s.hears(f, "202 e")
	})
}

// A follower from another process with a later revision gets the events after it.
func TestFollow_RevisionOfAnotherProcess(t *testing.T) {
	play(t, events.Config{}, func(s *stage) {
		s.follow(0, nil)
		virtualtime.Wait()
		s.mu.Lock()
		s.latest = 105 // without an event yet
		s.mu.Unlock()
		f := s.follow(105, nil)
		s.put("a")
		s.hears(f, "106 a")
	})
}

func TestFollow_EtcdAway(t *testing.T) {
	play(t, events.Config{Wait: time.Second}, func(s *stage) {
		s.set(func() { s.away = true })
		if _, err := s.hub.Follow(s.Context(), 0, nil, "me"); common.CodeOf(err) != common.CodeUnavailable {
			s.Error(err)
		}
		s.set(func() { s.away = false })
		f := s.follow(0, nil)
		s.hub.Stop()
		if _, err := f.Next(s.Context()); !errors.Is(err, events.ErrStopped) {
			s.Error(err)
		}
		if _, err := s.hub.Follow(s.Context(), 0, nil, "me"); common.CodeOf(err) != common.CodeUnavailable {
			s.Error(err)
		}
	})
}

// Without events, the revision is the one up to which the stream is complete.
func TestFollow_NoEvents_ReportsProgress(t *testing.T) {
	play(t, events.Config{}, func(s *stage) {
		f := s.follow(0, func(*events.Event) bool { return false })
		s.put("a")
		s.put("b")
		virtualtime.Wait()
		ctx, cancel := context.WithTimeout(s.Context(), time.Second)
		defer cancel()
		if part, err := f.Next(ctx); !errors.Is(err, context.DeadlineExceeded) || part.Revision != 102 {
			s.Errorf("%+v, %v", part, err)
		}
	})
}

// One client leaves places for others, and a returned place can be taken again.
func TestOneClient_TakesAShareOfThePlaces(t *testing.T) {
	play(t, events.Config{Followers: 8}, func(s *stage) {
		follow := func(client string) *events.Follower {
			f, err := s.hub.Follow(s.Context(), 0, nil, client)
			if e, _ := errors.AsType[*common.Error](err); err != nil &&
				(e == nil || e.Code != common.CodeTooMany || e.Reason != "too_many_follow_events" ||
					e.RetryAfter <= 0) {
				s.Errorf("%s: %v", client, err)
			}
			return f
		}
		first := follow("greedy")
		if follow("greedy") == nil || follow("greedy") != nil {
			s.Error("a client does not get its quarter of the places and no more")
		}
		for i := range 6 {
			if follow(fmt.Sprint("other ", i)) == nil {
				s.Errorf("no place is left for client %d", i)
			}
		}
		if follow("late") != nil {
			s.Error("there are more followers than places")
		}
		first.Close()
		if follow("greedy") == nil {
			s.Error("a place that was given back is not free")
		}
	})
}
