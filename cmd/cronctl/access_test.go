package main

import (
	"strings"
	"testing"
	"time"

	accessetcd "carillon/internal/access/etcd"
	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/httpapi"
	"carillon/internal/secrets/crypt"
	secretsetcd "carillon/internal/secrets/etcd"
)

const aPassword = "blue horse under a quiet bridge"

// newAccessStage is a stage whose users, tokens and secrets are real, with an admin's token.
func newAccessStage(t *testing.T) (s *stage, admin string) {
	t.Helper()
	client := etcdtest.Start(t)
	store := accessetcd.New(client, time.Now, nil)
	admin, err := store.Bootstrap(t.Context(), common.Actor{Name: "test"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	box, err := crypt.Parse(crypt.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	return newStageWith(t, func(cfg *httpapi.Config) {
		cfg.Auth, cfg.Access, cfg.Secrets = store, store, secretsetcd.New(client, box, time.Now, func() {})
	}), admin
}

func TestUsersAndTokens(t *testing.T) {
	s, admin := newAccessStage(t)
	environ, _ := home(t)
	call := func(args ...string) result {
		t.Helper()
		defer func() { s.stdin = "" }()
		return s.runWith(environ, args...)
	}
	call("login", s.server.URL, "--token", admin, "--name", "root").want(t, exitOK)
	s.stdin = aPassword + "\n"
	call("create", "user", "ann", "--role", "viewer", "--group", "shop=editor", "--title", "Ann Lee",
		"--password-stdin").want(t, exitOK, "created ann")
	s.stdin = "short\n"
	call("create", "user", "bob", "--role", "viewer", "--password-stdin").want(t, exitUsage, "password")
	call("create", "user", "bob", "--role", "viewer").want(t, exitUsage, "no terminal to ask on")
	call("create", "user", "service", "--group", "shop=operator", "--no-password").want(t, exitOK)
	call("get", "users").want(t, exitOK, "ann", "shop=editor", "Ann Lee", "service")

	// A login by password leaves a token of the user behind, and no session.
	s.stdin = "not the password\n"
	call("login", s.server.URL, "--user", "ann", "--password-stdin", "--name", "ann").want(t, exitDenied,
		"check the name")
	s.stdin = aPassword + "\n"
	call("login", s.server.URL, "--user", "ann", "--password-stdin", "--name", "ann", "--expires-in", "12h").want(t,
		exitOK, "as ann, until")
	call("whoami").want(t, exitOK, "ann", "viewer", "shop=editor", "Context:")
	call("create", "job", "mine", "--group", "shop", "--", "true").want(t, exitOK)
	call("create", "job", "foreign", "--group", "other", "--", "true").want(t, exitDenied)
	call("get", "users").want(t, exitDenied)
	call("get", "tokens").want(t, exitOK, "cronctl on ")
	call("--context", "root", "get", "sessions", "-o", "json").want(t, exitOK, `"items": []`)
	call("--context", "root", "describe", "user", "ann").want(t, exitOK, "Tokens:", "cronctl on ", "Sessions:")

	// A token for a script, and how it is taken away.
	made := call("--context", "root", "create", "token", "deploy", "--user", "service", "--role", "operator", "--group",
		"shop", "--expires-in", "90d").want(t, exitOK, "not shown again")
	token := strings.TrimSpace(made.out)
	as := func(args ...string) result {
		return call(append([]string{"--server", s.server.URL, "--token", token}, args...)...)
	}
	as("run", "mine").want(t, exitOK)
	as("delete", "job", "mine").want(t, exitDenied)
	_, rest, _ := strings.Cut(token, "_")
	id, _, _ := strings.Cut(rest, "_")
	call("--context", "root", "delete", "token", id).want(t, exitOK)
	as("get", "jobs").want(t, exitDenied)
	call("delete", "token", "../x").want(t, exitUsage)

	call("--context", "root", "set", "user", "ann", "--group", "shop-", "--group", "other=editor", "--role",
		"operator").want(t, exitOK, "operator", "other=editor")
	call("create", "job", "foreign", "--group", "other", "--", "true").want(t, exitOK)
	call("create", "job", "more", "--group", "shop", "--", "true").want(t, exitDenied)
	call("--context", "root", "set", "user", "ann").want(t, exitUsage, "nothing to set")
	s.stdin = aPassword + "\nanother " + aPassword + "\n"
	call("passwd").want(t, exitOK, "changed")

	// What login made is gone with the logout, and the standalone's token is not taken instead.
	saved, err := loadContexts(environmentOf(environ))
	if err != nil {
		t.Fatal(err)
	}
	anns, err := saved.find("ann")
	if err != nil || !anns.Ours {
		t.Fatal(anns, err)
	}
	call("logout").want(t, exitOK, "token is revoked")
	call("--server", s.server.URL, "--token", anns.Token, "get", "jobs").want(t, exitDenied)
	call("get", "jobs").want(t, exitDenied, "cronctl login")
	call("--context", "root", "set", "user", "ann", "--disable").want(t, exitOK, "disabled")
	call("--context", "root", "delete", "users", "ann", "service").want(t, exitOK, "deleted ann")
}

func TestSecretsAreNotShown(t *testing.T) {
	s, admin := newAccessStage(t)
	call := func(args ...string) result {
		t.Helper()
		r := s.runWith([]string{"CARILLON_SERVER=" + s.server.URL, "CARILLON_TOKEN=" + admin}, args...)
		if strings.Contains(r.out+r.err, "hunter") {
			t.Errorf("%q shows the value: %s%s", args, r.out, r.err)
		}
		return r
	}
	s.stdin = "hunter222222\n"
	call("create", "secret", "db", "--value-file", "-", "--group", "shop", "--description", "the db").want(t, exitOK,
		"secret:db")
	call("create", "secret", "db", "--value-file", file(t, "value", "hunter3333333")).want(t, exitConflict)
	call("create", "secret", "other").want(t, exitUsage, "no terminal to ask on")
	call("get", "secrets").want(t, exitOK, "db", "shop", "the db")
	call("set", "secret", "db", "--group", "a,b").want(t, exitOK)
	call("get", "secret", "db", "-o", "wide").want(t, exitOK, "a,b", "the db")
	call("set", "secret", "db", "--all-groups").want(t, exitOK)
	call("get", "secret", "db").want(t, exitOK, "all")
	call("delete", "secret", "db").want(t, exitOK)
	call("get", "secret", "db").want(t, exitNotFound)
	s.stdin = "hunter444444\n"
	call("create", "secret", "ops", "--value-file", "-").want(t, exitOK) // two jobs refer to it
	call("delete", "secret", "ops").want(t, exitConflict, "2 jobs refer to secret", "force")
	call("delete", "secret", "ops", "--force").want(t, exitOK, "deleted ops")
}
