package audit_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/audit"
	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/runlog"
)

// shelf implements etcd and the log store in memory, with a revision for each put.
type shelf struct {
	mu       sync.Mutex
	head     audit.Head
	revision int64 // of the head
	clock    int64
	epoch    common.Epoch
	waiting  map[string]audit.Waiting
	stored   map[string]common.Change
	fail     func(step string) error // returns an error for a step, before or after it is done
	writes   int
	looks    []string // start of each list
}

func newShelf() *shelf {
	return &shelf{
		waiting: map[string]audit.Waiting{},
		stored:  map[string]common.Change{},
		fail:    func(string) error { return nil },
	}
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func (s *shelf) change(t *testing.T, name string, after any) common.Change {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	c, err := common.NewChange(noon.Add(time.Duration(s.clock)*time.Second),
		common.Actor{Name: "ada <&>", Remote: "::1"}, "replace", "job", name, nil, after)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	s.waiting[c.ID] = audit.Waiting{ID: c.ID, Value: data, Revision: s.clock}
	return c
}

func (s *shelf) Head(context.Context) (audit.Head, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head, s.revision, s.fail("head")
}

func (s *shelf) Epoch(context.Context) (common.Epoch, error) { return s.epoch, nil }

func (s *shelf) Waiting(_ context.Context, from string, limit int) (ids []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks = append(s.looks, from)
	for id := range s.waiting {
		if id >= from {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids[:min(limit, len(ids))], s.fail("waiting")
}

func (s *shelf) Find(_ context.Context, ids []string) (found []audit.Waiting, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.Backward(ids) { // in any order
		if w, ok := s.waiting[id]; ok {
			found = append(found, w)
		}
	}
	return found, s.fail("find")
}

func (s *shelf) Put(_ context.Context, head audit.Head, revision int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if revision != s.revision {
		return common.Errorf(common.CodeConflict, "it has moved")
	}
	if err := s.fail("before put"); err != nil {
		return err
	}
	s.clock++
	s.head, s.revision = head, s.clock
	return s.fail("put")
}

func (s *shelf) Remove(_ context.Context, delivered []audit.Waiting) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, w := range delivered {
		if i == len(delivered)/2 {
			if err := s.fail("remove"); err != nil {
				return err // half of it is done
			}
		}
		delete(s.waiting, w.ID)
	}
	return nil
}

func (s *shelf) Write(_ context.Context, b runlog.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail("before write"); err != nil {
		return err
	}
	s.writes++
	for i, c := range b.Changes {
		if i == len(b.Changes)/2 {
			if err := s.fail("write"); err != nil {
				return err
			}
		}
		if _, there := s.stored[c.ID]; !there {
			s.stored[c.ID] = c
		}
	}
	return nil
}

func (s *shelf) Sealed(_ context.Context, after int64, limit int) (all []common.Change, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.stored {
		if c.Link != nil && c.Link.Seq > after {
			c.Link = new(*c.Link)
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b common.Change) int {
		return cmp.Or(cmp.Compare(a.Link.Seq, b.Link.Seq), cmp.Compare(a.ID, b.ID))
	})
	return all[:min(limit, len(all))], s.fail("sealed")
}

func (s *shelf) Changes(_ context.Context, q runlog.ChangeQuery) (all []common.Change, err error) {
	for _, c := range s.stored {
		if q.Matches(&c) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b common.Change) int { return cmp.Compare(b.ID, a.ID) })
	return all[:min(q.Limit, len(all))], nil
}

// seal runs the sealer as elected master until there is nothing to do or a step fails permanently.
func (s *shelf) seal(t *testing.T) (log string) {
	t.Helper()
	virtualtime.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		sealer := audit.NewSealer(audit.Config{Chain: s, Store: s, Alone: func() bool { return true },
			Log: slog.New(slog.NewTextHandler(&out, nil)), Delivered: func(int) {}, Failed: func() {}})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := sealer.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		log = out.String()
	})
	return log
}

