package dispatch

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/scheduler"
	"carillon/internal/scheduler/placement"
)

const (
	stagger       = 2 * time.Second // of the ranks
	settleStagger = time.Second     // of the workers that expire a fire
	foundLate     = 5 * stagger
)

// rankedJob finds a job for which this worker has a rank among the members, by the
// strategy hash.
func (r *rig) rankedJob(rank int) string {
	r.Helper()
	return r.jobWhere(func(job string, all []placement.Candidate) bool {
		got, ok := placement.Rank(&placement.Requirements{Job: job, Strategy: common.StrategyHash}, all, "w")
		return ok && got == rank
	})
}

// settledJob finds a job for which this worker is at a place in the order in which workers expire unclaimed fires.
func (r *rig) settledJob(order int) string {
	r.Helper()
	return r.jobWhere(func(job string, all []placement.Candidate) bool {
		return placement.SettleRank(job, all, "w") == order
	})
}

func (r *rig) jobWhere(fits func(job string, all []placement.Candidate) bool) string {
	r.Helper()
	members, _ := r.cluster.Members()
	all := placement.Candidates(members)
	for i := range 10_000 {
		if job := fmt.Sprint("job-", i); fits(job, all) {
			return job
		}
	}
	r.Fatal("no such job")
	return ""
}

// drive hands a fire out again whenever it is put off, as the scheduler does, until
// it is settled or put off beyond the limit, and gives the last answer.
func (r *rig) drive(f scheduler.Fire, limit time.Duration) scheduler.Settled {
	r.Helper()
	for end := time.Now().Add(limit); ; {
		n := len(r.settled())
		r.hand(f)
		for len(r.settled()) == n {
			if time.Now().After(end) {
				r.Fatalf("%s is not answered within %v", f.Job, limit)
			}
			time.Sleep(100 * time.Millisecond)
			virtualtime.Wait()
		}
		s := r.settled()[n]
		if s.RetryAt.IsZero() || s.RetryAt.After(end) {
			return s
		}
		if !s.RetryAt.After(time.Now()) {
			r.Fatalf("put off until %v, which is over", s.RetryAt)
		}
		time.Sleep(time.Until(s.RetryAt))
	}
}

// others are alive beside this worker.
func (r *rig) others(n int, change ...func(*common.Member)) {
	members := []common.Member{member("w", change...)}
	for i := range n {
		members = append(members, member(fmt.Sprint("other-", i), change...))
	}
	r.cluster.alive(members...)
}

func TestRankZero_ClaimsWithoutARead(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.others(4)
		r.hand(r.fire(r.rankedJob(0)))
		if n := len(r.claimer.claims()); n != 1 || r.claimer.looked() != 0 {
			r.Fatalf("%d claims after %d looks", n, r.claimer.looked())
		}
	})
}

// Under the strategy any, all workers have rank 0.
func TestStrategyAny_EveryWorkerClaimsAtOnce(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.others(4)
		r.hand(r.fire(r.rankedJob(3), func(t *common.Terms) { t.Strategy = common.StrategyAny }))
		if n := len(r.claimer.claims()); n != 1 || r.claimer.looked() != 0 {
			r.Fatalf("%d claims after %d looks", n, r.claimer.looked())
		}
	})
}

// Later ranks wait, and read whether the fire was claimed before they claim it.
func TestLaterRank_ReadsBeforeTheClaim(t *testing.T) {
	for rank := 1; rank <= 3; rank++ {
		for _, taken := range []bool{false, true} {
			t.Run(fmt.Sprint(rank, " taken ", taken), func(t *testing.T) {
				bubble(t, nil, func(r *rig) {
					r.others(4)
					f := r.fire(r.rankedJob(rank))
					began := time.Now()
					r.claimer.found = func(common.FireQuery) common.FireState {
						if took := time.Since(began); took != time.Duration(rank)*stagger {
							r.Errorf("looked after %v", took)
						}
						if taken {
							return common.FireState{Cursor: f.At.Add(time.Minute)} // and one more
						}
						return common.FireState{Cursor: f.Cursor}
					}
					s := r.drive(f, time.Minute)
					want := f.At
					if taken {
						want = f.At.Add(time.Minute)
					}
					if !s.Cursor.Equal(want) || s.Gone || (s.Run == "") != taken {
						r.Fatalf("settled as %+v", s)
					}
					if n := len(r.claimer.claims()); (n == 0) != taken || n > 1 || r.claimer.looked() != 1 {
						r.Fatalf("%d claims after %d looks", n, r.claimer.looked())
					}
				})
			})
		}
	}
}

