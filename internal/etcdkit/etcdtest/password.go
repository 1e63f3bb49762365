package etcdtest

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Users of an etcd with passwords.
const (
	User     = "carillon"
	Password = "bell-ringer"
)

// StartWithPasswords starts an etcd whose users authenticate with a password. User may read and write
// everything. A token expires after some seconds without use.
func StartWithPasswords(t testing.TB, tokenTTL uint) *Server {
	t.Helper()
	s := &Server{t: t}
	cfg := settings(t.TempDir())
	cfg.BcryptCost = 4 // the minimum: passwords of tests are no secrets
	cfg.AuthTokenTTL = tokenTTL
	s.start(cfg)
	client := s.Client()
	for _, user := range []string{"root", User} {
		if _, err := client.UserAdd(t.Context(), user, Password); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []func() error{
		func() error { _, err := client.RoleAdd(t.Context(), "root"); return err },
		func() error { _, err := client.RoleAdd(t.Context(), "all"); return err },
		func() error {
			_, err := client.RoleGrantPermission(t.Context(), "all", "/", "0",
				clientv3.PermissionType(clientv3.PermReadWrite))
			return err
		},
		func() error { _, err := client.UserGrantRole(t.Context(), "root", "root"); return err },
		func() error { _, err := client.UserGrantRole(t.Context(), User, "all"); return err },
		func() error { _, err := client.AuthEnable(t.Context()); return err },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// EndTokens invalidates all tokens of User, as their expiry does.
func (s *Server) EndTokens(password string) {
	s.t.Helper()
	root, err := clientv3.New(clientv3.Config{Endpoints: []string{s.Endpoint}, Username: "root", Password: Password})
	if err != nil {
		s.t.Fatal(err)
	}
	defer root.Close()
	if _, err := root.UserChangePassword(s.t.Context(), User, password); err != nil {
		s.t.Fatal(err)
	}
}