// verify verifies the whole chain in steps of a size and returns the faults.
func (s *shelf) verify(t *testing.T, size int) (checked int, faults []string) {
	t.Helper()
	v := audit.NewVerifier(s, s)
	for from := int64(1); ; {
		step, err := v.Verify(t.Context(), from, size)
		if err != nil {
			t.Fatal(err)
		}
		checked += step.Checked
		for _, f := range step.Faults {
			faults = append(faults, fmt.Sprintf("%s %d", f.Code, f.Seq))
		}
		if !step.More {
			return checked, faults
		}
		from = step.To + 1
	}
}

func (s *shelf) intact(t *testing.T, count int) {
	t.Helper()
	for _, size := range []int{1, 7, 1000} {
		if n, faults := s.verify(t, size); n != count || faults != nil {
			t.Fatalf("in steps of %d: %d verified, %v; want %d and nothing", size, n, faults, count)
		}
	}
}

func TestChain(t *testing.T) {
	s := newShelf()
	s.intact(t, 0)
	var made []common.Change
	for i := range 450 { // more than two batches
		made = append(made, s.change(t, fmt.Sprint("job-", i), map[string]any{"n": i, "text": "<&>\u2028"}))
	}
	s.waiting["0"] = audit.Waiting{ID: "0", Value: []byte("{")} // is recorded as unreadable
	log := s.seal(t)
	if len(s.waiting) != 0 || len(s.stored) != 451 || s.head.Seq != 451 {
		t.Fatalf("%d wait, %d are stored, the head is at %d", len(s.waiting), len(s.stored), s.head.Seq)
	}
	s.intact(t, 451)
	if c := s.stored["0"]; c.Link.Seq != 1 || c.Verb != "unreadable" || !strings.Contains(string(c.After), `"ew=="`) {
		t.Errorf("%+v: %s", c, c.After)
	}
	if n := strings.Count(log, "msg=audit_entry"); n != 451 || strings.Count(log, "audit_change_unreadable") != 1 {
		t.Errorf("%d lines of the log:\n%.500s", n, log)
	}
	for i, c := range made {
		got := s.stored[c.ID]
		if got.Link.Seq != int64(i+2) || got.Revision != int64(i+1) || string(got.After) != string(c.After) {
			t.Fatalf("%d became %+v", i, got)
		}
	}
	// The chain continues with later entries.
	s.change(t, "late", 1)
	s.seal(t)
	s.intact(t, 452)
}

// An entry that is altered after it was sealed and before it is delivered does not stop the chain:
// an entry with the altered value takes its place, and verification reports it.
func TestTamperedChange_IsFlaggedAndTheChainGoesOn(t *testing.T) {
	for name, value := range map[string]string{"garbage": "{", "another change": `{"id":"x"}`} {
		s := newShelf()
		var ids []string
		for i := range 5 {
			ids = append(ids, s.change(t, fmt.Sprint(i), i).ID)
		}
		s.fail = func(step string) error {
			if step == "before write" {
				return errors.New("the power is gone")
			}
			return nil
		}
		s.seal(t)
		s.fail = func(string) error { return nil }
		s.waiting[ids[2]] = audit.Waiting{ID: ids[2], Value: []byte(value), Revision: 100}
		s.change(t, "later", 5)
		log := s.seal(t)
		if len(s.waiting) != 0 || s.head.Seq != 6 || !strings.Contains(log, "audit_change_unreadable") {
			t.Errorf("%s: %d wait, the head is at %d: %.500s", name, len(s.waiting), s.head.Seq, log)
		}
		if n, faults := s.verify(t, 1000); n != 6 || !slices.Equal(faults, []string{"altered 3"}) {
			t.Errorf("%s: %d verified, %v", name, n, faults)
		}
	}
}

