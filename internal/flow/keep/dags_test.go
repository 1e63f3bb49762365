package keep

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/platform/virtualtime"
)

// dag holds the dependencies of a public example: "step [rule]: parents", parents first. One of the branches that a
// line lists is chosen, the others are skipped.
type dag struct {
	name     string
	edges    string
	branches []string
}

// dags are the graphs of examples of other systems, without their commands.
func dags() []dag {
	return []dag{
		{name: "Argo Workflows, diamond", edges: `
			a:
			b: a
			c: a
			d: b c`},
		{name: "Airflow, nested branches", branches: []string{"true1 false1", "true2 false2"}, edges: `
			branch1:
			true1: branch1
			false1: branch1
			branch2: false1
			true2: branch2
			false2: branch2
			join2 none_failed: true2 false2
			false3: join2
			join1 none_failed: true1 false3`},
		{name: "Airflow, branch and watcher", branches: []string{"a b c d"}, edges: `
			begin:
			branching: begin
			a: branching
			b: branching
			c: branching
			d: branching
			after_a: a
			after_b: b
			after_c: c
			after_d: d
			join none_failed: after_a after_b after_c after_d
			teardown all_done: join
			watcher one_failed: begin branching a b c d after_a after_b after_c after_d join teardown`},
		{name: "dbt, jaffle shop", edges: `
			raw_customers:
			raw_items:
			raw_orders:
			raw_products:
			raw_stores:
			raw_supplies:
			stg_customers: raw_customers
			stg_locations: raw_stores
			stg_order_items: raw_items
			stg_orders: raw_orders
			stg_products: raw_products
			stg_supplies: raw_supplies
			locations: stg_locations
			products: stg_products
			supplies: stg_supplies
			order_items: stg_order_items stg_orders stg_products stg_supplies
			orders: stg_orders order_items
			customers: stg_customers orders`},
		{name: "Snakemake, GATK variant calling", edges: genomics(3, 4)},
	}
}

// genomics returns the rules of a pipeline that calls variants, for some samples and contigs.
func genomics(samples, contigs int) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	each := func(name string, n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprint(name, i))
		}
		return strings.Join(all, " ")
	}
	line("genome:\nfaidx: genome\ndict: genome\nknown: faidx\nnoiupac: known\ntabix: noiupac\nbwa: genome")
	line("vep_cache:\nvep_plugins:")
	for i := range samples {
		line("trim%d:\nfastqc%d:", i, i)
		line("map%d: trim%d bwa", i, i)
		line("dedup%d: map%d", i, i)
		line("index%d: dedup%d", i, i)
		line("recal%d: dedup%d index%d genome dict noiupac", i, i, i)
		line("bqsr%d: dedup%d index%d genome dict recal%d", i, i, i, i)
		line("stats%d: bqsr%d", i, i)
	}
	line("multiqc: %s %s %s", each("stats", samples), each("fastqc", samples), each("dedup", samples))
	for c := range contigs {
		line("regions%d:", c)
		for i := range samples {
			line("call%d_%d: %s genome dict noiupac tabix regions%d", c, i, each("bqsr", samples), c)
		}
		line("combine%d: genome %s", c, each(fmt.Sprintf("call%d_", c), samples))
		line("genotype%d: genome combine%d", c, c)
	}
	line("merge: %s", each("genotype", contigs))
	for _, kind := range []string{"snvs", "indels"} {
		line("select_%s: genome merge\nfilter_%s: genome select_%s", kind, kind, kind)
	}
	line("merge_calls: filter_snvs filter_indels\nannotate: merge_calls vep_cache vep_plugins")
	return b.String()
}

// trial is a DAG with how its steps end if they run.
type trial struct {
	job      *common.Job
	ends     map[string]common.Status
	after    map[string]time.Duration
	expected map[string]string // statuses, computed from the rules alone
}

func (d *dag) trial(random *rand.Rand) *trial {
	t := &trial{job: &common.Job{Concurrency: random.IntN(4)}, ends: map[string]common.Status{},
		after: map[string]time.Duration{}, expected: map[string]string{}}
	left := map[string]bool{}
	for _, branch := range d.branches {
		legs := strings.Fields(branch)
		for _, leg := range legs {
			left[leg] = true
		}
		delete(left, legs[random.IntN(len(legs))])
	}
	for line := range strings.Lines(d.edges) {
		head, parents, found := strings.Cut(strings.TrimSpace(line), ":")
		if !found {
			continue
		}
		words := strings.Fields(head)
		s := common.Step{Name: words[0], Command: "true", AllowFailure: random.IntN(12) == 0}
		if len(words) > 1 {
			s.Rule = common.Rule(words[1])
		}
		for parent := range strings.FieldsSeq(parents) {
			s.After = append(s.After, common.Edge{Step: parent})
		}
		if left[s.Name] {
			s.When = "false"
		}
		t.job.Steps = append(t.job.Steps, s)
		t.ends[s.Name] = common.StatusSucceeded
		if random.IntN(8) == 0 {
			t.ends[s.Name] = []common.Status{common.StatusFailed, common.StatusTimedOut,
				common.StatusLost}[random.IntN(3)]
		}
		t.after[s.Name] = time.Duration(1+random.IntN(5000)) * time.Millisecond
		t.expect(&s)
	}
	random.Shuffle(len(t.job.Steps), func(i, j int) {
		t.job.Steps[i], t.job.Steps[j] = t.job.Steps[j], t.job.Steps[i]
	})
	return t
}

