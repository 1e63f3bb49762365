package model

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"carillon/internal/common"
	"carillon/internal/joblock"
)

// A claim by a worker, and its answer.
type (
	asked struct{ job, fire, nonce string }
	told  int
)

const (
	unknown told = iota // it was not told
	granted
	stale
)

// register is a fire as the claims see it: free, or owned permanently.
var register = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := map[string][]porcupine.Operation{}
		for _, op := range history {
			key := op.Input.(asked).job + op.Input.(asked).fire
			parts[key] = append(parts[key], op)
		}
		var all [][]porcupine.Operation
		for _, part := range parts {
			all = append(all, part)
		}
		return all
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		owner, nonce := state.(string), input.(asked).nonce
		switch output.(told) {
		case granted:
			return owner == "", nonce
		case stale:
			return owner != "" && owner != nonce, owner
		default: // it may have had its effect, or not
			if owner == "" {
				return true, nonce
			}
			return true, owner
		}
	},
	DescribeOperation: func(input, output any) string {
		return fmt.Sprintf("%v: %v", input, []string{"not told", "granted", "stale"}[output.(told)])
	},
}

// Five workers whose clocks are up to five seconds off claim the same fires over links
// that lose, delay and repeat. Their answers are those of a register for each fire.
func TestClaimsAreLinearizable(t *testing.T) {
	servers := newPool(t, 1)
	for seed := range *from + uint64(min(*seeds, 50)) {
		t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) {
			servers.use(t, func(s *server) {
				w := newWorld(s, seed, nothing)
				var history []porcupine.Operation
				inBubble(t, func(t *testing.T) { history = claimAll(t.Context(), w) })
				if len(history) < 50 {
					t.Fatalf("only %d claims", len(history))
				}
				if !porcupine.CheckOperations(register, history) {
					for _, op := range history {
						t.Log(op.ClientId, op.Call, op.Return, register.DescribeOperation(op.Input, op.Output))
					}
					t.Error("no register says this")
				}
				ledgerAgrees(t, w, history)
			})
		})
	}
}

// Without the compare of the cursor, some answers are not those of a register.
func TestClaimsNeedTheCursor(t *testing.T) {
	s := startServer(t)
	for seed := range uint64(10) {
		s.wipe(t)
		w := newWorld(s, seed, noCursor)
		var history []porcupine.Operation
		inBubble(t, func(t *testing.T) { history = claimAll(t.Context(), w) })
		if !porcupine.CheckOperations(register, history) {
			return
		}
	}
	t.Error("the violation was not found in ten seeds")
}

const (
	claimers = 5
	fires    = 12
	apart    = 5 * time.Second
)

// claimAll has all workers claim all fires of three jobs, each by its own clock.
func claimAll(ctx context.Context, w *world) (history []porcupine.Operation) {
	began, jobs := time.Now(), []string{"a", "b", "c"}
	admin := newLink(w, "admin")
	version := map[string]int64{}
	w.beCalm()
	for _, job := range jobs {
		version[job] = putJob(ctx, admin.client(ctx), job, began)
	}
	w.mu.Lock()
	w.calm = false
	w.mu.Unlock()
	type one struct {
		op   porcupine.Operation
		seen time.Time
	}
	done := make(chan one)
	running := 0
	ctx, cancel := context.WithCancel(ctx)
	sessions := make(chan struct{}, claimers)
	for i := range claimers {
		link := newLink(w, fmt.Sprintf("worker%d", i))
		link.rewrite = w.mutation.ofClaims()
		client := link.client(ctx)
		session := joblock.NewSession(client, ttl, sinceNow(), w.log, func() {})
		go func() { _ = session.Run(ctx); sessions <- struct{}{} }()
		claimer := joblock.NewClaimer(client, session, link.name, func(error) {}, nil)
		skew := time.Duration(w.randomOf(link.name).Int64N(int64(10*time.Second))) - 5*time.Second
		for _, job := range jobs {
			random := w.randomOf(link.name + job)
			running++
			go func() { // the fires of a job one after the other
				for n := range fires {
					from, to := began.Add(time.Duration(n)*apart), began.Add(time.Duration(n+1)*apart)
					time.Sleep(time.Until(to.Add(time.Duration(random.Int64N(int64(6*time.Second))) - skew)))
					callCtx, cancel := context.WithTimeout(ctx, time.Duration(random.Int64N(int64(20*time.Second))))
					claim := fireOfPlan(job, version[job], from, to, common.Life{Worker: link.name, Life: "1"})
					op := porcupine.Operation{
						ClientId: i,
						Input:    asked{job, claim.Record.Fire, claim.Record.Nonce},
						Call:     time.Since(began).Nanoseconds(),
					}
					result := claimer.Claim(callCtx, []common.Claim{claim})[0]
					cancel()
					op.Return, op.Output = time.Since(began).Nanoseconds(), unknown
					switch result.Verdict {
					case common.Claimed:
						op.Output = granted
					case common.Stale:
						op.Output = stale
						if result.State != nil && result.State.Cursor.Before(to) {
							continue // an earlier fire is still open: nothing was said of this one
						}
					default:
						op.Return = int64(time.Hour) // it may take effect at any time
					}
					done <- one{op: op}
				}
				done <- one{seen: time.Now()}
			}()
		}
	}
	for running > 0 {
		if o := <-done; !o.seen.IsZero() {
			running--
		} else {
			history = append(history, o.op)
		}
	}
	cancel()
	for range claimers {
		<-sessions
	}
	return history
}

// ledgerAgrees holds what the workers were told against the records that etcd had.
func ledgerAgrees(t *testing.T, w *world, history []porcupine.Operation) {
	t.Helper()
	owners := map[string][]string{}
	for _, e := range w.history {
		if e.created == e.rev && under([]byte(e.key), common.RunsPrefix) {
			record := decode[struct{ Fire, Nonce string }](e.value)
			owners[record.Fire] = append(owners[record.Fire], record.Nonce)
		}
	}
	for fire, nonces := range owners {
		if len(nonces) != 1 {
			t.Errorf("%s was claimed %d times", fire, len(nonces))
		}
	}
	for _, op := range history {
		in := op.Input.(asked)
		if mine := slices.Contains(owners[in.fire], in.nonce); op.Output == granted && !mine ||
			op.Output == stale && mine {
			t.Errorf("%v was answered %v, but etcd had %v", in, op.Output, owners[in.fire])
		}
	}
}
