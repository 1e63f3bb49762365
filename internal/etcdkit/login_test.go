package etcdkit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// guard is a fake etcd: it issues tokens for one password, and accepts the newest one only.
type guard struct {
	mu       sync.Mutex
	password string
	took     time.Duration
	logins   []time.Time
	valid    string
}

func (g *guard) authenticate(ctx context.Context, _ *grpc.ClientConn, _, password string) (string, error) {
	if !Sleep(ctx, g.took) {
		return "", status.FromContextError(ctx.Err()).Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.logins = append(g.logins, time.Now())
	if password != g.password {
		return "", rpctypes.ErrGRPCAuthFailed
	}
	g.valid = fmt.Sprintf("token %d", len(g.logins))
	return g.valid, nil
}

func (g *guard) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.valid = ""
}

// call makes a call of a client whose login is l.
func (g *guard) call(ctx context.Context, l *login) error {
	return l.unary(ctx, "read", nil, nil, nil, func(context.Context, string, any, any, *grpc.ClientConn,
		...grpc.CallOption) error {
		g.mu.Lock()
		defer g.mu.Unlock()
		if t := l.token.Load(); t == nil || t.value != g.valid {
			return rpctypes.ErrGRPCInvalidAuthToken
		}
		return nil
	})
}

func watched(g *guard, reload func() (string, error)) *login {
	l := newLogin("u", "secret", reload)
	l.authenticate = g.authenticate
	return l
}

func TestLogin_ManyCallsAtOnce_RequestOneToken(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		g := &guard{password: "secret", took: 80 * time.Millisecond}
		l := watched(g, nil)
		for round := range 3 {
			g.end()
			var all sync.WaitGroup
			for range 100 {
				all.Go(func() {
					if err := g.call(t.Context(), l); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if len(g.logins) != round+1 {
				t.Fatalf("%d logins after round %d, want one each", len(g.logins), round+1)
			}
		}
	})
}

func TestLogin_NewTokensRefused_FailsUnavailable(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		g := &guard{password: "secret"}
		l := watched(g, nil)
		err := l.unary(t.Context(), "read", nil, nil, nil, func(context.Context, string, any, any, *grpc.ClientConn,
			...grpc.CallOption) error {
			return rpctypes.ErrGRPCInvalidAuthToken
		})
		if TokenRefused(err) || OutcomeUnknown(err) || !Ambiguous(err) ||
			common.CodeOf(Wrap(err)) != common.CodeUnavailable {
			t.Fatalf("%v: a call whose tokens were all refused is unavailable and not done", err)
		}
		if len(g.logins) != callTries {
			t.Fatalf("%d logins, want %d", len(g.logins), callTries)
		}
	})
}

// Callers that retry without a pause cause no more than a login every few seconds.
func TestLogin_PasswordRefused_IsTriedWithPauses(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		g := &guard{password: "another", took: 80 * time.Millisecond}
		l := watched(g, nil)
		for began := time.Now(); time.Since(began) < time.Minute; {
			var refused *common.Error
			if err := Wrap(g.call(t.Context(), l)); !errors.As(err, &refused) ||
				refused.Code != common.CodeUnavailable || refused.Reason != "etcd_login" {
				t.Fatalf("%v: want unavailable for the reason etcd_login", err)
			}
			Sleep(t.Context(), 10*time.Millisecond)
		}
		if n := len(g.logins); n < 10 || n > 22 {
			t.Fatalf("%d logins within a minute, want 10 to 22", n)
		}
	})
}

func TestLogin_PasswordChanged_ReloadsIt(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		g := &guard{password: "secret"}
		file := "secret"
		l := watched(g, func() (string, error) { return file, nil })
		if err := g.call(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		g.password = "new"
		g.end()
		if err := g.call(t.Context(), l); status.Code(err) != codes.Unauthenticated {
			t.Fatalf("%v: the file still holds the old password", err)
		}
		file = "new"
		Sleep(t.Context(), pauseRefused)
		if err := g.call(t.Context(), l); err != nil {
			t.Fatalf("the file holds the new password: %v", err)
		}
	})
}

// The member that is asked first may lag behind a change of the password, and may accept the old one.
func TestLogin_MemberIsBehindAChange_CallSucceeds(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		g := &guard{password: "secret"}
		l := watched(g, func() (string, error) { return "new", nil })
		if err := g.call(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		Sleep(t.Context(), time.Minute)
		g.end()
		g.password = "neither"
		time.AfterFunc(pauseFirst/2, func() { g.mu.Lock(); defer g.mu.Unlock(); g.password = "new" })
		if err := g.call(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	})
}

// A caller that gives up during its login passes the turn to the next.
func TestLogin_CallerGivesUp_NextOneLogsIn(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		g := &guard{password: "secret", took: time.Second}
		l := watched(g, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		var all sync.WaitGroup
		all.Go(func() {
			if err := g.call(ctx, l); !Ambiguous(err) {
				t.Errorf("the caller that gave up: %v", err)
			}
		})
		virtualtime.Wait()
		if err := g.call(t.Context(), l); err != nil {
			t.Error(err)
		}
		all.Wait()
	})
}
