package crypt_test

import (
	"errors"
	"strings"
	"testing"

	"carillon/internal/secrets/crypt"
)

func box(t *testing.T, keys ...string) *crypt.Box {
	t.Helper()
	b, err := crypt.Parse(strings.Join(keys, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSealAndOpen(t *testing.T) {
	old, next := crypt.NewKey(), crypt.NewKey()
	b := box(t, old)
	sealed, err := b.Seal("/a", []byte("whsec_canary"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.Seal("/a", []byte("whsec_canary"))
	if err != nil {
		t.Fatal(err)
	}
	if sealed == again || strings.Contains(sealed, "canary") {
		t.Errorf("sealed twice: %q and %q", sealed, again)
	}
	other, err := box(t, next).Seal("/a", []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	changed := []byte(sealed)
	if at := len(changed) - 3; changed[at] == 'A' {
		changed[at] = 'B'
	} else {
		changed[at] = 'A'
	}
	for _, c := range []struct {
		name   string
		box    *crypt.Box
		place  string
		sealed string
		err    error
	}{
		{"as it was sealed", b, "/a", sealed, nil},
		{"another key before it", box(t, next, old), "/a", sealed, nil},
		{"for another place", b, "/b", sealed, crypt.ErrDamaged},
		{"changed", b, "/a", string(changed), crypt.ErrDamaged},
		{"cut", b, "/a", sealed[:30], crypt.ErrDamaged},
		{"nothing", b, "/a", "", crypt.ErrDamaged},
		{"of an unknown key", b, "/a", other, crypt.ErrKey},
		{"without a key", nil, "/a", sealed, crypt.ErrKey},
	} {
		plain, err := c.box.Open(c.place, c.sealed)
		if !errors.Is(err, c.err) || err == nil && string(plain) != "whsec_canary" {
			t.Errorf("%s: %q, %v; want %v", c.name, plain, err, c.err)
		}
	}
	if _, err := (*crypt.Box)(nil).Seal("/a", nil); !errors.Is(err, crypt.ErrKey) {
		t.Errorf("sealed without a key: %v", err)
	}
}

func TestParse_InvalidKeys_Refused(t *testing.T) {
	for _, text := range []string{"", " \n", "short", crypt.NewKey()[:40], crypt.NewKey() + " nonsense"} {
		if _, err := crypt.Parse(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
