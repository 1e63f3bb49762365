package flow

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"carillon/internal/common"
)

// randomFlow draws a DAG of up to 9 steps with all rules, conditions, expressions, maps and joins. Steps are listed in
// random order.
func randomFlow(t *rapid.T) common.Job {
	n := rapid.IntRange(1, 9).Draw(t, "steps")
	all := make([]common.Step, n)
	for i := range all {
		s := common.Step{Name: fmt.Sprintf("s%d", i), Command: "true"}
		for j := range i {
			if !rapid.Bool().Draw(t, "edge") {
				continue
			}
			e := common.Edge{Step: fmt.Sprintf("s%d", j)}
			switch rapid.IntRange(0, 5).Draw(t, "condition") {
			case 0:
				e.On = rapid.SampledFrom(common.Conditions[:]).Draw(t, "on")
			case 1:
				if all[j].ForEach == nil {
					e.ExitCodes = []int{rapid.IntRange(0, 2).Draw(t, "code")}
				}
			}
			s.After = append(s.After, e)
		}
		if len(s.After) > 0 {
			s.Rule = rapid.SampledFrom(common.Rules[:]).Draw(t, "rule")
			source := rapid.SampledFrom(s.After).Draw(t, "source").Step
			if rapid.IntRange(0, 3).Draw(t, "when") == 0 {
				s.When = fmt.Sprintf("steps.%s.status == %q", source, rapid.SampledFrom([]string{"succeeded", "failed",
					"skipped"}).Draw(t, "status"))
			}
		}
		if rapid.IntRange(0, 5).Draw(t, "finally") == 0 && i > 0 { // s0 never is
			s.Finally, s.Rule = true, ""
			for n := range s.After {
				s.After[n].On, s.After[n].ExitCodes = "", nil
			}
		} else {
			s.After = slices.DeleteFunc(s.After, func(e common.Edge) bool {
				return all[e.Step[1]-'0'].Finally
			})
			if len(s.After) == 0 {
				s.Rule = ""
			}
			if source, _, found := strings.Cut(strings.TrimPrefix(s.When, "steps."), "."); found &&
				!slices.ContainsFunc(s.After, func(e common.Edge) bool { return e.Step == source }) {
				s.When = ""
			}
		}
		s.AllowFailure = rapid.IntRange(0, 4).Draw(t, "allow") == 0
		if rapid.IntRange(0, 4).Draw(t, "map") == 0 {
			s.ForEach = &common.ForEach{Items: make([]string, rapid.IntRange(0, 3).Draw(t, "items")),
				MaxFailures: rapid.IntRange(0, 2).Draw(t, "maxFailures"),
				Concurrency: rapid.IntRange(0, 2).Draw(t, "concurrency")}
		}
		if !s.Finally && rapid.IntRange(0, 4).Draw(t, "join") == 0 {
			s.Join, s.Command, s.AllowFailure, s.ForEach = true, "", false, nil
		}
		all[i] = s
	}
	return common.Job{Steps: rapid.Permutation(all).Draw(t, "order"),
		Name: "f", Concurrency: rapid.IntRange(0, 3).Draw(t, "limit")}
}

// randomOutcomes draws how each node ends if it runs.
func randomOutcomes(t *rapid.T, job *common.Job) map[string]string {
	ends := map[string]string{}
	draw := func(name string) {
		ends[name] = rapid.SampledFrom([]string{"exit:0", "exit:0", "exit:1", "exit:2", "lost", "refused"}).
			Draw(t, name)
	}
	for i := range job.Steps {
		s := &job.Steps[i]
		draw(s.Name)
		if s.ForEach != nil {
			for item := range s.ForEach.Items {
				draw(common.ItemNode(s.Name, item))
			}
		}
	}
	return ends
}

// naive evaluates a flow by the words of its rules: step after step, with the final class of each source.
type naive struct {
	job  *common.Job
	ends map[string]string
}

type verdict struct {
	class  common.Class
	status common.Status
	reason string
	exit   int
}

func (n *naive) step(name string) *common.Step {
	return &n.job.Steps[slices.IndexFunc(n.job.Steps, func(s common.Step) bool { return s.Name == name })]
}

