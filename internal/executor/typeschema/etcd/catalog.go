package etcd

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/executor/httprun/request"
	"carillon/internal/executor/typeschema"
)

const (
	// fresh is how long the documents that were read are used.
	fresh = time.Second
	// mostCompiled bounds the compiled documents that are kept.
	mostCompiled = 1000
)

// Catalog reads the documents of all workers.
type Catalog struct {
	client  *clientv3.Client
	workers func() []common.Member
	builtIn []*typeschema.Type

	mu       sync.Mutex
	read     time.Time                              // guarded by mu
	current  map[string]map[string]*typeschema.Type // by type and worker; guarded by mu
	compiled map[[sha256.Size]byte]*typeschema.Type // by the text of a document; guarded by mu
}

// NewCatalog returns a catalog; workers returns the live workers.
func NewCatalog(client *clientv3.Client, workers func() []common.Member) (*Catalog, error) {
	requests, err := typeschema.Parse(request.Document)
	if err != nil {
		return nil, fmt.Errorf("the type http: %w", err)
	}
	return &Catalog{
		client:   client,
		workers:  workers,
		builtIn:  []*typeschema.Type{requests},
		compiled: map[[sha256.Size]byte]*typeschema.Type{},
	}, nil
}

// documents returns the documents of plug-ins, by type and worker.
func (c *Catalog) documents(ctx context.Context) (map[string]map[string]*typeschema.Type, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil && time.Since(c.read) < fresh {
		return c.current, nil
	}
	found := map[string]map[string]*typeschema.Type{}
	if _, err := etcdkit.Each(ctx, c.client, common.TypesPrefix, func(kv *mvccpb.KeyValue) error {
		worker, name, ok := common.ParseTypeKey(string(kv.Key))
		if !ok || common.ReservedType(name) {
			return nil
		}
		sum := sha256.Sum256(kv.Value)
		one := c.compiled[sum]
		if one == nil {
			var err error
			if one, err = typeschema.Parse(kv.Value); err != nil || one.Name != name {
				return nil // of a worker whose protocol this version does not know
			}
			if len(c.compiled) >= mostCompiled {
				clear(c.compiled)
			}
			c.compiled[sum] = one
		}
		if found[name] == nil {
			found[name] = map[string]*typeschema.Type{}
		}
		found[name][worker] = one
		return nil
	}, clientv3.WithLimit(50)); err != nil {
		return nil, err
	}
	c.current, c.read = found, time.Now()
	return found, nil
}