// Entries delivered out of order by a master that died are not gaps while the others are in etcd.
func TestVerify_WhileABatchIsHalfDelivered(t *testing.T) {
	s := newShelf()
	for i := range 3 {
		s.change(t, fmt.Sprint(i), i)
	}
	s.seal(t)
	var ids []string
	for i := range 4 {
		ids = append(ids, s.change(t, fmt.Sprint("next", i), i).ID)
	}
	waiting := maps.Clone(s.waiting)
	s.seal(t)
	for _, id := range []string{ids[1], ids[2]} { // as before their delivery
		s.waiting[id] = waiting[id]
		delete(s.stored, id)
	}
	step, err := audit.NewVerifier(s, s).Verify(t.Context(), 1, 1000)
	if err != nil || len(step.Faults) != 0 || step.Checked != 4 || step.Waiting != 3 || step.To != 4 || step.More {
		t.Errorf("%+v, %v", step, err)
	}
	delete(s.waiting, ids[1]) // in neither store any more
	if _, faults := s.verify(t, 1000); !slices.Equal(faults, []string{"missing 5"}) {
		t.Errorf("%v", faults)
	}
}

// Lists find entries by fields stored beside the hashed text: an entry with other fields is
// reported.
func TestVerify_FindsEntriesThatAreListedWrongly(t *testing.T) {
	s := newShelf()
	for i := range 3 {
		s.change(t, fmt.Sprint(i), i)
	}
	s.seal(t)
	for id, c := range s.stored {
		if c.Link.Seq == 2 {
			c.Link.Misfiled = true
			s.stored[id] = c
		}
	}
	if _, faults := s.verify(t, 1000); !slices.Equal(faults, []string{"altered 2"}) {
		t.Errorf("%v", faults)
	}
}

// Whatever step fails, before it or half done, the next master creates the same chain.
func TestSealer_CrashAtEachStep_SameChain(t *testing.T) {
	whole := newShelf()
	for i := range 5 {
		whole.change(t, fmt.Sprint(i), i)
	}
	ids := func(s *shelf) string {
		var b strings.Builder
		all, err := s.Sealed(t.Context(), 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			fmt.Fprintf(&b, "%d %s %s\n", c.Link.Seq, c.Name, c.Link.Hash)
		}
		return b.String()
	}
	for _, where := range []string{"head", "find", "waiting", "before put", "put", "before write", "write", "remove"} {
		t.Run(where, func(t *testing.T) {
			s := newShelf()
			maps.Copy(s.waiting, whole.waiting)
			s.clock = whole.clock
			s.fail = func(step string) error {
				if step == where {
					return errors.New("the power is gone")
				}
				return nil
			}
			if log := s.seal(t); !strings.Contains(log, "audit_seal_failed") && where != "find" {
				t.Fatal("nothing failed")
			}
			first := ids(s)
			s.change(t, "5", 5) // which must not get among the others
			s.fail = func(string) error { return nil }
			s.seal(t)
			s.intact(t, 6)
			if all := ids(s); !strings.HasPrefix(all, first) && where != "write" {
				t.Errorf("another chain: first\n%sthen\n%s", first, all)
			}
			if len(s.waiting) != 0 || s.head.Seq != 6 {
				t.Errorf("%d wait, the head is at %d", len(s.waiting), s.head.Seq)
			}
		})
	}
}

// In quick succession, only the newest entries are listed, and they are sealed together; an entry
// with an older id is found all the same.
func TestSealer_ManyEntries_ListsNewestOnly(t *testing.T) {
	s := newShelf()
	old := s.change(t, "old", 1)
	s.mu.Lock()
	held := s.waiting[old.ID]
	delete(s.waiting, old.ID)
	s.mu.Unlock()
	virtualtime.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		sealer := audit.NewSealer(audit.Config{Chain: s, Store: s, Alone: func() bool { return true },
			Log: slog.New(slog.DiscardHandler), Delivered: func(int) {}, Failed: func() {}})
		var run sync.WaitGroup
		run.Go(func() { _ = sealer.Run(ctx) })
		for i := range 1000 { // in five seconds
			s.change(t, fmt.Sprint(i), i)
			if i == 500 {
				s.mu.Lock()
				s.waiting[old.ID] = held
				s.mu.Unlock()
			}
			sealer.Wake()
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
		run.Wait()
	})
	whole := 0
	for _, from := range s.looks {
		if from == "" {
			whole++
		}
	}
	if whole < 4 || whole > 7 || len(s.looks) < 50 || len(s.looks) > 150 || s.writes > 150 {
		t.Errorf("%d looks, %d of them at all, and %d writes", len(s.looks), whole, s.writes)
	}
	if _, there := s.stored[old.ID]; !there {
		t.Error("the old one was not found")
	}
	s.seal(t)
	s.intact(t, 1001)
}

