package accounts

import (
	"context"
	"net/http"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// Users manages users.
type Users interface {
	Users(ctx context.Context) ([]access.UserRecord, error)
	User(ctx context.Context, name string) (access.UserRecord, error)
	CreateUser(ctx context.Context, actor common.Actor, name string,
		wanted access.UserChange) (access.UserRecord, error)
	// UpdateUser and DeleteUser keep the last admin who can sign in: CodeConflict.
	UpdateUser(ctx context.Context, actor common.Actor, name string, wanted access.UserChange,
		pre common.Precondition) (access.UserRecord, error)
	DeleteUser(ctx context.Context, actor common.Actor, name string, pre common.Precondition) error
}

type usersResource struct{ users Users }

// User can sign in and own tokens.
type User struct {
	Name        string                 `json:"name"`
	Title       string                 `json:"title,omitempty"`
	Role        access.Role            `json:"role,omitempty" enum:"viewer,operator,editor,admin" doc:"Role everywhere; absent for none."`
	Groups      map[string]access.Role `json:"groups,omitempty" doc:"Additional roles by group."`
	Disabled    bool                   `json:"disabled,omitempty" doc:"The user cannot sign in, and its tokens are refused."`
	HasPassword bool                   `json:"hasPassword" doc:"The user can sign in with a password."`
	Version     int64                  `json:"version" doc:"Increases with each change; also the ETag."`
	CreatedAt   time.Time              `json:"createdAt"`
	CreatedBy   string                 `json:"createdBy,omitempty"`
	UpdatedAt   time.Time              `json:"updatedAt"`
	UpdatedBy   string                 `json:"updatedBy,omitempty"`
}

// UserDefinition is a new user.
type UserDefinition struct {
	Name     string                 `json:"name" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"User name, without '..'." example:"ann"`
	Title    string                 `json:"title,omitempty" maxLength:"200" doc:"Display name, in any language." example:"Ann Lee"`
	Role     access.Role            `json:"role,omitempty" enum:"viewer,operator,editor,admin" doc:"Role everywhere. Default: none." example:"viewer"`
	Groups   map[string]access.Role `json:"groups,omitempty" doc:"Additional roles by group: viewer, operator, editor or admin."`
	Disabled bool                   `json:"disabled,omitempty"`
	Password string                 `json:"password,omitempty" doc:"At least 12 characters, at most 1024 bytes. A user without a password cannot sign in, but can own tokens." example:"blue horse under a quiet bridge"`
}

// UserPatch is a change of a user. The user's sessions end when the password or a role changes.
type UserPatch struct {
	Title    core.Optional[string]                 `json:"title,omitzero" maxLength:"200" doc:"Display name; null for none."`
	Role     core.Optional[access.Role]            `json:"role,omitzero" enum:"viewer,operator,editor,admin" doc:"Role everywhere; null for none."`
	Groups   core.Optional[map[string]access.Role] `json:"groups,omitzero" doc:"Additional roles by group, replaced as a whole; null for none."`
	Disabled *bool                                 `json:"disabled,omitempty" doc:"The user cannot sign in, and its tokens are refused."`
	Password core.Optional[string]                 `json:"password,omitzero" doc:"New password; null removes it."`
}

// UserPath names a user.
type UserPath struct {
	Name string `path:"name" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Name of the user."`
}

type userCreateInput struct{ Body UserDefinition }

type userPatchInput struct {
	UserPath
	IfMatch string `header:"If-Match" doc:"Only if the user has this ETag."`
	Body    UserPatch
}

type userDeleteInput struct {
	UserPath
	IfMatch string `header:"If-Match" doc:"Only if the user has this ETag."`
}

func (s *usersResource) register(r *core.Router) {
	op := core.NewOperations("access", "/api/v1/users")
	core.Register(r, op.Get("list-users", "", "List users", core.Admin).Everywhere(), s.list)
	create := op.Post("create-user", "", "Create a user", core.Admin)
	create.DefaultStatus = http.StatusCreated
	core.Register(r, create.Everywhere(), s.create)
	core.Register(r, op.Get("get-user", "/{name}", "Get a user", core.Admin).Everywhere(), s.get)
	core.Register(r, op.Patch("patch-user", "/{name}", "Change a user", core.Admin).Everywhere(), s.patch)
	core.Register(r, op.Delete("delete-user", "/{name}", "Delete a user", core.Admin).Everywhere(), s.delete)
}

func (s *usersResource) list(ctx context.Context, in *core.Paging) (*core.Body[core.Page[User]], error) {
	found, err := s.users.Users(ctx)
	if err != nil {
		return nil, err
	}
	found, next, err := core.Cut("users", found, func(u *access.UserRecord) string { return u.Name }, in)
	if err != nil {
		return nil, err
	}
	return core.Reply(core.NewPage(core.Items(found, userOf), next))
}

func (s *usersResource) get(ctx context.Context, in *UserPath) (*core.Versioned[User], error) {
	u, err := s.users.User(ctx, in.Name)
	return userAnswer(&u, false, err)
}

func (s *usersResource) create(ctx context.Context, in *userCreateInput) (*core.Versioned[User], error) {
	b := &in.Body
	u, err := s.users.CreateUser(ctx, core.Actor(ctx), b.Name,
		access.UserChange{
			Title:    &b.Title,
			Role:     &b.Role,
			Groups:   &b.Groups,
			Disabled: &b.Disabled,
			Password: &b.Password,
		})
	return userAnswer(&u, true, err)
}

func (s *usersResource) patch(ctx context.Context, in *userPatchInput) (*core.Versioned[User], error) {
	pre, err := core.Precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	b := &in.Body
	u, err := s.users.UpdateUser(ctx, core.Actor(ctx), in.Name,
		access.UserChange{
			Title:    userChange(b.Title),
			Role:     userChange(b.Role),
			Groups:   userChange(b.Groups),
			Disabled: b.Disabled,
			Password: userChange(b.Password),
		}, pre)
	return userAnswer(&u, false, err)
}

func (s *usersResource) delete(ctx context.Context, in *userDeleteInput) (*struct{}, error) {
	pre, err := core.Precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	return nil, s.users.DeleteUser(ctx, core.Actor(ctx), in.Name, pre)
}

// userChange is nil for an absent field, and points to the zero value for null.
func userChange[T any](o core.Optional[T]) *T {
	if o.Given && o.Value == nil {
		return new(T)
	}
	return o.Value
}

func userAnswer(u *access.UserRecord, created bool, err error) (*core.Versioned[User], error) {
	if err != nil {
		return nil, err
	}
	return core.ReplyVersion(u.Version, created, userOf(u))
}

func userOf(u *access.UserRecord) User {
	return User{
		Name:        u.Name,
		Title:       u.Title,
		Role:        u.Role,
		Groups:      u.Groups,
		Disabled:    u.Disabled,
		HasPassword: u.Password != "",
		Version:     u.Version,
		CreatedAt:   u.CreatedAt,
		CreatedBy:   u.CreatedBy,
		UpdatedAt:   u.UpdatedAt,
		UpdatedBy:   u.UpdatedBy,
	}
}
