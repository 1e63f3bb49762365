package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

const (
	batchSize = 200
	// lookSize is how many changes are looked for at a time. etcd counts all that wait, and what
	// is not compacted yet of those that did, for each look.
	lookSize = 5 * batchSize
	// look is how often it is looked for changes without being told of any, and for those that
	// are older than the ones before.
	look = time.Second
	// late is by how much a change may be older than one that was found before it, to be found
	// without a look at all.
	late = 2 * time.Second
	// rest is the time between two passes: changes that come one after the other are sealed together.
	rest       = 50 * time.Millisecond
	retryFirst = 200 * time.Millisecond
	retryMost  = 10 * time.Second
	// stuckFor is how long sealing must have failed before somebody should look.
	stuckFor = 30 * time.Second
)

// Config is what a sealer needs.
type Config struct {
	Chain Chain
	Store interface {
		runlog.Writer
		runlog.Chained
	}
	// Alone tells whether no master is alive that delivers changes without sealing them, as
	// older versions do.
	Alone     func() bool
	Log       *slog.Logger
	Delivered func(n int) // counts
	Failed    func()      // counts writes that the log store did not take
}

// Sealer seals changes and brings them into the log store. Wake and Conditions are safe for
// concurrent use.
type Sealer struct {
	cfg  Config
	wake chan struct{}

	// Owned by Run.
	queue  []string  // ids of changes that were found, in order
	newest string    // the last id that was found
	full   bool      // there may be more after it
	looked time.Time // when it was looked at all that wait

	mu      sync.Mutex
	failing time.Time // guarded by mu; since when it fails, zero while it does not
	fault   error     // guarded by mu
}

// NewSealer makes a sealer.
func NewSealer(cfg Config) *Sealer {
	return &Sealer{cfg: cfg, wake: make(chan struct{}, 1)}
}

// Wake says that there is a change. It never blocks.
func (s *Sealer) Wake() {
	select {
	case s.wake <- struct{}{}:
	default: // it is awake already, and will look again
	}
}

// Run seals and delivers until the context ends. It is for the elected master.
func (s *Sealer) Run(ctx context.Context) error {
	defer s.note(nil) // whoever comes next will tell
	wait := time.NewTimer(0)
	defer wait.Stop()
	var ended time.Time
	for retry := retryFirst; ; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.wake:
			wait.Reset(max(0, rest-time.Since(ended)))
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-wait.C:
			}
		case <-wait.C:
		}
		next := look
		more, err := s.pass(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			s.cfg.Log.Warn("audit_seal_failed", "error", err, "again_in", retry)
			next, retry = retry, min(2*retry, retryMost)
		default:
			retry = retryFirst
			if more {
				next = 0
			}
		}
		s.note(err)
		ended = time.Now()
		wait.Reset(next)
	}
}

func (s *Sealer) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = err
	switch {
	case err == nil:
		s.failing = time.Time{}
	case s.failing.IsZero():
		s.failing = time.Now()
	}
}

// Conditions tells that changes have not been brought into the log store for too long.
func (s *Sealer) Conditions() []common.Condition {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing.IsZero() || time.Since(s.failing) < stuckFor {
		return nil
	}
	why := common.Excerpt(s.fault.Error())
	return []common.Condition{{Code: common.ConditionAuditStuck, From: s.failing.UTC(), Data: common.Words{"error": why},
		Text: "changes are not sealed and stay in etcd: " + why}}
}

// pass finishes what was sealed last and seals what waits; more says that this was not all.
func (s *Sealer) pass(ctx context.Context) (more bool, err error) {
	if !s.cfg.Alone() {
		return false, nil // the others deliver; what was sealed is finished when they are gone
	}
	defer func() {
		if err != nil { // what stands in etcd is not known any more
			s.queue, s.full, s.looked = nil, false, time.Time{}
		}
	}()
	// What is sealed and not delivered waits as well: where nothing does, all is done.
	if err := s.find(ctx); err != nil || len(s.queue) == 0 {
		return s.full, err
	}
	head, revision, err := checked(ctx, s.cfg.Chain)
	if err != nil {
		return false, err
	}
	if err := s.finish(ctx, &head); err != nil {
		return false, err
	}
	ids := s.queue[:min(batchSize, len(s.queue))]
	s.queue = s.queue[len(ids):]
	more = len(s.queue) > 0 || s.full
	waiting, err := s.cfg.Chain.Find(ctx, ids)
	if err != nil {
		return false, err
	}
	slices.SortFunc(waiting, func(a, b Waiting) int { return cmp.Compare(a.ID, b.ID) })
	if err := s.resume(ctx, &head, revision); err != nil {
		return false, err
	}
	next := Head{Format: Format, Seq: head.Seq, Hash: head.Hash, Previous: head.Hash, Kept: head.Kept}
	var sealed []Waiting
	var batch []common.Change
	for i := range waiting {
		change, err := s.seal(&waiting[i], next.Seq+1, next.Hash)
		if err != nil {
			return false, err
		}
		next.Seq, next.Hash = change.Link.Seq, change.Link.Hash
		next.Batch = append(next.Batch, Sealed{ID: change.ID, Hash: change.Link.Hash})
		batch, sealed = append(batch, change), append(sealed, waiting[i])
	}
	if err := s.cfg.Chain.Put(ctx, next, revision); err != nil {
		return false, fmt.Errorf("seal %d changes: %w", len(batch), err)
	}
	return more, s.deliver(ctx, batch, sealed)
}

