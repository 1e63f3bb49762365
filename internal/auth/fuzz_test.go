package auth

import "testing"

// FuzzParseToken takes as a token only what comes back as it was.
func FuzzParseToken(f *testing.F) {
	for _, seed := range []string{"", "car_", NewToken().Reveal(), "car_aaaaaaaaaaaaaaaa_", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if token, ok := ParseToken(text); ok && token.Reveal() != text {
			t.Errorf("%q is taken for %q", text, token.Reveal())
		}
		Network(text)
	})
}
