package model

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/joblock"
	"carillon/internal/platform/virtualtime"
)

// event is a change that etcd made.
type event struct {
	rev     int64
	at      time.Time // true time
	key     string
	value   string
	created int64 // CreateRevision; 0: it was deleted
	lease   int64
	by      string // the link over which it came, or "lease"
	raw     *mvccpb.Event
}

// execution is a line of the diary: processes that ran.
type execution struct {
	worker, life, job, uid, run, fire string
	attempt                           int
	forbids, detaches                 bool // the policies as of the claim
	cutOff                            bool // it was ended, or not begun, because its worker was cut off
	began, ended                      time.Time
}

// world is a cluster for the time of one seed.
type world struct {
	seed     uint64
	start    time.Time // when the machines were switched on
	server   *server
	mutation mutation
	// Of all jobs, where a moment is played.
	lostAfter common.Duration
	flows     *flowPlay   // nil: there are no flows
	pooled    bool        // all jobs use one pool
	daemons   *daemonPlay // nil: there are no daemon jobs
	log       *slog.Logger

	etcd sync.Mutex // held while etcd is called, and until the history has it

	mu       sync.Mutex
	history  []event
	changed  chan struct{}
	leases   map[clientv3.LeaseID]*time.Timer
	granted  int64
	calls    int
	random   *rand.Rand // of the leases
	calm     bool
	calmAt   time.Time
	ills     []span        // when workers were disturbed
	length   time.Duration // of all commands that start; 0: as chance has it
	diary    []*execution
	ledger   map[string][]common.Run // by id, what was delivered, in order
	finished map[string]common.Status
	trouble  []string // what should not be, beside the promises
	counts   map[string]int
	remarks  []remark
	away     bool            // the log store takes nothing
	room     int             // outcomes that the outboxes may hold before workers stop; 0: any number
	outboxes map[string]bool // keys below the outboxes
	most     int             // of them that there were at a time
	restores int             // how often etcd was put back to an older state
}

// remark is what befell a life, for the trace.
type remark struct {
	at         time.Time
	life, what string
}

func newWorld(s *server, seed uint64, m mutation) *world {
	w := &world{seed: seed, server: s, mutation: m, log: slog.New(slog.DiscardHandler), changed: make(chan struct{}),
		leases: map[clientv3.LeaseID]*time.Timer{}, ledger: map[string][]common.Run{},
		finished: map[string]common.Status{}, counts: map[string]int{}, outboxes: map[string]bool{}}
	if os.Getenv("MODEL_LOG") != "" {
		w.log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	w.random = w.randomOf("leases")
	return w
}

// inBubble runs something in virtual time.
func inBubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	virtualtime.Test(t, func(t *testing.T) {
		f(t)
		time.Sleep(time.Minute) // until the last request has got lost
	})
}

// rest is how long everything has to come to an end after the disturbances.
func (w *world) rest() time.Duration {
	if w.flows != nil {
		return restOfFlows
	}
	if w.daemons != nil {
		return restOfDaemons
	}
	return rest
}

// oneIsAhead reports whether the clock of one worker is a day ahead.
func (w *world) oneIsAhead() bool { return w.seed%4 == 0 }

// registerEvery is as in the product where the clocks matter, and longer elsewhere: it
// is half of what there is to do.
func (w *world) registerEvery() time.Duration {
	if w.oneIsAhead() {
		return 5 * time.Second
	}
	return 20 * time.Second
}

// randomOf gives a source of its own to each part, so that one does not disturb the others.
func (w *world) randomOf(part string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(part))
	return rand.New(rand.NewPCG(w.seed, h.Sum64()))
}

func (w *world) weather() weather {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calm {
		return weather{}
	}
	return weather{lostRequest: 0.04, lostAnswer: 0.05, late: 0.03, slow: 0.05}
}

func (w *world) isCalm() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.calm }

