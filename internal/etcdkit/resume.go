package etcdkit

import (
	"context"
	"fmt"
	"slices"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

const watchMethod = "/etcdserverpb.Watch/Watch"

// refuseFuture ends watches that begin after the last revision of etcd. When a connection is interrupted, the client
// resumes its watches where they were. If etcd was restored from a backup meanwhile, such a watch would stay open,
// receive nothing until etcd has made as many revisions as before, and then miss all changes up to there, without an
// error. Its owner must list again.
func refuseFuture(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
	open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, cc, method, opts...)
	if err != nil || method != watchMethod {
		return stream, err
	}
	return &watchStream{ClientStream: stream, revision: func(key []byte) (int64, error) {
		return revisionOf(ctx, cc, key)
	}}, nil
}

// revisionOf returns the last revision of etcd, not that of one member. The user must be permitted to read the key.
func revisionOf(ctx context.Context, cc *grpc.ClientConn, key []byte) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := pb.NewKVClient(cc).Range(ctx, &pb.RangeRequest{Key: key, CountOnly: true})
	if err != nil {
		return 0, err
	}
	return resp.GetHeader().GetRevision(), nil
}

// watchStream is a stream of watches.
type watchStream struct {
	grpc.ClientStream
	revision func(key []byte) (int64, error)

	mu        sync.Mutex
	requested []*pb.WatchCreateRequest // guarded by mu; until etcd has created them, in order
}

func (s *watchStream) SendMsg(m any) error {
	if req, ok := m.(*pb.WatchRequest); ok && req.GetCreateRequest() != nil {
		s.mu.Lock()
		s.requested = append(s.requested, req.GetCreateRequest())
		s.mu.Unlock()
	}
	return s.ClientStream.SendMsg(m)
}

func (s *watchStream) RecvMsg(m any) error {
	if err := s.ClientStream.RecvMsg(m); err != nil {
		return err
	}
	resp, ok := m.(*pb.WatchResponse)
	if !ok || !resp.Created {
		return nil
	}
	s.mu.Lock()
	var created *pb.WatchCreateRequest
	if len(s.requested) > 0 {
		created = s.requested[0]
		s.requested = slices.Delete(s.requested, 0, 1)
	}
	s.mu.Unlock()
	last := created.GetStartRevision() - 1
	if resp.Canceled || resp.GetHeader().GetRevision() >= last {
		return nil
	}
	now, err := s.revision(created.Key) // the member may lag
	if err != nil {
		return err
	}
	if now < last {
		resp.Canceled = true
		resp.CancelReason = fmt.Sprintf("etcd is at revision %d, after it was at %d", now, last)
	}
	return nil
}
