package etcdkit

import (
	"context"
	"fmt"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// Seen is how far a cluster of etcd was seen: its id, its highest revision, and when that was.
type Seen struct {
	Cluster  uint64    `json:"cluster"`
	Revision int64     `json:"revision"`
	At       time.Time `json:"at"`
}

const (
	// A cluster makes no more revisions in a second than this: one that is further on was restored with a jump of
	// the revision. leapSlack is for clocks that are not quite right.
	mostRevisions = 100_000
	leapSlack     = time.Minute
)

// Lineage notices that etcd was restored from a backup: another cluster answers, or its revision is lower
// than one that was seen before, or higher than it can be. It is safe for concurrent use.
type Lineage struct {
	now func() time.Time

	mu   sync.Mutex
	seen Seen   // guarded by mu; the last good answer
	why  string // guarded by mu; why etcd was restored; empty: it was not
}

// NewLineage makes a lineage that goes on from what was seen before; now reads the wall clock.
func NewLineage(seen Seen, now func() time.Time) *Lineage { return &Lineage{now: now, seen: seen} }

// Seen returns the last good answer, and why what etcd holds now does not go on from there; empty where it does.
func (l *Lineage) Seen() (Seen, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen, l.why
}

// Accept goes on from the next answer, whatever it is.
func (l *Lineage) Accept() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen, l.why = Seen{}, ""
}

// WentBack notes what somebody else has noticed.
func (l *Lineage) WentBack(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why == "" {
		l.why = why
	}
}

// revision is the highest that is known.
func (l *Lineage) revision() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen.Revision
}

// Answered takes in the header of an answer. known is the revision that was known when the request was sent, below
// which no linearizable answer is; zero for an answer of which that cannot be said.
func (l *Lineage) Answered(h *pb.ResponseHeader, known int64) {
	if h.GetClusterId() == 0 || h.GetRevision() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	most := l.seen.Revision + mostRevisions*int64((max(0, now.Sub(l.seen.At))+leapSlack)/time.Second)
	switch {
	case l.why != "":
		return
	case l.seen.Cluster == 0:
	case h.ClusterId != l.seen.Cluster:
		l.why = fmt.Sprintf("another cluster answers (%x, before it was %x)", h.ClusterId, l.seen.Cluster)
	case h.Revision < known:
		l.why = fmt.Sprintf("its revision is %d, after it was %d", h.Revision, known)
	case h.Revision > most:
		l.why = fmt.Sprintf("its revision jumped from %d to %d", l.seen.Revision, h.Revision)
	}
	if l.why == "" {
		l.seen = Seen{Cluster: h.ClusterId, Revision: max(h.Revision, l.seen.Revision), At: now.UTC()}
	}
}

// intercept looks at each answer of the key-value service, before its caller does.
func (l *Lineage) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	known := l.revision()
	err := invoke(ctx, method, req, reply, cc, opts...)
	if err != nil {
		return err
	}
	if answer, ok := reply.(interface{ GetHeader() *pb.ResponseHeader }); ok {
		if !linearizable(req) {
			known = 0
		}
		l.Answered(answer.GetHeader(), known)
	}
	return nil
}

// linearizable reports whether the answer to a request shows all that was committed before it. Other services
// than that of keys answer with the revision of one member.
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