func TestRead_NothingDecided_IsRepeated(t *testing.T) {
	for _, c := range []struct {
		name  string
		found common.FireState
	}{
		{"not answered", common.FireState{Err: errors.New("away")}},
		{"an answer that is a little old", common.FireState{Cursor: time.Date(1999, 12, 31, 23, 58, 0, 0, time.UTC)}},
		{"no cursor", common.FireState{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				r.others(1)
				f := r.fire(r.rankedJob(1))
				time.Sleep(stagger)
				r.claimer.found = func(common.FireQuery) common.FireState { return c.found }
				r.hand(f)
				s := r.settled()[0]
				if !s.RetryAt.Equal(time.Now().Add(retryAfter)) || s.Gone || s.Run != "" || s.Cursor.After(f.Cursor) ||
					len(r.claimer.claims()) != 0 {
					r.Fatalf("settled as %+v", s)
				}
			})
		})
	}
}

// When the worker of rank 0 leaves, the next one takes its place. A worker that is alone then does not read.
func TestFirstInRank_Leaves_NextOneClaims(t *testing.T) {
	const fresh = scheduler.Fresh
	for _, c := range []struct {
		after time.Duration
		left  int // others
		looks int
	}{{fresh / 2, 1, 0}, {fresh + fresh/2, 1, 1}, {fresh + fresh/2, 0, 0}} {
		bubble(t, nil, func(r *rig) {
			left := []common.Member{member("w"), member("other")}[:1+c.left]
			r.cluster.alive(append(left, member("first"))...)
			f := r.fire(r.jobWhere(func(job string, all []placement.Candidate) bool {
				req := placement.Requirements{Job: job, Strategy: common.StrategyHash}
				mine, _ := placement.Rank(&req, all, "w")
				firsts, _ := placement.Rank(&req, all, "first")
				return firsts == 0 && mine == 1
			}))
			began := time.Now()
			r.hand(f)
			if s := r.settled()[0]; !s.RetryAt.Equal(began.Add(stagger)) || len(r.claimer.claims()) != 0 {
				r.Fatalf("settled as %+v", s)
			}
			time.Sleep(c.after)
			r.cluster.alive(left...)
			r.hand(f) // the loop is roused
			if n := len(r.claimer.claims()); n != 1 || r.claimer.looked() != c.looks {
				r.Fatalf("%v later, with %d others: %d claims after %d looks", c.after, c.left, n, r.claimer.looked())
			}
		})
	}
}

// Delays count from the due time of a fire, so that the fires of a dead worker are not delayed; for fires that were
// found much later they count from then, since all workers have found them just now.
func TestRankDelay_CountsFromTheDueTime(t *testing.T) {
	for late, wait := range map[time.Duration]time.Duration{
		0:             stagger,
		stagger - 1:   1,
		stagger:       0,
		foundLate:     0,
		foundLate + 1: stagger,
		time.Minute:   stagger,
	} {
		bubble(t, nil, func(r *rig) {
			r.others(1)
			f := r.fire(r.rankedJob(1))
			time.Sleep(late)
			f.Since = time.Now()
			began := time.Now()
			if s := r.drive(f, time.Minute); s.Run == "" {
				r.Fatalf("settled as %+v", s)
			}
			if took := time.Since(began); took != wait || r.claimer.looked() != 1 {
				r.Fatalf("found %v late: claimed after %v, want %v", late, took, wait)
			}
		})
	}
}

// A worker claims nothing before the live workers are known, or without a registration of its own.
func TestWorkerWithoutRegistration_ClaimsNothing(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.cluster.alive(member("other"))
		f := r.fire("a")
		r.hand(f)
		s, soon := r.settled()[0], time.Now().Add(scheduler.RetryIneligible)
		if !s.RetryAt.Equal(soon) || len(r.claimer.claims()) != 0 {
			r.Fatalf("settled as %+v", s)
		}
		r.others(0)
		r.hand(f)
		if len(r.claimer.claims()) != 1 {
			r.Fatal("not claimed")
		}
	})
}

