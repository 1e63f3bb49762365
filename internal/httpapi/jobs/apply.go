package jobs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/strict"
	"carillon/internal/httpapi/view"
	"carillon/internal/jobmgr/diff"
)

// Bounds of work on many jobs at once.
const (
	maxApplyBody = common.MaxFlowBytes + 64<<10 // one flow of the largest size, and its frame
	// maxMany is the maximum number of jobs per request.
	maxMany = 20_000
	// manyAtOnce is the number of jobs processed at a time; their writes share transactions.
	manyAtOnce = 64
)

// manyResource implements operations on many jobs.
type manyResource struct {
	*Resource
	problems core.Problems
	schemas  huma.Registry
}

// ApplyRequest is the desired state of jobs.
type ApplyRequest struct {
	Jobs []JobInput `json:"jobs" nullable:"false" maxItems:"20000" doc:"Each job is created, changed or left unchanged independently: a refused job does not affect the others."`
}

// Results of an apply besides those of common.Effect.
const (
	resultDeleted = "deleted"
	resultRefused = "refused"
	resultUnknown = "unknown"
)

// Applied is the result for a job.
type Applied struct {
	Name    string   `json:"name" doc:"As sent; empty if the job has no name."`
	Result  string   `json:"result" enum:"created,changed,unchanged,deleted,refused,unknown" doc:"unknown: etcd did not respond, and the change may have been applied. Applying the same again is safe."`
	Version int64    `json:"version,omitempty" doc:"The job's current version, if it exists."`
	Fields  []string `json:"fields,omitempty" nullable:"false" doc:"The changed fields of a changed job."`
	Diff    string   `json:"diff,omitempty" doc:"Unified diff, as for patch(1); for a dry run."`
	// Warnings are of created and changed jobs.
	Warnings []common.Fault `json:"warnings,omitempty" nullable:"false" doc:"Of a created or changed job: values that are accepted but probably not intended."`

	Refusal *Refusal `json:"refusal,omitempty" doc:"Why the job was refused, or why the outcome is unknown."`
}

// Refusal is the error for one of many jobs.
type Refusal struct {
	Code   common.Code    `json:"code" doc:"As for a request for this job alone." enum:"invalid,not_found,exists,stale,conflict,forbidden,unavailable,too_large,too_many_requests,internal"`
	Detail string         `json:"detail" doc:"The error in one sentence."`
	Hint   string         `json:"hint,omitempty" doc:"Advice."`
	Reason string         `json:"reason,omitempty" doc:"Distinguishes failures with the same code."`
	Data   common.Words   `json:"data,omitempty" doc:"Values for translated texts."`
	Errors []common.Fault `json:"errors,omitempty" nullable:"false" doc:"All faults of the job."`
}

// ApplyCounts count the results.
type ApplyCounts struct {
	Created   int `json:"created"`
	Changed   int `json:"changed"`
	Unchanged int `json:"unchanged"`
	Deleted   int `json:"deleted"`
	Refused   int `json:"refused"`
	Unknown   int `json:"unknown"`
}

// ApplyAnswer contains the result for each job.
type ApplyAnswer struct {
	Items  []Applied   `json:"items" nullable:"false" doc:"In the order of the request, then the jobs to prune, by name."`
	Counts ApplyCounts `json:"counts"`
	DryRun bool        `json:"dryRun,omitempty" doc:"Nothing was written; these are the changes that would be made."`
}

