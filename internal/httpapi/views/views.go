package views

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// Resource serves views.
type Resource struct {
	Views Views
}

// Views stores views by their owner; that of the shared ones is common.SharedViews.
type Views interface {
	// Views returns the views of an owner and the shared ones.
	Views(ctx context.Context, owner string) ([]common.View, error)
	// SaveView creates or changes a view; created reports that there was none.
	SaveView(ctx context.Context, actor common.Actor, owner, id string, wanted common.ViewDefinition,
		pre common.Precondition) (v common.View, created bool, err error)
	// DeleteView deletes a view: CodeNotFound if there is none.
	DeleteView(ctx context.Context, actor common.Actor, owner, id string, pre common.Precondition) error
}

// View is a named filter of the list of jobs.
type View struct {
	ID        string    `json:"id" example:"paused-shop"`
	Name      string    `json:"name" example:"Paused in the shop"`
	Query     string    `json:"query" doc:"The filter, as the query of the console's address." example:"group=shop&state=paused"`
	Shared    bool      `json:"shared" doc:"Visible to all users."`
	Version   int64     `json:"version" doc:"Increases with each change; also the ETag."`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	UpdatedBy string    `json:"updatedBy,omitempty"`
}

// ViewPath names a view.
type ViewPath struct {
	ID string `path:"id" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Id of the view."`
}

type putInput struct {
	ViewPath
	IfMatch     string `header:"If-Match" doc:"Only if the view has this ETag."`
	IfNoneMatch string `header:"If-None-Match" doc:"*: only if the view does not exist."`
	Body        common.ViewDefinition
}

type deleteInput struct {
	ViewPath
	Shared  bool   `query:"shared" doc:"Delete the shared view of this id, not your own; needs the role editor."`
	IfMatch string `header:"If-Match" doc:"Only if the view has this ETag."`
}

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	op := core.NewOperations("views", "/api/v1/views")
	core.Register(r, op.Get("list-views", "", "List your views and the shared ones", core.Viewer), s.list)
	put := op.Put("put-view", "/{id}", "Create or change a view", core.Viewer)
	put.Responses = core.Created("View")
	core.Register(r, put, s.put)
	core.Register(r, op.Delete("delete-view", "/{id}", "Delete a view", core.Viewer), s.delete)
}

func (s *Resource) list(ctx context.Context, _ *struct{}) (*core.Body[core.Page[View]], error) {
	owner, err := ownerOf(ctx, false)
	if err != nil {
		return nil, err
	}
	found, err := s.Views.Views(ctx, owner)
	if err != nil {
		return nil, err
	}
	items := make([]View, len(found))
	for i := range found {
		items[i] = viewOf(&found[i])
	}
	return core.Reply(core.NewPage(items, ""))
}

func (s *Resource) put(ctx context.Context, in *putInput) (*core.Versioned[View], error) {
	pre, err := core.Precondition(in.IfMatch, in.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	owner, err := ownerOf(ctx, in.Body.Shared)
	if err != nil {
		return nil, err
	}
	saved, created, err := s.Views.SaveView(ctx, core.Actor(ctx), owner, in.ID, in.Body, pre)
	if err != nil {
		return nil, err
	}
	return core.ReplyVersion(saved.Version, created, viewOf(&saved))
}

func (s *Resource) delete(ctx context.Context, in *deleteInput) (*struct{}, error) {
	pre, err := core.Precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	owner, err := ownerOf(ctx, in.Shared)
	if err != nil {
		return nil, err
	}
	return nil, s.Views.DeleteView(ctx, core.Actor(ctx), owner, in.ID, pre)
}

// ownerOf returns the owner of the caller's views: the user's record, or the name of an external user, or the token of
// a caller without a user. Shared views need the role editor for some group.
func ownerOf(ctx context.Context, shared bool) (string, error) {
	who, ok := core.Identity(ctx)
	switch {
	case !ok:
		return "", core.ErrNoCredentials()
	case shared:
		return common.SharedViews, core.AllowSomewhere(ctx, access.Editor)
	case who.UserID != "":
		return who.UserID, nil
	case who.User != "":
		sum := sha256.Sum256([]byte(who.User))
		return "x-" + hex.EncodeToString(sum[:16]), nil
	default:
		return "t-" + who.Token, nil
	}
}

func viewOf(v *common.View) View {
	return View{
		ID:        v.ID,
		Name:      v.Name,
		Query:     v.Query,
		Shared:    v.Shared,
		Version:   v.Version,
		CreatedAt: v.CreatedAt,
		UpdatedAt: v.UpdatedAt,
		UpdatedBy: v.UpdatedBy,
	}
}