// A clock that is ahead of the others', or seems to be, waits for them.
func TestClockGuardHoldsClaims(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.cluster.behind = 10 * time.Second // 8 of them too many
		for _, f := range []scheduler.Fire{r.fire("a"), r.shot("b", "t")} {
			if f.Trigger != nil {
				f.Due = time.Now()
				f.Since = f.Due
			}
			began := time.Now()
			s := r.drive(f, time.Minute)
			if took := time.Since(began); took != 8*time.Second || s.Run == "" {
				r.Fatalf("settled after %v as %+v", took, s)
			}
		}
	})
}

// However far ahead the clock is, the fire is ranked again soon: the clock of another worker may have been wrong.
func TestClockGuard_FarAhead_RanksAgainSoon(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.cluster.behind = 24 * time.Hour
		r.hand(r.fire("a"))
		s, soon := r.settled()[0], time.Now().Add(scheduler.RetryIneligible)
		if !s.RetryAt.Equal(soon) || len(r.claimer.claims()) != 0 {
			r.Fatalf("settled as %+v", s)
		}
	})
}

// A worker counts its own used slots itself: those of its registration are some seconds old.
func TestOwnSlots_RegistrationIsOld_AreNotReadFromIt(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.cluster.alive(member("w", func(m *common.Member) { m.Used = m.Slots }))
		r.hand(r.fire("a"))
		if len(r.claimer.claims()) != 1 {
			r.Fatal("not claimed")
		}
	})
}

// A fire without an eligible worker expires after its deadline, with the reason, on one worker after the other.
func TestFire_NoEligibleWorker_ExpiresAfterItsDeadline(t *testing.T) {
	pinned := func(t *common.Terms) { t.Workers = "elsewhere" }
	for _, c := range []struct {
		name   string
		terms  func(*common.Terms)
		member func(*common.Member)
		self   string // our own trouble
		code   string
		why    string
	}{
		{name: "pinned", terms: pinned, code: common.ReasonNoWorker, why: placement.NotPinned},
		{
			name:  "selector",
			terms: func(t *common.Terms) { t.Selector = "zone=b" },
			code:  common.ReasonNoWorker,
			why:   placement.NotSelected,
		},
		{
			name:  "unreadable selector",
			terms: func(t *common.Terms) { t.Selector = "=" },
			code:  common.ReasonNoWorker,
			why:   placement.NotPinned,
		},
		{
			name:  "too large",
			terms: func(t *common.Terms) { t.Slots = 1000 },
			code:  common.ReasonNoWorker,
			why:   placement.TooSmall,
		},
		{
			name:   "drained",
			member: func(m *common.Member) { m.Settings.Drain = true },
			code:   common.ReasonNoWorker,
			why:    placement.Draining,
		},
		{
			name:   "stopping",
			member: func(m *common.Member) { m.Draining = true },
			code:   common.ReasonNoWorker,
			why:    placement.Draining,
		},
		{
			name:   "needs a feature",
			terms:  func(t *common.Terms) { t.Needs = "detach,teleport" },
			member: func(m *common.Member) { m.Features = []string{"detach"} },
			code:   common.ReasonNoWorker,
			why:    placement.NeedsFeature,
		},
		{
			name:   "weight 0",
			terms:  func(t *common.Terms) { t.Strategy = common.StrategyWeight },
			member: func(m *common.Member) { m.Settings.Weight = new(int) },
			code:   common.ReasonNoWorker,
			why:    placement.NoWeight,
		},
	} {
		for order := range 2 {
			t.Run(fmt.Sprint(c.name, " ", order), func(t *testing.T) {
				bubble(t, nil, func(r *rig) {
					if c.member == nil {
						c.member = func(*common.Member) {}
					}
					if c.terms == nil {
						c.terms = func(*common.Terms) {}
					}
					r.others(2, c.member)
					f := r.fire(r.settledJob(order), c.terms)
					began := time.Now()
					s := r.drive(f, 10*time.Minute)
					want := common.DefaultStartDeadline + time.Duration(order)*settleStagger + 1
					if took := time.Since(began); took != want || !s.Cursor.Equal(f.At) {
						r.Fatalf("settled after %v, want %v, as %+v", took, want, s)
					}
					claims := r.claimer.claims()
					if len(claims) != 1 || claims[0].Record.Run != "" || claims[0].Gap == nil ||
						r.claimer.looked() != 1 {
						r.Fatalf("claims %+v after %d looks", claims, r.claimer.looked())
					}
					gap := claims[0].Gap
					if gap.Status != common.StatusMissed || gap.Reason.Code != c.code || gap.Reason.Data[c.why] == "" ||
						!gap.PlannedAt.Equal(f.At) || gap.Gap != nil {
						r.Fatalf("given up as %+v, %+v", gap, gap.Reason)
					}
					if got := r.told(); len(got) != 1 || got[0] != f.Job+" missed" {
						r.Fatalf("told of %q", got)
					}
				})
			})
		}
	}
}

