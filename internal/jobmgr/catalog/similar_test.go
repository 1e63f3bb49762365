package catalog

import "testing"

func TestSimilar(t *testing.T) {
	for _, x := range []struct {
		wanted, text string
		want         bool
	}{
		{"ordres", "shop.orders", true},       // swapped
		{"ordrs", "orders-nightly", true},     // missing
		{"payyouts", "finance.payouts", true}, // surplus
		{"paxouts", "payouts", true},          // wrong
		{"nightley-report", "nightly", false},
		{"repotr", "nightly-reports", true}, // the beginning of a word
		{"ordres", "shop.index", false},
		{"abc", "abd", false}, // too short
		{"backup", "restore", false},
		{"orders shop", "shop.orders", true},
		{"ordres-eu", "shop.orders-eu", true},
		{"ordres-us", "shop.orders-eu", false},
	} {
		if got := similar(x.wanted, x.text); got != x.want {
			t.Errorf("%s in %s: %t", x.wanted, x.text, got)
		}
	}
}
