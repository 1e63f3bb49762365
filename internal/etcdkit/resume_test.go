package etcdkit

import (
	"errors"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// answers is a stream that answers each requested watch at once, from a member at a revision.
type answers struct {
	grpc.ClientStream
	member int64
}

func (a *answers) SendMsg(any) error { return nil }

func (a *answers) RecvMsg(m any) error {
	*m.(*pb.WatchResponse) = pb.WatchResponse{Created: true, Header: &pb.ResponseHeader{Revision: a.member}}
	return nil
}

func TestWatchStream_WatchAfterTheLastRevision_IsRefused(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	for name, c := range map[string]struct {
		from, member, revision int64
		err                    error
		refused                bool
	}{
		"now":                      {from: 0, member: 7, err: away},
		"an earlier revision":      {from: 5, member: 7, err: away},
		"the next revision":        {from: 8, member: 7, err: away},
		"a member that lags":       {from: 9, member: 7, revision: 8},
		"etcd was restored":        {from: 9, member: 7, revision: 7, refused: true},
		"etcd cannot be asked now": {from: 9, member: 7, err: away},
	} {
		s := &watchStream{ClientStream: &answers{member: c.member}, revision: func([]byte) (int64, error) {
			return c.revision, c.err
		}}
		create := &pb.WatchCreateRequest{StartRevision: c.from}
		request := &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: create}}
		if err := s.SendMsg(request); err != nil {
			t.Fatal(err)
		}
		var resp pb.WatchResponse
		err := s.RecvMsg(&resp)
		if asks := c.from > c.member+1; asks != (c.revision != 0 || err != nil) || resp.Canceled != c.refused {
			t.Errorf("%s: refused %t, %v", name, resp.Canceled, err)
		}
	}
}