// A worker that lacks a feature that a job needs leaves its fires, however late, to workers that have it as long as one
// is alive.
func TestJobOfNewerVersion_IsLeftToWorkersWithItsFeatures(t *testing.T) {
	needs := func(t *common.Terms) { t.Needs = "detach,teleport" }
	newer := func(m *common.Member) { m.Features = []string{"teleport", "detach"} }
	bubble(t, nil, func(r *rig) {
		r.cluster.alive(member("w"), member("newer", newer), member("other"))
		f := r.fire(r.settledJob(0), needs)
		if s := r.drive(f, 4*time.Second); s.RetryAt.IsZero() || len(r.claimer.claims()) != 0 {
			r.Fatalf("an older worker: %+v, claims %+v", s, r.claimer.claims())
		}
		time.Sleep(2 * common.DefaultStartDeadline)
		r.hand(f)
		if n := len(r.claimer.claims()); n != 0 {
			r.Fatalf("%d claims by an older worker, of a fire that a newer one has left", n)
		}
		r.cluster.alive(member("w"), member("other"))
		if s := r.drive(f, time.Minute); s.RetryAt.IsZero() &&
			r.claimer.claims()[0].Gap.Reason.Data[placement.NeedsFeature] != "2" {
			r.Fatalf("no eligible worker: %+v, claims %+v", s, r.claimer.claims())
		}
	})
	bubble(t, nil, func(r *rig) {
		r.cluster.alive(member("w", newer), member("older-1"), member("older-2"))
		for _, rank := range []int{0, 1, 2} { // it is the first among those who can, whatever its rank else
			r.hand(r.fire(r.rankedJob(rank), needs))
			if claims := r.claimer.claims(); len(claims) != rank+1 || claims[rank].Record.Run == "" {
				r.Fatalf("claims %+v", claims)
			}
		}
	})
}

// A worker with Trouble claims nothing, and expires fires after the others.
func TestTroubledWorkerDoesNotClaim(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.others(1)
		r.cluster.trouble = "its clock is off"
		began := time.Now()
		s := r.drive(r.fire(r.settledJob(0)), 10*time.Minute)
		if took := time.Since(began); took != common.DefaultStartDeadline+settleStagger+1 || s.Run != "" {
			r.Fatalf("settled after %v as %+v", took, s)
		}
		r.cluster.trouble = ""
		r.hand(r.fire(r.rankedJob(0)))
		if claims := r.claimer.claims(); claims[len(claims)-1].Record.Run == "" {
			r.Fatal("it does not claim again")
		}
	})
}

// While the outboxes are full nothing is written about a fire, however late it is. When there is space again, one entry
// accounts for all fires that are past their deadlines, and the catch-up policy of the job decides about the last.
func TestFiresWaitWhileTheOutboxesAreFull(t *testing.T) {
	for _, policy := range []common.CatchUpPolicy{common.CatchUpNone, common.CatchUpLatest} {
		t.Run(string(policy), func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				f := r.fire("a", func(t *common.Terms) { t.CatchUp = policy })
				r.cluster.fill(true)
				for range 60 {
					r.hand(f)
					time.Sleep(time.Minute)
				}
				if s := r.settled(); len(s) != 60 || s[59].RetryAt.IsZero() || !s[59].Cursor.IsZero() ||
					len(r.claimer.claims()) != 0 || r.claimer.looked() != 0 {
					r.Fatalf("settled as %+v, after claims %+v", s[len(s)-1], r.claimer.claims())
				}
				r.cluster.fill(false)
				r.hand(f)
				claims := r.claimer.claims()
				if len(claims) != 1 || claims[0].Gap == nil || claims[0].Gap.Reason.Code != common.ReasonOutboxFull ||
					claims[0].Gap.Gap == nil ||
					claims[0].Gap.Gap.Count < 50 || claims[0].Record.Run == "" {
					r.Fatalf("claims %+v", claims)
				}
			})
		})
	}
}

