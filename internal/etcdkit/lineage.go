package etcdkit

import (
	"context"
	"fmt"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// Seen is the last observed state of an etcd cluster: its id, its highest revision, and the time.
type Seen struct {
	Cluster  uint64    `json:"cluster"`
	Revision int64     `json:"revision"`
	At       time.Time `json:"at"`
}

const (
	// A cluster makes no more revisions per second than this: one that is further ahead was restored with a
	// revision bump. leapSlack allows for inexact clocks.
	mostRevisions = 100_000
	leapSlack     = time.Minute
)

// Lineage detects that etcd was restored from a backup: another cluster answers, or its revision is lower
// than one seen before, or higher than possible. It is safe for concurrent use.
type Lineage struct {
	now func() time.Time

	mu   sync.Mutex
	seen Seen   // guarded by mu; the last good answer
	why  string // guarded by mu; why etcd is considered restored; empty: it is not
	era  int    // guarded by mu; number of times that a restore was accepted
}

// Asked is what was known of etcd when a request was sent.
type Asked struct {
	revision int64 // a lower bound of the response's revision; 0: none
	era      int
}

// NewLineage returns a lineage that continues from an earlier observation; now returns the wall-clock time.
func NewLineage(seen Seen, now func() time.Time) *Lineage { return &Lineage{now: now, seen: seen} }

// Seen returns the last good answer, and why the present state of etcd does not continue from it; empty if it
// does.
func (l *Lineage) Seen() (Seen, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen, l.why
}

// Accept continues from the answer to the next request, whatever its revision. Answers to requests that were sent
// before are ignored: they are compared with a state that no longer counts.
func (l *Lineage) Accept() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen, l.why = Seen{}, ""
	l.era++
}

// WentBack records a restore that another process has detected.
func (l *Lineage) WentBack(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why == "" {
		l.why = why
	}
}

// Ask returns what is known of etcd before a request is sent.
func (l *Lineage) Ask() Asked {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Asked{revision: l.seen.Revision, era: l.era}
}

// Unbound returns the same for a request that is not linearizable: one member may answer with an older revision.
func (a Asked) Unbound() Asked { return Asked{era: a.era} }

// Answered processes the header of the response to a request.
func (l *Lineage) Answered(h *pb.ResponseHeader, asked Asked) {
	if h.GetClusterId() == 0 || h.GetRevision() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	most := l.seen.Revision + mostRevisions*int64((max(0, now.Sub(l.seen.At))+leapSlack)/time.Second)
	switch {
	case l.why != "" || asked.era != l.era:
		return
	case l.seen.Cluster == 0:
	case h.ClusterId != l.seen.Cluster:
		l.why = fmt.Sprintf("another cluster answers (%x, before it was %x)", h.ClusterId, l.seen.Cluster)
	case h.Revision < asked.revision:
		l.why = fmt.Sprintf("its revision is %d, after it was %d", h.Revision, asked.revision)
	case h.Revision > most:
		l.why = fmt.Sprintf("its revision jumped from %d to %d", l.seen.Revision, h.Revision)
	}
	if l.why == "" {
		l.seen = Seen{Cluster: h.ClusterId, Revision: max(h.Revision, l.seen.Revision), At: now.UTC()}
	}
}

// intercept checks each response of the key-value service, before its caller receives it.
func (l *Lineage) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	asked := l.Ask()
	err := invoke(ctx, method, req, reply, cc, opts...)
	if err != nil {
		return err
	}
	if answer, ok := reply.(interface{ GetHeader() *pb.ResponseHeader }); ok {
		if !linearizable(req) {
			asked = asked.Unbound()
		}
		l.Answered(answer.GetHeader(), asked)
	}
	return nil
}

// linearizable reports whether the response to a request shows all that was committed before it. Services
// other than that of keys answer with the revision of one member.
func linearizable(req any) bool {
	switch r := req.(type) {
	case *pb.RangeRequest:
		return !r.Serializable
	case *pb.PutRequest, *pb.DeleteRangeRequest:
		return true
	case *pb.TxnRequest:
		for _, ops := range [][]*pb.RequestOp{r.Success, r.Failure} {
			for _, op := range ops {
				if get := op.GetRequestRange(); get == nil || !get.Serializable {
					return true
				}
			}
		}
	}
	return false
}
