package jobmgr_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/jobmgr"
)

// unreliable returns a store whose next write transaction is lost: its response only, or all of it.
func (s *story) unreliable() (store master, lose func(answerOnly bool)) {
	var answer, all atomic.Bool
	away := status.Error(codes.Unavailable, "lost")
	client := s.server.ClientWith(grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
			opts ...grpc.CallOption) error {
			if text, ok := req.(interface{ String() string }); !ok || !strings.HasSuffix(method, "/Txn") ||
				!strings.Contains(text.String(), "request_put") {
				return invoke(ctx, method, req, reply, cc, opts...)
			}
			if all.Swap(false) {
				return away
			}
			err := invoke(ctx, method, req, reply, cc, opts...)
			if answer.Swap(false) {
				return away
			}
			return err
		}))
	store = s.with(jobmgr.Config{
		Client: client,
	}, nil)
	return store, func(answerOnly bool) {
		answer.Store(answerOnly)
		all.Store(!answerOnly)
	}
}

// A change whose response was lost is looked up; one that cannot be found is not reported as refused.
func TestChange_AnswerLost_IsLookedUp(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	store, lose := s.unreliable()
	for _, title := range []string{"one", "two"} { // it is created, and then replaced
		lose(true)
		job := minutely("a")
		job.Title = title
		saved, err := store.Apply(t.Context(), actor, job, any0, false)
		if err != nil {
			t.Fatal(err)
		}
		stands, err := s.store.Get(t.Context(), "a")
		if err != nil || stands.Title != title || stands.Version != saved.State.Version {
			t.Errorf("returned version %d; %+v is stored, %v", saved.State.Version, stands, err)
		}
		eventually(t, "the catalog has it", store.UpToDate) // otherwise the next save tries to create it
	}
	lose(true)
	trigger, err := store.Trigger(t.Context(), actor, common.TriggerRequest{Job: "a"})
	if err != nil || len(s.keys(common.TriggersOf("a"))) != 1 {
		t.Errorf("a run: %+v, %v, %v", trigger, err, s.keys(common.TriggersOf("a")))
	}
	lose(true)
	if err := store.Delete(t.Context(), actor, "a", any0, common.DeleteRequest{}); err != nil {
		t.Errorf("a delete: %v", err)
	}
	lose(false)
	_, err = store.Apply(t.Context(), actor, minutely("b"), any0, false)
	if !errors.Is(err, common.ErrUnsure) || common.CodeOf(err) != common.CodeUnavailable {
		t.Errorf("a change that was never applied: %v", err)
	}
	if !etcdkit.OutcomeUnknown(context.Canceled) || etcdkit.OutcomeUnknown(clientv3.ErrNoAvailableEndpoints) {
		t.Error("an unknown outcome is reported as a refusal")
	}
}
