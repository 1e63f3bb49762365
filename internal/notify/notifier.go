package notify

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Intervals and limits of the notifier.
const (
	idleLook    = 2 * time.Second  // check for jobs with notifications
	idleMove    = 30 * time.Second // save of the place without outcomes
	busyMove    = 5 * time.Second
	lateLook    = 15 * time.Second
	pruneEvery  = 10 * time.Minute
	overlapOf   = time.Minute // lookback before a gap
	retryFollow = 2 * time.Second
	commitTries = 8
	perBeat     = 200 // outcomes processed before progress is reported
	perSummary  = 40  // states written together, with notifications for half as many channels
	perCommit   = 60  // notifications written together; etcd accepts 128 operations
)

// Config holds what a notifier needs.
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
	Report    func(error) // receives the result of each round of late runs and summaries; may be nil
}

// Notifier creates and delivers notifications. Run is for the elected master; Test may be called on
// any master.
type Notifier struct {
	cfg  Config
	wake chan struct{} // there are new notifications

	mu      sync.Mutex // held while a job's outcomes are processed
	states  map[string]State
	budget  budget
	backlog backlog         // pending notifications at the last read, plus those created since
	waits   map[string]Wait // approvals that wait, by key

	pulse pulse
}

// New returns a notifier.
func New(cfg Config) *Notifier {
	return &Notifier{cfg: cfg, wake: make(chan struct{}, 1), states: map[string]State{}, backlog: backlogOf(nil),
		waits: map[string]Wait{}}
}

// Run delivers notifications until the context ends or a temporary error occurs; the caller runs it
// again.
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
	errs := make(chan error, 4)
	for _, part := range []func(context.Context) error{n.follow, n.followWaits, n.maintain, n.send} {
		all.Go(func() {
			err := part(ctx)
			if err != nil {
				cancel(err)
			}
			errs <- err
		})
	}
	all.Wait()
	return cmp.Or(<-errs, <-errs, <-errs, <-errs)
}

// load reads the states from etcd, since another master may have changed them.
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

// errNoSubscribers ends following when no job has notifications any more.
var errNoSubscribers = errors.New("no job has notifications")

// follow processes outcomes while at least one job has notifications.
func (n *Notifier) follow(ctx context.Context) error {
	place, err := n.cfg.Store.Place(ctx)
	for err == nil && ctx.Err() == nil {
		if place, err = n.idle(ctx, place); err != nil {
			break
		}
		next, failed := n.resumeGap(ctx, place)
		if place = next; failed == nil {
			place, failed = n.take(ctx, place)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case failed == nil, errors.Is(failed, errNoSubscribers):
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
		// Outcomes since the last save of the place are read again; the states identify those
		// already counted.
		if place, err = n.cfg.Store.Place(ctx); err == nil {
			err = n.load(ctx)
		}
	}
	n.pulse.fail(err)
	return passing(ctx, err)
}

// take processes outcomes from the place on and saves the place. It returns an error, always.
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
			if told, known := n.cfg.Jobs.Notifying(); known && len(told) == 0 {
				return errNoSubscribers
			}
		}
		n.pulse.beat(n.cfg.Now())
		return nil
	})
	return place, err
}

// resumeGap reads the history if a gap was left half read, or if etcd is behind the place: then it was
// restored to an earlier revision, and its outcomes would count as processed.
func (n *Notifier) resumeGap(ctx context.Context, place Place) (Place, error) {
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

// idle waits until a job has notifications, and keeps the saved place recent.
func (n *Notifier) idle(ctx context.Context, place Place) (Place, error) {
	for ctx.Err() == nil {
		told, known := n.cfg.Jobs.Notifying()
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

func (n *Notifier) wakeSender() {
	select {
	case n.wake <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// passing returns nil for errors caused by the end of the context.
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