// A master that is no longer elected does no harm.
func TestTwoMasters(t *testing.T) {
	s := newShelf()
	for i := range 500 {
		s.change(t, fmt.Sprint(i), i)
	}
	virtualtime.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				_ = audit.NewSealer(audit.Config{Chain: s, Store: s, Alone: func() bool { return true },
					Log: slog.New(slog.DiscardHandler), Delivered: func(int) {}, Failed: func() {}}).Run(ctx)
			})
		}
		all.Wait()
	})
	s.intact(t, 500)
}

// While a master is alive that delivers without sealing, nothing is sealed.
func TestSealer_OlderMasterAlive_SealsNothing(t *testing.T) {
	s := newShelf()
	s.change(t, "a", 1)
	virtualtime.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_ = audit.NewSealer(audit.Config{Chain: s, Store: s, Alone: func() bool { return false },
			Log: slog.New(slog.DiscardHandler), Delivered: func(int) {}, Failed: func() {}}).Run(ctx)
	})
	if s.head.Seq != 0 || s.writes != 0 || len(s.waiting) != 1 {
		t.Errorf("sealed up to %d, %d writes", s.head.Seq, s.writes)
	}
}

// Each kind of tampering is reported.
func TestTampering(t *testing.T) {
	at := func(s *shelf, seq int64) string {
		for id, c := range s.stored {
			if c.Link.Seq == seq {
				return id
			}
		}
		return ""
	}
	edit := func(seq int64, how func(c *common.Change)) func(*shelf) {
		return func(s *shelf) {
			c := s.stored[at(s, seq)]
			c.Link = new(*c.Link)
			how(&c)
			s.stored[c.ID] = c
		}
	}
	rehash := func(c *common.Change) { c.Link.Hash = audit.Hash(c.Link.Previous, c.Link.Text) }
	for name, c := range map[string]struct {
		tamper func(s *shelf)
		want   []string
	}{
		"what was after":   {edit(5, func(c *common.Change) { c.After = []byte("99") }), []string{"altered 5"}},
		"nothing after":    {edit(5, func(c *common.Change) { c.After = nil }), []string{"altered 5"}},
		"something before": {edit(5, func(c *common.Change) { c.Before = []byte("1") }), []string{"altered 5"}},
		"who did it": {edit(5, func(c *common.Change) {
			c.Link.Text = strings.Replace(c.Link.Text, "ada", "bob", 1)
		}), []string{"altered 5"}},
		"with another hash": {edit(5, func(c *common.Change) {
			c.Link.Text = strings.Replace(c.Link.Text, "ada", "bob", 1)
			rehash(c)
		}), []string{"broken 6"}},
		"the last one": {edit(20, func(c *common.Change) {
			c.Link.Text = strings.Replace(c.Link.Text, "ada", "bob", 1)
			rehash(c)
		}), []string{"end 20"}},
		"one is gone": {func(s *shelf) { delete(s.stored, at(s, 5)) }, []string{"missing 5"}},
		"three are gone": {func(s *shelf) {
			delete(s.stored, at(s, 5))
			delete(s.stored, at(s, 6))
			delete(s.stored, at(s, 7))
		}, []string{"missing 5"}},
		"the first is gone": {func(s *shelf) { delete(s.stored, at(s, 1)) }, []string{"missing 1"}},
		"the last is gone":  {func(s *shelf) { delete(s.stored, at(s, 20)) }, []string{"end 20"}},
		"all are gone":      {func(s *shelf) { clear(s.stored) }, []string{"end 1"}},
		"the place of another": {edit(5, func(c *common.Change) {
			c.Link.Seq = 6
		}), []string{"altered 6", "broken 7", "missing 5", "twice 6"}},
		"the text of another": {func(s *shelf) {
			edit(5, func(c *common.Change) { *c.Link = *s.stored[at(s, 4)].Link; c.Link.Seq = 5 })(s)
		}, []string{"altered 5", "broken 5", "broken 6"}},
		"one more at the end": {func(s *shelf) {
			c := s.stored[at(s, 20)]
			c.ID = "x"
			c.Link = new(*c.Link)
			s.stored["x"] = c
		}, []string{"altered 20", "twice 20"}},
		"etcd has lost it": {func(s *shelf) { s.head = audit.Head{} }, []string{"end 1"}},
		"etcd is of before": {func(s *shelf) {
			s.head.Seq, s.head.Hash, s.head.Batch = 4, "x", nil
		}, []string{"end 4", "end 5"}},
		"said to be let go of": {func(s *shelf) {
			delete(s.stored, at(s, 1))
			s.head.Kept = audit.Anchor{Seq: 2, Hash: "x"}
		}, []string{"broken 3"}},
		"the head of a reseal": {func(s *shelf) { s.head.Hash = "x" }, []string{"end 20"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf()
			for i := range 20 {
				s.change(t, fmt.Sprint(i), i)
			}
			s.seal(t)
			c.tamper(s)
			for _, size := range []int{1000, 3} {
				_, faults := s.verify(t, size)
				slices.Sort(faults)
				faults = slices.Compact(faults)
				if !slices.Equal(faults, c.want) {
					t.Errorf("in steps of %d: %q, want %q", size, faults, c.want)
				}
			}
		})
	}
}

