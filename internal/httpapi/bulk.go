package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
)

// BulkRequest says what to do, and with which jobs: those that are named, or those that a
// filter finds.
type BulkRequest struct {
	Action    string     `json:"action" enum:"run,pause,resume,delete,kill" doc:"kill ends the runs of the jobs."`
	Jobs      []string   `json:"jobs,omitempty" nullable:"false" maxItems:"5000" doc:"Their names. Not beside a filter."`
	Selector  string     `json:"selector,omitempty" maxLength:"1024" doc:"Those whose labels match." example:"team=data"`
	Group     string     `json:"group,omitempty" pattern:"^([a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?)?$" doc:"Those of this group."`
	Below     string     `json:"below,omitempty" pattern:"^([a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?)?$" doc:"Those of this group and of the groups below it: whose names go on after it with a dot or a dash."`
	Ungrouped bool       `json:"ungrouped,omitempty" doc:"Those that are in no group."`
	Q         string     `json:"q,omitempty" maxLength:"200" doc:"Those with this in the name or the title."`
	State     string     `json:"state,omitempty" enum:"active,paused,done,manual" doc:"Those that stand so just now; beside another filter."`
	Note      string     `json:"note,omitempty" maxLength:"500" doc:"Why; pausing needs it."`
	Until     *time.Time `json:"until,omitempty" doc:"Of pausing: when they go on by themselves."`
	Kill      bool       `json:"kill,omitempty" doc:"Of deleting: also end their runs."`

	Signal common.Signal `json:"signal,omitempty" enum:"TERM,INT,QUIT,HUP,USR1,USR2,KILL" doc:"Of killing: the signal with which the end of the runs begins; TERM where not given, and KILL for an end at once."`
}

// BulkItem says what became of one of the jobs.
type BulkItem struct {
	Name    string   `json:"name"`
	Result  string   `json:"result" enum:"done,refused,unknown" doc:"unknown: etcd did not answer, and it may have been done. With the Idempotency-Key that was sent it can be asked for again."`
	Fire    string   `json:"fire,omitempty" doc:"Of running: the fire that was asked for."`
	Run     string   `json:"run,omitempty" doc:"Its run."`
	Killed  []string `json:"killed,omitempty" nullable:"false" doc:"Of killing: the runs whose end was asked for."`
	Refusal *Refusal `json:"refusal,omitempty" doc:"Why nothing was done with it, or not all, or why that is not known."`
}

// BulkAnswer says what became of each.
type BulkAnswer struct {
	Items   []BulkItem `json:"items" nullable:"false" doc:"In the order in which the jobs were named, or by name."`
	Done    int        `json:"done"`
	Refused int        `json:"refused"`
	Unknown int        `json:"unknown"`
}