type applyInput struct {
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"128" doc:"Returns 409 if the key was used for another request within a day. Applying the same again changes nothing."`
	DryRun         bool   `query:"dryRun" doc:"Write nothing, and return the differences."`
	Program        bool   `query:"program" doc:"The request comes from a program that defines its own jobs, with the labels app and app-build: a job with a later app-build is left unchanged, one with another app is refused, and the fields paused, pauseNote and pauseUntil of existing jobs are kept."`
	Prune          string `query:"prune" maxLength:"1024" doc:"Also delete jobs whose labels match this selector and that are not in the request, in the groups where you are editor. Nothing is deleted if any job is refused."`
	Note           string `query:"note" maxLength:"500" doc:"Reason; shown with the versions and in the audit."`
	Body           applyBody
}

func (s *manyResource) register(r *core.Router) {
	op := core.NewOperations("jobs", "/api/v1")
	s.registerBulk(r)
	apply := op.Post("apply-jobs", "/jobs/apply", "Apply many job definitions", core.Editor)
	apply.MaxBody, apply.Patience, apply.Queue, apply.Raw = maxApplyBody, core.ManyPatience, core.NewQueue(), true
	core.Register(r, apply, s.apply)
}

func (s *manyResource) apply(ctx context.Context, in *applyInput) (*core.Body[ApplyAnswer], error) {
	body := core.VisitOf(ctx).Body
	sent, err := jobsOf(body)
	if err != nil {
		return nil, err
	}
	if err := core.CheckSelector("query.prune", in.Prune); err != nil {
		return nil, err
	}
	asked := []string{"apply", in.Prune, strconv.FormatBool(in.DryRun), strconv.FormatBool(in.Program)}
	if in.Note != "" { // requests without one have the same digest on masters that do not know notes
		asked = append(asked, in.Note)
	}
	if err := s.once(ctx, in.IdempotencyKey, body, asked...); err != nil {
		return nil, err
	}
	answer := ApplyAnswer{DryRun: in.DryRun, Items: make([]Applied, len(sent))}
	jobs, named := make([]*view.Definition, len(sent)), map[string]bool{}
	for i := range sent {
		answer.Items[i], jobs[i] = s.read(sent[i], fmt.Sprintf("body.jobs[%d]", i))
		name := answer.Items[i].Name
		if named[name] && jobs[i] != nil {
			jobs[i] = nil
			answer.Items[i].refuse(&core.Problem{
				Code:   common.CodeInvalid,
				Detail: fmt.Sprintf("job %q is in the request twice", name),
				Hint:   "send each job once",
			})
		}
		named[name] = true
	}
	together, coming, read := map[string]bool{}, map[string]bool{}, s.newNamed()
	for _, round := range inOrder(jobs) {
		inParallel(ctx, len(round), func(n int) {
			i := round[n]
			s.applyOne(ctx, &answer.Items[i], jobs[i], applying{together, coming, named, in.DryRun, in.Program,
				read, actorOf(ctx, in.Note)})
			at := fmt.Sprintf("body.jobs[%d]", i)
			answer.Items[i].Refusal.place(at)
			putAt(at, answer.Items[i].Warnings)
		})
		for _, i := range round {
			item := &answer.Items[i]
			together[item.Name] = together[item.Name] || !item.failed()
			coming[item.Name] = coming[item.Name] || in.DryRun && item.Result == string(common.EffectCreated)
		}
	}
	if in.Prune != "" {
		doomed, err := s.doomed(ctx, in, named, jobs)
		if err != nil {
			return nil, err
		}
		pruned, err := s.prune(ctx, actorOf(ctx, in.Note), doomed, in.DryRun,
			slices.ContainsFunc(answer.Items, Applied.failed))
		if err != nil {
			return nil, err
		}
		answer.Items = append(answer.Items, pruned...)
	}
	for i := range answer.Items {
		answer.Counts.add(answer.Items[i].Result)
	}
	return &core.Body[ApplyAnswer]{Body: answer}, context.Cause(ctx)
}

func (c *ApplyCounts) add(result string) {
	switch result {
	case string(common.EffectCreated):
		c.Created++
	case string(common.EffectChanged):
		c.Changed++
	case string(common.EffectUnchanged):
		c.Unchanged++
	case resultDeleted:
		c.Deleted++
	case resultUnknown:
		c.Unknown++
	default:
		c.Refused++
	}
}

// failed reports whether the job may differ from the request.
func (a Applied) failed() bool { return a.Result == resultRefused || a.Result == resultUnknown }

// fail sets the error, and whether the job was refused or the outcome is unknown.
func (a *Applied) fail(ctx context.Context, ps core.Problems, err error) {
	a.refuse(ps.Of(ctx, err))
	a.Result = resultOf(err)
}

// resultOf returns the result for an error.
func resultOf(err error) string {
	if errors.Is(err, common.ErrUnsure) {
		return resultUnknown
	}
	return resultRefused
}

func (a *Applied) refuse(p *core.Problem) {
	a.Result, a.Refusal = resultRefused, refusalOf(p)
}

// place adds the job's position in the body to the locations of faults.
func (r *Refusal) place(at string) {
	if r == nil {
		return
	}
	putAt(at, r.Errors)
}

// putAt adds a position in the body to the locations of a job's faults.
func putAt(at string, faults []common.Fault) {
	for i := range faults {
		if rest, ok := strings.CutPrefix(faults[i].Location, "body"); ok {
			faults[i].Location = at + rest
		}
	}
}

func refusalOf(p *core.Problem) *Refusal {
	return &Refusal{Code: p.Code, Detail: p.Detail, Hint: p.Hint, Reason: p.Reason, Data: p.Data, Errors: p.Errors}
}

// read decodes one of the jobs; nil if it is refused.
func (s *manyResource) read(sent json.RawMessage, at string) (Applied, *view.Definition) {
	item, problem := Applied{}, &core.Problem{Code: common.CodeInvalid, Detail: "the job is not valid"}
	value, fault := strict.ParseAt(at, sent)
	var named struct{ Name any }
	if err := json.Unmarshal(sent, &named); err == nil {
		item.Name, _ = named.Name.(string)
	}
	if !common.ValidName(item.Name) {
		item.Name = common.Excerpt(item.Name)
	}
	check := &strict.Checker{Schemas: s.schemas, Shape: true, Root: at}
	switch {
	case fault != nil:
		check.Faults = []common.Fault{*fault}
	case len(sent) > 2*common.MaxJobBytes && !hasSteps(value): // with some allowance for white space
		check.Add(at, "too_large", nil, "is larger than 64 KiB").With("size", "64 KiB")
	default:
		check.Check(s.schemas.Schema(reflect.TypeFor[JobInput](), true, ""), at, value)
	}
	var in JobInput
	if len(check.Faults) == 0 {
		if err := json.Unmarshal(sent, &in); err != nil {
			check.Add(at, "invalid", nil, "must be a job")
		}
	}
	if len(check.Faults) > 0 {
		problem.Errors = check.Faults
		item.refuse(problem)
		return item, nil
	}
	return item, &in.Definition
}

// hasSteps reports whether a job as it was sent is a flow, whose size is checked with its steps.
func hasSteps(sent any) bool {
	fields, _ := sent.(map[string]any)
	return fields["steps"] != nil
}

// applying is what the jobs of a request have in common.
type applying struct {
	together map[string]bool // jobs that were applied
	coming   map[string]bool // those that count as stored in a dry run
	named    map[string]bool // all that the request names
	dry      bool
	program  bool
	read     *named // what warnings were read for
	who      common.Actor
}

// applyOne applies a job.
func (s *manyResource) applyOne(ctx context.Context, item *Applied, job *view.Definition, a applying) {
	err := core.Allow(ctx, access.Editor, job.Group)
	if err == nil {
		err = s.permitted(ctx, (*common.Job)(job), a.together, a.named)
	}
	var saved common.Saved
	if err == nil {
		saved, err = view.Authorized(ctx, s.Jobs, access.Editor, job.Name, common.Precondition{},
			func(pre common.Precondition) (common.Saved, error) {
				if a.program {
					return s.applyProgram(ctx, common.Job(*job), pre, a)
				}
				return s.applyAfter(ctx, common.Job(*job), pre, a)
			})
	}
	if err == nil {
		item.Result, item.Version = string(saved.Effect), saved.State.Version
		err = item.compare(saved.Before, &saved.State.Job, a.dry)
		if saved.Effect != common.EffectUnchanged {
			whole := saved.State.Job // it may be without its steps
			whole.Steps = job.Steps
			if found := s.doubtsOf(ctx, &whole, a.read); len(found) > 0 {
				item.Warnings = placed(found)
			}
		}
	}
	if err != nil {
		item.fail(ctx, s.problems, err)
	}
}

// compare sets the result, the changed fields and, for a dry run, the diff.
func (a *Applied) compare(before, after *common.Job, dry bool) (err error) {
	if a.Result == string(common.EffectChanged) {
		if a.Fields, err = diff.Fields(before, after); err != nil {
			return err
		}
	}
	if !dry || a.Result == string(common.EffectUnchanged) {
		return nil
	}
	from, to := a.Name, a.Name+" (new)"
	if before == nil {
		from = "/dev/null"
	}
	if after == nil {
		to = "/dev/null"
	}
	a.Diff, err = diff.Unified(from, to, before, after)
	return err
}

// doomed returns the jobs that match the selector of a request and were not named, in the groups where the caller is
// editor; for a program, only those that no later build has defined.
func (s *manyResource) doomed(ctx context.Context, in *applyInput, named map[string]bool,
	sent []*view.Definition) (doomed []common.JobState, err error) {
	build := ""
	for _, job := range sent {
		if job != nil {
			build = max(build, job.Labels[common.LabelBuild])
		}
	}
	for after := ""; ; {
		page, next, err := s.Jobs.List(ctx, common.JobQuery{Selector: in.Prune, Limit: maxPrunePage, After: after})
		if err != nil {
			return nil, err
		}
		for i := range page {
			later := in.Program && page[i].Labels[common.LabelBuild] > build
			if !named[page[i].Name] && !later && core.May(ctx, access.Editor, page[i].Group) {
				doomed = append(doomed, page[i])
			}
		}
		if next == "" {
			return doomed, nil
		}
		after = next
	}
}

// prune deletes jobs. If a job of the request was refused, it deletes none: the desired state is unknown.
func (s *manyResource) prune(ctx context.Context, who common.Actor, doomed []common.JobState,
	dry, refused bool) ([]Applied, error) {
	slices.SortFunc(doomed, func(a, b common.JobState) int { return cmp.Compare(a.Name, b.Name) })
	items := make([]Applied, len(doomed))
	inPasses(ctx, len(doomed), func(i int) {
		job, item := &doomed[i], &items[i]
		*item = Applied{Name: job.Name, Result: resultDeleted}
		var err error
		switch {
		case refused:
			err = common.Errorf(common.CodeConflict, "not deleted, because other jobs were refused").
				WithReason("others_refused").WithHint("correct the refused jobs and apply again")
		case !dry:
			err = s.Jobs.Delete(ctx, who, job.Name, common.Precondition{Version: job.Version}, common.DeleteRequest{})
		default:
			if err = s.complete(ctx, &job.StoredJob); err == nil {
				err = item.compare(&job.Job, nil, true)
			}
		}
		if err != nil {
			item.fail(ctx, s.problems, err)
		}
	}, func(i int) bool { return items[i].Refusal.waitsForDeletion() })
	return items, nil
}

// maxPrunePage is how many jobs are read at a time.
const maxPrunePage = 1000

// inParallel does something for each of n, some at a time, until the context ends.
func inParallel(ctx context.Context, n int, do func(i int)) {
	var next atomic.Int64
	var going sync.WaitGroup
	for range min(n, manyAtOnce) {
		going.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	going.Wait()
}

// once refuses a key that was used for another request. What is asked for twice with the same
// key is done again, which changes nothing where it is done already.
func (s *manyResource) once(ctx context.Context, key string, body []byte, asks ...string) error {
	if key == "" {
		return nil
	}
	if err := core.CheckKey(key); err != nil {
		return err
	}
	sum := sha256.New()
	for _, part := range asks {
		fmt.Fprintf(sum, "%d %s", len(part), part)
	}
	sum.Write(body)
	return s.Jobs.Once(ctx, core.Actor(ctx), key, hex.EncodeToString(sum.Sum(nil)))
}
