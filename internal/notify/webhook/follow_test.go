package webhook

import (
	"net/url"
	"testing"
)

func TestFollow_SameReceiverOnly(t *testing.T) {
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"https://a.example/x", "https://a.example/y", true},
		{"https://a.example/x", "https://A.example:443/y", true},
		{"http://a.example/x", "https://a.example/y", true},
		{"http://a.example:8080/x", "http://a.example:8080/y", true},
		{"http://a.example:8080/x", "https://a.example/y", false},
		{"http://a.example/x", "https://a.example:8443/y", false},
		{"http://a.example/x", "http://a.example:7070/y", false},
		{"https://a.example/x", "https://a.example:2379/y", false},
		{"https://a.example/x", "http://a.example/y", false},
		{"https://a.example/x", "http://a.example:443/y", false},
		{"https://a.example/x", "https://b.example/y", false},
		{"https://a.example/x", "https://u@a.example/y", false},
	} {
		from, err := url.Parse(c.from)
		if err != nil {
			t.Fatal(err)
		}
		to, err := url.Parse(c.to)
		if err != nil {
			t.Fatal(err)
		}
		if err := follow(from, to); (err == nil) != c.ok {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
		}
	}
}
