package etcd

import (
	"fmt"
	"testing"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
)

// A network is known on all masters after a login from it, for 90 days, and is deleted with the
// user.
func TestKnownNetwork_AfterALogin_IsShared(t *testing.T) {
	t.Parallel()
	s, client, clock := setUp(t)
	ann := makeUser(t, s, "ann", access.UserChange{Password: new(aPassword)})
	makeUser(t, s, "bob", access.UserChange{Password: new(aPassword)})
	from := func(address, password string) {
		t.Helper()
		if _, err := s.Login(t.Context(), access.Login{User: "ann", Password: password,
			Remote: address}); (err == nil) != (password == aPassword) {
			t.Fatal(err)
		}
	}
	known := func(s *Store, user, address string) bool {
		return s.KnownNetwork(t.Context(), user, access.Network(address))
	}
	from("192.0.2.1", aPassword)
	from("198.51.100.1", another)
	elsewhere := New(client, s.now, nil)
	if !known(elsewhere, "ann", "192.0.2.9") || known(s, "ann", "198.51.100.1") || known(s, "bob", "192.0.2.1") ||
		known(s, "none", "192.0.2.1") || known(s, "ann", "nonsense") {
		t.Error("known networks differ from those of the logins")
	}
	for i := range 20 {
		clock.forward(time.Minute)
		from(fmt.Sprintf("203.0.%d.1", i), aPassword)
	}
	if known(elsewhere, "ann", "192.0.2.1") || !known(elsewhere, "ann", "203.0.19.1") ||
		!known(elsewhere, "ann", "203.0.4.1") || known(elsewhere, "ann", "203.0.3.1") {
		t.Error("known networks are not the last 16")
	}
	clock.forward(networkLife)
	if known(s, "ann", "203.0.19.1") {
		t.Error("the network is known after 90 days")
	}
	if err := s.DeleteUser(t.Context(), host, "ann", common.Precondition{}); err != nil {
		t.Fatal(err)
	}
	if resp, err := client.Get(t.Context(), common.NetworksKey(ann.ID)); err != nil || len(resp.Kvs) != 0 {
		t.Errorf("%v, %v", resp, err)
	}
}