// Types lists the types of the live workers, and those that are built in, by name.
func (c *Catalog) Types(ctx context.Context) ([]common.TypeInfo, error) {
	documents, err := c.documents(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string]*common.TypeInfo{
		common.TypeShell: {Name: common.TypeShell, BuiltIn: true, Version: "1"},
	}
	for _, t := range c.builtIn {
		found[t.Name] = infoOf(t)
		found[t.Name].BuiltIn = true
	}
	for _, m := range c.workers() {
		types := m.Types
		if types == nil { // an older version
			types = map[string]string{common.TypeShell: "1"}
		}
		for name, version := range types {
			info := found[name]
			document := documents[name][m.Worker]
			switch {
			case info == nil && name == common.TypeFunc:
				info = functions(version)
				found[name] = info
			case info == nil && document == nil:
				continue // not published yet
			case info == nil:
				info = infoOf(document)
				found[name] = info
			case document != nil && !info.BuiltIn && string(document.With) != string(info.With):
				info.Differs = true
			}
			info.Workers = append(info.Workers, common.TypeWorker{ID: m.Worker, Name: m.Name, Version: version})
		}
	}
	all := make([]common.TypeInfo, 0, len(found))
	for _, info := range found {
		all = append(all, *info)
	}
	slices.SortFunc(all, func(a, b common.TypeInfo) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// functions describes the type of jobs that programs run as their functions. It is listed while such a program lives.
func functions(version string) *common.TypeInfo {
	return &common.TypeInfo{
		Name:    common.TypeFunc,
		Version: version,
		Title:   map[string]string{"en": "Function of a program", "zh": "程序中的函数"},
		With: json.RawMessage(`{"type": "object", "required": ["app", "func"], "additionalProperties": false, ` +
			`"properties": {"app": {"type": "string", "description": "Name of the program."}, ` +
			`"func": {"type": "string", "description": "Name of the function."}}}`),
	}
}

func infoOf(t *typeschema.Type) *common.TypeInfo {
	return &common.TypeInfo{Name: t.Name, Version: t.Version, Title: t.Title, With: t.With, Outputs: t.Outputs,
		Escapes: t.Escapes}
}

// Faults returns the faults of a job's settings by the documents of all workers that have its type, and of the settings
// of its steps. A type that no worker has is not judged.
func (c *Catalog) Faults(ctx context.Context, job *common.Job) (faults common.Faults, err error) {
	faults, err = c.of(ctx, job)
	if err != nil || !job.IsFlow() {
		return faults, err
	}
	for i := range job.Steps {
		step := &job.Steps[i]
		if !step.IsTyped() {
			continue
		}
		one := common.Job{Type: step.Type, With: step.With, Env: step.Env, Outputs: step.Outputs,
			OnLost: cmp.Or(step.OnLost, job.OnLost)}
		found, err := c.of(ctx, &one)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			f.Location = fmt.Sprintf("steps[%d].%s", i, f.Location)
			faults = append(faults, f)
		}
	}
	return faults, nil
}

func (c *Catalog) of(ctx context.Context, job *common.Job) (faults common.Faults, err error) {
	switch job.TypeName() {
	case common.TypeShell, common.TypeFunc: // which has no schema
		return nil, nil
	case common.TypeHTTP:
		return request.Faults(job), nil
	}
	documents, err := c.documents(ctx)
	if err != nil {
		return nil, err
	}
	judged := map[*typeschema.Type]bool{}
	for _, m := range c.workers() {
		t := documents[job.TypeName()][m.Worker]
		if t == nil || judged[t] {
			continue
		}
		judged[t] = true
		for _, f := range t.Faults(job) {
			if !slices.ContainsFunc(faults, func(g common.Fault) bool {
				return g.Location == f.Location && g.Message == f.Message
			}) {
				faults = append(faults, f)
			}
		}
	}
	return faults, nil
}

// Warnings returns remarks on the types of a job and its steps: those that no live worker has, and those whose schemas
// differ between workers.
func (c *Catalog) Warnings(ctx context.Context, job *common.Job) (warnings common.Faults, err error) {
	names := map[string]string{} // location by type
	if job.IsTyped() {
		names[job.TypeName()] = "type"
	}
	for i := range job.Steps {
		if s := &job.Steps[i]; s.IsTyped() && names[s.Type] == "" {
			names[s.Type] = fmt.Sprintf("steps[%d].type", i)
		}
	}
	delete(names, common.TypeFunc) // a program defines its jobs before it registers
	if len(names) == 0 {
		return nil, nil
	}
	types, err := c.Types(ctx)
	if err != nil {
		return nil, err
	}
	for name, at := range names {
		i := slices.IndexFunc(types, func(t common.TypeInfo) bool { return t.Name == name })
		switch {
		case i < 0 || len(types[i].Workers) == 0:
			warnings.Add(at, "unknown_type", name, "no live worker has the type: fires are missed until one has").
				Hint = "install the plug-in on a worker; carillon-worker types shows why it is not offered"
		case types[i].Differs:
			warnings.Add(at, "type_differs", name, "the schemas of the type differ between workers").
				Hint = "restrict the workers with placement.selector, or update the plug-in on all of them"
		}
	}
	slices.SortFunc(warnings, func(a, b common.Fault) int { return cmp.Compare(a.Location, b.Location) })
	return warnings, nil
}
