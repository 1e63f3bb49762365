package types

import (
	"context"
	"slices"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// Resource serves the types of jobs.
type Resource struct{ Types Types }

// Types lists the types of jobs.
type Types interface {
	// Types lists the types of the live workers, and those that are built in, by name.
	Types(ctx context.Context) ([]common.TypeInfo, error)
}

// TypePath names a type.
type TypePath struct {
	Name string `path:"name" pattern:"^[a-z][a-z0-9-]{0,30}$" doc:"Name of the type."`
}

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	op := core.NewOperations("types", "/api/v1/types")
	core.Register(r, op.Get("list-types", "", "List types", core.Viewer), s.list)
	core.Register(r, op.Get("get-type", "/{name}", "Get a type", core.Viewer), s.get)
}

func (s *Resource) list(ctx context.Context, _ *struct{}) (*core.Body[core.Page[common.TypeInfo]], error) {
	found, err := s.Types.Types(ctx)
	if err != nil {
		return nil, err
	}
	return core.Reply(core.NewPage(core.Items(found, shown), ""))
}

func (s *Resource) get(ctx context.Context, in *TypePath) (*core.Body[common.TypeInfo], error) {
	found, err := s.Types.Types(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(found, func(t common.TypeInfo) bool { return t.Name == in.Name })
	if i < 0 {
		return nil, common.Errorf(common.CodeNotFound, "type %q not found: no live worker has it",
			common.Shorten(in.Name)).WithHint("install the plug-in on a worker; carillon-worker types shows its types")
	}
	return core.Reply(shown(&found[i]))
}

func shown(t *common.TypeInfo) common.TypeInfo {
	one := *t
	if one.Workers == nil {
		one.Workers = []common.TypeWorker{}
	}
	return one
}
