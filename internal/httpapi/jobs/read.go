package jobs

import (
	"context"
	"net/http"
	"strings"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

func (s *Resource) list(ctx context.Context, in *jobListInput) (*jobListOutput, error) {
	if err := core.CheckSelector("query.selector", in.Selector); err != nil {
		return nil, err
	}
	order, descending := strings.CutPrefix(in.Sort, "-")
	q := common.JobQuery{
		Q:          in.Q,
		Similar:    in.Similar,
		Group:      in.Group,
		Below:      in.Below,
		Ungrouped:  in.Ungrouped,
		Selector:   in.Selector,
		Phase:      common.Phase(in.State),
		Order:      common.JobOrder(order),
		Descending: descending,
		Limit:      in.Limit,
		Skip:       in.Offset,
	}
	list := core.ListName("jobs", "q", in.Q, "similar", core.FlagFilter(in.Similar),
		"group", in.Group, "below", in.Below, "ungrouped",
		core.FlagFilter(in.Ungrouped),
		"selector", in.Selector, "state", in.State, "is", core.SetFilter(in.Is), "sort", in.Sort)
	uncertain, err := s.pick(ctx, in.Is, order, &q)
	if err != nil {
		return nil, err
	}
	if q.After, err = core.ReadCursor[string](list, in.Cursor); err != nil {
		return nil, err
	}
	jobs, next, err := s.Jobs.List(ctx, q)
	if err != nil {
		return nil, err
	}
	items := core.Items(jobs, func(state *common.JobState) Job {
		item := s.answer(ctx, state)
		item.Steps = nil
		return item
	})
	if err := s.addOverdue(ctx, items); err != nil {
		return nil, err
	}
	if next != "" {
		if next, err = core.WriteCursor(list, &next); err != nil {
			return nil, err
		}
	}
	partial, err := s.include(ctx, in.Include, core.Language(in.AcceptLanguage), jobs, items)
	if err != nil {
		return nil, err
	}
	out := &jobListOutput{
		Vary: "Accept-Language",
		Body: JobPage{HistoryPage: core.NewHistoryPage(items, next, partial || uncertain)},
	}
	if in.Total {
		total, err := s.Jobs.Count(ctx, q)
		if err != nil {
			return nil, err
		}
		out.Body.Total = &total
	}
	if in.Counts {
		counts, partial, err := s.counts(ctx, q)
		if err != nil {
			return nil, err
		}
		out.Body.Counts, out.Body.Partial = counts, out.Body.Partial || partial
	}
	return out, nil
}

func (s *Resource) get(ctx context.Context, in *view.JobPath) (*jobOutput, error) {
	state, err := s.Jobs.Get(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	if err := s.complete(ctx, &state.StoredJob); err != nil {
		return nil, err
	}
	one := []Job{s.answer(ctx, &state)}
	if err := s.addLineage(ctx, &state, &one[0]); err != nil {
		return nil, err
	}
	if err := s.addOverdue(ctx, one); err != nil {
		return nil, err
	}
	return &jobOutput{Status: http.StatusOK, ETag: core.ETag(state.Version), Body: one[0]}, nil
}

// maxChildren bounds the children that are listed with a job.
const maxChildren = 100

// addLineage adds the state of a job's parents, its children, and the flows that use it, unless the job is hidden.
func (s *Resource) addLineage(ctx context.Context, state *common.JobState, job *Job) (err error) {
	if job.Meta.Parents, err = s.Jobs.Parents(ctx, state); err != nil {
		return err
	}
	if s.Jobs.IsParent(state.Name) {
		job.Meta.Children = s.Jobs.Referring(ctx, common.ReferentJob, state.Name, maxChildren)
	}
	if !job.Meta.Hidden {
		job.Meta.RunBy, job.Meta.WaitedBy = s.Jobs.InSteps(ctx, state.Name, maxChildren)
	}
	return nil
}

// addOverdue marks the jobs that are overdue.
func (s *Resource) addOverdue(ctx context.Context, items []Job) error {
	all, err := s.Findings.Overdue(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	by := make(map[string]*common.Overdue, len(all))
	for i := range all {
		by[all[i].Job] = &all[i]
	}
	for i := range items {
		if o := by[items[i].Name]; o != nil {
			items[i].Meta.Overdue = &Overdue{PlannedAt: o.PlannedAt, DueAt: o.DueAt, Since: o.Since, Reason: o.Reason}
		}
	}
	return nil
}
