package system

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow/trial"
	"carillon/internal/flow/trial/trialtest"
)

// The cases that trials of the engine run are run for real: both must end alike.
func TestFlowCases_InAStandalone_EndAsTheirTrials(t *testing.T) {
	t.Parallel() // it mostly waits
	dir := t.TempDir()
	_, a := standalone(t, dir)
	cases, err := trialtest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("all", func(t *testing.T) {
		number := 0
		each := func(id string, test func(*testing.T, *flowCase)) {
			number++
			name := fmt.Sprintf("case-%d", number)
			t.Run(id, func(t *testing.T) {
				t.Parallel()
				test(t, &flowCase{t: t, api: &api{t: t, base: a.base, token: a.token}, name: name, dir: t.TempDir()})
			})
		}
		for _, c := range cases {
			for _, job := range c.Jobs {
				a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", job, nil)
			}
			for i := range c.Runs {
				each(c.ID(c.Runs[i].Name), func(t *testing.T, f *flowCase) { f.play(c.Flow, &c.Runs[i]) })
			}
			for i := range c.Rejected {
				each(c.ID(c.Rejected[i].Name), func(t *testing.T, f *flowCase) { f.reject(&c.Rejected[i]) })
			}
		}
	})
	for _, c := range cases { // with all that the runs have left behind
		for i := range c.Runs {
			for name, value := range c.Runs[i].Secrets {
				checkAbsent(t, dir, name, value)
			}
		}
	}
}

// flowCase is a case that is run.
type flowCase struct {
	t    *testing.T
	api  *api
	name string // of the flow
	dir  string // of what its commands write
}

// ranNode is a node of a flow run, as the API shows it.
type ranNode struct {
	Node               string
	Status             common.Status
	Class              common.Class
	Reason             *common.Reason
	Outputs            map[string]string
	StartedAt, EndedAt *time.Time
}