// expect computes the status of a step whose parents have theirs. Only the rules that the examples use are known.
func (t *trial) expect(s *common.Step) {
	good, bad, passed := 0, 0, 0 // parents that succeeded, failed, and were skipped
	failing := 0                 // all that ran and failed
	for _, e := range s.After {
		switch status := t.expected[e.Step]; {
		case status == "skipped when_false" || status == "skipped upstream_skipped" || status == "skipped rule_unmet":
			passed++
		case status == "succeeded" || !strings.HasPrefix(status, "skipped") && t.allowed(e.Step):
			if good++; status != "succeeded" {
				failing++
			}
		default:
			bad++
			failing++
		}
	}
	var reason string
	switch s.Rule {
	case "":
		if bad > 0 {
			reason = "upstream_failed"
		} else if passed > 0 {
			reason = "upstream_skipped"
		}
	case common.RuleNoneFailed:
		if bad > 0 {
			reason = "upstream_failed"
		}
	case common.RuleOneFailed:
		if failing == 0 {
			reason = "rule_unmet"
		}
	case common.RuleAllDone:
	default:
		panic("the test does not know the rule " + s.Rule)
	}
	if reason == "" && s.When == "false" {
		reason = "when_false"
	}
	if t.expected[s.Name] = string(t.ends[s.Name]); reason != "" {
		t.expected[s.Name] = "skipped " + reason
	}
}

func (t *trial) allowed(step string) bool {
	return slices.ContainsFunc(t.job.Steps, func(s common.Step) bool { return s.Name == step && s.AllowFailure })
}

func (t *trial) step(name string) *common.Step {
	return &t.job.Steps[slices.IndexFunc(t.job.Steps, func(s common.Step) bool { return s.Name == name })]
}

// Each step of real DAGs ends as the rules say, whatever fails, in whatever order, and whichever keepers are cut off;
// each step that can run is started once, after its parents. A re-run of what failed starts nothing else, and with what
// it keeps it ends as the rules say of the whole.
func TestKeepers_RealDAGsWithFailures_EndAsTheRulesSay(t *testing.T) {
	for _, d := range dags() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(100) {
				virtualtime.Test(t, func(t *testing.T) { d.try(t, rand.New(rand.NewPCG(seed, 7))) })
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

func (d *dag) try(t *testing.T, random *rand.Rand) {
	trial := d.trial(random)
	w := newWorld(t, trial.job)
	w.keep("w1", "w2", "w3")
	if random.IntN(4) == 0 {
		w.mu.Lock()
		w.away[w.keeper("u.1.1", 0)] = true
		w.mu.Unlock()
	}
	var head common.Head
	run := trial.play(w, nil, func(h *common.Head) { h.Concurrency, head = trial.job.Concurrency, *h })

	state := flow.New(w.graph, &head)
	state.Load(slices.Collect(maps.Values(w.marks[run])))
	plan, err := flow.Replan(state, w.graph, flow.Scope{Kind: flow.ScopeFailed})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range plan.Run {
		trial.ends[step] = common.StatusSucceeded
	}
	for line := range strings.Lines(d.edges) { // parents first
		if name, _, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			trial.expect(trial.step(strings.Fields(name)[0]))
		}
	}
	trial.play(w, plan.Kept, func(h *common.Head) {
		h.Concurrency, h.Attempt, h.Run, h.Base = trial.job.Concurrency, 2, "u.1.2", plan.Base
	})
}

// play begins a flow run, waits for its end, and compares all that has happened with what is expected. Steps that it
// keeps have no marks.
func (t *trial) play(w *world, kept []string, change func(*common.Head)) string {
	w.mu.Lock()
	before := len(w.starts)
	run := ""
	w.run = func(node string) (common.Status, time.Duration) {
		step := t.step(node)
		for _, e := range step.After { // the caller holds w.mu
			if mark := w.marks[run][e.Step]; !strings.HasPrefix(t.expected[e.Step], "skipped") && !step.Rule.Any() &&
				mark.Value.State != common.NodeEnded && !slices.Contains(kept, e.Step) {
				w.t.Errorf("%s starts before %s has ended", node, e.Step)
			}
		}
		return t.ends[node], t.after[node]
	}
	w.mu.Unlock()
	w.begin(func(h *common.Head) {
		change(h)
		run = h.Run
	})
	for limit := time.Now().Add(time.Hour); w.outcome(run) == nil && time.Now().Before(limit); {
		time.Sleep(time.Second)
	}
	var want, starts []string
	status := common.StatusSucceeded
	for step, how := range t.expected {
		ran := !strings.HasPrefix(how, "skipped")
		if how == "skipped upstream_failed" || ran && how != "succeeded" && !t.allowed(step) {
			status = common.StatusFailed
		}
		if slices.Contains(kept, step) {
			continue
		}
		want = append(want, step+" "+how)
		if ran {
			starts = append(starts, step)
		}
	}
	slices.Sort(want)
	if got := w.statuses(run); got != strings.Join(want, ", ") {
		w.t.Errorf("statuses of %s:\n%s\nwant:\n%s", run, got, strings.Join(want, ", "))
	}
	slices.Sort(starts)
	got := strings.Fields(w.started())[before:]
	slices.Sort(got)
	if !slices.Equal(got, starts) {
		w.t.Errorf("started by %s: %v, want %v", run, got, starts)
	}
	if end := w.outcome(run); end == nil || end.Status != status {
		w.t.Errorf("outcome of %s: %+v, want %s", run, end, status)
	}
	return run
}
