package placement_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"carillon/internal/common"
	"carillon/internal/scheduler/placement"
)

var strategies = []common.Strategy{"", common.StrategyHash, common.StrategyLeast, common.StrategyWeight,
	common.StrategyAny}

// order returns the eligible candidates by rank.
func order(t require, w *placement.Requirements, all []placement.Candidate) []string {
	byRank := map[int]string{}
	for _, c := range all {
		rank, ok := placement.Rank(w, all, c.ID)
		if !ok {
			continue
		}
		if other, taken := byRank[rank]; taken {
			t.Fatalf("%s and %s both have rank %d", other, c.ID, rank)
		}
		byRank[rank] = c.ID
	}
	ids := make([]string, len(byRank))
	for rank, id := range byRank {
		if rank < 0 || rank >= len(ids) {
			t.Fatalf("rank %d of %d eligible candidates", rank, len(ids))
		}
		ids[rank] = id
	}
	return ids
}

type require interface {
	Fatalf(format string, args ...any)
}

// crowd draws arbitrary candidates and requirements.
func crowd(t *rapid.T) (*placement.Requirements, []placement.Candidate) {
	ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z2-7]{1,16}`), 1, 12, rapid.ID).Draw(t, "ids")
	all := make([]placement.Candidate, len(ids))
	for i, id := range ids {
		all[i] = placement.Candidate{
			ID:       id,
			Name:     "n" + id,
			Slots:    rapid.IntRange(0, 4).Draw(t, "slots"),
			Used:     rapid.IntRange(0, 4).Draw(t, "used"),
			Running:  rapid.IntRange(0, 3).Draw(t, "running"),
			Weight:   rapid.IntRange(-1, 5).Draw(t, "weight"),
			Draining: rapid.IntRange(0, 9).Draw(t, "draining") == 0,
			Labels:   map[string]string{"zone": rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone")},
		}
		if rapid.IntRange(0, 9).Draw(t, "trouble") == 0 {
			all[i].Trouble = "clock"
		}
	}
	w := &placement.Requirements{
		Job:      rapid.StringMatching(`[a-z0-9]{1,20}`).Draw(t, "job"),
		Slots:    rapid.IntRange(0, 2).Draw(t, "takes"),
		Strategy: rapid.SampledFrom(strategies).Draw(t, "strategy"),
	}
	w.Selector, _ = placement.ParseSelector(rapid.SampledFrom([]string{"", "", "zone=a", "zone!=a"}).Draw(t,
		"selector"))
	if rapid.Bool().Draw(t, "avoids") {
		w.Avoid = rapid.SampledFrom(ids).Draw(t, "avoid")
	}
	if rapid.IntRange(0, 3).Draw(t, "pins") == 0 {
		w.Workers = []string{ids[0], "n" + ids[len(ids)-1]}
	}
	return w, all
}

func TestRankIsAPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, all := crowd(t)
		if w.Strategy == common.StrategyAny {
			w.Strategy = common.StrategyHash
		}
		ids := order(t, w, all)
		if i := slices.Index(ids, w.Avoid); i >= 0 && i != len(ids)-1 {
			t.Fatalf("the worker to avoid has rank %d of %d", i, len(ids))
		}
		shuffled := rapid.Permutation(all).Draw(t, "shuffled")
		if again := order(t, w, shuffled); !slices.Equal(ids, again) {
			t.Fatalf("ranks depend on the order of the candidates: %v, %v", ids, again)
		}
	})
}

func TestExplainAgreesWithRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, all := crowd(t)
		verdicts := placement.Explain(w, all)
		if len(verdicts) != len(all) {
			t.Fatalf("%d verdicts on %d", len(verdicts), len(all))
		}
		place := 0
		for i, v := range verdicts {
			rank, ok := placement.Rank(w, all, v.ID)
			if v.Eligible != ok || v.Rank != rank || ok != (v.Reason == nil) {
				t.Fatalf("rank %d, %v, but the verdict is %+v", rank, ok, v)
			}
			if ok && (i > 0 && !verdicts[i-1].Eligible || v.Rank < place) {
				t.Fatalf("verdicts are not in order: %+v", verdicts)
			}
			if !ok && (v.Reason.Code == "" || v.Reason.Text == "") {
				t.Fatalf("reason %+v", v.Reason)
			}
			place = v.Rank
		}
		why := placement.Why(w, all)
		if (why.Code == common.ReasonStarting) != verdicts[0].Eligible || why.Text == "" {
			t.Fatalf("%+v, but the first verdict is %+v", why, verdicts[0])
		}
	})
}

func TestRank_WorkerLeaves_OthersKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, all := crowd(t)
		if w.Strategy == common.StrategyAny {
			w.Strategy = common.StrategyHash
		}
		gone := rapid.IntRange(0, len(all)-1).Draw(t, "gone")
		before := order(t, w, all)
		after := order(t, w, slices.Delete(slices.Clone(all), gone, gone+1))
		if rest := slices.DeleteFunc(before, func(id string) bool {
			return id == all[gone].ID
		}); !slices.Equal(rest, after) {
			t.Fatalf("without %s the order is %v, not %v", all[gone].ID, after, rest)
		}
	})
}

func TestSettleRank_IsAPermutationOfTheLiveWorkers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, all := crowd(t)
		seen, well := make([]bool, len(all)), 0
		for _, c := range all {
			if c.Trouble == "" {
				well++
			}
		}
		for _, c := range all {
			rank := placement.SettleRank(w.Job, all, c.ID)
			if rank < 0 || rank >= len(all) || seen[rank] {
				t.Fatalf("%s has rank %d", c.ID, rank)
			}
			seen[rank] = true
			if (rank >= well) != (c.Trouble != "") {
				t.Fatalf("%s has rank %d, with %d workers without trouble", c.ID, rank, well)
			}
		}
		if rank := placement.SettleRank(w.Job, all, "not-registered"); rank < 0 || rank > well {
			t.Fatalf("a worker that is not registered yet has rank %d", rank)
		}
	})
}

// workers returns candidates with realistic ids of 16 characters.
func workers(n int) []placement.Candidate {
	all := make([]placement.Candidate, n)
	for i := range all {
		id := fmt.Sprintf("%s%04d", "kq3nz7aw2mxb", i)
		all[i] = placement.Candidate{
			ID:     id,
			Name:   fmt.Sprintf("worker-%d", i),
			Slots:  8,
			Weight: 1,
			Labels: map[string]string{"zone": "a"},
		}
	}
	return all
}

// shares counts for how many jobs each worker has rank 0.
func shares(w placement.Requirements, all []placement.Candidate, jobs int) map[string]float64 {
	count := map[string]float64{}
	for i := range jobs {
		w.Job = fmt.Sprintf("job-%d", i)
		for _, c := range all {
			if rank, ok := placement.Rank(&w, all, c.ID); ok && rank == 0 {
				count[c.ID]++
			}
		}
	}
	return count
}

func TestHashGivesEvenShares(t *testing.T) {
	const jobs = 20_000
	all := workers(5)
	count := shares(placement.Requirements{Strategy: common.StrategyHash}, all, jobs)
	for _, c := range all {
		if got := count[c.ID] / jobs; math.Abs(got-0.2) > 0.012 { // four standard deviations
			t.Errorf("%s has %.3f of the jobs", c.Name, got)
		}
	}
}

func TestWeightGivesShares(t *testing.T) {
	const jobs = 20_000
	all := workers(5)
	weights, sum := []int{0, 1, 2, 3, 10}, 16.0
	for i := range all {
		all[i].Weight = weights[i]
	}
	count := shares(placement.Requirements{Strategy: common.StrategyWeight}, all, jobs)
	for i, c := range all {
		if got, want := count[c.ID]/jobs, float64(weights[i])/sum; math.Abs(got-want) > 0.015 {
			t.Errorf("%s, of weight %d, has %.3f of the jobs, not %.3f", c.Name, weights[i], got, want)
		}
	}
}

func TestLeast_PrefersWorkersWithFewerRuns(t *testing.T) {
	all := workers(4)
	for i, running := range []int{3, 0, 2, 1} {
		all[i].Running = running
	}
	w := &placement.Requirements{Job: "job", Strategy: common.StrategyLeast}
	if got, want := order(t, w, all), []string{all[1].ID, all[3].ID, all[2].ID, all[0].ID}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	for i := range all {
		all[i].Running = 1
	}
	hash := &placement.Requirements{Job: "job", Strategy: common.StrategyHash}
	if got, want := order(t, w, all), order(t, hash, all); !slices.Equal(got, want) {
		t.Errorf("among equals the order is %v, not that of hash, %v", got, want)
	}
}

func TestAny_GivesRankZeroToAll(t *testing.T) {
	all := workers(4)
	all[3].Draining = true
	w := &placement.Requirements{Job: "job", Strategy: common.StrategyAny, Avoid: all[1].ID}
	for i, want := range []int{0, 1, 0} {
		if rank, ok := placement.Rank(w, all, all[i].ID); !ok || rank != want {
			t.Errorf("%s: rank %d, %v", all[i].Name, rank, ok)
		}
	}
	if rank, ok := placement.Rank(w, all[1:2], all[1].ID); !ok || rank != 0 {
		t.Errorf("the only worker, which is to be avoided: rank %d, %v", rank, ok)
	}
}

func TestAvoidedWorker_IsLastButEligible(t *testing.T) {
	all := workers(3)
	for _, strategy := range []common.Strategy{common.StrategyHash, common.StrategyLeast, common.StrategyWeight} {
		w := &placement.Requirements{Job: "job", Strategy: strategy}
		w.Avoid = order(t, w, all)[0]
		if got := order(t, w, all); len(got) != 3 || got[2] != w.Avoid {
			t.Errorf("%s: order %v avoiding %s", strategy, got, w.Avoid)
		}
	}
}

// The order must be the same on all workers, which may run different versions.
func TestRank_IsTheSameInAllVersions(t *testing.T) {
	all := []placement.Candidate{}
	for i, id := range []string{"aaaa", "bbbb", "cccc", "dddd", "eeee"} {
		all = append(all, placement.Candidate{ID: id, Slots: 1, Weight: i + 1})
	}
	for _, c := range []struct {
		job      string
		strategy common.Strategy
		want     string
	}{
		{"backup", common.StrategyHash, "[eeee aaaa bbbb cccc dddd]"},
		{"report", common.StrategyHash, "[eeee aaaa dddd cccc bbbb]"},
		{"backup", common.StrategyWeight, "[eeee cccc dddd bbbb aaaa]"},
		{"report", common.StrategyWeight, "[eeee dddd cccc aaaa bbbb]"},
	} {
		got := fmt.Sprint(order(t, &placement.Requirements{Job: c.job, Strategy: c.strategy}, all))
		if got != c.want {
			t.Errorf("%s by %s: %s, want %s", c.job, c.strategy, got, c.want)
		}
	}
}

func TestRankAllocatesNothing(t *testing.T) {
	all := workers(10)
	for _, strategy := range strategies {
		w := &placement.Requirements{
			Job:      "job",
			Slots:    1,
			Strategy: strategy,
			Selector: selector(t, "zone in (a,b),!rack,disk!=slow"),
			Workers:  []string{all[3].Name, all[4].ID},
			Avoid:    all[4].ID,
		}
		if n := testing.AllocsPerRun(100, func() { placement.Rank(w, all, all[3].ID) }); n != 0 {
			t.Errorf("%q: %v allocations", strategy, n)
		}
	}
	if n := testing.AllocsPerRun(100, func() { placement.SettleRank("job", all, all[3].ID) }); n != 0 {
		t.Errorf("settling: %v allocations", n)
	}
}

func BenchmarkRank(b *testing.B) {
	for _, strategy := range strategies[1:] {
		for _, n := range []int{3, 10, 100} {
			b.Run(fmt.Sprintf("%s/%d", strategy, n), func(b *testing.B) {
				all := workers(n)
				w := &placement.Requirements{
					Job:      "nightly-backup",
					Slots:    1,
					Strategy: strategy,
					Selector: selector(b, "zone=a"),
				}
				b.ReportAllocs()
				for b.Loop() {
					placement.Rank(w, all, all[n/2].ID)
				}
			})
		}
	}
}