func (f *flowCase) play(definition json.RawMessage, run *trialtest.Run) {
	f.t.Helper()
	for name, value := range run.Secrets {
		f.api.do(http.StatusCreated, http.MethodPut, "/api/v1/secrets/"+name, map[string]any{"value": value}, nil)
	}
	job, err := trialtest.Named(definition, f.name)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, step := range job["steps"].([]any) {
		step := step.(map[string]any)
		if _, inline := step["command"]; inline {
			step["command"] = f.script(step["name"].(string), run)
		}
	}
	f.create(job)
	var accepted struct{ Run string }
	f.api.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+f.name+"/run", map[string]any{"params": run.Params},
		&accepted)
	if len(run.Before) > 0 {
		f.await(accepted.Run, run.Before, func(map[string]ranNode) []string { return nil })
	}
	if run.Kill == trial.KillUser || run.Kill == trial.KillForce {
		f.kill(accepted.Run, false)
	}
	if run.Kill == trial.KillForce {
		f.await(accepted.Run, run.Cleaning, func(map[string]ranNode) []string { return nil })
		f.kill(accepted.Run, true)
	}
	if !run.Endless {
		if err := os.WriteFile(f.gate(), nil, 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
	for step, params := range run.Answers {
		f.approve(accepted.Run, step, run.Questions[step], params)
	}
	var end struct{ Status common.Status }
	eventually(f.t, "the flow run ends", func() bool {
		status, err := f.api.try(http.MethodGet, "/api/v1/runs/"+accepted.Run, nil, &end)
		return err == nil && status == http.StatusOK && end.Status.Terminal()
	})
	if end.Status != run.Status {
		f.t.Errorf("the flow run is %s, want %s", end.Status, run.Status)
	}
	f.await(accepted.Run, run.Want, func(nodes map[string]ranNode) []string { return differences(run, nodes) })
	for step, values := range run.Values {
		for variable, want := range values {
			got, err := os.ReadFile(f.seen(step, variable))
			if err != nil || string(got) != want {
				f.t.Errorf("%s sees %s %q, %v; want %q", step, variable, got, err, want)
			}
		}
	}
}

func (f *flowCase) kill(run string, force bool) {
	f.t.Helper()
	f.api.do(http.StatusAccepted, http.MethodPost, "/api/v1/runs/"+run+"/kill", map[string]any{"force": force}, nil)
}

// approve waits for an approval, and answers it.
func (f *flowCase) approve(run, step, question string, params map[string]string) {
	f.t.Helper()
	eventually(f.t, step+" waits for an approval", func() bool {
		var page struct {
			Items []struct{ Run, Step, Text string }
		}
		status, err := f.api.try(http.MethodGet, "/api/v1/approvals?job="+f.name, nil, &page)
		for _, a := range page.Items {
			if err == nil && status == http.StatusOK && a.Run == run && a.Step == step {
				if question != "" && a.Text != question {
					f.t.Errorf("%s asks %q, want %q", step, a.Text, question)
				}
				return true
			}
		}
		return false
	})
	f.api.do(http.StatusNoContent, http.MethodPost, "/api/v1/runs/"+run+"/approve",
		map[string]any{"step": step, "params": params}, nil)
}

func (f *flowCase) create(job any) {
	f.t.Helper()
	var answer string
	status, err := f.api.try(http.MethodPost, "/api/v1/jobs", job, &answer)
	if err != nil || status != http.StatusCreated {
		f.t.Fatalf("create a job: %d, %v: %s", status, err, answer)
	}
}

func (f *flowCase) gate() string                      { return filepath.Join(f.dir, "gate") }
func (f *flowCase) seen(step, variable string) string { return filepath.Join(f.dir, step+"."+variable) }

// script returns the command of a step: it stores the variables that are checked, waits for the test if the step is
// held, and then does what the case says.
func (f *flowCase) script(step string, run *trialtest.Run) string {
	var b strings.Builder
	for variable := range run.Values[step] {
		fmt.Fprintf(&b, "printf %%s \"$%s\" >%s || exit 111\n", variable, common.ShellWord(f.seen(step, variable)))
	}
	if slices.Contains(run.Hold, step) {
		fmt.Fprintf(&b, "until [ -e %s ]; do sleep 0.05; done\n", common.ShellWord(f.gate()))
	}
	return b.String() + cmp.Or(run.Shell[step], "true")
}

// differences returns how the nodes of a flow run differ from what is expected, beside their statuses.
func differences(run *trialtest.Run, nodes map[string]ranNode) (faults []string) {
	for name, class := range run.Classes {
		if nodes[name].Class != class {
			faults = append(faults, fmt.Sprintf("%s is of class %s, want %s", name, nodes[name].Class, class))
		}
	}
	for name, texts := range run.Names {
		for _, text := range texts {
			if reason := nodes[name].Reason; reason == nil || !strings.Contains(reason.Text, text) {
				faults = append(faults, fmt.Sprintf("the reason of %s is %+v, want one that names %s", name, reason,
					text))
			}
		}
	}
	for name, values := range run.Reports {
		for key, value := range values {
			if got := nodes[name].Outputs[key]; got != value {
				faults = append(faults, fmt.Sprintf("%s reports %s %q, want %q", name, key, got, value))
			}
		}
	}
	for name, source := range run.Starts {
		begin, end := nodes[name].StartedAt, nodes[source].EndedAt
		if begin == nil || end == nil || begin.Before(*end) {
			faults = append(faults, fmt.Sprintf("%s starts at %v, and %s ends at %v", name, begin, source, end))
		}
	}
	return faults
}

// await waits until the nodes of a flow run are as wanted, and until there are no other differences. The history, which
// has reasons and times, arrives after the end.
func (f *flowCase) await(run string, want map[string]string, others func(map[string]ranNode) []string) {
	f.t.Helper()
	var faults []string
	defer func() {
		if f.t.Failed() {
			f.t.Log(strings.Join(faults, "\n"))
		}
	}()
	eventually(f.t, fmt.Sprintf("the nodes of %s are %v", f.name, want), func() bool {
		var page struct{ Items []ranNode }
		status, err := f.api.try(http.MethodGet, "/api/v1/runs/"+run+"/nodes?limit=100", nil, &page)
		if err != nil || status != http.StatusOK {
			faults = []string{fmt.Sprint(status, err)}
			return false
		}
		nodes := map[string]ranNode{}
		for _, n := range page.Items {
			nodes[n.Node] = n
		}
		faults = others(nodes)
		for name, text := range want {
			n := nodes[name]
			if fault := trialtest.Met(text, n.Status, n.Reason); fault != "" {
				faults = append(faults, name+" is "+fault)
				if wanted, _, _ := strings.Cut(text, " "); hasEnded(n.Status) && string(n.Status) != wanted {
					f.t.Fatal(faults)
				}
			}
		}
		return len(faults) == 0
	})
}

// hasEnded reports whether a node has ended: one without a run yet is pending.
func hasEnded(s common.Status) bool { return slices.Contains(common.Statuses[:], s) && s.Terminal() }

// reject saves a definition that has a fault.
func (f *flowCase) reject(r *trialtest.Rejected) {
	f.t.Helper()
	for _, job := range r.Jobs {
		f.create(job)
	}
	job, err := trialtest.Named(r.Flow, f.name)
	if err != nil {
		f.t.Fatal(err)
	}
	var checked struct{ Faults []common.Fault }
	f.api.do(http.StatusOK, http.MethodPost, "/api/v1/jobs/validate", job, &checked)
	if !slices.ContainsFunc(checked.Faults, func(fault common.Fault) bool {
		return fault.Location == "body."+r.Location && fault.Code == r.Code
	}) {
		f.t.Errorf("faults are %+v, want %s at %s", checked.Faults, r.Code, r.Location)
	}
	f.api.do(http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/jobs", job, nil)
}

// checkAbsent checks that no file of a folder contains the value of a secret.
func checkAbsent(t *testing.T, dir, name, value string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !entry.Type().IsRegular() {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if bytes.Contains(data, []byte(value)) {
			t.Errorf("%s contains the secret %s", path, name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