// atEtcd does something at etcd, and writes down what that changed.
func (w *world) atEtcd(by string, do func(*server)) {
	w.etcd.Lock()
	defer w.etcd.Unlock()
	changes := w.server.do(func() { do(w.server) })
	w.calls++
	if len(changes) == 0 {
		return
	}
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range changes {
		e := event{rev: c.Kv.ModRevision, at: now, key: string(c.Kv.Key), by: by, raw: c}
		if c.Type != mvccpb.Event_DELETE {
			e.value, e.created, e.lease = string(c.Kv.Value), c.Kv.CreateRevision, c.Kv.Lease
		}
		w.history = append(w.history, e)
		if under(c.Kv.Key, common.OutboxPrefix) {
			if e.created == 0 {
				delete(w.outboxes, e.key)
			} else {
				w.outboxes[e.key] = true
			}
			w.most = max(w.most, len(w.outboxes))
		}
	}
	close(w.changed)
	w.changed = make(chan struct{})
}

// since gives the history from a revision on, and what is closed when there is more.
func (w *world) since(rev int64) ([]event, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := len(w.history)
	for at > 0 && w.history[at-1].rev >= rev {
		at--
	}
	return w.history[at:len(w.history):len(w.history)], w.changed
}

var errLeaseGone = rpctypes.ErrLeaseNotFound

// grant creates a lease that expires without a keep-alive for its TTL. The real one
// lasts for as long as this says.
func (w *world) grant() clientv3.LeaseID {
	w.mu.Lock()
	w.granted++
	id := clientv3.LeaseID(int64(w.seed)<<20 + w.granted)
	w.leases[id] = time.AfterFunc(w.life(), func() { w.expire(id) })
	w.mu.Unlock()
	w.atEtcd("lease", func(s *server) {
		if _, err := s.etcd.Server.LeaseGrant(context.Background(),
			&pb.LeaseGrantRequest{ID: int64(id), TTL: 3600}); err != nil {
			panic(err)
		}
	})
	return id
}

// life is the TTL, and what etcd takes to notice; the caller holds mu.
func (w *world) life() time.Duration {
	return joblock.DefaultTTL + time.Duration(w.random.Int64N(int64(time.Second)))
}

func (w *world) keepAlive(id clientv3.LeaseID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	timer, lives := w.leases[id]
	if !lives || !timer.Stop() {
		return errLeaseGone
	}
	timer.Reset(w.life())
	return nil
}

func (w *world) expire(id clientv3.LeaseID) {
	w.mu.Lock()
	timer, lives := w.leases[id]
	if lives {
		timer.Stop()
		delete(w.leases, id)
	}
	w.mu.Unlock()
	if !lives {
		return
	}
	w.atEtcd("lease", func(s *server) {
		if _, err := s.etcd.Server.LeaseRevoke(context.Background(),
			&pb.LeaseRevokeRequest{ID: int64(id)}); err != nil {
			panic(err)
		}
	})
}

// keysOf returns the keys under a lease, and whether it exists.
func (w *world) keysOf(by string, id clientv3.LeaseID) (keys [][]byte, lives bool) {
	w.mu.Lock()
	_, lives = w.leases[id]
	w.mu.Unlock()
	if !lives {
		return nil, false
	}
	w.atEtcd(by, func(s *server) {
		resp, err := s.etcd.Server.LeaseTimeToLive(context.Background(),
			&pb.LeaseTimeToLiveRequest{ID: int64(id), Keys: true})
		if lives = err == nil; lives {
			keys = resp.Keys
		}
	})
	return keys, lives
}

// wasLocked reports whether a run has ever had a lock.
func (w *world) wasLocked(job, run string) bool {
	key := common.LockKey(job, run)
	events, _ := w.since(0)
	return slices.ContainsFunc(events, func(e event) bool { return e.key == key && e.created != 0 })
}

// locks are the keys of those that there are.
func (w *world) locks() []string { return w.keysNow(common.LockPrefix) }

