package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/strict"
	"carillon/internal/httpapi/view"
)

// JobPatch is a merge patch (RFC 7396) of a job: given fields replace existing ones, also within
// objects, null removes a field, and other fields are unchanged.
type JobPatch struct{ raw json.RawMessage }

// UnmarshalJSON keeps the text.
func (p *JobPatch) UnmarshalJSON(data []byte) error {
	p.raw = bytes.Clone(data)
	return nil
}

// Schema returns that of a job without required fields.
func (JobPatch) Schema(r huma.Registry) *huma.Schema {
	const name = "JobPatch"
	if _, made := r.Map()[name]; !made {
		s := *r.SchemaFromRef(r.Schema(reflect.TypeFor[JobInput](), true, "").Ref)
		s.Required = nil
		s.Description = "A merge patch (RFC 7396): given fields replace existing ones, also within objects; null " +
			"removes a field; other fields are unchanged. Lists are replaced as a whole."
		r.Map()[name] = &s
	}
	return &huma.Schema{Ref: "#/components/schemas/" + name}
}

type jobPatchInput struct {
	view.JobPath
	IfMatch string   `header:"If-Match" doc:"Only if the job has this ETag."`
	Note    string   `query:"note" maxLength:"500" doc:"Reason; shown with the version and in the audit."`
	Body    JobPatch `contentType:"application/merge-patch+json"`
}

// RollbackRequest names the version to restore.
type RollbackRequest struct {
	Version int64  `json:"version" minimum:"1" doc:"The version to restore."`
	Note    string `json:"note,omitempty" maxLength:"500" doc:"Reason; shown with the version."`
}

type jobRollbackInput struct {
	view.JobPath
	IfMatch string `header:"If-Match" doc:"Only if the job has this ETag."`
	Body    RollbackRequest
}

func (s *Resource) patch(ctx context.Context, in *jobPatchInput) (*jobOutput, error) {
	return s.edit(ctx, actorOf(ctx, in.Note), "patch", in.Name, in.IfMatch, func(old common.Job) (common.Job, error) {
		return patched(&old, in.Body.raw)
	})
}

// edit replaces a job by the result of change, in whose group the caller must be an editor as well.
func (s *Resource) edit(ctx context.Context, who common.Actor, verb, name, ifMatch string,
	change func(common.Job) (common.Job, error)) (*jobOutput, error) {
	var saved common.JobState
	var steps []common.Step
	out, err := s.change(ctx, access.Editor, name, ifMatch, func(pre common.Precondition) (common.JobState, error) {
		state, err := s.Jobs.Change(ctx, who, verb, name, pre, func(old common.Job) (common.Job, error) {
			job, err := change(old)
			if steps = job.Steps; err != nil {
				return job, err
			}
			if err := core.Allow(ctx, access.Editor, job.Group); err != nil {
				return job, err
			}
			return job, s.permitted(ctx, &job, nil, nil)
		})
		saved = state
		return state, err
	})
	saved.Steps = steps
	return s.remark(ctx, out, &saved.Job), err
}

// patched applies a merge patch, whose fields and types the guard has checked.
func patched(old *common.Job, patch json.RawMessage) (job common.Job, err error) {
	change, fault := strict.Parse(patch)
	if fault != nil {
		return job, core.BadRequest(*fault)
	}
	fields, ok := change.(map[string]any)
	if !ok {
		return job, core.BadParameter("body", "type", "must be an object", "")
	}
	delete(fields, "meta")
	data, err := json.Marshal(old)
	if err != nil {
		return job, fmt.Errorf("encode job %q: %w", old.Name, err)
	}
	held, fault := strict.Parse(data)
	if fault != nil {
		return job, fmt.Errorf("read job %q: %s %s", old.Name, fault.Location, fault.Message)
	}
	if own, ok := held.(map[string]any); ok {
		maps.DeleteFunc(fields, func(name string, value any) bool { return own[name] == nil && removesOnly(value) })
	}
	if data, err = json.Marshal(merge(held, fields)); err != nil {
		return job, fmt.Errorf("encode job %q: %w", old.Name, err)
	}
	if err := json.Unmarshal(data, &job); err != nil {
		return job, core.BadParameter("body", "invalid", "does not result in a valid job", "")
	}
	return job, arrange(&job, old, patch)
}

// arrange puts the parameters of a patched job in order, which merging loses: those of the job first, then new ones as
// the patch has them.
func arrange(job, old *common.Job, patch json.RawMessage) error {
	var given struct {
		Params common.Params `json:"params"`
	}
	if err := json.Unmarshal(patch, &given); err != nil {
		return core.BadParameter("body.params", "invalid", "must be an object of parameters", "")
	}
	job.Params.Arrange(slices.Concat(old.Params.Names(), given.Params.Names()))
	return nil
}

// removesOnly reports whether a patch of an object removes fields and sets none. Of an object that a job does not set
// it is left out: an empty one would opt the job out of what it inherits.
func removesOnly(patch any) bool {
	fields, ok := patch.(map[string]any)
	if !ok || len(fields) == 0 {
		return false
	}
	for _, value := range fields {
		if value != nil && !removesOnly(value) {
			return false
		}
	}
	return true
}

// merge is MergePatch of RFC 7396.
func merge(target, patch any) any {
	fields, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	into, ok := target.(map[string]any)
	if !ok {
		into = map[string]any{}
	}
	into = maps.Clone(into)
	for name, value := range fields {
		if value == nil {
			delete(into, name)
		} else {
			into[name] = merge(into[name], value)
		}
	}
	return into
}

// rollback restores a definition. Whether the job is paused does not change: a pause is a decision
// about the present.
func (s *Resource) rollback(ctx context.Context, in *jobRollbackInput) (*jobOutput, error) {
	then, err := s.version(ctx, &versionInput{JobPath: in.JobPath, Version: in.Body.Version})
	if err != nil {
		return nil, err
	}
	if then.Body.Job == nil {
		return nil, common.Invalid("the job cannot be rolled back", common.NewFault("version", "deleted", nil,
			"is the deletion of the job").WithHint("choose the version before it"))
	}
	target := common.Job(*then.Body.Job)
	return s.edit(ctx, actorOf(ctx, in.Body.Note), "rollback", in.Name, in.IfMatch,
		func(old common.Job) (common.Job, error) {
			job := target
			job.Paused, job.PauseNote, job.PauseUntil = old.Paused, old.PauseNote, old.PauseUntil
			return job, nil
		})
}
