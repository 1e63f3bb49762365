package netguard_test

import (
	"errors"
	"fmt"
	"net/netip"

	"carillon/internal/platform/netguard"
)

// Webhooks and requests of jobs go to public addresses, and to networks that a setting allows.
func ExampleCheck() {
	allowed := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}
	for _, text := range []string{"93.184.215.14", "10.1.2.3", "169.254.169.254"} {
		err := netguard.Check(netip.MustParseAddr(text), allowed)
		fmt.Println(text, errors.Is(err, netguard.ErrAddress))
	}
	// Output:
	// 93.184.215.14 false
	// 10.1.2.3 false
	// 169.254.169.254 true
}
