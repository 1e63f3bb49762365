package etcd

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
)

const (
	// maxParsed bounds the estimated memory of parsed bodies that are kept.
	maxParsed = 64 << 20
	// partsAtOnce keeps a page below 1 MiB.
	partsAtOnce = 4
)

// Bodies reads the definitions of flows, and keeps those that were used last.
type Bodies struct {
	client  *clientv3.Client
	archive Archive

	mu      sync.Mutex
	known   map[string]*list.Element // by digest
	order   *list.List               // of *body, the last used one first
	size    int
	maxSize int
}

// body is a parsed definition. It is immutable.
type body struct {
	digest string
	def    *flow.Definition
	graph  *flow.Graph
	size   int
}

// Archive holds definitions that are no longer in etcd.
type Archive interface {
	// Definition returns the parts of a body. One that is not stored is an error with common.CodeNotFound.
	Definition(ctx context.Context, digest string) (parts [][]byte, err error)
}

// NewBodies returns an empty cache of definitions.
func NewBodies(client *clientv3.Client) *Bodies { return NewArchivedBodies(client, nil) }

// NewArchivedBodies returns an empty cache of definitions, which are read from the archive if etcd does not hold them.
func NewArchivedBodies(client *clientv3.Client, archive Archive) *Bodies {
	return &Bodies{
		client:  client,
		archive: archive,
		known:   map[string]*list.Element{},
		order:   list.New(),
		maxSize: maxParsed,
	}
}

// Load returns a definition by its digest. Both results are shared, and must not be modified. The error is
// flow.ErrDefinition if a part is missing or does not match the digest, or if this version cannot compile the
// definition; all others have a code, and mean that etcd, or the archive, could not be read.
func (b *Bodies) Load(ctx context.Context, uid, digest string) (*flow.Definition, *flow.Graph, error) {
	if found := b.get(digest); found != nil {
		return found.def, found.graph, nil
	}
	found, err := b.read(ctx, uid, digest)
	if errors.Is(err, flow.ErrDefinition) && b.archive != nil {
		found, err = b.archived(ctx, digest, err)
	}
	if err != nil {
		return nil, nil, err
	}
	b.put(found)
	return found.def, found.graph, nil
}

func (b *Bodies) read(ctx context.Context, uid, digest string) (*body, error) {
	stored, err := b.Parts(ctx, uid, digest)
	if err != nil {
		return nil, err
	}
	return parse(stored, digest)
}

// archived reads a definition that etcd does not hold, with the error of that.
func (b *Bodies) archived(ctx context.Context, digest string, missing error) (*body, error) {
	stored, err := b.archive.Definition(ctx, digest)
	if common.CodeOf(err) == common.CodeNotFound {
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	return parse(stored, digest)
}

// Has reports whether etcd holds a number of parts of a definition.
func (b *Bodies) Has(ctx context.Context, uid, digest string, parts int) (bool, error) {
	n, err := etcdkit.Count(ctx, b.client, common.FlowPartsOf(uid, digest))
	return n == int64(parts), err
}

// Parts reads the parts of a definition that are stored, in their order.
func (b *Bodies) Parts(ctx context.Context, uid, digest string) (parts [][]byte, err error) {
	prefix := common.FlowPartsOf(uid, digest)
	_, err = etcdkit.Each(ctx, b.client, prefix, func(kv *mvccpb.KeyValue) error {
		if key := common.FlowPartKey(uid, digest, len(parts)); key != string(kv.Key) {
			return fmt.Errorf("%w: %.200q is where %.200q should be", flow.ErrDefinition, kv.Key, key)
		}
		parts = append(parts, kv.Value)
		return nil
	}, clientv3.WithLimit(partsAtOnce))
	return parts, err
}

func parse(parts [][]byte, digest string) (*body, error) {
	def, err := flow.Decode(parts, digest)
	if err != nil {
		return nil, errors.Join(flow.ErrDefinition, err)
	}
	graph, err := flow.Compile(&def.Job)
	if err != nil {
		return nil, errors.Join(flow.ErrDefinition, err)
	}
	// the texts, the steps of the definition and of the graph, and its edges
	size := def.Size() + graph.Len()*2*int(reflect.TypeFor[common.Step]().Size())
	for i := range def.Job.Steps {
		size += len(def.Job.Steps[i].After) * 2 * int(reflect.TypeFor[common.Edge]().Size())
	}
	return &body{digest: digest, def: def, graph: graph, size: size}, nil
}

func (b *Bodies) get(digest string) *body {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.known[digest]
	if at == nil {
		return nil
	}
	b.order.MoveToFront(at)
	return at.Value.(*body)
}

// put keeps a body, and drops those that were not used for the longest time. A body that is larger than the bound is
// kept alone.
func (b *Bodies) put(found *body) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known[found.digest] != nil {
		return
	}
	b.known[found.digest] = b.order.PushFront(found)
	b.size += found.size
	for b.size > b.maxSize && b.order.Len() > 1 {
		last := b.order.Back()
		old := b.order.Remove(last).(*body)
		delete(b.known, old.digest)
		b.size -= old.size
	}
}
