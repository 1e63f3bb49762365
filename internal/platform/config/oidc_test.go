package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestOIDC(t *testing.T) {
	good := []string{"--oidc-issuer=https://id.example.com/realms/ops", "--oidc-client-id=carillon",
		"--public-url=https://carillon.example.com",
		"--oidc-roles=platform=admin,data=reports:editor", "--oidc-roles=*=viewer,cn=ops=operator"}
	m, err := LoadMaster(parse(t, MasterFlags, good...), []string{"CARILLON_OIDC_CLIENT_SECRET=xyz"})
	if err != nil {
		t.Fatal(err)
	}
	want := []OIDCRole{{"platform", "", "admin"}, {"data", "reports", "editor"}, {"*", "", "viewer"},
		{"cn=ops", "", "operator"}}
	if !m.OIDC.Configured() || !reflect.DeepEqual(m.OIDC.Roles, want) || m.OIDC.ClientSecret.Reveal() != "xyz" ||
		strings.Join(m.OIDC.Scopes, " ") != "openid profile email" {
		t.Errorf("%+v", m.OIDC)
	}
	if m, err := LoadMaster(parse(t, MasterFlags), nil); err != nil || m.OIDC.Configured() {
		t.Errorf("on by default: %v", err)
	}
	cert, _ := certificate(t, t.TempDir())
	for _, c := range []struct{ args, want string }{
		{"--oidc-issuer=https://id.example.com", "oidc.clientId: is required"},
		{"--oidc-issuer=https://id.example.com --oidc-client-id=x", "oidc.roles: is required"},
		{"--oidc-issuer=https://id.example.com --oidc-client-id=x --oidc-roles=a=viewer", "publicURL: is required"},
		{"--oidc-issuer=https://id.example.com --oidc-client-id=x --oidc-roles=a=viewer " +
			"--public-url=http://carillon.example.com", "publicURL: is required"},
		{"--oidc-issuer=https://id.example.com --oidc-client-id=x --oidc-roles=a=viewer " +
			"--public-url=http://127.0.0.1:7070", ""},
		{"--oidc-issuer=http://127.0.0.1:8080/x --oidc-client-id=x --oidc-roles=a=viewer " +
			"--public-url=https://c.example.com --oidc-ca=" + cert, ""},
		{"--oidc-issuer=https://id.example.com --oidc-client-id=x --oidc-roles=a=viewer " +
			"--public-url=https://c.example.com --oidc-ca=/nowhere", "oidc.ca"},
		{"--oidc-client-id=x", "oidc.issuer: is required"},
		{"--oidc-roles=a=viewer", "oidc.issuer: is required"},
	} {
		_, err := LoadMaster(parse(t, MasterFlags, strings.Fields(c.args)...), nil)
		checkError(t, c.args, err, c.want)
	}
	for _, bad := range []string{"--oidc-issuer=http://id.example.com", "--oidc-issuer=id.example.com",
		"--oidc-issuer=https://u:p@id.example.com", "--oidc-issuer=https://id.example.com?x",
		"--oidc-issuer=https://id.example.com?", "--oidc-issuer=https://id.example.com#",
		"--oidc-roles=admin", "--oidc-roles==admin", "--oidc-roles=a=root", "--oidc-roles=a=b:root",
		"--oidc-roles=a=..:viewer", "--oidc-roles=a=:viewer", "--oidc-roles=*=admin",
		"--oidc-scopes=a b", "--oidc-groups-claim=", "--oidc-title=", "--oidc-client-secret=x"} {
		fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
		MasterFlags(fs)
		if err := fs.Parse([]string{bad}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
