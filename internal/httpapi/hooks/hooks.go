package hooks

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/hooks"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

// Hooks stores the hooks of jobs. The precondition is about the job.
type Hooks interface {
	// Hooks returns the hooks of the job with a uid, by name.
	Hooks(ctx context.Context, jobUID string) ([]hooks.Hook, error)
	// Create creates a hook: CodeExists if there is one of this name.
	Create(ctx context.Context, actor common.Actor, job, name string, pre common.Precondition,
		wanted hooks.HookDefinition) (hooks.Hook, hooks.Shown, error)
	// Change changes a hook, and keeps its key: CodeNotFound if there is none; CodeStale, with hooks.ReasonChanged, if
	// it has another version than the given one, unless that is 0.
	Change(ctx context.Context, actor common.Actor, job, name string, pre common.Precondition, version int64,
		wanted hooks.HookDefinition) (hooks.Hook, hooks.Shown, error)
	// Rotate replaces the key, and with secret also that of the signature.
	Rotate(ctx context.Context, actor common.Actor, job, name string, pre common.Precondition,
		secret bool) (hooks.Hook, hooks.Shown, error)
	Delete(ctx context.Context, actor common.Actor, job, name string, pre common.Precondition) error
	// Find returns the hook that a key opens: CodeNotFound if there is none.
	Find(ctx context.Context, key hooks.Key) (hooks.Hook, error)
	// Secret returns the secret of a hook's signature.
	Secret(h *hooks.Hook) ([]byte, error)
}

// Resource serves hooks.
type Resource struct {
	Hooks     Hooks
	Jobs      view.Triggers
	PublicURL string // of the console; "" if unknown
	Problems  core.Problems
	Now       func() time.Time
}

// Hook is a URL that starts a job.
type Hook struct {
	Name      string                      `json:"name" example:"deploy"`
	Job       string                      `json:"job" example:"deploy-site"`
	Params    map[string]hooks.HookSource `json:"params,omitempty" doc:"Where parameters of the run get their values from."`
	Signature hooks.Signature             `json:"signature,omitempty" enum:"github,gitlab,timestamp" doc:"How deliveries prove that they know the secret; absent if they need not."`
	Header    string                      `json:"header,omitempty" doc:"The header with the signature, if it is another one than usual."`
	Rate      int                         `json:"rate" doc:"Deliveries that are accepted per minute."`
	Disabled  bool                        `json:"disabled,omitempty" doc:"Deliveries start nothing."`
	URL       string                      `json:"url,omitempty" doc:"The URL with its key, which is shown once: in the response that creates it. Without the setting publicURL, a path of this server."`
	Secret    string                      `json:"secret,omitempty" doc:"The secret of the signature, if it was generated; shown once."`
	Version   int64                       `json:"version" doc:"Increases with each change; also the ETag."`
	CreatedAt time.Time                   `json:"createdAt"`
	UpdatedAt time.Time                   `json:"updatedAt"`
	UpdatedBy string                      `json:"updatedBy,omitempty"`
	RotatedAt *time.Time                  `json:"rotatedAt,omitempty" doc:"When the key was last replaced."`
}

// NewHook creates a hook.
type NewHook struct {
	Name string `json:"name" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Name of the hook, unique in the job. Its runs are by hook:<name>." example:"deploy"`
	hooks.HookDefinition
}

// HookRotation is what is replaced.
type HookRotation struct {
	Secret bool `json:"secret,omitempty" doc:"Replace the secret of the signature, too."`
}

// HookPath names a hook.
type HookPath struct {
	view.JobPath
	Hook string `path:"hook" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Name of the hook."`
}

type createInput struct {
	view.JobPath
	Body NewHook
}

type changeInput struct {
	HookPath
	IfMatch string `header:"If-Match" doc:"Only if the hook has this ETag."`
	Body    hooks.HookDefinition
}

