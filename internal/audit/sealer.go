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
	// lookSize is how many entries are listed at a time. For each list, etcd counts all keys of the
	// range, including deleted ones that are not compacted.
	lookSize = 5 * batchSize
	// look is the interval of lists without a wake-up, and of complete lists, which find entries
	// with older ids.
	look = time.Second
	// late is how much older than the last entry found an entry may be to be found without a
	// complete list.
	late = 2 * time.Second
	// rest is the pause between two passes, so that entries in quick succession are sealed
	// together.
	rest       = 50 * time.Millisecond
	retryFirst = 200 * time.Millisecond
	retryMost  = 10 * time.Second
	// stuckFor is how long sealing must fail to be a condition.
	stuckFor = 30 * time.Second
)

// Config holds what a sealer needs.
type Config struct {
	Chain Chain
	Store interface {
		runlog.Writer
		runlog.Chained
	}
	// Alone reports whether no live master delivers entries without sealing them, as older versions
	// do.
	Alone     func() bool
	Log       *slog.Logger
	Delivered func(n int) // counts delivered entries
	Failed    func()      // counts failed writes to the log store
}

// Sealer seals audit entries and delivers them to the log store. Wake and Conditions are safe for
// concurrent use.
type Sealer struct {
	cfg  Config
	wake chan struct{}

	// Owned by Run.
	queue  []string  // ids of entries found, in order
	newest string    // last id found
	full   bool      // there may be more after it
	looked time.Time // last complete list
	read   bool      // unreadable was read from etcd

	mu      sync.Mutex
	failing time.Time // guarded by mu; begin of the failure, zero without one
	fault   error     // guarded by mu
	// unreadable is guarded by mu.
	unreadable Unreadable
}

// NewSealer returns a sealer.
func NewSealer(cfg Config) *Sealer {
	return &Sealer{cfg: cfg, wake: make(chan struct{}, 1)}
}

// Wake signals that there is a new entry. It never blocks.
func (s *Sealer) Wake() {
	select {
	case s.wake <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// Run seals and delivers until the context ends. It is for the elected master.
func (s *Sealer) Run(ctx context.Context) error {
	defer s.note(nil) // the next elected master reports its own state
	defer s.forget()
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

// Conditions returns audit_stuck if sealing or delivery has failed for stuckFor.
func (s *Sealer) Conditions() []common.Condition {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing.IsZero() || time.Since(s.failing) < stuckFor {
		return nil
	}
	why := common.Excerpt(s.fault.Error())
	return []common.Condition{{
		Code: common.ConditionAuditStuck,
		From: s.failing.UTC(),
		Data: common.Words{"error": why},
		Text: "audit entries are not sealed and stay in etcd: " + why,
	}}
}

// pass finishes the last batch and seals the next one; more reports whether there are more entries.
func (s *Sealer) pass(ctx context.Context) (more bool, err error) {
	if !s.cfg.Alone() {
		return false, nil // other masters deliver; the last batch is finished when they are gone
	}
	defer func() {
		if err != nil { // the state in etcd is unknown
			s.queue, s.full, s.looked = nil, false, time.Time{}
		}
	}()
	if !s.read {
		head, _, err := checked(ctx, s.cfg.Chain)
		if err != nil {
			return false, err
		}
		s.merge(&head)
		s.read = true
	}
	// Entries that are sealed and not delivered are listed too: if there are none, all is done.
	if err := s.find(ctx); err != nil || len(s.queue) == 0 {
		return s.full, err
	}
	head, revision, err := checked(ctx, s.cfg.Chain)
	if err != nil {
		return false, err
	}
	s.merge(&head)
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
	next := Head{
		Format:     Format,
		Seq:        head.Seq,
		Hash:       head.Hash,
		Previous:   head.Hash,
		Kept:       head.Kept,
		Restored:   head.Restored,
		Unreadable: head.Unreadable,
	}
	var sealed []Waiting
	var batch []common.Change
	for i := range waiting {
		change, err := s.seal(&waiting[i], next.Seq+1, next.Hash, &next.Unreadable)
		if err != nil {
			return false, err
		}
		next.Seq, next.Hash = change.Link.Seq, change.Link.Hash
		next.Batch = append(next.Batch, Sealed{ID: change.ID, Hash: change.Link.Hash})
		batch, sealed = append(batch, change), append(sealed, waiting[i])
	}
	if err := s.cfg.Chain.Put(ctx, next, revision); err != nil {
		return false, fmt.Errorf("seal %d audit entries: %w", len(batch), err)
	}
	s.merge(&next)
	return more, s.deliver(ctx, batch, sealed)
}

// find lists undelivered entries if none are queued.
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

// timeDigits is the length of the time at the beginning of an id.
const timeDigits = 20

// since returns the id at which to begin a list of entries that are not much older than an id.
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

// finish delivers the entries of the head's batch that are still in etcd.
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
		change, err := s.seal(&left[i], seq, previous, &head.Unreadable)
		if err != nil {
			return err
		}
		// An entry that was altered after it was sealed keeps the hash it was sealed with, so that
		// verification detects it.
		change.Link.Hash = head.Batch[place].Hash
		batch = append(batch, change)
	}
	s.merge(head)
	return s.deliver(ctx, batch, left)
}

// seal returns an entry with its link. An unreadable entry, written to etcd by another program,
// does not stop the chain: an entry that contains it as evidence takes its place, and unreadable
// counts it.
func (s *Sealer) seal(w *Waiting, seq int64, previous string, unreadable *Unreadable) (common.Change, error) {
	change, err := seal(w, seq, previous)
	if err == nil {
		return change, nil
	}
	unreadable.add(seq, time.Now().UTC())
	s.cfg.Log.Error("audit_change_unreadable", "id", w.ID, "seq", seq, "error", err)
	stood := *w
	if stood.Value, err = evidence(w, err); err != nil {
		return common.Change{}, fmt.Errorf("replace unreadable audit entry %q: %w", common.Shorten(w.ID), err)
	}
	return seal(&stood, seq, previous)
}

// maxEvidence is how many bytes of an unreadable value are kept.
const maxEvidence = 64 << 10

// evidence returns the value of the entry that replaces an unreadable one.
func evidence(w *Waiting, why error) ([]byte, error) {
	var at time.Time
	if len(w.ID) >= timeDigits {
		at, _ = common.ParseTimeKey(w.ID[:timeDigits]) // another format of the id contains no time
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

// seal returns an entry with its link.
func seal(w *Waiting, seq int64, previous string) (common.Change, error) {
	change, err := common.Decode[common.Change](w.Value)
	if err == nil && (change.ID == "" || change.ID != w.ID) {
		err = errors.New("it contains another entry")
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

// deliver writes entries with their links to the log store and then deletes them from etcd.
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
		s.cfg.Log.Info("audit_entry", "seq", c.Link.Seq, "hash", c.Link.Hash, "id", c.ID, "at", c.At, "actor",
			c.Actor.Name, "user", c.Actor.User,
			"token", c.Actor.Token, "remote", c.Actor.Remote, "verb", c.Verb, "kind", c.Kind, "name", c.Name,
			"revision", c.Revision)
	}
	return nil
}