// A fire without an eligible worker is not expired if the outboxes were full meanwhile: they may still be full on the
// worker that may run it.
func TestFire_OutboxesWereFull_IsNotExpired(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		f := r.fire("a", func(t *common.Terms) { t.Workers = "elsewhere" })
		f.Schedule = r.once(f.At)
		r.cluster.fill(true)
		r.hand(f)
		time.Sleep(common.DefaultStartDeadline + time.Minute)
		r.hand(f)
		r.cluster.fill(false)
		if s := r.drive(f, time.Minute); s.RetryAt.IsZero() || len(r.claimer.claims()) != 0 {
			r.Fatalf("settled as %+v, claims %+v", s, r.claimer.claims())
		}
	})
}

// Fires that wait for a slot beyond their deadlines are returned to the scheduler while the outboxes are full. Nothing
// is written about them, also if the outboxes fill up during the read before a fire is expired.
func TestPending_OutboxesFillUp_IsNotExpired(t *testing.T) {
	none := func(t *common.Terms) { t.CatchUp = common.CatchUpNone }
	const deadline, read = common.DefaultStartDeadline, 3 * time.Second
	for _, c := range []struct {
		name  string
		fill  time.Duration
		looks int
	}{{"before the deadline", deadline - time.Minute, 0}, {"during the read", deadline + read, 2}} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				r.slots.Store(1)
				r.claimer.slow = read
				r.long("long")
				fires := []scheduler.Fire{r.fire("a", none), r.fire("b", none)}
				r.hand(append([]scheduler.Fire{r.fire("long")}, fires...)...)
				time.Sleep(c.fill)
				r.cluster.fill(true)
				time.Sleep(2 * deadline)
				r.expectBatches([]string{"long"})
				s := r.settled()
				if len(s) != 3 || r.claimer.looked() != c.looks {
					r.Fatalf("settled: %+v after %d looks", s, r.claimer.looked())
				}
				for _, s := range s[1:] {
					if s.RetryAt.IsZero() || !s.Cursor.IsZero() || s.Gone {
						r.Fatalf("settled: %+v", s)
					}
				}
				r.cluster.fill(false)
				r.hand(fires...)
				time.Sleep(time.Minute)
				r.expectBatches([]string{"long"}, []string{"a"}, []string{"b"})
				for _, c := range r.claimer.claims()[1:] {
					if c.Gap == nil || c.Record.Run != "" || c.Gap.Reason.Code != common.ReasonOutboxFull {
						r.Fatalf("claim %+v", c)
					}
				}
			})
		})
	}
}

// A worker that is drained or loses its labels while it reads a fire does not claim it.
func TestRead_WorkerBecomesIneligible_IsNotClaimed(t *testing.T) {
	in := func(zone string) func(*common.Member) {
		return func(m *common.Member) { m.Labels = map[string]string{"zone": zone} }
	}
	for name, change := range map[string]func(*common.Member){
		"drained": func(m *common.Member) { m.Settings.Drain = true },
		"labels":  in("b"),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				r.others(1, in("a"))
				selector := func(t *common.Terms) { t.Selector = "zone=a" }
				f, trigger := r.fire(r.rankedJob(1), selector), r.shot("by-hand", "t", selector)
				r.claimer.slow = 3 * time.Second
				time.Sleep(stagger)
				r.hand(f, trigger)
				time.Sleep(time.Second)
				r.cluster.alive(member("w", in("a"), change), member("other-0", in("a")))
				time.Sleep(time.Minute)
				s := r.settled()
				if len(s) != 2 || r.claimer.looked() != 2 || len(r.claimer.claims()) != 0 {
					r.Fatalf("settled: %+v after %d looks, claims %+v", s, r.claimer.looked(), r.claimer.claims())
				}
				for _, s := range s {
					if s.RetryAt.IsZero() || !s.Cursor.IsZero() || s.Gone {
						r.Fatalf("settled: %+v", s)
					}
				}
			})
		})
	}
}

// However many workers there are, the last one expires a fire within five seconds of its deadline.
func TestExpire_ManyWorkers_TakesFiveSecondsAtMost(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.others(12)
		f := r.fire(r.settledJob(12), func(t *common.Terms) { t.Selector = "zone=b" })
		began := time.Now()
		r.drive(f, 10*time.Minute)
		if took := time.Since(began); took > common.DefaultStartDeadline+5*time.Second || len(r.claimer.claims()) != 1 {
			r.Fatalf("given up after %v", took)
		}
	})
}

