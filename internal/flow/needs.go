package flow

import (
	"carillon/internal/common"
)

// reads is what the expressions and texts of a flow read that concerns more than its steps.
type reads struct {
	dates  bool // which depend on the time zone of the flow
	values bool // or outputs have a default: what needs common.FeatureValues
	finals bool // there are clean-up steps: common.FeatureFinally
	joins  bool // there are steps, or a rule, that need common.FeatureJoins
	tries  bool // the flow, or steps that run a job, have a retry: common.FeatureFlowRetry
	gather bool // there are maps that need common.FeatureCollect
	asks   bool // there are approvals that need common.FeatureApprovals
	waits  bool // there are steps that wait for fires: common.FeatureWaits
}

// readsOf returns what a flow reads. Texts that cannot be parsed are left out: they are faults.
func readsOf(job *common.Job) (r reads) {
	note := func(refs []reference) {
		for _, ref := range refs {
			r.dates = r.dates || ref.isDate()
			r.values = r.values || ref.isDate() || ref.isInterval()
			r.gather = r.gather || ref.from == fromItem
		}
	}
	render := func(texts map[string]string) {
		for _, value := range texts {
			if !isTemplate(value) {
				continue
			}
			if t, err := parseTemplate(value); err == nil {
				note(t.refs)
			}
		}
	}
	outputs := func(all map[string]common.Output) {
		for _, o := range all {
			r.values = r.values || o.Default != nil
		}
	}
	render(job.Env)
	render(outputValues(job))
	outputs(job.Outputs)
	r.tries = job.Retry != nil
	e := newEvaluator()
	for i := range job.Steps {
		s := &job.Steps[i]
		r.finals = r.finals || s.Finally
		r.tries = r.tries || s.Job != "" && s.Retry != nil
		r.joins = r.joins || s.Join || s.Rule == common.RuleNoneFailedOneSuccess
		render(s.Env)
		render(s.Params)
		r.gather = r.gather || s.ForEach != nil && s.ForEach.Collect != ""
		if a := s.Approval; a != nil {
			r.asks = r.asks || !a.Plain() || isTemplate(a.Text)
			render(map[string]string{question: a.Text})
		}
		r.waits = r.waits || s.Wait != nil
		outputs(s.Outputs)
		if s.When == "" {
			continue
		}
		if x, err := e.compile(s.When); err == nil {
			note(x.refs)
			r.values = r.values || x.numbers
		}
	}
	return r
}

// needs returns the features of the workers that advance flow runs, besides common.FeatureFlows.
func (r reads) needs() (features []string) {
	if r.values {
		features = append(features, common.FeatureValues)
	}
	if r.finals {
		features = append(features, common.FeatureFinally)
	}
	if r.joins {
		features = append(features, common.FeatureJoins)
	}
	if r.tries {
		features = append(features, common.FeatureFlowRetry)
	}
	if r.gather {
		features = append(features, common.FeatureCollect)
	}
	if r.asks {
		features = append(features, common.FeatureApprovals)
	}
	if r.waits {
		features = append(features, common.FeatureWaits)
	}
	return features
}
