package authstore

import (
	"strings"
	"testing"
	"time"

	"carillon/internal/auth"
	"carillon/internal/common"
)

func TestSessionOfAnIssuersUser(t *testing.T) {
	s, client, clock := setUp(t)
	ann := auth.External{Issuer: "https://id.example.com", Subject: "248289761001", Name: "ann", Role: auth.Viewer,
		Groups: map[string]auth.Role{"reports": auth.Editor}, Once: auth.Hash("a login")}
	session, err := s.LoginExternal(t.Context(), ann, "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	if session.ExpiresAt.Sub(clock.now()) > auth.SessionAbsolute || strings.Contains(dump(t, client), session.Secret) {
		t.Error("the session lasts too long, or its secret is stored")
	}
	// Another master knows it, and what it may do.
	other := New(client, clock.now)
	who, err := other.Authenticate(t.Context(), auth.Credential{Session: session.Secret})
	if err != nil || !who.Session || who.Name != "oidc:ann" || who.User != "oidc:248289761001" || who.UserID != "" || who.Token != "" ||
		who.Role != auth.Viewer || !who.May(auth.Editor, "reports") || who.May(auth.Operator, "other") {
		t.Errorf("%+v, %v", who, err)
	}
	// The same login makes no second one, anywhere, and after a moment neither.
	for _, store := range []*Store{s, other} {
		if _, err := store.LoginExternal(t.Context(), ann, "192.0.2.9"); !refused(err) {
			t.Errorf("a login that was used makes a session: %v", err)
		}
	}
	if !strings.Contains(dump(t, client), `"login_failed"`) {
		t.Error("the second use is not written down")
	}
	ann.Once = auth.Hash("another login")
	if _, err := s.LoginExternal(t.Context(), ann, "192.0.2.1"); err != nil {
		t.Errorf("another login: %v", err)
	}
	// It is listed, and can be ended.
	listed, err := s.Sessions(t.Context(), anybody)
	if err != nil || len(listed) != 2 || !listed[0].Of(&who) {
		t.Fatalf("%+v, %v", listed, err)
	}
	if err := s.Logout(t.Context(), common.Actor{Name: who.Name}, session.Secret); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Authenticate(t.Context(), auth.Credential{Session: session.Secret}); !refused(err) {
		t.Errorf("a session that was ended is good: %v", err)
	}
	// It has no longer life than others.
	session, err = s.LoginExternal(t.Context(), auth.External{Subject: "x", Name: "x", Role: auth.Viewer, Once: "1"}, "")
	if err != nil {
		t.Fatal(err)
	}
	clock.forward(auth.SessionAbsolute + time.Second)
	if _, err := s.Authenticate(t.Context(), auth.Credential{Session: session.Secret}); !refused(err) {
		t.Errorf("a session that is over is good: %v", err)
	}
}