// etcd is restored from a backup with half of the entries. Nothing is sealed, and no place used
// twice, until an operator has accepted the restore; then the chain continues after the last entry
// of the log store and is intact. Entries altered before or after that are reported as usual, and
// an epoch that accepts another head does not count.
func TestEtcdIsRestored(t *testing.T) {
	s := newShelf()
	for i := range 10 {
		s.change(t, fmt.Sprint(i), i)
	}
	s.seal(t)
	backup := s.head
	for i := range 10 {
		s.change(t, fmt.Sprint(10+i), i)
	}
	s.seal(t)
	s.head = backup
	s.change(t, "after", 1)
	accept := func(end audit.Anchor) {
		s.epoch = common.Epoch{ID: common.NewID(), At: noon, Audit: new(common.AuditEnd(end))}
		s.change(t, "recover", s.epoch)
	}
	gap := func(when string, want audit.Gap, faults ...string) {
		t.Helper()
		step, err := audit.NewVerifier(s, s).Verify(t.Context(), 1, 1000)
		var found []string
		for _, f := range step.Faults {
			found = append(found, fmt.Sprintf("%s %d", f.Code, f.Seq))
		}
		if err != nil || step.Restored != want || !slices.Equal(found, faults) {
			t.Errorf("%s: the gap is %+v, want %+v; faults %v, want %v; %v", when, step.Restored, want, found,
				faults, err)
		}
	}
	gap("before it is accepted", audit.Gap{From: 11, To: 20}, "end 11")
	accept(audit.Anchor{Seq: 10, Hash: "x"})
	if log := s.seal(t); s.head.Seq != 10 || len(s.stored) != 20 || !strings.Contains(log, "cronctl recover") {
		t.Fatalf("before it is accepted the head is at %d of %d entries:\n%s", s.head.Seq, len(s.stored), log)
	}
	accept(backup.Anchor())
	gap("before it is sealed", audit.Gap{From: 11, To: 20})
	if log := s.seal(t); !strings.Contains(log, "msg=audit_chain_resumed known=10 last=20") {
		t.Errorf("the gap is not named:\n%s", log)
	}
	s.intact(t, 23)
	gap("after it was sealed", audit.Gap{From: 11, To: 20})
	s.head, s.revision = audit.Head{}, 0 // a new etcd
	s.change(t, "later", 1)
	s.seal(t)
	s.intact(t, 24)
	gap("in a new etcd", audit.Gap{From: 1, To: 23})
	for _, seq := range []int64{15, 22} {
		for id, c := range s.stored {
			if c.Link.Seq == seq {
				whole := c
				c.After = []byte("99")
				s.stored[id] = c
				if _, faults := s.verify(t, 1000); !slices.Equal(faults, []string{fmt.Sprint("altered ", seq)}) {
					t.Errorf("altered at %d, it finds %v", seq, faults)
				}
				s.stored[id] = whole
			}
		}
	}
}