type rotateInput struct {
	HookPath
	Body *HookRotation
}

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	op := core.NewOperations("jobs", "/api/v1/jobs/{name}/hooks")
	core.Register(r, op.Get("list-hooks", "", "List the hooks of a job", core.Operator), s.list)
	create := op.Post("create-hook", "", "Create a hook of a job", core.Editor)
	create.DefaultStatus = http.StatusCreated
	core.Register(r, create, s.create)
	core.Register(r, op.Put("put-hook", "/{hook}", "Change a hook of a job", core.Editor), s.change)
	core.Register(r, op.Delete("delete-hook", "/{hook}", "Delete a hook of a job", core.Editor), s.delete)
	core.Register(r, op.Post("rotate-hook", "/{hook}/rotate", "Replace the key of a hook", core.Editor), s.rotate)
	newReceiver(s).register(r)
}

func (s *Resource) list(ctx context.Context, in *view.JobPath) (*core.Body[core.Page[Hook]], error) {
	state, err := s.Jobs.Get(ctx, in.Name)
	if err != nil && state.Version == 0 { // a damaged job has a version
		return nil, err
	}
	if err := core.Allow(ctx, access.Operator, state.Group); err != nil {
		return nil, err
	}
	found, err := s.Hooks.Hooks(ctx, state.UID)
	if err != nil {
		return nil, err
	}
	return core.Reply(core.NewPage(core.Items(found, hookOf), ""))
}

func (s *Resource) create(ctx context.Context, in *createInput) (*core.Versioned[Hook], error) {
	return s.edit(ctx, true, in.Name, func(pre common.Precondition) (hooks.Hook, hooks.Shown, error) {
		return s.Hooks.Create(ctx, core.Actor(ctx), in.Name, in.Body.Name, pre, in.Body.HookDefinition)
	})
}

func (s *Resource) change(ctx context.Context, in *changeInput) (*core.Versioned[Hook], error) {
	of, err := core.Precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	return s.edit(ctx, false, in.Name, func(pre common.Precondition) (hooks.Hook, hooks.Shown, error) {
		return s.Hooks.Change(ctx, core.Actor(ctx), in.Name, in.Hook, pre, of.Version, in.Body)
	})
}

func (s *Resource) rotate(ctx context.Context, in *rotateInput) (*core.Versioned[Hook], error) {
	return s.edit(ctx, false, in.Name, func(pre common.Precondition) (hooks.Hook, hooks.Shown, error) {
		return s.Hooks.Rotate(ctx, core.Actor(ctx), in.Name, in.Hook, pre, in.Body != nil && in.Body.Secret)
	})
}

func (s *Resource) delete(ctx context.Context, in *HookPath) (*struct{}, error) {
	_, err := s.edit(ctx, false, in.Name, func(pre common.Precondition) (h hooks.Hook, shown hooks.Shown, err error) {
		return h, shown, s.Hooks.Delete(ctx, core.Actor(ctx), in.Name, in.Hook, pre)
	})
	return nil, err
}

// edit changes a hook of a job that the caller may edit, or creates it.
func (s *Resource) edit(ctx context.Context, create bool, job string,
	commit func(common.Precondition) (hooks.Hook, hooks.Shown, error)) (*core.Versioned[Hook], error) {
	var changed error // the hook has another version: it is not tried again, as after a change of the job
	out, err := view.Authorized(ctx, s.Jobs, access.Editor, job, common.Precondition{},
		func(pre common.Precondition) (Hook, error) {
			h, shown, err := commit(pre)
			if e, is := errors.AsType[*common.Error](err); is && e.Reason == hooks.ReasonChanged {
				changed = err
				return Hook{}, nil
			}
			if err != nil {
				return Hook{}, err
			}
			out := hookOf(&h)
			out.Secret = shown.Secret
			if shown.Key != "" {
				out.URL = strings.TrimSuffix(s.PublicURL, "/") + core.HookPath + shown.Key
			}
			return out, nil
		})
	if err = cmp.Or(err, changed); err != nil {
		return nil, err
	}
	return core.ReplyVersion(out.Version, create, out)
}

func hookOf(h *hooks.Hook) Hook {
	out := Hook{
		Name:      h.Name,
		Job:       h.Job,
		Params:    h.Params,
		Signature: h.Signature,
		Header:    h.Header,
		Rate:      h.PerMinute(),
		Disabled:  h.Disabled,
		Version:   h.Version,
		CreatedAt: h.CreatedAt,
		UpdatedAt: h.UpdatedAt,
		UpdatedBy: h.UpdatedBy,
	}
	if !h.RotatedAt.IsZero() {
		out.RotatedAt = &h.RotatedAt
	}
	return out
}
