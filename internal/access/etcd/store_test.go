package etcd

import (
	"context"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
)

// shared is the etcd of the tests that neither stop nor compact it.
var shared etcdtest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

// clock is a time that tests advance.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) forward(d time.Duration) { c.ahead.Add(int64(d)) }

func setUp(t *testing.T) (*Store, *clientv3.Client, *clock) {
	t.Helper()
	client := shared.Start(t)
	c := &clock{}
	return New(client, c.now, nil), client, c
}

func refused(err error) bool { return common.CodeOf(err) == common.CodeUnauthenticated }

func bootstrap(t *testing.T, s *Store) string {
	t.Helper()
	token, err := s.Bootstrap(t.Context(), common.Actor{Name: "host"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// dump returns all keys and values of etcd.
func dump(t *testing.T, client *clientv3.Client) string {
	t.Helper()
	resp, err := client.Get(t.Context(), "/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, kv := range resp.Kvs {
		b.WriteString(string(kv.Key) + " " + string(kv.Value) + "\n")
	}
	return b.String()
}

func TestBootstrapOnce(t *testing.T) {
	s, client, _ := setUp(t)
	if done, err := s.Bootstrapped(t.Context()); done || err != nil {
		t.Fatalf("bootstrapped %v, %v before it was", done, err)
	}
	var won atomic.Int32
	var token atomic.Value
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			made, err := New(client, time.Now, nil).Bootstrap(t.Context(), common.Actor{Name: "host"}, 0)
			switch {
			case err == nil:
				won.Add(1)
				token.Store(made)
			case common.CodeOf(err) != common.CodeExists:
				t.Errorf("the other calls: %v", err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d of 8 created the first token", won.Load())
	}
	who, err := s.Authenticate(t.Context(), access.Credential{Token: token.Load().(string)})
	if err != nil || who.Role != access.Admin || who.Session {
		t.Errorf("the first token is %+v, %v", who, err)
	}
	if done, err := s.Bootstrapped(t.Context()); !done || err != nil {
		t.Errorf("bootstrapped %v, %v after it was", done, err)
	}
	all := dump(t, client)
	if strings.Contains(all, token.Load().(string)[len("car_")+17:]) {
		t.Error("etcd holds the secret of the token")
	}
	if strings.Count(all, common.ChangesPrefix) != 1 || !strings.Contains(all, `"verb":"bootstrap"`) {
		t.Errorf("the audit is not exactly the bootstrap:\n%s", all)
	}
}

func TestTokens(t *testing.T) {
	s, client, c := setUp(t)
	token, err := s.Bootstrap(t.Context(), common.Actor{Name: "host"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	other := access.NewToken().Reveal()
	forged := token[:len("car_")+17] + access.NewSecret()
	for _, bad := range []string{"", "x", other, forged, token + "a", strings.ToUpper(token), token[:len(token)-1]} {
		if _, err := s.Authenticate(t.Context(), access.Credential{Token: bad, Session: ""}); !refused(err) {
			t.Errorf("%.12s…: %v", bad, err)
		}
	}
	if _, err := s.Authenticate(t.Context(), access.Credential{Token: token}); err != nil {
		t.Fatal(err)
	}

	t.Run("taken away", func(t *testing.T) {
		parsed, _ := access.ParseToken(token)
		was, err := client.Get(t.Context(), common.TokenKey(parsed.ID))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Delete(t.Context(), common.TokenKey(parsed.ID)); err != nil {
			t.Fatal(err)
		}
		c.forward(cacheFor)
		if _, err := s.Authenticate(t.Context(), access.Credential{Token: token}); !refused(err) {
			t.Errorf("after three seconds: %v", err)
		}
		if _, err := client.Put(t.Context(), common.TokenKey(parsed.ID), string(was.Kvs[0].Value)); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("expired", func(t *testing.T) {
		if _, err := s.Authenticate(t.Context(), access.Credential{Token: token}); err != nil {
			t.Fatal(err)
		}
		c.forward(time.Hour)
		if _, err := s.Authenticate(t.Context(), access.Credential{Token: token}); !refused(err) {
			t.Errorf("after its time: %v", err)
		}
	})
}

func TestLoginCodeIsUsedOnce(t *testing.T) {
	s, client, c := setUp(t)
	token := bootstrap(t, s)
	code, err := s.CreateLoginCode(t.Context(), common.Actor{Name: "host"}, token)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(dump(t, client), code) {
		t.Error("etcd holds the code")
	}
	var won atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			session, err := New(client, time.Now, nil).Login(t.Context(), access.Login{Code: code, Remote: "127.0.0.1"})
			if err == nil {
				won.Add(1)
				if session.Identity.Role != access.Admin || !session.Identity.Session {
					t.Errorf("the session is %+v", session.Identity)
				}
			} else if !refused(err) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d of 8 got a session for one code", won.Load())
	}
	if _, err := s.Login(t.Context(), access.Login{Code: code}); !refused(err) {
		t.Errorf("the second use: %v", err)
	}

	late, err := s.CreateLoginCode(t.Context(), common.Actor{Name: "host"}, token)
	if err != nil {
		t.Fatal(err)
	}
	c.forward(access.LoginCodeLife)
	if _, err := s.Login(t.Context(), access.Login{Code: late}); !refused(err) {
		t.Errorf("after a quarter of an hour: %v", err)
	}
	if _, err := s.CreateLoginCode(t.Context(), common.Actor{}, access.NewToken().Reveal()); !refused(err) {
		t.Errorf("a code for an unknown token: %v", err)
	}
}

func TestSessions(t *testing.T) {
	s, client, c := setUp(t)
	token := bootstrap(t, s)
	login := func() access.Session {
		t.Helper()
		session, err := s.Login(t.Context(), access.Login{Token: token, Remote: "127.0.0.1"})
		if err != nil {
			t.Fatal(err)
		}
		return session
	}
	authenticate := func(session access.Session) error {
		_, err := s.Authenticate(t.Context(), access.Credential{Session: session.Secret})
		return err
	}
	first := login()
	if err := authenticate(first); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(dump(t, client), first.Secret) {
		t.Error("etcd holds the secret of the session")
	}
	kv, err := client.Get(t.Context(), common.SessionKey(access.Hash(first.Secret)))
	if err != nil || len(kv.Kvs) != 1 {
		t.Fatal(kv, err)
	}
	lease, err := client.TimeToLive(t.Context(), clientv3.LeaseID(kv.Kvs[0].Lease))
	if err != nil || lease.GrantedTTL != int64(access.SessionIdle/time.Second) {
		t.Errorf("the lease is %+v, %v", lease, err)
	}

	t.Run("logged out", func(t *testing.T) {
		session := login()
		if err := s.Logout(t.Context(), common.Actor{Name: "admin"}, session.Secret); err != nil {
			t.Fatal(err)
		}
		if err := authenticate(session); !refused(err) {
			t.Errorf("after the logout: %v", err)
		}
		if err := s.Logout(t.Context(), common.Actor{Name: "admin"}, session.Secret); err != nil {
			t.Errorf("the second logout: %v", err)
		}
	})
	t.Run("idle", func(t *testing.T) {
		session := login()
		kv, err := client.Get(t.Context(), common.SessionKey(access.Hash(session.Secret)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Revoke(t.Context(), clientv3.LeaseID(kv.Kvs[0].Lease)); err != nil {
			t.Fatal(err)
		}
		if err := authenticate(session); !refused(err) {
			t.Errorf("after its lease: %v", err)
		}
	})
	t.Run("too long", func(t *testing.T) {
		session := login()
		c.forward(access.SessionAbsolute)
		if err := authenticate(session); !refused(err) {
			t.Errorf("after a day: %v", err)
		}
	})
	t.Run("its token is gone", func(t *testing.T) {
		session := login()
		parsed, _ := access.ParseToken(token)
		if _, err := client.Delete(t.Context(), common.TokenKey(parsed.ID)); err != nil {
			t.Fatal(err)
		}
		c.forward(cacheFor)
		if err := authenticate(session); !refused(err) {
			t.Errorf("after its token: %v", err)
		}
	})
	if made := strings.Count(dump(t, client), `"verb":"login"`); made != 5 {
		t.Errorf("%d logins in the history, 5 were made", made)
	}
}

func TestEtcdAway_IsUnavailable(t *testing.T) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"127.0.0.1:1"}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = New(client, time.Now, nil).Authenticate(ctx, access.Credential{Token: access.NewToken().Reveal()})
	if common.CodeOf(err) != common.CodeUnavailable {
		t.Errorf("with etcd away: %v", err)
	}
}
