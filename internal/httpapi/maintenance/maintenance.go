package maintenance

import (
	"context"
	"slices"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/maintenance"
)

// Resource serves maintenance windows.
type Resource struct {
	Windows Windows
	Now     func() time.Time
}

// Windows stores maintenance windows.
type Windows interface {
	Windows(ctx context.Context) ([]maintenance.Window, error)
	// Find returns CodeNotFound if there is no such window.
	Find(ctx context.Context, name string) (maintenance.Window, error)
	// Save creates or changes a window. allowed is called with it before, if it existed, and after; its error is
	// returned.
	Save(ctx context.Context, actor common.Actor, name string, wanted maintenance.WindowDefinition,
		pre common.Precondition, allowed func(before, after *maintenance.Window) error) (w maintenance.Window,
		created bool, err error)
	Delete(ctx context.Context, actor common.Actor, name string, pre common.Precondition,
		allowed func(before, after *maintenance.Window) error) error
}

// MaintenanceWindow is a maintenance window with its state.
type MaintenanceWindow struct {
	Name string `json:"name" example:"db-upgrade"`
	maintenance.WindowDefinition
	State     State     `json:"state" enum:"open,planned,over"`
	Openings  []Opening `json:"openings" nullable:"false" doc:"When it is open within the next 31 days, the first 50 times; the present time first."`
	Version   int64     `json:"version" doc:"Increases with each change; also the ETag."`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	UpdatedBy string    `json:"updatedBy,omitempty"`
}

// State is whether a window is open.
type State string

// States.
const (
	StateOpen    State = "open"
	StatePlanned State = "planned"
	StateOver    State = "over"
)

// Opening is one time that a window is open.
type Opening struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Bounds of the openings of one window in a response.
const (
	ahead        = 31 * 24 * time.Hour
	mostOpenings = 50
)

// WindowPath names a window.
type WindowPath struct {
	Name string `path:"name" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Name of the window."`
}

type putInput struct {
	WindowPath
	IfMatch     string `header:"If-Match" doc:"Only if the window has this ETag."`
	IfNoneMatch string `header:"If-None-Match" doc:"*: only if the window does not exist."`
	Body        maintenance.WindowDefinition
}

type changeInput struct {
	WindowPath
	IfMatch string `header:"If-Match" doc:"Only if the window has this ETag."`
}

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	op := core.NewOperations("maintenance", "/api/v1/maintenance")
	core.Register(r, op.Get("list-maintenance", "", "List maintenance windows", core.Viewer), s.list)
	core.Register(r, op.Get("get-maintenance", "/{name}", "Get a maintenance window", core.Viewer), s.get)
	put := op.Put("put-maintenance", "/{name}", "Create or change a maintenance window", core.Operator)
	put.Responses = core.Created("MaintenanceWindow")
	core.Register(r, put, s.put)
	core.Register(r, op.Post("end-maintenance", "/{name}/end", "End a maintenance window now", core.Operator), s.end)
	core.Register(r, op.Delete("delete-maintenance", "/{name}", "Delete a maintenance window", core.Operator), s.delete)
}

// visible reports whether the caller sees a window: it affects a group of theirs, or more than groups.
func visible(ctx context.Context, w *maintenance.Window) bool {
	return w.Everything || w.Selector != "" || len(w.Workers) > 0 ||
		slices.ContainsFunc(w.Groups, func(g string) bool { return core.May(ctx, access.Viewer, g) })
}

// allowed returns a function that returns an error if the caller may not make a change: an operator of each group that
// a window affects may, and an operator of all groups if it affects more than groups.
func allowed(ctx context.Context) func(before, after *maintenance.Window) error {
	return func(before, after *maintenance.Window) error {
		for _, w := range []*maintenance.Window{before, after} {
			if w == nil {
				continue
			}
			if w.Everything || w.Selector != "" || len(w.Workers) > 0 || len(w.Groups) == 0 {
				if err := core.AllowEverywhere(ctx, access.Operator); err != nil {
					return err
				}
			}
			for _, group := range w.Groups {
				if err := core.Allow(ctx, access.Operator, group); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func (s *Resource) list(ctx context.Context, _ *struct{}) (*core.Body[core.Page[MaintenanceWindow]], error) {
	found, err := s.Windows.Windows(ctx)
	if err != nil {
		return nil, err
	}
	items := []MaintenanceWindow{}
	for i := range found {
		if visible(ctx, &found[i]) {
			items = append(items, s.show(&found[i]))
		}
	}
	return core.Reply(core.NewPage(items, ""))
}

func (s *Resource) get(ctx context.Context, in *WindowPath) (*core.Versioned[MaintenanceWindow], error) {
	w, err := s.Windows.Find(ctx, in.Name)
	if err == nil && !visible(ctx, &w) {
		err = core.AllowEverywhere(ctx, access.Viewer)
	}
	if err != nil {
		return nil, err
	}
	return core.ReplyVersion(w.Version, false, s.show(&w))
}

func (s *Resource) put(ctx context.Context, in *putInput) (*core.Versioned[MaintenanceWindow], error) {
	pre, err := core.Precondition(in.IfMatch, in.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	w, created, err := s.Windows.Save(ctx, core.Actor(ctx), in.Name, in.Body, pre, allowed(ctx))
	if err != nil {
		return nil, err
	}
	return core.ReplyVersion(w.Version, created, s.show(&w))
}

// end ends a window that is open: its end becomes the present.
func (s *Resource) end(ctx context.Context, in *changeInput) (*core.Versioned[MaintenanceWindow], error) {
	pre, err := core.Precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	w, err := s.Windows.Find(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	if err := pre.Holds("maintenance window "+w.Name, w.Version); err != nil {
		return nil, err
	}
	now := s.Now()
	if w.Recurs() || s.stateOf(&w, now) != StateOpen {
		return nil, common.Errorf(common.CodeConflict, "the maintenance window %q has no end that can be moved to now",
			w.Name).WithHint("only a window with from and to that is open can be ended; change or delete this one")
	}
	wanted := w.WindowDefinition
	wanted.To = new(now.UTC())
	pre = common.Precondition{Version: w.Version}
	w, _, err = s.Windows.Save(ctx, core.Actor(ctx), in.Name, wanted, pre, allowed(ctx))
	if err != nil {
		return nil, err
	}
	return core.ReplyVersion(w.Version, false, s.show(&w))
}

func (s *Resource) delete(ctx context.Context, in *changeInput) (*struct{}, error) {
	pre, err := core.Precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	return nil, s.Windows.Delete(ctx, core.Actor(ctx), in.Name, pre, allowed(ctx))
}

func (s *Resource) stateOf(w *maintenance.Window, now time.Time) State {
	switch open := w.Openings(now, now.Add(time.Nanosecond), 1); {
	case len(open) > 0:
		return StateOpen
	case w.Over(now):
		return StateOver
	}
	return StatePlanned
}

func (s *Resource) show(w *maintenance.Window) MaintenanceWindow {
	now := s.Now()
	out := MaintenanceWindow{
		Name:             w.Name,
		WindowDefinition: w.WindowDefinition,
		State:            s.stateOf(w, now),
		Openings:         []Opening{},
		Version:          w.Version,
		CreatedAt:        w.CreatedAt,
		UpdatedAt:        w.UpdatedAt,
		UpdatedBy:        w.UpdatedBy,
	}
	for _, o := range w.Openings(now, now.Add(ahead), mostOpenings) {
		out.Openings = append(out.Openings, Opening{From: o.Begin.UTC(), To: o.End.UTC()})
	}
	return out
}
