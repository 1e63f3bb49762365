package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
)

// Users are those who can log in with a name and a password, and whom tokens belong to.
type Users interface {
	Users(ctx context.Context) ([]auth.UserRecord, error)
	User(ctx context.Context, name string) (auth.UserRecord, error)
	CreateUser(ctx context.Context, actor common.Actor, name string, wish auth.UserWish) (auth.UserRecord, error)
	// UpdateUser and DeleteUser leave the last admin who can log in: CodeConflict.
	UpdateUser(ctx context.Context, actor common.Actor, name string, wish auth.UserWish, pre common.Precondition) (auth.UserRecord, error)
	DeleteUser(ctx context.Context, actor common.Actor, name string, pre common.Precondition) error
}

type usersResource struct{ users Users }

// User is somebody who can log in, or whom tokens belong to.
type User struct {
	Name        string               `json:"name"`
	Title       string               `json:"title,omitempty"`
	Role        auth.Role            `json:"role,omitempty" enum:"viewer,operator,editor,admin" doc:"What they may do everywhere; absent for nothing."`
	Groups      map[string]auth.Role `json:"groups,omitempty" doc:"What they may do besides with the jobs of a group, by its name."`
	Disabled    bool                 `json:"disabled,omitempty" doc:"They cannot log in, and their tokens are refused."`
	HasPassword bool                 `json:"hasPassword" doc:"They can log in with a password."`
	Version     int64                `json:"version" doc:"Grows with each change; the ETag."`
	CreatedAt   time.Time            `json:"createdAt"`
	CreatedBy   string               `json:"createdBy,omitempty"`
	UpdatedAt   time.Time            `json:"updatedAt"`
	UpdatedBy   string               `json:"updatedBy,omitempty"`
}

// UserDefinition says what a new user is to be.
type UserDefinition struct {
	Name     string               `json:"name" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Names the user; without '..'." example:"ann"`
	Title    string               `json:"title,omitempty" maxLength:"200" doc:"A name for people, in any language." example:"Ann Lee"`
	Role     auth.Role            `json:"role,omitempty" enum:"viewer,operator,editor,admin" doc:"What they may do everywhere; nothing where not given." example:"viewer"`
	Groups   map[string]auth.Role `json:"groups,omitempty" doc:"What they may do besides with the jobs of a group, by its name: viewer, operator, editor or admin."`
	Disabled bool                 `json:"disabled,omitempty"`
	Password string               `json:"password,omitempty" doc:"At least 12 characters, at most 1024 bytes. Without one they cannot log in, but tokens can belong to them." example:"blue horse under a quiet bridge"`
}

// UserPatch says what to change of a user. Sessions of theirs are over when the password or what they may do changes.
type UserPatch struct {
	Title    Optional[string]               `json:"title,omitzero" maxLength:"200" doc:"A name for people; null for none."`
	Role     Optional[auth.Role]            `json:"role,omitzero" enum:"viewer,operator,editor,admin" doc:"What they may do everywhere; null for nothing."`
	Groups   Optional[map[string]auth.Role] `json:"groups,omitzero" doc:"What they may do besides, by group, in whole; null for nothing."`
	Disabled *bool                          `json:"disabled,omitempty" doc:"They cannot log in, and their tokens are refused."`
	Password Optional[string]               `json:"password,omitzero" doc:"A new password; null takes it away."`
}

// UserPath names a user.
type UserPath struct {
	Name string `path:"name" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Name of the user."`
}

// Paging says which part of a list to give.
type Paging struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many to list."`
	Cursor string `query:"cursor" maxLength:"1024" doc:"nextCursor of the page before."`
}

type userCreateInput struct{ Body UserDefinition }

type userPatchInput struct {
	UserPath
	IfMatch string `header:"If-Match" doc:"Only if the user's ETag is this one."`
	Body    UserPatch
}

type userDeleteInput struct {
	UserPath
	IfMatch string `header:"If-Match" doc:"Only if the user's ETag is this one."`
}

type userOutput struct {
	ETag string `header:"ETag"`
	Body User
}

type usersOutput struct{ Body Page[User] }

