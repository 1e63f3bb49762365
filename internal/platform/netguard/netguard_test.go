package netguard

import (
	"net/netip"
	"testing"
)

func TestCheck_PublicOnly(t *testing.T) {
	for _, c := range []struct {
		addr  string
		allow string
		ok    bool
	}{
		{"93.184.216.34", "", true}, {"2606:2800:220:1::1", "", true}, {"64:ff9b::5db8:d822", "", true},
		{"127.0.0.1", "", false}, {"127.8.8.8", "", false}, {"::1", "", false}, {"0.0.0.0", "", false},
		{"::", "", false}, {"0.1.2.3", "", false},
		{"10.1.2.3", "", false}, {"172.16.0.1", "", false}, {"192.168.1.1", "", false}, {"fd00::1", "", false},
		{"fc00::1", "", false},
		{"169.254.169.254", "", false}, {"fe80::1", "", false}, {"fe80::1%eth0", "", false},
		{"fd00:ec2::254", "", false}, {"100.100.100.200", "", false},
		{"168.63.129.16", "", false}, {"192.0.0.192", "", false}, {"100.64.0.1", "", false}, {"224.0.0.1", "", false},
		{"ff02::1", "", false}, {"255.255.255.255", "", false}, {"240.0.0.1", "", false},
		{"::ffff:127.0.0.1", "", false},
		{"::ffff:0:127.0.0.1", "", false}, {"::ffff:10.0.0.1", "", false}, {"::127.0.0.1", "", false},
		{"64:ff9b::7f00:1", "", false}, {"64:ff9b::a9fe:a9fe", "", false}, {"64:ff9b:1::a00:1", "", false},
		{"2002:7f00:1::", "", false}, {"2001:0:1::", "", false}, {"2001:db8::1", "", false}, {"198.18.0.1", "", false},
		{"203.0.113.7", "", false},
		{"10.1.2.3", "10.0.0.0/8", true}, {"::ffff:10.1.2.3", "10.0.0.0/8", true},
		{"64:ff9b::a01:203", "10.0.0.0/8", true}, {"10.1.2.3", "10.2.0.0/16", false},
		{"fe80::1%eth0", "fe80::/10", true}, {"::1", "::1/128", true},
	} {
		var allow []netip.Prefix
		if c.allow != "" {
			allow = append(allow, netip.MustParsePrefix(c.allow))
		}
		if err := Check(netip.MustParseAddr(c.addr), allow); (err == nil) != c.ok {
			t.Errorf("%s with %q: %v", c.addr, c.allow, err)
		}
	}
	if Check(netip.Addr{}, nil) == nil {
		t.Error("no address was taken")
	}
}
