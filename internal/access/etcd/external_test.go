package etcd

import (
	"strings"
	"testing"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
)

const anIssuer = "https://id.example.com"

var itsRules = []access.Rule{{Claimed: "ops", Role: access.Admin}, {
	Claimed: "data",
	Group:   "reports",
	Role:    access.Editor,
}, {Claimed: access.AllUsers, Role: access.Viewer}}

// A session of an external user has the rights that the rules grant now, and ends with them.
func TestExternalSession_RulesChange_RightsFollow(t *testing.T) {
	t.Parallel()
	_, client, clock := setUp(t)
	master := func(issuer string, rules ...access.Rule) *Store {
		return New(client, clock.now, &access.Issuer{URL: issuer, Rules: rules})
	}
	before := master(anIssuer, itsRules...)
	session, err := before.LoginExternal(t.Context(), access.External{
		Issuer:  anIssuer,
		Subject: "1",
		Name:    "ann",
		Claimed: []string{"data", "ops"},
		Once:    "1",
	}, "")
	if err != nil || session.Identity.Role != access.Admin {
		t.Fatalf("%+v, %v", session.Identity, err)
	}
	for name, c := range map[string]struct {
		s                   *Store
		everywhere, inGroup access.Role
	}{
		"the same rules": {before, access.Admin, access.Admin},
		"one is gone":    {master(anIssuer, itsRules[1:]...), access.Viewer, access.Editor},
		"two are":        {master(anIssuer, itsRules[2]), access.Viewer, access.Viewer},
		"one says less": {master(anIssuer, access.Rule{Claimed: "ops", Role: access.Operator}), access.Operator,
			access.Operator},
		"none for them":     {master(anIssuer, access.Rule{Claimed: "others", Role: access.Viewer}), "", ""},
		"no rules":          {master(anIssuer), "", ""},
		"another issuer":    {master("https://id2.example.com", itsRules...), "", ""},
		"no issuer anymore": {New(client, clock.now, nil), "", ""},
	} {
		who, err := identityOf(t, c.s, access.Credential{Session: session.Secret})
		if (c.everywhere == "") != refused(err) || who.Role != c.everywhere || who.In("reports") != c.inGroup {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
		listed, err := c.s.Sessions(t.Context(), anySession)
		if err != nil || (len(listed) == 0) != (c.everywhere == "") {
			t.Errorf("%s: listed are %+v, %v", name, listed, err)
		}
	}
	// A user of another issuer gets no session.
	if _, err := before.LoginExternal(t.Context(), access.External{
		Issuer:  "https://id2.example.com",
		Subject: "1",
		Name:    "ann",
		Claimed: []string{"ops"},
		Once:    "2",
	}, ""); !refused(err) {
		t.Errorf("another issuer's: %v", err)
	}
}

func TestExternalSession_Lifecycle(t *testing.T) {
	_, client, clock := setUp(t)
	issuer := &access.Issuer{URL: anIssuer, Rules: itsRules}
	s := New(client, clock.now, issuer)
	ann := access.External{
		Issuer:  anIssuer,
		Subject: "248289761001",
		Name:    "ann",
		Claimed: []string{"data"},
		Once:    access.Hash("a login"),
	}
	session, err := s.LoginExternal(t.Context(), ann, "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	if session.ExpiresAt.Sub(clock.now()) > access.SessionAbsolute ||
		strings.Contains(dump(t, client), session.Secret) {
		t.Error("the session lasts too long, or its secret is stored")
	}
	// Another master accepts the session, with the same rights.
	other := New(client, clock.now, issuer)
	who, err := other.Authenticate(t.Context(), access.Credential{Session: session.Secret})
	if err != nil || !who.Session || who.Name != "oidc:ann" || who.User != "oidc:"+access.Hash(anIssuer)[:12]+
		":248289761001" || who.UserID != "" || who.Token != "" ||
		who.Role != access.Viewer || !who.May(access.Editor, "reports") || who.May(access.Operator, "other") {
		t.Errorf("%+v, %v", who, err)
	}
	// The same login creates no second session, on any master and at any later time.
	for _, store := range []*Store{s, other} {
		if _, err := store.LoginExternal(t.Context(), ann, "192.0.2.9"); !refused(err) {
			t.Errorf("a used login creates a session: %v", err)
		}
	}
	if !strings.Contains(dump(t, client), `"login_failed"`) {
		t.Error("the second use is not in the audit")
	}
	ann.Once = access.Hash("another login")
	if _, err := s.LoginExternal(t.Context(), ann, "192.0.2.1"); err != nil {
		t.Errorf("another login: %v", err)
	}
	// The session is listed and can be ended.
	listed, err := s.Sessions(t.Context(), anySession)
	if err != nil || len(listed) != 2 || !listed[0].Of(&who) {
		t.Fatalf("%+v, %v", listed, err)
	}
	if err := s.Logout(t.Context(), common.Actor{Name: who.Name}, session.Secret); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Authenticate(t.Context(), access.Credential{Session: session.Secret}); !refused(err) {
		t.Errorf("an ended session is valid: %v", err)
	}
	// Its lifetime is that of other sessions.
	session, err = s.LoginExternal(t.Context(), access.External{
		Issuer:  anIssuer,
		Subject: "x",
		Name:    "x",
		Once:    "1",
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	clock.forward(access.SessionAbsolute + time.Second)
	if _, err := s.Authenticate(t.Context(), access.Credential{Session: session.Secret}); !refused(err) {
		t.Errorf("an expired session is valid: %v", err)
	}
}