// runs are those that have ended, by id: those that were delivered, and those in the outboxes.
func (w *world) runs() map[string]common.Run {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, pending := map[string]common.Run{}, map[string]string{}
	for _, e := range w.history {
		if under([]byte(e.key), common.OutboxPrefix) {
			pending[e.key] = e.value // empty: it was deleted
		}
	}
	for key, value := range pending {
		if run, err := common.Decode[common.Run]([]byte(value)); err == nil && !common.IsLateKey(key) {
			all[run.ID] = run
		}
	}
	for id, delivered := range w.ledger {
		all[id] = delivered[0]
	}
	return all
}

// lastOf is the last attempt of a fire.
func (w *world) lastOf(fire string) (last common.Run, err error) {
	if w.isAway() {
		return last, common.Errorf(common.CodeUnavailable, "the log store is away")
	}
	for _, run := range w.runs() {
		if run.Fire == fire && (last.ID == "" || run.Attempt > last.Attempt) {
			last = run
		}
	}
	return last, nil
}

// remove deletes a key by hand.
func (w *world) remove(key string) {
	w.atEtcd("operator", func(s *server) {
		if _, err := s.kv.DeleteRange(context.Background(), &pb.DeleteRangeRequest{Key: []byte(key)}); err != nil {
			panic(err)
		}
	})
}

// jobNow is a job as etcd has it; nil where there is none.
func (w *world) jobNow(name string) *common.StoredJob {
	key := common.JobKey(name)
	events, _ := w.since(0)
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].key == key {
			if events[i].created == 0 {
				return nil
			}
			job, err := common.Decode[common.StoredJob]([]byte(events[i].value))
			if err != nil {
				panic(err)
			}
			return &job
		}
	}
	return nil
}

// going are the executions of a life that go on.
func (w *world) going(life string) (found []execution) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.diary {
		if x.life == life && x.ended.IsZero() {
			found = append(found, *x)
		}
	}
	return found
}

// begin and end write the diary.
func (w *world) begin(x execution) *execution {
	w.mu.Lock()
	defer w.mu.Unlock()
	x.began = time.Now()
	w.diary = append(w.diary, &x)
	return &x
}

func (w *world) end(x *execution) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x.ended.IsZero() {
		x.ended = time.Now()
	}
}

// store is the log store: it takes everything, and remembers how often.
func (w *world) store(runs []common.Run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range runs {
		w.ledger[runs[i].ID] = append(w.ledger[runs[i].ID], runs[i])
	}
}

// finish notes a run whose finish was answered.
func (w *world) finish(run string, s common.Status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.finished[run] = s
}

// last has all commands that start take so long.
func (w *world) last(length time.Duration) { w.mu.Lock(); w.length = length; w.mu.Unlock() }

func (w *world) lasting() time.Duration { w.mu.Lock(); defer w.mu.Unlock(); return w.length }

// count says what happened in this world.
func (w *world) count(what string) { w.mu.Lock(); w.counts[what]++; w.mu.Unlock() }

// remark says what befell a life.
func (w *world) remark(life, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.remarks = append(w.remarks, remark{time.Now(), life, fmt.Sprintf(format, args...)})
}

// storeAway sets whether the log store is unavailable, and the capacity of the outboxes meanwhile.
func (w *world) storeAway(away bool, room int) {
	w.mu.Lock()
	w.away, w.room = away, room
	w.mu.Unlock()
}

func (w *world) isAway() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.away }

// full reports whether the outboxes have no room.
func (w *world) full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.room > 0 && len(w.outboxes) >= w.room
}

// cutOff notes that an execution ends because its worker is cut off.
func (w *world) cutOff(x *execution) { w.mu.Lock(); x.cutOff = true; w.mu.Unlock() }

func (w *world) complain(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trouble = append(w.trouble, fmt.Sprintf(format, args...))
}

func (w *world) beCalm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calm, w.calmAt = true, time.Now()
}