func (s *usersResource) register(r *router) {
	op := func(id, method, path, summary, description string) huma.Operation {
		return huma.Operation{OperationID: id, Method: method, Path: "/api/v1/users" + path, Summary: summary, Description: description, Tags: []string{"access"}}
	}
	register(r, route{access: needs(auth.Admin), Operation: op("list-users", http.MethodGet, "", "Users, by name",
		"Passwords never come back. For admins everywhere.")}, s.list)
	create := op("create-user", http.MethodPost, "", "Make a user",
		"Gives a user a role everywhere, or roles in groups, or both. Without a password nobody can log in as the user, but tokens can belong to it, as for a service.")
	create.DefaultStatus = http.StatusCreated
	register(r, route{access: needs(auth.Admin), Operation: create}, s.create)
	register(r, route{access: needs(auth.Admin), Operation: op("get-user", http.MethodGet, "/{name}", "One user", "For admins everywhere; GET /auth/me tells anybody of themselves.")}, s.get)
	register(r, route{access: needs(auth.Admin), Operation: op("patch-user", http.MethodPatch, "/{name}", "Change a user",
		"Changes what is given. Where the password or a role changes, or the user is disabled, the user's sessions are over within seconds; tokens of the user may do what the user may from then on. The last admin who can log in stays one.")}, s.patch)
	remove := op("delete-user", http.MethodDelete, "/{name}", "Delete a user",
		"The user's tokens go with it, and its sessions are over within seconds. The last admin who can log in stays.")
	remove.DefaultStatus = http.StatusNoContent
	register(r, route{access: needs(auth.Admin), Operation: remove}, s.delete)
}

func (s *usersResource) list(ctx context.Context, in *Paging) (*usersOutput, error) {
	if err := allowEverywhere(ctx, auth.Admin); err != nil {
		return nil, err
	}
	found, err := s.users.Users(ctx)
	if err != nil {
		return nil, err
	}
	found, next, err := cut("users", found, func(u *auth.UserRecord) string { return u.Name }, in)
	if err != nil {
		return nil, err
	}
	items := make([]User, len(found))
	for i := range found {
		items[i] = userOf(&found[i])
	}
	return &usersOutput{Body: page(items, next)}, nil
}

func (s *usersResource) get(ctx context.Context, in *UserPath) (*userOutput, error) {
	if err := allowEverywhere(ctx, auth.Admin); err != nil {
		return nil, err
	}
	u, err := s.users.User(ctx, in.Name)
	return userAnswer(&u, err)
}

func (s *usersResource) create(ctx context.Context, in *userCreateInput) (*userOutput, error) {
	if err := allowEverywhere(ctx, auth.Admin); err != nil {
		return nil, err
	}
	b := &in.Body
	u, err := s.users.CreateUser(ctx, actor(ctx), b.Name,
		auth.UserWish{Title: &b.Title, Role: &b.Role, Groups: &b.Groups, Disabled: &b.Disabled, Password: &b.Password})
	return userAnswer(&u, err)
}

func (s *usersResource) patch(ctx context.Context, in *userPatchInput) (*userOutput, error) {
	if err := allowEverywhere(ctx, auth.Admin); err != nil {
		return nil, err
	}
	pre, err := precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	b := &in.Body
	u, err := s.users.UpdateUser(ctx, actor(ctx), in.Name,
		auth.UserWish{Title: wished(b.Title), Role: wished(b.Role), Groups: wished(b.Groups), Disabled: b.Disabled, Password: wished(b.Password)}, pre)
	return userAnswer(&u, err)
}

func (s *usersResource) delete(ctx context.Context, in *userDeleteInput) (*struct{}, error) {
	if err := allowEverywhere(ctx, auth.Admin); err != nil {
		return nil, err
	}
	pre, err := precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	return nil, s.users.DeleteUser(ctx, actor(ctx), in.Name, pre)
}

// wished is nil for what is not given, and the zero value for null.
func wished[T any](o Optional[T]) *T {
	if o.Given && o.Value == nil {
		return new(T)
	}
	return o.Value
}

func userAnswer(u *auth.UserRecord, err error) (*userOutput, error) {
	if err != nil {
		return nil, err
	}
	return &userOutput{ETag: etag(u.Version), Body: userOf(u)}, nil
}

func userOf(u *auth.UserRecord) User {
	return User{Name: u.Name, Title: u.Title, Role: u.Role, Groups: u.Groups, Disabled: u.Disabled, HasPassword: u.Password != "",
		Version: u.Version, CreatedAt: u.CreatedAt, CreatedBy: u.CreatedBy, UpdatedAt: u.UpdatedAt, UpdatedBy: u.UpdatedBy}
}

// cut takes the page that is asked for out of a list in the order of its keys.
func cut[T any](list string, all []T, key func(*T) string, in *Paging) (items []T, next string, err error) {
	after := ""
	if in.Cursor != "" {
		if after, err = readCursor[string](list, in.Cursor); err != nil {
			return nil, "", err
		}
	}
	for i := range all {
		switch at := key(&all[i]); {
		case at <= after:
		case len(items) == in.Limit:
			next, err = writeCursor(list, key(&items[len(items)-1]))
			return items, next, err
		default:
			items = append(items, all[i])
		}
	}
	return items, "", nil
}
