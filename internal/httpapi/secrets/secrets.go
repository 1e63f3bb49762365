package secrets

import (
	"context"
	"slices"
	"strings"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

// Resource serves secrets.
type Resource struct {
	Secrets    Secrets
	References view.References
	Jobs       view.Groups
}

// Secrets manages the named secrets that jobs refer to. Their values cannot be read.
type Secrets interface {
	Secrets(ctx context.Context) ([]common.Secret, error)
	Secret(ctx context.Context, name string) (common.Secret, error)
	// SaveSecret creates or changes a secret, if allowed returns no error for the existing one (nil
	// if there is none); created reports that there was none.
	SaveSecret(ctx context.Context, actor common.Actor, name string, wanted common.SecretDefinition,
		pre common.Precondition, allowed func(*common.Secret) error) (s common.Secret, created bool, err error)
	DeleteSecret(ctx context.Context, actor common.Actor, name string, pre common.Precondition,
		allowed func(*common.Secret) error) error
}

// Secret describes a named secret.
type Secret struct {
	Name        string    `json:"name" example:"db-password"`
	Description string    `json:"description,omitempty"`
	Groups      []string  `json:"groups" nullable:"false" doc:"Groups whose jobs may use it; empty for all."`
	Version     int64     `json:"version" doc:"Increases with each change; also the ETag."`
	Jobs        int       `json:"jobs" doc:"Number of jobs that refer to it."`
	UsedBy      []string  `json:"usedBy,omitempty" nullable:"false" doc:"The first 100 of these jobs, by name; in the response for a single secret."`
	SetAt       time.Time `json:"setAt" doc:"When its value was last set."`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
	UpdatedBy   string    `json:"updatedBy,omitempty"`
}

// SecretPath names a secret.
type SecretPath struct {
	Name string `path:"name" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Name of the secret."`
}

type secretPutInput struct {
	SecretPath
	IfMatch     string `header:"If-Match" doc:"Only if the secret has this ETag."`
	IfNoneMatch string `header:"If-None-Match" doc:"*: only if the secret does not exist."`
	Body        common.SecretDefinition
}

type secretDeleteInput struct {
	SecretPath
	IfMatch string `header:"If-Match" doc:"Only if the secret has this ETag."`
	Force   bool   `query:"force" doc:"Also if jobs or steps of flows refer to it, whose runs are then refused. Without it: 409, reason secret_in_use."`
}

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	op := core.NewOperations("secrets", "/api/v1/secrets")
	core.Register(r, op.Get("list-secrets", "", "List secrets", core.Editor), s.list)
	core.Register(r, op.Get("get-secret", "/{name}", "Get a secret", core.Editor), s.get)
	put := op.Put("put-secret", "/{name}", "Create or change a secret", core.Admin)
	put.Responses = core.Created("Secret")
	core.Register(r, put, s.put)
	core.Register(r, op.Delete("delete-secret", "/{name}", "Delete a secret", core.Admin), s.delete)
}

func (s *Resource) list(ctx context.Context, _ *struct{}) (*core.Body[core.Page[Secret]], error) {
	found, err := s.Secrets.Secrets(ctx)
	if err != nil {
		return nil, err
	}
	jobs := s.References.References(ctx, common.ReferentSecret)
	items := []Secret{}
	for i := range found {
		if maySee(ctx, &found[i]) == nil {
			item := secretOf(&found[i])
			item.Jobs = jobs[item.Name]
			items = append(items, item)
		}
	}
	return core.Reply(core.NewPage(items, ""))
}

// maySee returns an error for callers who cannot define jobs that may use the secret.
func maySee(ctx context.Context, s *common.Secret) error {
	if len(s.Groups) == 0 || slices.ContainsFunc(s.Groups, func(group string) bool {
		return core.May(ctx, access.Editor, group)
	}) {
		return nil
	}
	return core.Allow(ctx, access.Editor, s.Groups[0])
}