// growing is a shelf whose chain grows after its head was read for the first time.
type growing struct {
	*shelf
	grow func()
}

func (g *growing) Head(ctx context.Context) (audit.Head, int64, error) {
	head, revision, err := g.shelf.Head(ctx)
	if grow := g.grow; grow != nil {
		g.grow = nil
		grow()
	}
	return head, revision, err
}

// A verification during which entries are sealed reports the end of those, so that a client which compares the last
// entry with that end finds them equal.
func TestVerify_ChainGrowsMeanwhile_ReportsNewEnd(t *testing.T) {
	s := newShelf()
	s.change(t, "a", 1)
	s.seal(t)
	g := &growing{shelf: s, grow: func() {
		s.change(t, "b", 2)
		s.change(t, "c", 3)
		s.seal(t)
	}}
	step, err := audit.NewVerifier(g, s).Verify(t.Context(), 1, 10)
	if err != nil || len(step.Faults) != 0 || step.To != 3 || step.Head != s.head.Anchor() || step.Waiting != 0 ||
		step.Restored != (audit.Gap{}) {
		t.Errorf("verified to %d, head %+v, %d waiting, restored %+v, faults %v, %v; want all of 3 entries",
			step.To, step.Head, step.Waiting, step.Restored, step.Faults, err)
	}
}

// An entry that is altered in etcd between sealing and delivery keeps the hash it was sealed with.
func TestAlteredOnTheWay(t *testing.T) {
	s := newShelf()
	s.change(t, "a", 1)
	c := s.change(t, "b", 2)
	s.fail = func(step string) error {
		if step == "write" {
			return errors.New("away")
		}
		return nil
	}
	s.seal(t)
	v := audit.NewVerifier(s, s)
	clear(s.stored)
	if step, err := v.Verify(t.Context(), 1, 10); err != nil || len(step.Faults) != 0 || step.Waiting != 2 ||
		step.Head.Seq != 2 {
		t.Fatalf("while it is on its way: %+v, %v", step, err)
	}
	w := s.waiting[c.ID]
	w.Value = bytes.Replace(w.Value, []byte("ada"), []byte("bob"), 1)
	s.waiting[c.ID] = w
	s.fail = func(string) error { return nil }
	s.seal(t)
	if _, faults := s.verify(t, 10); !slices.Equal(faults, []string{"altered 2"}) {
		t.Errorf("found %q", faults)
	}
}

// Verification during sealing reports no fault, although entries move from etcd to the log store
// meanwhile.
func TestVerifyMeanwhile(t *testing.T) {
	s := newShelf()
	busy := &busy{shelf: s, seal: func() { // without delivery
		s.change(t, "a", 1)
		s.change(t, "b", 2)
		s.fail = func(step string) error { return failing(step == "before write") }
		s.seal(t)
	}, deliver: func() {
		s.fail = func(string) error { return nil }
		s.seal(t)
	}}
	for round := range 3 {
		step, err := audit.NewVerifier(busy, busy).Verify(t.Context(), 1, 1000)
		if err != nil || len(step.Faults) > 0 || step.Waiting != 2 || step.Checked < 2*round {
			t.Fatalf("%+v, %v", step, err)
		}
	}
	s.intact(t, int(s.head.Seq))
}

func failing(yes bool) error {
	if yes {
		return errors.New("away")
	}
	return nil
}

// busy seals before each read of the head and delivers before each list of undelivered entries.
type busy struct {
	*shelf
	seal, deliver func()
}

func (b *busy) Head(ctx context.Context) (audit.Head, int64, error) {
	b.seal()
	return b.shelf.Head(ctx)
}

