package access

import "testing"

// FuzzParseToken checks that every text that parses as a token is the token's exact text.
func FuzzParseToken(f *testing.F) {
	for _, seed := range []string{"", "car_", NewToken().Reveal(), "car_aaaaaaaaaaaaaaaa_", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if token, ok := ParseToken(text); ok && token.Reveal() != text {
			t.Errorf("%q parsed as %q", text, token.Reveal())
		}
		Network(text)
	})
}
