package notify_test

import (
	"errors"
	"fmt"
	"net/netip"

	"carillon/internal/notify"
)

// Webhooks are sent to public addresses, and to networks that the setting notifyAllow permits.
func ExampleCheckAddress() {
	allowed := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}
	for _, text := range []string{"93.184.215.14", "10.1.2.3", "169.254.169.254"} {
		err := notify.CheckAddress(netip.MustParseAddr(text), allowed)
		fmt.Println(text, errors.Is(err, notify.ErrAddress))
	}
	// Output:
	// 93.184.215.14 false
	// 10.1.2.3 false
	// 169.254.169.254 true
}

func ExampleLine() {
	fmt.Println(notify.Line("backup failed\r\nBcc: everyone@example.com"))
	// Output:
	// backup failed  Bcc: everyone@example.com
}