// Another worker has expired the fire, or claimed it after all.
func TestExpire_DoneByAnotherWorker_IsNotRepeated(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		f := r.fire("a", func(t *common.Terms) { t.Workers = "elsewhere" })
		r.claimer.found = func(common.FireQuery) common.FireState { return common.FireState{Cursor: f.At} }
		s := r.drive(f, 10*time.Minute)
		if !s.Cursor.Equal(f.At) || len(r.claimer.claims()) != 0 {
			r.Fatalf("settled as %+v", s)
		}
	})
}

// If a worker was eligible and did not claim the fire, the reason is not that it is about to start.
func TestExpire_WorkerWasEligible_ReasonIsLate(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.cluster.alive(member("w"), member("elsewhere"))
		s := r.drive(r.fire("a", func(t *common.Terms) { t.Workers = "elsewhere" }), 10*time.Minute)
		claims := r.claimer.claims()
		if s.Cursor.IsZero() || len(claims) != 1 || claims[0].Gap == nil ||
			claims[0].Gap.Reason.Code != common.ReasonLate {
			r.Fatalf("settled as %+v, claims %+v", s, claims)
		}
	})
}

// A fire that was found late, or while etcd did not answer, may have missed its deadline for other reasons: it is left
// to an eligible worker, as the catch-up policy says.
func TestFire_FoundLate_IsLeftForCatchUp(t *testing.T) {
	elsewhere := func(t *common.Terms) { t.Workers = "elsewhere" }
	late := common.DefaultStartDeadline + time.Second
	for _, c := range []struct {
		name   string
		terms  []func(*common.Terms)
		before func(r *rig, f *scheduler.Fire)
		passed int64
	}{
		{"found late", nil, func(_ *rig, f *scheduler.Fire) { f.Since = f.Due.Add(late) }, 0},
		{"etcd did not answer a claim", nil, func(r *rig, _ *scheduler.Fire) {
			r.claimer.set(func(c *fakeClaimer) {
				c.answer = func(*common.Claim) common.ClaimResult { return common.ClaimResult{Err: errors.New("away")} }
			})
			r.hand(r.fire("b"))
			r.claimer.set(func(c *fakeClaimer) { c.answer, c.batches = claimed, nil })
		}, 0},
		{"etcd did not answer a look", nil, func(r *rig, _ *scheduler.Fire) {
			r.claimer.set(func(c *fakeClaimer) {
				c.found = func(common.FireQuery) common.FireState { return common.FireState{Err: errors.New("away")} }
			})
			r.others(1)
			b := r.fire(r.rankedJob(0))
			b.Since = b.Since.Add(-time.Minute)
			b.Due = b.Since
			r.hand(b)
			r.others(0)
			r.claimer.set(func(c *fakeClaimer) { c.found, c.looks = nil, nil })
		}, 0},
		{"found late, and not to be caught up", []func(*common.Terms){func(t *common.Terms) {
			t.CatchUp = common.CatchUpNone
		}},
			func(_ *rig, f *scheduler.Fire) { f.Since = f.Due.Add(late) }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				f := r.fire("a", append(c.terms, elsewhere)...)
				f.Schedule = r.once(f.At)
				time.Sleep(time.Millisecond)
				c.before(r, &f)
				time.Sleep(late)
				s := r.drive(f, time.Minute)
				claims := r.claimer.claims()
				if (len(claims) != 0) != (c.passed != 0) || s.Run != "" {
					r.Fatalf("settled as %+v, claims %+v", s, claims)
				}
				if c.passed == 0 && s.RetryAt.IsZero() {
					r.Fatalf("settled as %+v", s)
				}
				if c.passed != 0 && claims[0].Gap.Reason.Code != common.ReasonLate {
					r.Fatalf("gap %+v", claims[0].Gap.Reason)
				}
			})
		})
	}
}

func TestTrigger_ForOneWorker_IsClaimedByItOnly(t *testing.T) {
	for _, c := range []struct {
		name   string
		worker string
		mine   bool
	}{{"by id", "w", true}, {"by name", "worker", true}, {"another", "other-0", false}, {"any", "", true}} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				r.others(1)
				f := r.shot(r.rankedJob(0), "t")
				f.Trigger.Worker = c.worker
				r.hand(f)
				if mine := len(r.claimer.claims()) == 1; mine != c.mine {
					r.Fatalf("claimed: %t", mine)
				}
				s, soon := r.settled()[0], time.Now().Add(scheduler.RetryIneligible)
				if !c.mine && (!s.RetryAt.Equal(soon) || s.Gone) {
					r.Fatalf("settled as %+v", s)
				}
				if !c.mine { // it waits for as long as it takes
					if s := r.drive(f, 20*time.Minute); s.Gone || len(r.claimer.claims())+r.claimer.looked() != 0 {
						r.Fatalf("settled as %+v", s)
					}
				}
			})
		})
	}
}