// mayKeep returns an error for callers who are not admins of all groups that may use the secret.
func mayKeep(ctx context.Context, groups []string) error {
	if len(groups) == 0 {
		return core.AllowEverywhere(ctx, access.Admin)
	}
	for _, group := range groups {
		if err := core.Allow(ctx, access.Admin, group); err != nil {
			return err
		}
	}
	return nil
}

func (s *Resource) get(ctx context.Context, in *SecretPath) (*core.Versioned[Secret], error) {
	found, err := s.Secrets.Secret(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	if err := maySee(ctx, &found); err != nil {
		return nil, err
	}
	return core.ReplyVersion(found.Version, false, s.one(ctx, &found))
}

func (s *Resource) put(ctx context.Context, in *secretPutInput) (*core.Versioned[Secret], error) {
	pre, err := core.Precondition(in.IfMatch, in.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	if err := mayKeep(ctx, in.Body.Groups); err != nil {
		return nil, err
	}
	saved, created, err := s.Secrets.SaveSecret(ctx, core.Actor(ctx), in.Name, in.Body, pre, keeps(ctx))
	if err != nil {
		return nil, err
	}
	return core.ReplyVersion(saved.Version, created, s.one(ctx, &saved))
}

// keeps returns the check of the existing secret at the moment of a change.
func keeps(ctx context.Context) func(*common.Secret) error {
	return func(before *common.Secret) error {
		if before == nil {
			return nil
		}
		return mayKeep(ctx, before.Groups)
	}
}

func (s *Resource) delete(ctx context.Context, in *secretDeleteInput) (*struct{}, error) {
	pre, err := core.Precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	allowed := keeps(ctx)
	return nil, s.Secrets.DeleteSecret(ctx, core.Actor(ctx), in.Name, pre, func(before *common.Secret) error {
		if err := allowed(before); err != nil || before == nil || in.Force {
			return err
		}
		return s.inUse(ctx, in.Name)
	})
}

// mostNamed is the number of jobs that a refusal names.
const mostNamed = 20

// inUse returns an error if jobs refer to a secret, in env or with, or in that of their steps, as this master knows
// them: a job that is saved at the same time may do so nevertheless. It names those that the caller may see.
func (s *Resource) inUse(ctx context.Context, name string) error {
	count := s.References.References(ctx, common.ReferentSecret)[name]
	if count == 0 {
		return nil
	}
	jobs := s.References.Referring(ctx, common.ReferentSecret, name, view.MaxUsedBy)
	jobs = slices.DeleteFunc(jobs, func(job string) bool {
		_, group, known := s.Jobs.UIDAndGroup(job)
		return !known || !core.May(ctx, access.Viewer, group)
	})
	jobs = jobs[:min(len(jobs), mostNamed)]
	if len(jobs) < count {
		jobs = append(jobs, "…")
	}
	text := strings.Join(jobs, ", ")
	return common.Errorf(common.CodeConflict, "%s secret %q: %s", common.Count(count, "job refers to", "jobs refer to"),
		name, text).WithReason("secret_in_use").With("jobs", text, "count", count).
		WithHint("change these jobs, or delete it with force: their runs are then refused, until there is a secret " +
			"of this name again")
}

// one returns a secret with the jobs that refer to it.
func (s *Resource) one(ctx context.Context, secret *common.Secret) Secret {
	out := secretOf(secret)
	out.Jobs = s.References.References(ctx, common.ReferentSecret)[out.Name]
	out.UsedBy = s.References.Referring(ctx, common.ReferentSecret, out.Name, view.MaxUsedBy)
	return out
}

func secretOf(s *common.Secret) Secret {
	return Secret{
		Name:        s.Name,
		Description: s.Description,
		Groups:      append([]string{}, s.Groups...),
		Version:     s.Version,
		SetAt:       s.SetAt,
		CreatedAt:   s.CreatedAt,
		UpdatedAt:   s.UpdatedAt,
		UpdatedBy:   s.UpdatedBy,
	}
}
