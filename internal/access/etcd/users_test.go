package etcd

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/access"
	"carillon/internal/common"
)

const (
	aPassword = "blue horse under a quiet bridge"
	another   = "nine green lamps along the canal"
)

var host = common.Actor{Name: "host", Remote: "192.0.2.1"}

func makeUser(t *testing.T, s *Store, name string, wanted access.UserChange) access.UserRecord {
	t.Helper()
	u, err := s.CreateUser(t.Context(), host, name, wanted)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func logIn(t *testing.T, s *Store, user, password string) access.Session {
	t.Helper()
	session, err := s.Login(t.Context(), access.Login{User: user, Password: password, Remote: "192.0.2.7"})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func identityOf(t *testing.T, s *Store, c access.Credential) (access.Identity, error) {
	t.Helper()
	return s.Authenticate(t.Context(), c)
}

func anySession(*access.SessionRecord) bool { return true }

func conflicts(err error) bool { return common.CodeOf(err) == common.CodeConflict }

func TestUsers(t *testing.T) {
	t.Parallel()
	s, client, _ := setUp(t)
	ann := makeUser(t, s, "ann", access.UserChange{
		Title:    new("Ann"),
		Role:     new(access.Viewer),
		Groups:   &map[string]access.Role{"reports": access.Editor},
		Password: new(aPassword),
	})
	if _, err := s.CreateUser(t.Context(), host, "ann", access.UserChange{}); common.CodeOf(err) != common.CodeExists {
		t.Errorf("a second ann: %v", err)
	}
	for _, name := range []string{"", "Ann", "a/b", "..", "a b", strings.Repeat("a", 129)} {
		if _, err := s.CreateUser(t.Context(), host, name,
			access.UserChange{}); common.CodeOf(err) != common.CodeInvalid {
			t.Errorf("a user %q: %v", name, err)
		}
	}
	if _, err := s.CreateUser(t.Context(), host, "bob",
		access.UserChange{Password: new("short")}); common.CodeOf(err) != common.CodeInvalid {
		t.Errorf("a short password: %v", err)
	}
	session := logIn(t, s, "ann", aPassword)
	who, err := identityOf(t, s, access.Credential{Session: session.Secret})
	if err != nil || who.Name != "ann" || who.User != "ann" || who.UserID != ann.ID || !who.Session ||
		who.In("reports") != access.Editor || who.In("") != access.Viewer || who.ExpiresAt.IsZero() {
		t.Errorf("ann is %+v, %v", who, err)
	}
	found, err := s.User(t.Context(), "ann")
	if err != nil || found.Version != ann.Version || found.CreatedBy != "host" || found.Title != "Ann" {
		t.Errorf("ann is kept as %+v, %v", found, err)
	}
	if _, err := s.UpdateUser(t.Context(), host, "ann", access.UserChange{Title: new("Anna")},
		common.Precondition{Version: ann.Version + 100}); common.CodeOf(err) != common.CodeStale {
		t.Errorf("a change of another version: %v", err)
	}
	same, err := s.UpdateUser(t.Context(), host, "ann", access.UserChange{Title: new("Ann")},
		common.Precondition{Version: ann.Version})
	if err != nil || same.Version != ann.Version {
		t.Errorf("a change that changes nothing: %+v, %v", same, err)
	}
	after, err := s.UpdateUser(t.Context(), host, "ann", access.UserChange{Title: new("Anna")},
		common.Precondition{Version: ann.Version})
	if err != nil || after.Title != "Anna" || after.Version <= ann.Version {
		t.Errorf("a change: %+v, %v", after, err)
	}
	if all, err := s.Users(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("the users are %+v, %v", all, err)
	}
	for _, name := range []string{"bob", "../ann", ""} {
		if _, err := s.User(t.Context(), name); common.CodeOf(err) != common.CodeNotFound {
			t.Errorf("there is a user %q: %v", name, err)
		}
		if err := s.DeleteUser(t.Context(), host, name,
			common.Precondition{}); common.CodeOf(err) != common.CodeNotFound {
			t.Errorf("%q can be deleted: %v", name, err)
		}
	}
	if err := s.DeleteUser(t.Context(), host, "ann", common.Precondition{Version: after.Version}); err != nil {
		t.Fatal(err)
	}
	all := dump(t, client)
	for _, verb := range []string{"create", "replace", "delete", "login"} {
		if strings.Count(all, `"verb":"`+verb+`"`) != 1 {
			t.Errorf("the history has not one %s:\n%s", verb, all)
		}
	}
	if strings.Contains(all, aPassword) || strings.Contains(all, "argon2") {
		t.Errorf("the audit contains the password:\n%s", all)
	}
}

// Fields written by a newer version are kept when this version changes the user.
func TestUpdateUser_UnknownFields_Kept(t *testing.T) {
	t.Parallel()
	s, client, c := setUp(t)
	makeUser(t, s, "ann", access.UserChange{Role: new(access.Viewer)})
	key := common.UserKey("ann")
	kv, err := client.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Put(t.Context(), key, strings.Replace(string(kv.Kvs[0].Value), "{", `{"phone":"1234",`,
		1)); err != nil {
		t.Fatal(err)
	}
	c.forward(cacheFor)
	if _, err := s.UpdateUser(t.Context(), host, "ann", access.UserChange{Role: new(access.Editor)},
		common.Precondition{}); err != nil {
		t.Fatal(err)
	}
	if kv, err := client.Get(t.Context(), key); err != nil ||
		!strings.Contains(string(kv.Kvs[0].Value), `"phone":"1234"`) ||
		!strings.Contains(string(kv.Kvs[0].Value), `"editor"`) {
		t.Errorf("%v, %s", err, kv.Kvs[0].Value)
	}
}

func TestLogin_WrongPassword_IsRefused(t *testing.T) {
	t.Parallel()
	s, client, _ := setUp(t)
	makeUser(t, s, "ann", access.UserChange{Password: new(aPassword)})
	makeUser(t, s, "off", access.UserChange{Password: new(aPassword), Disabled: new(true)})
	makeUser(t, s, "robot", access.UserChange{})
	messages := map[string]bool{}
	for _, l := range []access.Login{{User: "ann", Password: another}, {User: "unknown-user", Password: aPassword},
		{User: "off", Password: aPassword},
		{User: "robot", Password: aPassword}, {User: "robot"}, {User: "../ann", Password: aPassword},
		{User: aPassword, Password: "ann"}} {
		l.Remote = "192.0.2.7"
		_, err := s.Login(t.Context(), l)
		if !refused(err) {
			t.Errorf("%s with %q: %v", l.User, l.Password, err)
		}
		messages[err.Error()] = true
	}
	if len(messages) != 1 {
		t.Errorf("the answers differ: %v", messages)
	}
	all := dump(t, client)
	if n := strings.Count(all, `"verb":"login_failed"`); n != 7 {
		t.Errorf("%d failures in the history, 7 there were", n)
	}
	// The text in place of the name may be the password.
	if strings.Contains(all, aPassword) || strings.Contains(all, "unknown-user") ||
		!strings.Contains(all, `"name":"ann","remote":"192.0.2.7"`) {
		t.Errorf("the audit contains too much or too little:\n%s", all)
	}
	for range failuresMost {
		s.failed(t.Context(), "ann", "192.0.2.7")
	}
	if n := strings.Count(dump(t, client), `"verb":"login_failed"`); n != failuresMost {
		t.Errorf("guessing has filled the history with %d entries", n)
	}
}

func TestOmittedFailuresAreCounted(t *testing.T) {
	t.Parallel()
	s, client, c := setUp(t)
	for range failuresMost + 12 {
		s.failed(t.Context(), "", "192.0.2.7")
	}
	c.forward(failuresWindow)
	s.failed(t.Context(), "", "192.0.2.7")
	all := dump(t, client)
	if n := strings.Count(all, `"verb":"login_failed"`); n != failuresMost+1 ||
		strings.Count(all, `{"omitted":12}`) != 1 {
		t.Errorf("%d entries:\n%s", n, all)
	}
}

// Sessions end on all masters when the password or a role changes, and when the user is disabled or
// deleted.
func TestSessions_UserChanges_End(t *testing.T) {
	t.Parallel()
	s, client, c := setUp(t)
	elsewhere := New(client, c.now, nil)
	makeUser(t, s, "ann", access.UserChange{Role: new(access.Viewer), Password: new(aPassword)})
	password := aPassword
	for _, change := range []struct {
		name string
		do   func() error
		over bool
	}{
		{"a title", func() error {
			_, err := s.UpdateUser(t.Context(), host, "ann", access.UserChange{Title: new("Ann")},
				common.Precondition{})
			return err
		}, false},
		{"a role", func() error {
			_, err := s.UpdateUser(t.Context(), host, "ann", access.UserChange{Role: new(access.Editor)},
				common.Precondition{})
			return err
		}, true},
		{"a group", func() error {
			_, err := s.UpdateUser(t.Context(), host, "ann",
				access.UserChange{Groups: &map[string]access.Role{"a": access.Admin}}, common.Precondition{})
			return err
		}, true},
		{"the password", func() error {
			password = another
			_, err := s.UpdateUser(t.Context(), host, "ann", access.UserChange{Password: new(another)},
				common.Precondition{})
			return err
		}, true},
		{"disabled", func() error {
			_, err := s.UpdateUser(t.Context(), host, "ann", access.UserChange{Disabled: new(true)},
				common.Precondition{})
			return err
		}, true},
		{"deleted", func() error {
			if _, err := s.UpdateUser(t.Context(), host, "ann", access.UserChange{Disabled: new(false)},
				common.Precondition{}); err != nil {
				return err
			}
			return s.DeleteUser(t.Context(), host, "ann", common.Precondition{})
		}, true},
	} {
		session := logIn(t, s, "ann", password)
		if _, err := identityOf(t, elsewhere, access.Credential{Session: session.Secret}); err != nil {
			t.Fatalf("before %s: %v", change.name, err)
		}
		if err := change.do(); err != nil {
			t.Fatalf("%s: %v", change.name, err)
		}
		if _, err := identityOf(t, s, access.Credential{Session: session.Secret}); refused(err) != change.over {
			t.Errorf("after %s, on the master that did it: %v", change.name, err)
		}
		c.forward(cacheFor)
		if _, err := identityOf(t, elsewhere, access.Credential{Session: session.Secret}); refused(err) != change.over {
			t.Errorf("after %s, on another master, in three seconds: %v", change.name, err)
		}
		if change.name == "disabled" {
			if _, err := s.UpdateUser(t.Context(), host, "ann", access.UserChange{Disabled: new(false)},
				common.Precondition{}); err != nil {
				t.Fatal(err)
			}
			if _, err := identityOf(t, s, access.Credential{Session: session.Secret}); !refused(err) {
				t.Errorf("the session is valid again when the user is enabled: %v", err)
			}
		}
	}
	// A new user of the same name does not inherit them.
	makeUser(t, s, "ann", access.UserChange{Role: new(access.Admin), Password: new(password)})
	if all, err := s.Sessions(t.Context(), anySession); err != nil || len(all) != 0 {
		t.Errorf("sessions of those who went are listed: %+v, %v", all, err)
	}
}

func TestChangePassword(t *testing.T) {
	t.Parallel()
	s, client, c := setUp(t)
	ann := makeUser(t, s, "ann", access.UserChange{Role: new(access.Viewer), Password: new(aPassword)})
	old := logIn(t, s, "ann", aPassword)
	elsewhere := New(client, c.now, nil)
	if _, err := identityOf(t, elsewhere, access.Credential{Session: old.Secret}); err != nil {
		t.Fatal(err)
	}
	me := common.Actor{Name: "ann", Remote: "192.0.2.7"}
	for name, wrong := range map[string]access.PasswordChange{
		"the wrong password": {User: "ann", UserID: ann.ID, Current: another, New: another},
		"a short one":        {User: "ann", UserID: ann.ID, Current: aPassword, New: "short"},
		"another user's":     {User: "ann", UserID: common.NewID(), Current: aPassword, New: another},
	} {
		if _, err := s.ChangePassword(t.Context(), me, wrong); common.CodeOf(err) != common.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	session, err := s.ChangePassword(t.Context(), me, access.PasswordChange{
		User:    "ann",
		UserID:  ann.ID,
		Current: aPassword,
		New:     another,
		Session: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	// A master with an outdated cache accepts the new session all the same.
	who, err := identityOf(t, elsewhere, access.Credential{Session: session.Secret})
	if err != nil || who.User != "ann" {
		t.Errorf("the new session on another master: %+v, %v", who, err)
	}
	c.forward(cacheFor)
	if _, err := identityOf(t, s, access.Credential{Session: old.Secret}); !refused(err) {
		t.Errorf("the session of before: %v", err)
	}
	if who, err := identityOf(t, s, access.Credential{Session: session.Secret}); err != nil || who.User != "ann" {
		t.Errorf("the new session: %+v, %v", who, err)
	}
	if _, err := s.Login(t.Context(), access.Login{User: "ann", Password: aPassword}); !refused(err) {
		t.Errorf("the old password: %v", err)
	}
	all := dump(t, client)
	if strings.Count(all, `"verb":"password"`) != 1 || strings.Count(all, `"verb":"login"`) != 1 {
		t.Errorf("the audit does not contain the change once:\n%s", all)
	}
}

func TestLastAdmin_CannotBeRemoved(t *testing.T) {
	t.Parallel()
	s, _, _ := setUp(t)
	token := bootstrap(t, s) // does not count: a user is required
	admin := access.UserChange{Role: new(access.Admin), Password: new(aPassword)}
	makeUser(t, s, "ann", admin)
	makeUser(t, s, "robot", access.UserChange{Role: new(access.Admin)})
	makeUser(t, s, "off", access.UserChange{Role: new(access.Admin), Password: new(aPassword), Disabled: new(true)})
	change := func(name string, wanted access.UserChange) error {
		_, err := s.UpdateUser(t.Context(), host, name, wanted, common.Precondition{})
		return err
	}
	for name, wanted := range map[string]access.UserChange{
		"demoted":            {Role: new(access.Editor)},
		"disabled":           {Disabled: new(true)},
		"without a password": {Password: new("")},
	} {
		if err := change("ann", wanted); !conflicts(err) {
			t.Errorf("the last admin is %s: %v", name, err)
		}
	}
	if err := s.DeleteUser(t.Context(), host, "ann", common.Precondition{}); !conflicts(err) {
		t.Errorf("the last admin is deleted: %v", err)
	}
	if err := change("ann", access.UserChange{Password: new(another), Title: new("Ann")}); err != nil {
		t.Errorf("the last admin cannot change the password: %v", err)
	}
	parsed, _ := access.ParseToken(token)
	if err := s.RevokeToken(t.Context(), host, parsed.ID); err != nil {
		t.Errorf("the first token stays beside an admin: %v", err)
	}
	makeUser(t, s, "bob", admin)
	// Two admins remove each other at the same time: one of them stays.
	var left atomic.Int32
	var wg sync.WaitGroup
	for _, name := range []string{"ann", "bob"} {
		wg.Go(func() {
			switch err := s.DeleteUser(t.Context(), host, name, common.Precondition{}); {
			case conflicts(err):
				left.Add(1)
			case err != nil:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if left.Load() != 1 {
		t.Errorf("%d admins are left", left.Load())
	}
}

func TestLastAdminToken_CannotBeDeleted(t *testing.T) {
	t.Parallel()
	s, client, _ := setUp(t)
	first, _ := access.ParseToken(bootstrap(t, s))
	if err := s.RevokeToken(t.Context(), host, first.ID); !conflicts(err) {
		t.Errorf("the last admin token was deleted: %v", err)
	}
	_, bound, err := s.CreateToken(t.Context(), host, access.TokenRequest{
		Name:   "bound",
		Role:   access.Admin,
		Groups: []string{"a"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RevokeToken(t.Context(), host, first.ID); !conflicts(err) {
		t.Errorf("the last admin token was deleted beside one limited to a group: %v", err)
	}
	if err := s.RevokeToken(t.Context(), host, bound.ID); err != nil {
		t.Error(err)
	}
	second, err := s.ResetAdmin(t.Context(), common.Actor{Name: "reset-admin"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if who, err := identityOf(t, s, access.Credential{Token: second}); err != nil || !who.May(access.Admin, "") ||
		who.ExpiresAt.IsZero() {
		t.Errorf("the reset gives %+v, %v", who, err)
	}
	if err := s.RevokeToken(t.Context(), host, first.ID); err != nil {
		t.Errorf("beside another: %v", err)
	}
	if !strings.Contains(dump(t, client), `"verb":"reset-admin"`) {
		t.Error("the audit does not contain the reset")
	}
}

func TestTokensBelongToUsers(t *testing.T) {
	t.Parallel()
	s, client, c := setUp(t)
	elsewhere := New(client, c.now, nil)
	makeUser(t, s, "ann", access.UserChange{
		Role:   new(access.Viewer),
		Groups: &map[string]access.Role{"reports": access.Editor},
	})
	for name, wanted := range map[string]access.TokenRequest{
		"more than the user": {Name: "x", Role: access.Admin, User: "ann"},
		"more than in that group": {
			Name:   "x",
			Role:   access.Editor,
			Groups: []string{"reports", "billing"},
			User:   "ann",
		},
		"unknown owner":           {Name: "x", Role: access.Viewer, User: "bob"},
		"without a name":          {Role: access.Viewer, User: "ann"},
		"with a line break":       {Name: "a\nb", Role: access.Viewer},
		"with an unknown role":    {Name: "x", Role: "root"},
		"with an invalid group":   {Name: "x", Role: access.Viewer, Groups: []string{"A/b"}},
		"of an invalid user name": {Name: "x", Role: access.Viewer, User: "../ann"},
	} {
		if _, _, err := s.CreateToken(t.Context(), host, wanted); common.CodeOf(err) != common.CodeInvalid {
			t.Errorf("a token %s: %v", name, err)
		}
	}
	token, record, err := s.CreateToken(t.Context(), host, access.TokenRequest{
		Name: "ci",
		Role: access.Editor,
		User: "ann",
		TTL:  48 * time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(dump(t, client), token[len("car_")+17:]) {
		t.Error("etcd holds the secret of the token")
	}
	rights := func(s *Store) (everywhere, reports access.Role) {
		t.Helper()
		who, err := identityOf(t, s, access.Credential{Token: token})
		if err != nil {
			t.Fatal(err)
		}
		return who.Role, who.In("reports")
	}
	if everywhere, reports := rights(elsewhere); everywhere != access.Viewer || reports != access.Editor {
		t.Errorf("it may %s, and %s in the group", everywhere, reports)
	}
	session, err := s.Login(t.Context(), access.Login{Token: token})
	if err != nil || session.Identity.User != "ann" || session.Identity.Token != record.ID {
		t.Fatalf("its session is %+v, %v", session.Identity, err)
	}
	kv, err := client.Get(t.Context(), common.TokenKey(record.ID))
	if err != nil {
		t.Fatal(err)
	}
	lease, err := client.TimeToLive(t.Context(), clientv3.LeaseID(kv.Kvs[0].Lease))
	if want := int64((48*time.Hour + remembered) / time.Second); err != nil || lease.GrantedTTL != want {
		t.Errorf("its lease is %+v, %v", lease, err)
	}

	if _, err := s.UpdateUser(t.Context(), host, "ann",
		access.UserChange{Groups: &map[string]access.Role{"reports": access.Operator}},
		common.Precondition{}); err != nil {
		t.Fatal(err)
	}
	c.forward(cacheFor)
	if everywhere, reports := rights(elsewhere); everywhere != access.Viewer || reports != access.Operator {
		t.Errorf("once the user may less, it may %s, and %s in the group", everywhere, reports)
	}
	if _, err := identityOf(t, elsewhere, access.Credential{Session: session.Secret}); !refused(err) {
		t.Errorf("its session outlives the change: %v", err)
	}
	if _, err := s.UpdateUser(t.Context(), host, "ann", access.UserChange{Disabled: new(true)},
		common.Precondition{}); err != nil {
		t.Fatal(err)
	}
	c.forward(cacheFor)
	if _, err := identityOf(t, elsewhere, access.Credential{Token: token}); !refused(err) {
		t.Errorf("it serves a user who is disabled: %v", err)
	}
	if err := s.DeleteUser(t.Context(), host, "ann", common.Precondition{}); err != nil {
		t.Fatal(err)
	}
	if left, err := s.Tokens(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("tokens of a user who went: %+v, %v", left, err)
	}
	// A left-over token is invalid, also for a later user of that name.
	if _, err := client.Put(t.Context(), common.TokenKey(record.ID), string(kv.Kvs[0].Value)); err != nil {
		t.Fatal(err)
	}
	makeUser(t, s, "ann", access.UserChange{Role: new(access.Admin)})
	c.forward(cacheFor)
	if _, err := identityOf(t, elsewhere, access.Credential{Token: token}); !refused(err) {
		t.Errorf("it serves a later user of that name: %v", err)
	}
}

func TestTokensAreBounded(t *testing.T) {
	t.Parallel()
	s, _, _ := setUp(t)
	makeUser(t, s, "ann", access.UserChange{Role: new(access.Viewer)})
	for i := range maxTokens {
		if _, _, err := s.CreateToken(t.Context(), host, access.TokenRequest{
			Name: fmt.Sprint(i),
			Role: access.Viewer,
			User: "ann",
		}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.CreateToken(t.Context(), host, access.TokenRequest{Name: "more", Role: access.Viewer,
		User: "ann"}); !conflicts(err) {
		t.Errorf("one more: %v", err)
	}
	if err := s.DeleteUser(t.Context(), host, "ann", common.Precondition{}); err != nil {
		t.Fatalf("a user with all of them cannot be deleted: %v", err)
	}
	if left, err := s.Tokens(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("left are %d, %v", len(left), err)
	}
}

// The limit holds for concurrent requests to several masters.
func TestTokens_ConcurrentRequests_LimitHolds(t *testing.T) {
	t.Parallel()
	s, client, c := setUp(t)
	masters := []*Store{s, New(client, c.now, nil)}
	makeUser(t, s, "ann", access.UserChange{Role: new(access.Viewer)})
	makeUser(t, s, "bob", access.UserChange{Role: new(access.Viewer)})
	var made atomic.Int32
	var wg sync.WaitGroup
	for i := range 2 * maxTokens {
		wg.Go(func() {
			for {
				_, _, err := masters[i%2].CreateToken(t.Context(), host, access.TokenRequest{
					Name: fmt.Sprint(i),
					Role: access.Viewer,
					User: "ann",
					TTL:  time.Duration(i%2) * time.Hour,
				})
				switch {
				case err == nil:
					made.Add(1)
				case !conflicts(err):
					t.Errorf("the other requests: %v", err)
				case strings.Contains(err.Error(), "too fast"):
					continue
				}
				return
			}
		})
	}
	wg.Wait()
	if got, err := s.Tokens(t.Context()); err != nil || len(got) != maxTokens || made.Load() != maxTokens {
		t.Errorf("%d were made, %d are there, want %d: %v", made.Load(), len(got), maxTokens, err)
	}
	if _, _, err := s.CreateToken(t.Context(), host,
		access.TokenRequest{Name: "x", Role: access.Viewer, User: "bob"}); err != nil {
		t.Errorf("another user's: %v", err)
	}
}

// A user with any number of tokens can be deleted.
func TestDeleteUser_ManyTokens_AllDeleted(t *testing.T) {
	t.Parallel()
	s, client, _ := setUp(t)
	ann := makeUser(t, s, "ann", access.UserChange{Role: new(access.Viewer)})
	for i := range maxTokens + goAtOnce + 10 {
		token := access.NewToken()
		record, err := json.Marshal(
			token.Record(access.TokenRequest{Name: fmt.Sprint(i), Role: access.Viewer}, &ann, "x", time.Now()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Txn(t.Context()).Then(clientv3.OpPut(common.TokenKey(token.ID), string(record)),
			clientv3.OpPut(common.TokenUseKey(token.ID), "{}")).
			Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.DeleteUser(t.Context(), host, "ann", common.Precondition{}); err != nil {
		t.Fatal(err)
	}
	if left := dump(t, client); strings.Contains(left, common.TokensPrefix) ||
		strings.Contains(left, common.TokenUsesPrefix) || strings.Contains(left, common.UsersPrefix) {
		t.Errorf("left is\n%s", left)
	}
}

// A deleted token is refused by all masters within three seconds.
func TestRevokedToken_IsRefusedByAllMasters(t *testing.T) {
	t.Parallel()
	s, client, c := setUp(t)
	bootstrap(t, s)
	masters := []*Store{s, New(client, c.now, nil), New(client, c.now, nil)}
	token, record, err := s.CreateToken(t.Context(), host, access.TokenRequest{
		Name: "ci",
		Role: access.Operator,
		TTL:  time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range masters {
		if _, err := identityOf(t, m, access.Credential{Token: token}); err != nil {
			t.Fatal(err)
		}
	}
	if err := masters[2].RevokeToken(t.Context(), host, record.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := identityOf(t, masters[2], access.Credential{Token: token}); !refused(err) {
		t.Errorf("the master that took it away: %v", err)
	}
	c.forward(cacheFor)
	for i, m := range masters {
		if _, err := identityOf(t, m, access.Credential{Token: token}); !refused(err) {
			t.Errorf("master %d: %v", i, err)
		}
	}
	if err := s.RevokeToken(t.Context(), host, record.ID); common.CodeOf(err) != common.CodeNotFound {
		t.Errorf("the second time: %v", err)
	}
	if all := dump(t, client); strings.Contains(all, common.TokenUseKey(record.ID)) ||
		strings.Contains(all, token[len("car_")+17:]) {
		t.Error("etcd still holds something of it")
	}
}

func TestLastUse_IsRecorded(t *testing.T) {
	t.Parallel()
	s, client, c := setUp(t)
	other := New(client, c.now, nil)
	token, record, err := s.CreateToken(t.Context(), host, access.TokenRequest{Name: "ci", Role: access.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	use := func(s *Store, remote string) {
		t.Helper()
		if _, err := identityOf(t, s, access.Credential{Token: token, Remote: remote}); err != nil {
			t.Fatal(err)
		}
	}
	last := func() (access.TokenUse, int64) {
		t.Helper()
		r, err := s.Token(t.Context(), record.ID)
		if err != nil {
			t.Fatal(err)
		}
		kv, err := client.Get(t.Context(), common.TokenUseKey(record.ID))
		if err != nil || len(kv.Kvs) == 0 {
			return r.LastUse, 0
		}
		return r.LastUse, kv.Kvs[0].Version
	}
	if at, times := last(); times != 0 || !at.At.IsZero() {
		t.Errorf("before any use: %v", at)
	}
	changes := strings.Count(dump(t, client), common.ChangesPrefix)
	for range 20 {
		use(s, "192.0.2.1")
		use(other, "192.0.2.2")
	}
	at, times := last()
	// twice where a minute passed meanwhile
	if times > 2 || at.At.IsZero() || at.At.Second() != 0 || at.At.Nanosecond() != 0 || at.Remote == "" {
		t.Errorf("after many uses: %+v, written %d times", at, times)
	}
	c.forward(2 * useEvery)
	use(other, "192.0.2.3")
	if later, again := last(); again != times+1 || !later.At.After(at.At) || later.Remote != "192.0.2.3" {
		t.Errorf("two minutes later: %+v, written %d times", later, again)
	}
	if strings.Count(dump(t, client), common.ChangesPrefix) != changes {
		t.Error("the audit contains uses")
	}
	if all, err := s.Tokens(t.Context()); err != nil || len(all) != 1 || all[0].LastUse.Remote != "192.0.2.3" {
		t.Errorf("listed: %+v, %v", all, err)
	}
}

func TestSessionsByID(t *testing.T) {
	t.Parallel()
	s, client, c := setUp(t)
	elsewhere := New(client, c.now, nil)
	token := bootstrap(t, s)
	makeUser(t, s, "ann", access.UserChange{Role: new(access.Viewer), Password: new(aPassword)})
	mine := logIn(t, s, "ann", aPassword)
	if _, err := s.Login(t.Context(), access.Login{Token: token}); err != nil {
		t.Fatal(err)
	}
	all, err := s.Sessions(t.Context(), anySession)
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	id := access.SessionID(access.Hash(mine.Secret))
	found, err := s.Session(t.Context(), id)
	if err != nil || found.User != "ann" || found.Name != "ann" || found.ID != id || found.Remote != "192.0.2.7" {
		t.Errorf("it is %+v, %v", found, err)
	}
	ann := mine.Identity
	for i := range all {
		if all[i].Of(&ann) != (all[i].User == "ann") {
			t.Errorf("%+v is ann's: %v", all[i], all[i].Of(&ann))
		}
	}
	if _, err := identityOf(t, elsewhere, access.Credential{Session: mine.Secret}); err != nil {
		t.Fatal(err)
	}
	if err := s.EndSession(t.Context(), host, id); err != nil {
		t.Fatal(err)
	}
	c.forward(cacheFor)
	if _, err := identityOf(t, elsewhere, access.Credential{Session: mine.Secret}); !refused(err) {
		t.Errorf("after its end: %v", err)
	}
	for _, odd := range []string{id, "", "a", strings.Repeat("0", 16), id + "0", "../../users/ann0"} {
		if err := s.EndSession(t.Context(), host, odd); common.CodeOf(err) != common.CodeNotFound {
			t.Errorf("the end of %q: %v", odd, err)
		}
	}
}