// A trigger for one worker does not wait for workers of an earlier rank.
func TestTrigger_ForALaterRank_IsClaimedAtOnce(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.others(3)
		f := r.shot(r.rankedJob(3), "t")
		f.Trigger.Worker = "w"
		began := time.Now()
		r.drive(f, time.Minute)
		if took := time.Since(began); took != 0 {
			r.Fatalf("claimed after %v, although only this worker may claim it", took)
		}
	})
}

// A worker to avoid ranks last, and claims if there is no other one.
func TestAvoidedWorker_ClaimsLast(t *testing.T) {
	for others, want := range []time.Duration{0, stagger, 2 * stagger} {
		bubble(t, nil, func(r *rig) {
			r.others(others)
			f := r.shot(r.rankedJob(0), "t")
			f.Trigger.Avoid = "w"
			began := time.Now()
			s := r.drive(f, time.Minute)
			if took := time.Since(began); took != want || s.Run == "" {
				r.Fatalf("beside %d others: claimed after %v as %+v", others, took, s)
			}
		})
	}
}

// A trigger that is blocked by a run is read until the run has ended, and not claimed meanwhile.
func TestTrigger_Blocked_IsReadUntilTheRunEnds(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		var free atomic.Bool
		r.claimer.answer = func(c *common.Claim) common.ClaimResult {
			if !free.Load() {
				return common.ClaimResult{Verdict: common.Blocked}
			}
			return claimed(c)
		}
		r.claimer.found = func(l common.FireQuery) common.FireState {
			if !l.Runs || l.Trigger != "t" || l.Revision != 7 {
				r.Errorf("looked at %+v", l)
			}
			return common.FireState{Busy: !free.Load()}
		}
		f := r.shot("a", "t")
		time.AfterFunc(30*time.Second-time.Millisecond, func() { free.Store(true) })
		began := time.Now()
		s := r.drive(f, time.Hour)
		if took := time.Since(began).Round(time.Second); took != 30*time.Second || s.Run == "" {
			r.Fatalf("claimed after %v as %+v", took, s)
		}
		if n := len(r.claimer.claims()); n > 3 || r.claimer.looked() < 20 {
			r.Fatalf("%d claims, %d looks", n, r.claimer.looked())
		}
	})
}

func TestTrigger_ClaimedElsewhere_IsGone(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.others(1)
		r.claimer.found = func(common.FireQuery) common.FireState { return common.FireState{Taken: true} }
		s := r.drive(r.shot(r.rankedJob(1), "t"), time.Minute)
		if !s.Gone || s.Run != "" || len(r.claimer.claims()) != 0 {
			r.Fatalf("settled as %+v", s)
		}
	})
}

// A query includes runs only if one of them would block the claim.
func TestQueryOf_AsksForRunsThatBlock(t *testing.T) {
	r := &rig{T: t}
	allow := func(t *common.Terms) { t.Overlap = common.OverlapAllow }
	all := func(t *common.Terms) { t.CatchUp = common.CatchUpAll }
	for _, c := range []struct {
		name string
		fire scheduler.Fire
		late bool
		runs bool
	}{
		{"trigger", r.shot("a", "t"), false, true},
		{"trigger, overlap allowed", r.shot("a", "t", allow), false, false},
		{"plan", r.fire("a"), true, false},
		{"plan, all, in time", r.fire("a", all), false, false},
		{"plan, all, late", r.fire("a", all), true, true},
		{"plan, all, late, overlap allowed", r.fire("a", all, allow), true, false},
	} {
		now := c.fire.Due.Add(time.Second)
		if c.late {
			now = c.fire.Deadline().Add(time.Second)
		}
		if look := queryOf(&c.fire, now); look.Job != "a" || look.Runs != c.runs ||
			(look.Trigger == "t") != (c.fire.Trigger != nil) {
			t.Errorf("%s: %+v", c.name, look)
		}
	}
}