func (n *naive) verdict(name string) verdict {
	s := n.step(name)
	skip := func(reason string) verdict {
		return verdict{common.ClassOf(common.StatusSkipped, reason), common.StatusSkipped, reason, -1}
	}
	if s.Finally && !n.leftBehind(s) {
		return skip(common.ReasonRuleUnmet)
	}
	held, needFailed, needSkipped, good, passed := 0, false, false, false, false
	for _, e := range s.After {
		source := n.verdict(e.Step)
		on := e.On
		if on == "" {
			on = s.Rule.On()
		}
		good = good || source.class == common.ClassSuccess
		passed = passed || source.class == common.ClassSkipped
		var holds bool
		switch {
		case len(e.ExitCodes) > 0:
			holds, on = source.exit == e.ExitCodes[0], ""
		case on == common.OnSuccess:
			holds = source.class == common.ClassSuccess
		case on == common.OnFailure:
			holds = source.class == common.ClassFailure ||
				source.status != common.StatusSucceeded && source.status != common.StatusSkipped
		case on == common.OnSkipped:
			holds = source.class == common.ClassSkipped
		case on == common.OnNotFailed:
			holds = source.class != common.ClassFailure
		default:
			holds = true
		}
		if holds {
			held++
			continue
		}
		needFailed = needFailed ||
			source.class == common.ClassFailure && (on == common.OnSuccess || on == common.OnNotFailed)
		needSkipped = needSkipped || source.class == common.ClassSkipped && on == common.OnSuccess
	}
	any := s.Rule == common.RuleOneSuccess || s.Rule == common.RuleOneFailed || s.Rule == common.RuleOneDone
	if !s.Finally && (any && held == 0 || !any && held < len(s.After)) {
		switch {
		case needFailed:
			return skip(common.ReasonUpstreamFailed)
		case needSkipped:
			return skip(common.ReasonUpstreamSkipped)
		default:
			return skip(common.ReasonRuleUnmet)
		}
	}
	if s.Rule == common.RuleNoneFailedOneSuccess && !good {
		if passed {
			return skip(common.ReasonUpstreamSkipped)
		}
		return skip(common.ReasonRuleUnmet)
	}
	if source, want, found := strings.Cut(strings.TrimPrefix(s.When, "steps."), ".status == "); found &&
		fmt.Sprintf("%q", n.verdict(source).status) != want {
		return skip(common.ReasonWhenFalse)
	}
	v := n.ran(s)
	if s.AllowFailure && v.class == common.ClassFailure && v.status != common.StatusRefused {
		v.class = common.ClassSuccess
	}
	return v
}

// leftBehind reports whether one of the sources of a clean-up step ran; any step of the main part if it has none.
func (n *naive) leftBehind(s *common.Step) bool {
	ran := func(name string) bool {
		v := n.verdict(name)
		source := n.step(name)
		return v.status != common.StatusSkipped && (source.ForEach == nil || len(source.ForEach.Items) > 0)
	}
	if len(s.After) > 0 {
		return slices.ContainsFunc(s.After, func(e common.Edge) bool { return ran(e.Step) })
	}
	return slices.ContainsFunc(n.job.Steps, func(s common.Step) bool { return !s.Finally && ran(s.Name) })
}

// ran returns the verdict of a step that runs.
func (n *naive) ran(s *common.Step) verdict {
	if s.Join {
		return verdict{common.ClassSuccess, common.StatusSucceeded, "", -1}
	}
	if s.ForEach == nil {
		end := ended(n.ends[s.Name])
		v := verdict{end.Class, end.Status, "", -1}
		if end.ExitCode != nil {
			v.exit = *end.ExitCode
		}
		return v
	}
	failed := 0
	for item := range s.ForEach.Items {
		if n.ends[common.ItemNode(s.Name, item)] != "exit:0" {
			failed++
		}
	}
	if failed > s.ForEach.MaxFailures {
		return verdict{common.ClassFailure, common.StatusFailed, "", -1}
	}
	return verdict{common.ClassSuccess, common.StatusSucceeded, "", -1}
}

// The final statuses are those of the rules applied to the outcomes, in whatever order nodes end; and the state that
// was computed event by event equals one that is computed from the same marks in another order.
func TestEngine_AnyOrderOfEvents_SameFinalStatuses(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		job := randomFlow(rt)
		ends := randomOutcomes(rt, &job)
		g, err := Compile(&job)
		if err != nil {
			rt.Fatal(err)
		}
		r := newRig(t, g, outcomes(ends))
		r.random = rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		for r.complete == nil {
			if len(r.running) > 0 && r.random.IntN(2) == 0 || !r.step() && r.complete == nil {
				if len(r.running) == 0 {
					rt.Fatalf("stuck: %s", r.statuses())
				}
				r.end()
			}
			loaded := New(g, &r.head)
			marks := slices.Clone(r.marks)
			r.random.Shuffle(len(marks), func(i, j int) { marks[i], marks[j] = marks[j], marks[i] })
			if loaded.Load(marks); describe(loaded) != describe(r.state) {
				rt.Fatalf("event by event:\n%s\nloaded:\n%s", describe(r.state), describe(loaded))
			}
		}
		n := &naive{&job, ends}
		want := common.StatusSucceeded
		for i := range job.Steps {
			v := n.verdict(job.Steps[i].Name)
			got, _ := r.state.Node(job.Steps[i].Name)
			if got.Reason == common.ReasonNoItems {
				got.Reason = ""
			}
			if got.Class != v.class || got.Status != v.status || got.Reason != v.reason {
				rt.Errorf("%s is %s %s %q, want %+v", got.Node, got.Class, got.Status, got.Reason, v)
			}
			if v.class == common.ClassFailure {
				want = common.StatusFailed
			}
		}
		if r.complete.Status != want {
			rt.Errorf("the flow run %s, want %s", r.complete.Status, want)
		}
	})
}

// describe returns what a keeper can see of a state, without what it has asked for.
func describe(s *State) string {
	var b strings.Builder
	for v := range s.Nodes() {
		fmt.Fprintf(&b, "%s %s %s %s %s\n", v.Node, v.Stage, v.Status, v.Class, v.Reason)
	}
	c := s.counts
	c.asked, c.running = 0, 0
	fmt.Fprintf(&b, "%+v %+v", c, s.joins)
	return b.String()
}
