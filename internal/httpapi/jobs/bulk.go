package jobs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

// Selection selects jobs: those that are named, or those that a filter finds.
type Selection struct {
	Jobs      []string `json:"jobs,omitempty" nullable:"false" maxItems:"5000" doc:"Names of jobs. Cannot be combined with a filter."`
	Selector  string   `json:"selector,omitempty" minLength:"1" maxLength:"1024" doc:"Jobs whose labels match." example:"team=data"`
	Group     string   `json:"group,omitempty" pattern:"^[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?$" doc:"Jobs of this group."`
	Below     string   `json:"below,omitempty" pattern:"^[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?$" doc:"Jobs of this group and its subgroups: groups whose names continue with a slash, a dot or a dash."`
	Ungrouped bool     `json:"ungrouped,omitempty" doc:"Jobs without a group."`
	Q         string   `json:"q,omitempty" minLength:"1" maxLength:"200" doc:"Jobs with this text in the name or title."`
	State     string   `json:"state,omitempty" enum:"active,paused,done,manual" doc:"Jobs in this state; requires another filter."`
}

// BulkRequest says what to do, and with which jobs.
type BulkRequest struct {
	Selection
	Action string     `json:"action" enum:"run,pause,resume,delete,kill" doc:"kill: end the runs of the jobs."`
	Note   string     `json:"note,omitempty" maxLength:"500" doc:"Reason; required for pause."`
	Until  *time.Time `json:"until,omitempty" doc:"For pause: when the jobs resume automatically."`
	Kill   bool       `json:"kill,omitempty" doc:"For delete: also kill current runs."`
	Force  bool       `json:"force,omitempty" doc:"For delete: also jobs that others, which are not among them, name in after or in steps."`

	// Expect is required where a filter selects what is deleted.
	Expect *int `json:"expect,omitempty" minimum:"0" doc:"The action is refused if the filter matches another number of jobs. Required for delete by a filter; total of GET /jobs returns the number."`

	Signal common.Signal `json:"signal,omitempty" enum:"TERM,INT,QUIT,HUP,USR1,USR2,KILL" doc:"For kill: the signal to send first; default TERM. KILL ends the runs at once."`
}

// BulkItem is the result for one of the jobs.
type BulkItem struct {
	Name    string   `json:"name"`
	Result  string   `json:"result" enum:"done,refused,unknown" doc:"unknown: etcd did not respond, and the action may have been applied. It can be repeated with the same Idempotency-Key."`
	Fire    string   `json:"fire,omitempty" doc:"For run: the requested fire."`
	Run     string   `json:"run,omitempty" doc:"For run: the requested run."`
	Killed  []string `json:"killed,omitempty" nullable:"false" doc:"For kill: the runs with a kill request."`
	Refusal *Refusal `json:"refusal,omitempty" doc:"Why the action was refused, or partly refused, or why the outcome is unknown."`
}

// BulkAnswer contains the result for each job.
type BulkAnswer struct {
	Items   []BulkItem `json:"items" nullable:"false" doc:"In the order of the request, or by name."`
	Done    int        `json:"done"`
	Refused int        `json:"refused"`
	Unknown int        `json:"unknown"`
}

