package defaults

import (
	"context"
	"encoding/json"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/jobmgr/defaults"
	"carillon/internal/notify"
)

// Resource serves defaults.
type Resource struct {
	Defaults Defaults
	Changes  Changes
	Channels Channels
}

// Channels lists the channels of notifications.
type Channels interface {
	Channels(ctx context.Context) ([]notify.Channel, error)
}

// Defaults manages defaults.
type Defaults interface {
	// List returns all defaults by group, those of all jobs first.
	List(ctx context.Context) ([]common.GroupDefaults, error)
	// Save stores defaults and changes the jobs that inherit them; the zero value deletes them. A dry run only returns
	// the review.
	Save(ctx context.Context, actor common.Actor, group string, wanted common.Defaults, pre common.Precondition,
		dry bool) (saved common.GroupDefaults, review *defaults.Review, err error)
}

// Changes reads audit entries.
type Changes interface {
	// Of lists the entries of one object with one of the verbs, newest first, before the id if it is not empty; partial
	// while the log store is away.
	Of(ctx context.Context, kind, name string, verbs []string, before string, limit int) (found []common.Change,
		partial bool, err error)
}

// JobDefaults are the defaults of a group.
type JobDefaults struct {
	Group string `json:"group" doc:"The group; * for the defaults of all jobs." example:"shop/eu"`
	common.Defaults
	Version   int64     `json:"version,omitempty" doc:"Increases with each change; also the ETag. Absent for defaults that do not exist."`
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
	UpdatedBy string    `json:"updatedBy,omitempty"`
}

// SavedDefaults are defaults with the effect of their change.
type SavedDefaults struct {
	JobDefaults
	DryRun bool             `json:"dryRun,omitempty" doc:"Nothing was written."`
	Review *defaults.Review `json:"review" doc:"Which jobs change, or would change, and in what."`

	Warnings []common.Fault `json:"warnings,omitempty" nullable:"false" doc:"Values that are accepted but probably not intended; locations are those of a request body."`
}

// DefaultsVersion is an earlier version of defaults.
type DefaultsVersion struct {
	Version  int64            `json:"version" doc:"The version created by the change."`
	At       time.Time        `json:"at"`
	By       string           `json:"by,omitempty" doc:"Who made the change."`
	Note     string           `json:"note,omitempty" doc:"Reason given."`
	Verb     string           `json:"verb" enum:"create,replace,delete" doc:"Kind of change."`
	Defaults *common.Defaults `json:"defaults,omitempty" doc:"The defaults; absent for a deletion."`
}

// GroupQuery names the group.
type GroupQuery struct {
	Group string `query:"group" required:"true" pattern:"^(\\*|[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?)$" doc:"The group; * for the defaults of all jobs." example:"shop/eu"`
}

type defaultsPutInput struct {
	GroupQuery
	DryRun      bool   `query:"dryRun" doc:"Write nothing, and return the effect."`
	IfMatch     string `header:"If-Match" doc:"Only if the defaults have this ETag."`
	IfNoneMatch string `header:"If-None-Match" doc:"*: only if there are no defaults of the group."`
	Body        common.Defaults
}

type versionsInput struct {
	GroupQuery
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Maximum number of items."`
	Cursor string `query:"cursor" maxLength:"1024" doc:"nextCursor of the previous page."`
}

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	op := core.NewOperations("jobs", "/api/v1/defaults")
	core.Register(r, op.Get("list-defaults", "", "List the defaults of groups", core.Viewer), s.list)
	put := op.Put("put-defaults", "", "Change the defaults of a group", core.Editor)
	put.Patience, put.Queue = core.ManyPatience, core.NewQueue()
	core.Register(r, put, s.put)
	core.Register(r, op.Get("list-defaults-versions", "/versions", "List the versions of a group's defaults",
		core.Viewer), s.versions)
}

// seen reports whether the caller may see the defaults of a group: a job of the caller's may inherit them.
func seen(ctx context.Context, group string) bool {
	if group == common.AllGroups || core.May(ctx, access.Viewer, group) {
		return true
	}
	who, known := core.Identity(ctx)
	if !known {
		return false
	}
	for granted := range who.Grants {
		if common.InGroup(granted, group) {
			return true
		}
	}
	return false
}

// scope returns the group in which a change needs a role: for the defaults of all jobs, everywhere.
func scope(group string) string {
	if group == common.AllGroups {
		return ""
	}
	return group
}

func (s *Resource) list(ctx context.Context, _ *struct{}) (*core.Body[core.Page[JobDefaults]], error) {
	found, err := s.Defaults.List(ctx)
	if err != nil {
		return nil, err
	}
	items := make([]JobDefaults, 0, len(found))
	for i := range found {
		if seen(ctx, found[i].Group) {
			items = append(items, defaultsOf(&found[i]))
		}
	}
	return core.Reply(core.NewPage(items, ""))
}

func defaultsOf(d *common.GroupDefaults) JobDefaults {
	return JobDefaults{Group: d.Group, Defaults: d.Defaults, Version: d.Version, UpdatedAt: d.UpdatedAt,
		UpdatedBy: d.UpdatedBy}
}

func (s *Resource) put(ctx context.Context, in *defaultsPutInput) (*core.Versioned[SavedDefaults], error) {
	pre, err := core.Precondition(in.IfMatch, in.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	if err := core.Allow(ctx, access.Editor, scope(in.Group)); err != nil {
		return nil, err
	}
	saved, review, err := s.Defaults.Save(ctx, core.Actor(ctx), in.Group, in.Body, pre, in.DryRun)
	if err != nil {
		return nil, err
	}
	out := SavedDefaults{JobDefaults: defaultsOf(&saved), DryRun: in.DryRun, Review: review}
	if in.Body.Notify != nil {
		channels, err := s.Channels.Channels(ctx)
		if err != nil {
			return nil, err
		}
		for _, w := range view.ChannelWarnings(in.Body.Notify, channels) {
			w.Location = core.InBody(w.Location)
			out.Warnings = append(out.Warnings, w)
		}
	}
	return core.ReplyVersion(saved.Version, false, out)
}

func (s *Resource) versions(ctx context.Context, in *versionsInput) (*core.Body[core.HistoryPage[DefaultsVersion]],
	error) {
	if !seen(ctx, in.Group) {
		return nil, core.Allow(ctx, access.Viewer, scope(in.Group))
	}
	list := "versions of defaults of " + in.Group
	before, err := core.ReadCursor[string](list, in.Cursor)
	if err != nil {
		return nil, err
	}
	found, partial, err := s.Changes.Of(ctx, "defaults", in.Group, []string{"create", "replace", "delete"}, before,
		in.Limit+1)
	if err != nil {
		return nil, err
	}
	found, next, err := core.Take(list, found, in.Limit, func(c *common.Change) string { return c.ID })
	if err != nil {
		return nil, err
	}
	items := make([]DefaultsVersion, 0, len(found))
	for i := range found {
		c := &found[i]
		v := DefaultsVersion{Version: c.Revision, At: c.At, By: c.Actor.Name, Note: c.Actor.Note, Verb: c.Verb}
		var after common.GroupDefaults
		if c.Verb != "delete" && json.Unmarshal(c.After, &after) == nil {
			v.Defaults = &after.Defaults
		}
		items = append(items, v)
	}
	return core.Reply(core.NewHistoryPage(items, next, partial))
}
