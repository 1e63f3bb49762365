package alerts

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Times of the notifier.
const (
	idleLook    = 2 * time.Second  // whether a job wants to be told of something
	idleMove    = 30 * time.Second // of the place, while nothing happens
	busyMove    = 5 * time.Second
	lateLook    = 15 * time.Second
	pruneEvery  = 10 * time.Minute
	overlapOf   = time.Minute // of a gap
	retryFollow = 2 * time.Second
	commitTries = 8
	perBeat     = 200 // outcomes that are settled before that counts as progress
	perSummary  = 40  // states that are written together, beside notices for half as many channels
	perCommit   = 60  // notices that are written together; etcd takes 128 operations
)

// Config is what a notifier needs.
type Config struct {
	Store     Store
	Channels  Channels
	Jobs      Jobs
	History   History
	Senders   map[Kind]Sender
	PublicURL string // of the console; may be empty
	Now       func() time.Time
	Log       *slog.Logger
	Metrics   Metrics
	Report    func(error) // receives the result of each look at late runs and summaries; may be nil
}

// Notifier tells. Run is for the elected master; Test may be called on any.
type Notifier struct {
	cfg  Config
	wake chan struct{} // there is something to send

	mu     sync.Mutex // held while a job's outcomes are settled
	states map[string]State
	budget budget
	crowd  crowd // what waited when it was last looked, and since

	pulse pulse
}

// New makes a notifier.
func New(cfg Config) *Notifier {
	return &Notifier{cfg: cfg, wake: make(chan struct{}, 1), states: map[string]State{}, crowd: crowdOf(nil)}
}

// Run tells until the context ends, or something fails that may pass.
func (n *Notifier) Run(ctx context.Context) error {
	n.pulse.begin(n.cfg.Now())
	defer n.pulse.end(ctx)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := n.load(ctx); err != nil {
		n.pulse.fail(err)
		return err
	}
	var all sync.WaitGroup
	errs := make(chan error, 3)
	for _, part := range []func(context.Context) error{n.follow, n.mind, n.send} {
		all.Go(func() {
			err := part(ctx)
			if err != nil {
				cancel(err)
			}
			errs <- err
		})
	}
	all.Wait()
	return cmp.Or(<-errs, <-errs, <-errs)
}

// load reads the states anew: what is here may not be what is there.
func (n *Notifier) load(ctx context.Context) error {
	now, err := n.cfg.Store.Now(ctx)
	if err != nil {
		return err
	}
	states, err := n.cfg.Store.States(ctx)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.states)
	for _, s := range states {
		if s.Revision > now { // etcd was restored to an earlier one
			s.Revision = 0
		}
		n.states[s.Job] = s
	}
	return nil
}

// errNobody says that no job wants to be told of anything any more.
var errNobody = errors.New("no job wants to be told of")

// follow looks at outcomes while some job wants to be told of them.
func (n *Notifier) follow(ctx context.Context) error {
	place, err := n.cfg.Store.Place(ctx)
	for err == nil && ctx.Err() == nil {
		if place, err = n.idle(ctx, place); err != nil {
			break
		}
		next, failed := n.sound(ctx, place)
		if place = next; failed == nil {
			place, failed = n.take(ctx, place)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case failed == nil, errors.Is(failed, errNobody):
			continue
		case errors.Is(failed, ErrGap):
			n.cfg.Log.Warn("notices_gap", "since", place.At, "revision", place.Revision)
			if place, failed = n.beginGap(ctx, place); failed == nil {
				continue
			}
		}
		n.pulse.fail(failed)
		n.cfg.Log.Warn("notices_interrupted", "error", failed, "again_in", retryFollow)
		if !sleep(ctx, retryFollow) {
			return nil
		}
		// What was done since the place was last moved is looked at again, and known by the states.
		if place, err = n.cfg.Store.Place(ctx); err == nil {
			err = n.load(ctx)
		}
	}
	n.pulse.fail(err)
	return passing(ctx, err)
}

// take settles outcomes from the place on, and moves it. It ends with an error.
func (n *Notifier) take(ctx context.Context, place Place) (Place, error) {
	moved := n.cfg.Now()
	err := n.cfg.Store.Follow(ctx, place.Revision+1, func(ctx context.Context, outcomes []Outcome, upTo int64) error {
		for part := range slices.Chunk(outcomes, perBeat) {
			if err := n.settleAll(ctx, part); err != nil {
				return err
			}
			n.pulse.beat(n.cfg.Now())
		}
		every := busyMove
		if len(outcomes) == 0 {
			every = idleMove
		}
		if now := n.cfg.Now(); upTo > place.Revision && (now.Sub(moved) >= every || now.Before(moved)) {
			moved = now
			next, err := n.move(ctx, place, upTo)
			if err != nil {
				return err
			}
			place = next
			if told, known := n.cfg.Jobs.Told(); known && len(told) == 0 {
				return errNobody
			}
		}
		n.pulse.beat(n.cfg.Now())
		return nil
	})
	return place, err
}

// sound looks into the history where it was left half read, or where etcd is behind the place: it was restored to an
// earlier revision, and its outcomes would count as seen.
func (n *Notifier) sound(ctx context.Context, place Place) (Place, error) {
	if place.Gap != nil {
		return n.overGap(ctx, place)
	}
	now, err := n.cfg.Store.Now(ctx)
	if err != nil || now >= place.Revision {
		return place, err
	}
	n.cfg.Log.Warn("notices_gap", "since", place.At, "revision", place.Revision, "etcd", now)
	if place, err = n.beginGap(ctx, place); err == nil && place.Gap != nil {
		return n.overGap(ctx, place)
	}
	return place, err
}

// idle waits until some job wants to be told of something, and keeps the place near.
func (n *Notifier) idle(ctx context.Context, place Place) (Place, error) {
	for ctx.Err() == nil {
		told, known := n.cfg.Jobs.Told()
		wanted := len(told) > 0
		if place.Revision == 0 || known && !wanted && n.cfg.Now().Sub(place.At).Abs() >= idleMove {
			now, err := n.cfg.Store.Now(ctx)
			if err != nil {
				return place, err
			}
			if place, err = n.move(ctx, place, now); err != nil {
				return place, err
			}
		}
		if known && wanted {
			return place, nil
		}
		n.pulse.beat(n.cfg.Now())
		if !sleep(ctx, idleLook) {
			return place, nil
		}
	}
	return place, nil
}

func (n *Notifier) move(ctx context.Context, place Place, revision int64) (Place, error) {
	return n.cfg.Store.Move(ctx, Place{Revision: revision, At: n.cfg.Now().UTC(), Version: place.Version})
}

func (n *Notifier) poke() {
	select {
	case n.wake <- struct{}{}:
	default: // it is about to look
	}
}

// passing makes nothing of an error that comes of the end.
func passing(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