func (b *busy) Find(ctx context.Context, ids []string) ([]audit.Waiting, error) {
	b.deliver()
	return b.shelf.Find(ctx, ids)
}

// After retention has deleted entries, the chain can be verified.
func TestExpire(t *testing.T) {
	s := newShelf()
	for i := range 20 {
		s.change(t, fmt.Sprint(i), i)
	}
	s.seal(t)
	e := audit.NewExpirer(s, expiring{s})
	if place, err := e.Expire(t.Context(), noon); err != nil || place != 0 {
		t.Fatalf("%d, %v", place, err)
	}
	for _, want := range []int64{7, 7, 12} {
		place, err := e.Expire(t.Context(), noon.Add(time.Duration(want)*time.Second+1))
		if err != nil || place != want {
			t.Fatalf("up to %d, %v, want %d", place, err, want)
		}
		s.intact(t, 20-int(want)) // also before they are deleted
		for id, c := range s.stored {
			if c.Link.Seq <= place {
				delete(s.stored, id)
			}
		}
		s.intact(t, 20-int(want))
	}
	if place, err := e.Expire(t.Context(), noon); err != nil || place != 12 { // a clock went back
		t.Fatalf("%d, %v", place, err)
	}
	s.change(t, "more", 1)
	s.seal(t)
	s.intact(t, 9)
}

type expiring struct{ *shelf }

func (expiring) Run(context.Context, string) (common.Run, error) { panic("not asked") }
func (expiring) Runs(context.Context, runlog.Query) (runlog.Found, error) {
	panic("not asked")
}
func (expiring) Last(context.Context, []string, int) (map[string][]common.Run, error) {
	panic("not asked")
}
func (expiring) Output(context.Context, string, int64, int) ([]common.Chunk, error) {
	panic("not asked")
}

// A head of a newer version is not changed.
func TestNewerFormat(t *testing.T) {
	s := newShelf()
	s.head.Format = audit.Format + 1
	s.change(t, "a", 1)
	if log := s.seal(t); !strings.Contains(log, "newer version") || s.writes != 0 {
		t.Errorf("%d writes:\n%s", s.writes, log)
	}
	if _, err := audit.NewVerifier(s, s).Verify(t.Context(), 1, 10); common.CodeOf(err) != common.CodeConflict {
		t.Error(err)
	}
}

func TestMask(t *testing.T) {
	for give, want := range map[string]string{
		``:      ``,
		`{`:     `"(hidden)"`,
		`7`:     `7`,
		`"abc"`: `"abc"`,
		`{"name":"a","env":{"A":"x","B":"","C":"secret:db"},"command":"true <&>"}`:                 `{"command":"true \u003c\u0026\u003e","env":{"A":"(hidden)","B":"","C":"secret:db"},"name":"a"}`,
		`{"password":"x","old":{"apiKey":7,"API_TOKEN":["a",{"b":"c"}]},"n":12345678901234567890}`: `{"n":12345678901234567890,"old":{"API_TOKEN":["(hidden)",{"b":"(hidden)"}],"apiKey":"(hidden)"},"password":"(hidden)"}`,
		`{"params":{"DB_PASSWORD":{"default":"x"},"DAY":{"default":"today"}}}`:                     `{"params":{"DAY":{"default":"today"},"DB_PASSWORD":{"default":"(hidden)"}}}`,
		`[{"sealed":"s1.…"},{"clientSecret":null,"hash":"ab","ok":true}]`:                          `[{"sealed":"(hidden)"},{"clientSecret":null,"hash":"(hidden)","ok":true}]`,
	} {
		if got := string(audit.Mask(json.RawMessage(give))); got != want {
			t.Errorf("%s became\n%s, want\n%s", give, got, want)
		}
	}
}

