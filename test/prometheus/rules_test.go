// Package prometheus checks with Prometheus' own packages what deploy/prometheus and deploy/grafana contain. It is a
// module of its own, so that Carillon does not depend on them.
package prometheus

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"go.yaml.in/yaml/v2"

	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
)

const folder = "../../deploy/prometheus"

// cases has the form of "promtool test rules", which can run the file as well.
type cases struct {
	RuleFiles          []string       `yaml:"rule_files"`
	EvaluationInterval model.Duration `yaml:"evaluation_interval"`
	Tests              []story        `yaml:"tests"`
}

type story struct {
	Name        string         `yaml:"name"`
	Interval    model.Duration `yaml:"interval"`
	InputSeries []struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	} `yaml:"input_series"`
	Alerts []alertCase  `yaml:"alert_rule_test"`
	Exprs  []valuesCase `yaml:"promql_expr_test"`
}

type alertCase struct {
	At     model.Duration `yaml:"eval_time"`
	Name   string         `yaml:"alertname"`
	Expect []struct {
		Labels      map[string]string `yaml:"exp_labels"`
		Annotations map[string]string `yaml:"exp_annotations"`
	} `yaml:"exp_alerts"`
}

type valuesCase struct {
	Expr   string         `yaml:"expr"`
	At     model.Duration `yaml:"eval_time"`
	Expect []struct {
		Labels string  `yaml:"labels"`
		Value  float64 `yaml:"value"`
	} `yaml:"exp_samples"`
}

// TestRules evaluates the rules over the series of rules_test.yml.
func TestRules(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(folder, "rules_test.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var file cases
	if err := yaml.UnmarshalStrict(data, &file); err != nil {
		t.Fatal(err)
	}
	paths := make([]string, len(file.RuleFiles))
	for i, name := range file.RuleFiles {
		paths[i] = filepath.Join(folder, name)
	}
	fired, silent := map[string]bool{}, map[string]bool{}
	for _, s := range file.Tests {
		for _, a := range s.Alerts {
			if len(a.Expect) > 0 {
				fired[a.Name] = true
			} else {
				silent[a.Name] = true
			}
		}
		t.Run(s.Name, func(t *testing.T) { s.run(t, time.Duration(file.EvaluationInterval), paths) })
	}
	for _, g := range load(t, nil, time.Minute, paths) {
		for _, r := range g.Rules() {
			if _, alert := r.(*rules.AlertingRule); alert && (!fired[r.Name()] || !silent[r.Name()]) {
				t.Errorf("no test in which the alert %s fires, or none in which it does not", r.Name())
			}
		}
	}
}

// load returns the groups in the order of their names.
func load(t *testing.T, suite *promqltest.LazyLoader, every time.Duration, paths []string) []*rules.Group {
	t.Helper()
	opts := &rules.ManagerOptions{
		Context:    t.Context(),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {},
		Logger:     promslog.NewNopLogger(),
		Parser:     parser.NewParser(parser.Options{}),
	}
	if suite != nil {
		opts.QueryFunc = rules.EngineQueryFunc(suite.QueryEngine(), suite.Storage())
		opts.AppendableV2 = suite.Storage()
	}
	groups, errs := rules.NewManager(opts).LoadGroups(every, labels.EmptyLabels(), "", nil, false, paths...)
	for _, err := range errs {
		t.Fatal(err)
	}
	return slices.SortedFunc(maps.Values(groups), func(a, b *rules.Group) int {
		return strings.Compare(a.Name(), b.Name())
	})
}

func (s *story) run(t *testing.T, every time.Duration, paths []string) {
	var input strings.Builder
	fmt.Fprintf(&input, "load %ds\n", int(time.Duration(s.Interval).Seconds()))
	for _, series := range s.InputSeries {
		fmt.Fprintf(&input, "  %s %s\n", series.Series, series.Values)
	}
	suite, err := promqltest.NewLazyLoader(input.String(),
		promqltest.LazyLoaderOpts{Parser: parser.NewParser(parser.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = suite.Close() }()
	suite.SubqueryInterval = every
	groups := load(t, suite, time.Duration(s.Interval), paths)
	end := model.Duration(0)
	for _, a := range s.Alerts {
		end = max(end, a.At)
	}
	for _, e := range s.Exprs {
		end = max(end, e.At)
	}
	for at := time.Duration(0); at <= time.Duration(end); at += every {
		now := time.Unix(0, 0).Add(at)
		suite.WithSamplesTill(now, func(err error) {
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range groups {
				g.Eval(t.Context(), now)
			}
		})
		for _, a := range s.Alerts {
			if time.Duration(a.At) == at {
				a.check(t, groups)
			}
		}
	}
	for _, e := range s.Exprs {
		e.check(t, suite)
	}
}

// check compares the firing alerts of one name.
func (a *alertCase) check(t *testing.T, groups []*rules.Group) {
	var got, want []string
	for _, g := range groups {
		for _, r := range g.Rules() {
			if err := r.LastError(); err != nil {
				t.Errorf("rule %s: %v", r.Name(), err)
			}
			rule, ok := r.(*rules.AlertingRule)
			if !ok || rule.Name() != a.Name {
				continue
			}
			for _, active := range rule.ActiveAlerts() {
				if active.State == rules.StateFiring {
					got = append(got, active.Labels.String()+" "+active.Annotations.String())
				}
			}
		}
	}
	for _, e := range a.Expect {
		set := map[string]string{labels.AlertName: a.Name}
		maps.Copy(set, e.Labels)
		want = append(want, labels.FromMap(set).String()+" "+labels.FromMap(e.Annotations).String())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s at %s:\ngot  %s\nwant %s", a.Name, a.At, strings.Join(got, "\n     "),
			strings.Join(want, "\n     "))
	}
}

// check compares the values of an expression.
func (e *valuesCase) check(t *testing.T, suite *promqltest.LazyLoader) {
	q, err := suite.QueryEngine().NewInstantQuery(t.Context(), suite.Queryable(), nil, e.Expr,
		time.Unix(0, 0).Add(time.Duration(e.At)))
	if err != nil {
		t.Fatal(err)
	}
	vector, err := q.Exec(t.Context()).Vector()
	if err != nil {
		t.Fatal(err)
	}
	got, want := map[string]float64{}, map[string]float64{}
	for _, sample := range vector {
		got[sample.Metric.String()] = sample.F
	}
	for _, x := range e.Expect {
		metric, err := parser.NewParser(parser.Options{}).ParseMetric(x.Labels)
		if err != nil {
			t.Fatal(err)
		}
		want[metric.String()] = x.Value
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s at %s: %v, want %v", e.Expr, e.At, got, want)
	}
}

// TestConfigurations reads the configurations as Prometheus does.
func TestConfigurations(t *testing.T) {
	for _, name := range []string{"prometheus.yml", "agent.yml"} {
		if _, err := config.LoadFile(filepath.Join(folder, name), name == "agent.yml", promslog.NewNopLogger()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