type bulkInput struct {
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"128" doc:"A repeated request with the same key within a day runs no job twice; a different request with the key is refused."`
	Body           BulkRequest
}

const (
	// maxBulk is how many jobs a filter may match.
	maxBulk = 5000
	// maxBulkBody has room for that many of the longest names, and a patch.
	maxBulkBody = maxBulk*132 + core.MaxJobBody
)

// filtered reports whether a filter selects the jobs.
func (s *Selection) filtered() bool {
	return s.Selector != "" || s.Group != "" || s.Below != "" || s.Ungrouped || s.Q != ""
}

// asks returns the selection for Once.
func (s *Selection) asks() []string {
	return []string{core.SetFilter(s.Jobs), s.Selector, s.Group, s.Below, core.FlagFilter(s.Ungrouped), s.Q, s.State}
}

// faults returns all faults of the selection.
func (s *Selection) faults() (faults common.Faults) {
	switch filtered := s.filtered(); {
	case len(s.Jobs) == 0 && !filtered:
		faults.Add("jobs", "required", nil, "is required, or a filter: selector, group, below, ungrouped or q")
	case len(s.Jobs) > 0 && (filtered || s.State != ""):
		faults.Add("jobs", "exclusive", nil, "cannot be combined with a filter")
	case len(s.Jobs) > maxBulk:
		faults.Add("jobs", "too_many", nil, "must be at most %d names", maxBulk).With("most", maxBulk)
	}
	for i, name := range s.Jobs {
		if !common.ValidName(name) {
			faults.Add(fmt.Sprintf("jobs[%d]", i), "name", nil, "is not a valid job name")
		}
	}
	if s.Q != "" && strings.TrimSpace(s.Q) == "" {
		faults.Add("q", "required", nil, "must not be blank")
	}
	if fault := core.CheckSelector("selector", s.Selector); fault != nil {
		faults.Add("selector", "selector", nil, "is not a label selector")
	}
	return faults
}

// check returns all faults of the request as a whole.
func (b *BulkRequest) check() error {
	faults, filtered := b.faults(), b.filtered()
	switch {
	case b.Expect == nil && b.Action == "delete" && filtered:
		faults.Add("expect", "required", nil, "is required: how many jobs the filter matches")
	case b.Expect != nil && !filtered:
		faults.Add("expect", "exclusive", nil, "is only valid with a filter")
	}
	if b.Until != nil && b.Action != "pause" {
		faults.Add("until", "exclusive", nil, "is only valid with pause")
	}
	if b.Kill && b.Action != "delete" {
		faults.Add("kill", "exclusive", nil, "is only valid with delete")
	}
	if b.Force && b.Action != "delete" {
		faults.Add("force", "exclusive", nil, "is only valid with delete")
	}
	if b.Signal != "" && b.Action != "kill" {
		faults.Add("signal", "exclusive", nil, "is only valid with kill")
	}
	if len(faults) > 0 {
		return common.Invalid("the request is not valid", faults...)
	}
	return nil
}

func (s *manyResource) registerBulk(r *core.Router) {
	op := core.NewOperations("jobs", "/api/v1")
	bulk := op.Post("bulk-jobs", "/jobs/bulk", "Run an action on many jobs", core.Operator)
	bulk.Patience, bulk.Queue, bulk.MaxBody = core.ManyPatience, core.NewQueue(), maxBulkBody
	core.Register(r, bulk, s.bulk)
	patch := op.Patch("patch-jobs", "/jobs", "Change fields of many jobs", core.Editor)
	patch.Patience, patch.Queue, patch.PatchAt = core.ManyPatience, core.NewQueue(), "body.patch"
	patch.MaxBody = maxBulkBody
	core.Register(r, patch, s.patchMany)
}

func (s *manyResource) bulk(ctx context.Context, in *bulkInput) (*core.Body[BulkAnswer], error) {
	b := &in.Body
	if err := b.check(); err != nil {
		return nil, err
	}
	if b.Action == "delete" && !core.Somewhere(ctx, access.Editor) {
		return nil, core.AllowEverywhere(ctx, access.Editor)
	}
	until := ""
	if b.Until != nil {
		until = core.TimeFilter(*b.Until)
	}
	kill := fmt.Sprint(b.Kill)
	if b.Expect != nil {
		kill += fmt.Sprintf(" of %d", *b.Expect)
	}
	if b.Force {
		kill += " force"
	}
	asks := slices.Concat([]string{"bulk", b.Action}, b.asks(), []string{b.Note, until, kill, string(b.Signal)})
	if err := s.once(ctx, in.IdempotencyKey, nil, asks...); err != nil {
		return nil, err
	}
	names, versions, err := s.named(ctx, b)
	if err != nil {
		return nil, err
	}
	do, err := s.action(ctx, b, in.IdempotencyKey, versions)
	if err != nil {
		return nil, err
	}
	answer := BulkAnswer{Items: make([]BulkItem, len(names))}
	inPasses(ctx, len(names), func(i int) {
		item := &answer.Items[i]
		*item = BulkItem{Name: names[i], Result: "done"}
		if err := do(ctx, item); err != nil {
			item.Result, item.Refusal = resultOf(err), refusalOf(s.problems.Of(ctx, err))
		}
	}, func(i int) bool { return answer.Items[i].Refusal.waitsForDeletion() })
	for i := range answer.Items {
		switch answer.Items[i].Result {
		case resultRefused:
			answer.Refused++
		case resultUnknown:
			answer.Unknown++
		default:
			answer.Done++
		}
	}
	return &core.Body[BulkAnswer]{Body: answer}, context.Cause(ctx)
}

// named returns the names of the jobs, without duplicates, and the versions of jobs found by a
// filter.
func (s *manyResource) named(ctx context.Context, b *BulkRequest) (names []string, versions map[string]int64,
	err error) {
	if len(b.Jobs) > 0 {
		return b.names(), nil, nil
	}
	page, err := s.matching(ctx, &b.Selection)
	if err != nil {
		return nil, nil, err
	}
	if b.Expect != nil && *b.Expect != len(page) {
		return nil, nil, common.Errorf(common.CodeConflict, "the filter matches %s, not %d",
			common.Count(len(page), "job", "jobs"), *b.Expect).WithReason("other_number").
			With("count", len(page), "expected", *b.Expect).WithHint("list the jobs that it matches, and try again")
	}
	versions = make(map[string]int64, len(page))
	for i := range page {
		names = append(names, page[i].Name)
		versions[page[i].Name] = page[i].Version
	}
	return names, versions, nil
}

// names returns the named jobs, each once.
func (s *Selection) names() (names []string) {
	seen := map[string]bool{}
	for _, name := range s.Jobs {
		if !seen[name] {
			names = append(names, name)
		}
		seen[name] = true
	}
	return names
}

// matching returns the jobs that a filter finds, by name.
func (s *manyResource) matching(ctx context.Context, f *Selection) ([]common.JobState, error) {
	page, next, err := s.Jobs.List(ctx, common.JobQuery{
		Selector:  f.Selector,
		Group:     f.Group,
		Below:     f.Below,
		Ungrouped: f.Ungrouped,
		Q:         f.Q,
		Phase:     common.Phase(f.State),
		Limit:     maxBulk,
	})
	if err == nil && next != "" {
		err = common.Errorf(common.CodeTooLarge, "the filter matches more than %d jobs", maxBulk).
			WithReason("too_many_jobs").With("most", maxBulk).WithHint("narrow the filter, for example by group")
	}
	return page, err
}

// action returns the function to apply to each job.
func (s *manyResource) action(ctx context.Context, b *BulkRequest, key string,
	versions map[string]int64) (func(context.Context, *BulkItem) error, error) {
	who := core.Actor(ctx)
	change := func(commit func(ctx context.Context, name string, pre common.Precondition) (common.JobState, error)) (
		func(context.Context, *BulkItem) error, error) {
		return func(ctx context.Context, item *BulkItem) error {
			_, err := view.Authorized(ctx, s.Jobs, access.Operator, item.Name, common.Precondition{},
				func(pre common.Precondition) (common.JobState, error) { return commit(ctx, item.Name, pre) })
			return err
		}, nil
	}
	switch b.Action {
	case "run":
		return func(ctx context.Context, item *BulkItem) error {
			request := common.TriggerRequest{Job: item.Name, Note: b.Note}
			if key != "" {
				request.Key = key + "\n" + item.Name // no header holds such a key
			}
			trigger, err := view.Trigger(ctx, s.Jobs, request)
			if err == nil {
				item.Fire, item.Run = trigger.Fire, trigger.RunID()
			}
			return err
		}, nil
	case "pause":
		return change(func(ctx context.Context, name string, pre common.Precondition) (common.JobState, error) {
			return s.Jobs.Pause(ctx, who, name, common.PauseRequest{Note: b.Note, Until: b.Until}, pre)
		})
	case "resume":
		return change(func(ctx context.Context, name string, pre common.Precondition) (common.JobState, error) {
			return s.Jobs.Resume(ctx, who, name, pre)
		})
	case "delete":
		who.Note = b.Note
		return func(ctx context.Context, item *BulkItem) error {
			pre := common.Precondition{Version: versions[item.Name]} // a job changed since may no longer match
			return s.remove(ctx, who, item.Name, pre, common.DeleteRequest{Kill: b.Kill, Force: b.Force})
		}, nil
	}
	open, err := s.Jobs.OpenRuns(ctx)
	if err != nil {
		return nil, err
	}
	of := map[string][]*common.Run{}
	for i := range open {
		of[open[i].Job] = append(of[open[i].Job], &open[i])
	}
	return func(ctx context.Context, item *BulkItem) error {
		return s.killRuns(ctx, item, of[item.Name], common.KillRequest{Signal: b.Signal, Note: b.Note})
	}, nil
}

// killRuns sends kill requests for the runs of a job; a run that ends meanwhile needs none.
func (s *manyResource) killRuns(ctx context.Context, item *BulkItem, runs []*common.Run, r common.KillRequest) error {
	uid, group, known := s.Jobs.UIDAndGroup(item.Name)
	switch {
	case known && uid == "" && len(runs) == 0:
		return common.Errorf(common.CodeNotFound, "job %q not found, and no run of it", item.Name)
	case uid != "":
		if err := core.Allow(ctx, access.Operator, group); err != nil {
			return err
		}
	}
	var refusal error // of a run of another group: the others are killed all the same
	for _, run := range runs {
		if err := view.AllowRun(ctx, s.Jobs, access.Operator, run); common.CodeOf(err) == common.CodeForbidden {
			refusal = err
			continue
		} else if err != nil {
			return err
		}
		switch err := s.Jobs.Kill(ctx, core.Actor(ctx), run.ID, r); common.CodeOf(err) {
		case common.CodeNotFound, common.CodeConflict:
		default:
			if err != nil {
				return err
			}
			item.Killed = append(item.Killed, run.ID)
		}
	}
	return refusal
}