// The hashed text is defined byte for byte, so that other programs can compute it.
func TestText(t *testing.T) {
	value :=
		`{"verb":"create","id":"1-a","unknown": [1, 2],"kind":"job","name":"<&>","actor":{"name":"ada"},"at":"2026-03-01T12:00:00Z","after":{"name":"x"}}`
	text, err := audit.Text([]byte(value), 7, 42)
	const want = `{"actor":{"name":"ada"},"after":"0229d37e33daae149bf40543a5ce1db4459d10f830d5139279aa2bfd5f6485a1","at":"2026-03-01T12:00:00Z","id":"1-a","kind":"job","name":"<&>","revision":42,"seq":7,"unknown":[1,2],"verb":"create"}`
	if err != nil || text != want {
		t.Errorf("%v:\n%s\nwant\n%s", err, text, want)
	}
	if got := audit.Hash("ab", "c"); got != audit.Sum([]byte("abc")) {
		t.Error(got)
	}
}

// A failing sealer has a condition within a minute, which ends with the next successful pass.
func TestSealerThatFailsHasACondition(t *testing.T) {
	s := newShelf()
	s.change(t, "a", 1)
	var healed atomic.Bool
	s.fail = func(string) error {
		if healed.Load() {
			return nil
		}
		return errors.New("no permission")
	}
	virtualtime.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		sealer := audit.NewSealer(audit.Config{Chain: s, Store: s, Alone: func() bool { return true },
			Log: slog.New(slog.DiscardHandler), Delivered: func(int) {}, Failed: func() {}})
		var run sync.WaitGroup
		run.Go(func() { _ = sealer.Run(ctx) })
		time.Sleep(20 * time.Second)
		if all := sealer.Conditions(); len(all) != 0 {
			t.Errorf("after 20 s: %+v", all)
		}
		time.Sleep(40 * time.Second)
		all := sealer.Conditions()
		if len(all) != 1 || all[0].Code != common.ConditionAuditStuck ||
			!strings.Contains(all[0].Data["error"], "no permission") {
			t.Errorf("after a minute: %+v", all)
		}
		healed.Store(true)
		time.Sleep(15 * time.Second)
		if all := sealer.Conditions(); len(all) != 0 {
			t.Errorf("after it succeeded: %+v", all)
		}
		cancel()
		run.Wait()
	})
}

// A change that does not decode raises a condition for a day, also on the master that is elected next.
func TestUnreadableChange_RaisesAConditionForADay(t *testing.T) {
	s := newShelf()
	s.waiting["0"] = audit.Waiting{ID: "0", Value: []byte("{")}
	virtualtime.Test(t, func(t *testing.T) {
		elected := func() (sealer *audit.Sealer, end func()) {
			ctx, cancel := context.WithCancel(t.Context())
			sealer = audit.NewSealer(audit.Config{Chain: s, Store: s, Alone: func() bool { return true },
				Log: slog.New(slog.DiscardHandler), Delivered: func(int) {}, Failed: func() {}})
			var run sync.WaitGroup
			run.Go(func() { _ = sealer.Run(ctx) })
			time.Sleep(5 * time.Second)
			return sealer, func() { cancel(); run.Wait() }
		}
		raised := func(when string, sealer *audit.Sealer, count, seq string) {
			t.Helper()
			all := sealer.Unreadable()
			if len(all) != 1 || all[0].Code != common.ConditionAuditUnreadable || all[0].Data["count"] != count ||
				all[0].Data["seq"] != seq {
				t.Errorf("%s: %+v, want %s unreadable, the last at %s", when, all, count, seq)
			}
		}
		first, end := elected()
		raised("after it was sealed", first, "1", "1")
		time.Sleep(23 * time.Hour)
		raised("after 23 hours", first, "1", "1")
		s.mu.Lock()
		s.waiting["1"] = audit.Waiting{ID: "1", Value: []byte("{")}
		s.mu.Unlock()
		time.Sleep(5 * time.Second)
		raised("after another one", first, "2", "2")
		end()
		if all := first.Unreadable(); len(all) != 0 {
			t.Errorf("on a master that is not elected any more: %+v", all)
		}
		second, end := elected()
		defer end()
		raised("on the next elected master", second, "2", "2")
		time.Sleep(25 * time.Hour)
		if all := second.Unreadable(); len(all) != 0 {
			t.Errorf("a day after the last one: %+v", all)
		}
	})
}