// find looks for changes, where none are known of.
func (s *Sealer) find(ctx context.Context) error {
	if len(s.queue) > 0 {
		return nil
	}
	from, now := since(s.newest), time.Now()
	if now.Sub(s.looked) >= look {
		from, s.looked = "", now
	}
	ids, err := s.cfg.Chain.Waiting(ctx, from, lookSize)
	if err != nil || len(ids) == 0 {
		s.full = false
		return err
	}
	s.queue, s.newest, s.full = ids, ids[len(ids)-1], len(ids) == lookSize
	return nil
}

// timeDigits is the length of a time at the beginning of an id.
const timeDigits = 20

// since is where to look from for what is not much older than a change; ids begin with their time.
func since(id string) string {
	if len(id) < timeDigits {
		return ""
	}
	at, err := common.ParseTimeKey(id[:timeDigits])
	if err != nil {
		return ""
	}
	return common.TimeKey(at.Add(-late))
}

// finish delivers what of the head's batch is still in etcd.
func (s *Sealer) finish(ctx context.Context, head *Head) error {
	ids := make([]string, len(head.Batch))
	at := make(map[string]int, len(ids))
	for i, sealed := range head.Batch {
		ids[i], at[sealed.ID] = sealed.ID, i
	}
	left, err := s.cfg.Chain.Find(ctx, ids)
	if err != nil || len(left) == 0 {
		return err
	}
	var batch []common.Change
	for i := range left {
		place := at[left[i].ID]
		seq, previous := head.link(place)
		change, err := s.seal(&left[i], seq, previous)
		if err != nil {
			return err
		}
		// A change that was altered after it was sealed keeps the hash that it was sealed with:
		// it is found out by whoever verifies.
		change.Link.Hash = head.Batch[place].Hash
		batch = append(batch, change)
	}
	return s.deliver(ctx, batch, left)
}

// seal makes the link of a change. One that cannot be read, because somebody has written to etcd past the masters, does
// not stop the chain: an entry that holds it as evidence takes its place.
func (s *Sealer) seal(w *Waiting, seq int64, previous string) (common.Change, error) {
	change, err := seal(w, seq, previous)
	if err == nil {
		return change, nil
	}
	s.cfg.Log.Error("audit_change_unreadable", "id", w.ID, "seq", seq, "error", err)
	stood := *w
	if stood.Value, err = evidence(w, err); err != nil {
		return common.Change{}, fmt.Errorf("write down change %q, which cannot be read: %w", common.Excerpt(w.ID), err)
	}
	return seal(&stood, seq, previous)
}

// maxEvidence is how much of a value that cannot be read is kept.
const maxEvidence = 64 << 10

// evidence is the value of the entry that takes the place of a change which cannot be read.
func evidence(w *Waiting, why error) ([]byte, error) {
	var at time.Time
	if len(w.ID) >= timeDigits {
		at, _ = common.ParseTimeKey(w.ID[:timeDigits]) // another id says nothing of the time
	}
	after, err := json.Marshal(struct {
		Error string `json:"error"`
		Bytes int    `json:"bytes"`
		Value []byte `json:"value"` // in base64
	}{why.Error(), len(w.Value), w.Value[:min(len(w.Value), maxEvidence)]})
	if err != nil {
		return nil, err
	}
	return json.Marshal(common.Change{ID: w.ID, At: at, Verb: "unreadable", Kind: "change", Name: w.ID, After: after})
}

// seal makes the link of a change.
func seal(w *Waiting, seq int64, previous string) (common.Change, error) {
	change, err := common.Decode[common.Change](w.Value)
	if err == nil && (change.ID == "" || change.ID != w.ID) {
		err = errors.New("it holds another change")
	}
	if err != nil {
		return change, err
	}
	text, err := Text(w.Value, seq, w.Revision)
	if err != nil {
		return change, err
	}
	change.Revision = w.Revision
	change.Link = &common.Link{Seq: seq, Previous: previous, Hash: Hash(previous, text), Text: text}
	return change, nil
}

// deliver brings changes with their links into the log store, and then takes them out of etcd.
func (s *Sealer) deliver(ctx context.Context, batch []common.Change, sealed []Waiting) error {
	if err := s.cfg.Store.Write(ctx, runlog.Batch{Changes: batch}); err != nil {
		s.cfg.Failed()
		return err
	}
	if err := s.cfg.Chain.Remove(ctx, sealed); err != nil {
		return err
	}
	s.cfg.Delivered(len(batch))
	for i := range batch {
		c := &batch[i]
		s.cfg.Log.Info("audit_entry", "seq", c.Link.Seq, "hash", c.Link.Hash, "id", c.ID, "at", c.At, "actor", c.Actor.Name, "user", c.Actor.User,
			"token", c.Actor.Token, "remote", c.Actor.Remote, "verb", c.Verb, "kind", c.Kind, "name", c.Name, "revision", c.Revision)
	}
	return nil
}