type bulkInput struct {
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"128" doc:"Asked again with the same key within a day, no job is run twice; another request with it is refused."`
	Body           BulkRequest
}

type bulkOutput struct{ Body BulkAnswer }

// maxBulk is how many jobs a filter may find.
const maxBulk = 5000

// check tells everything that is wrong with the request as a whole.
func (b *BulkRequest) check() error {
	var faults []common.Fault
	add := func(at, code, message string) {
		faults = append(faults, common.Fault{Location: at, Code: code, Message: message})
	}
	filtered := b.Selector != "" || b.Group != "" || b.Below != "" || b.Ungrouped || b.Q != ""
	switch {
	case len(b.Jobs) == 0 && !filtered:
		add("jobs", "required", "is required, or a selector, a group or q")
	case len(b.Jobs) > 0 && (filtered || b.State != ""):
		add("jobs", "exclusive", "cannot stand beside a filter")
	}
	for i, name := range b.Jobs {
		if !common.ValidName(name) {
			add(fmt.Sprintf("jobs[%d]", i), "name", "is not the name of a job")
		}
	}
	if b.Action == "pause" && b.Note == "" {
		add("note", "required", "is required, to say why")
	}
	if b.Until != nil && b.Action != "pause" {
		add("until", "exclusive", "has a meaning with pause only")
	}
	if b.Kill && b.Action != "delete" {
		add("kill", "exclusive", "has a meaning with delete only")
	}
	if b.Signal != "" && b.Action != "kill" {
		add("signal", "exclusive", "has a meaning with kill only")
	}
	if fault := checkSelector("selector", b.Selector); fault != nil {
		add("selector", "selector", "is not a selector of labels")
	}
	if len(faults) > 0 {
		return common.Invalid("the request is not valid", faults...)
	}
	return nil
}

func (s *manyResource) registerBulk(r *router) {
	register(r, route{access: needs(auth.Operator), turns: newTurns(), patience: manyPatience, Operation: huma.Operation{OperationID: "bulk-jobs", Method: http.MethodPost,
		Path: "/api/v1/jobs/bulk", Summary: "Do the same with many jobs", Tags: []string{"jobs"}}}, s.bulk)
}

func (s *manyResource) bulk(ctx context.Context, in *bulkInput) (*bulkOutput, error) {
	b := &in.Body
	if err := b.check(); err != nil {
		return nil, err
	}
	if b.Action == "delete" && !somewhere(ctx, auth.Editor) {
		return nil, allowEverywhere(ctx, auth.Editor)
	}
	until := ""
	if b.Until != nil {
		until = askedTime(*b.Until)
	}
	if err := s.once(ctx, in.IdempotencyKey, nil, "bulk", b.Action, askedSet(b.Jobs), b.Selector, b.Group, b.Below, askedFlag(b.Ungrouped), b.Q, b.State, b.Note, until, fmt.Sprint(b.Kill), string(b.Signal)); err != nil {
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
	inParallel(ctx, len(names), func(i int) {
		item := &answer.Items[i]
		item.Name, item.Result = names[i], "done"
		if err := do(ctx, item); err != nil {
			item.Result, item.Refusal = resultOf(err), refusalOf(s.problems.of(ctx, err))
		}
	})
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
	return &bulkOutput{Body: answer}, context.Cause(ctx)
}

// named are the names of the jobs, each once; and the versions of those that a filter has found.
func (s *manyResource) named(ctx context.Context, b *BulkRequest) (names []string, versions map[string]int64, err error) {
	if len(b.Jobs) > 0 {
		seen := map[string]bool{}
		for _, name := range b.Jobs {
			if !seen[name] {
				names = append(names, name)
			}
			seen[name] = true
		}
		return names, nil, nil
	}
	page, next, err := s.jobs.List(ctx, common.JobQuery{Selector: b.Selector, Group: b.Group, Below: b.Below, Ungrouped: b.Ungrouped, Q: b.Q,
		Phase: common.Phase(b.State), Limit: maxBulk})
	if err != nil {
		return nil, nil, err
	}
	if next != "" {
		return nil, nil, &common.Error{Code: common.CodeTooLarge, Reason: "too_many_jobs", Data: common.WordsOf("most", maxBulk), Message: fmt.Sprintf("the filter finds more than %d jobs", maxBulk), Hint: "narrow it: by group, for example"}
	}
	versions = make(map[string]int64, len(page))
	for i := range page {
		names = append(names, page[i].Name)
		versions[page[i].Name] = page[i].Version
	}
	return names, versions, nil
}

// action is what is done with each job.
func (s *manyResource) action(ctx context.Context, b *BulkRequest, key string, versions map[string]int64) (func(context.Context, *BulkItem) error, error) {
	who, may := actor(ctx), common.Precondition{May: allowNow(ctx, auth.Operator)}
	switch b.Action {
	case "run":
		return func(ctx context.Context, item *BulkItem) error {
			request := common.TriggerRequest{Job: item.Name, Note: b.Note, May: may.May}
			if key != "" {
				request.Key = key + "\n" + item.Name // no header holds such a key
			}
			trigger, err := s.jobs.Trigger(ctx, who, request)
			if err == nil {
				item.Fire, item.Run = trigger.Fire, trigger.RunID()
			}
			return err
		}, nil
	case "pause":
		return func(ctx context.Context, item *BulkItem) error {
			_, err := s.jobs.Pause(ctx, who, item.Name, common.PauseRequest{Note: b.Note, Until: b.Until}, may)
			return err
		}, nil
	case "resume":
		return func(ctx context.Context, item *BulkItem) error {
			_, err := s.jobs.Resume(ctx, who, item.Name, may)
			return err
		}, nil
	case "delete":
		may.May = allowNow(ctx, auth.Editor)
		who.Note = b.Note
		return func(ctx context.Context, item *BulkItem) error {
			seen := may
			seen.Version = versions[item.Name] // what was changed since may match no more
			return s.jobs.Delete(ctx, who, item.Name, seen, b.Kill)
		}, nil
	}
	open, err := s.jobs.OpenRuns(ctx)
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

// killRuns ends the runs of a job; one that ends meanwhile need not be.
func (s *manyResource) killRuns(ctx context.Context, item *BulkItem, runs []*common.Run, r common.KillRequest) error {
	uid, group, known := s.jobs.Whose(item.Name)
	switch {
	case known && uid == "" && len(runs) == 0:
		return common.Errorf(common.CodeNotFound, "there is no job %q, and no run of it", item.Name)
	case uid != "":
		if err := allow(ctx, auth.Operator, group); err != nil {
			return err
		}
	}
	var refusal error // of a run of another group: it shields none of the others
	for _, run := range runs {
		if err := allowRun(ctx, s.jobs, auth.Operator, run); common.CodeOf(err) == common.CodeForbidden {
			refusal = err
			continue
		} else if err != nil {
			return err
		}
		switch err := s.jobs.Kill(ctx, actor(ctx), run.ID, r); common.CodeOf(err) {
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

// somewhere tells whether the one who asks has the role for any group.
func somewhere(ctx context.Context, need auth.Role) bool {
	who, ok := identity(ctx)
	return ok && who.Somewhere(need)
}
