package redact

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func masker(values ...string) *Masker {
	var secrets []Secret
	for i, v := range values {
		secrets = append(secrets, Secret{Name: string(rune('a' + i)), Value: []byte(v)})
	}
	return New(secrets)
}

func TestText_MasksSecrets(t *testing.T) {
	for _, c := range []struct {
		secrets    []string
		text, want string
	}{
		{nil, "swordfish", "swordfish"},
		{[]string{"swordfish"}, "", ""},
		{[]string{"swordfish"}, "swordfish", "[secret:a]"},
		{[]string{"swordfish"}, "the swordfish swims", "the [secret:a] swims"},
		{[]string{"swordfish"}, "swordfis", "swordfis"},
		{[]string{"swordfish"}, "sswordfishh", "s[secret:a]h"},
		{[]string{"swordfish"}, "swordfishswordfish", "[secret:a][secret:a]"},
		{[]string{"swordfish"}, "swordswordfish", "sword[secret:a]"},
		{[]string{"swordfish"}, "Swordfish sword\nfish", "Swordfish sword\nfish"},
		{[]string{"abcdefgh", "efghijkl"}, "xabcdefghijkly", "x[secret:a][secret:b]y"},
		{[]string{"efghijkl", "abcdefgh"}, "xabcdefghijkly", "x[secret:b][secret:a]y"},
		{[]string{"abcdefghijkl", "defghijk"}, "xabcdefghijkly", "x[secret:a]y"},
		{[]string{"defghijk", "abcdefghijkl"}, "abcdefghijkX defghijk", "abc[secret:a]X [secret:a]"},
		{[]string{"abcdefgh", "abcdefghij"}, "abcdefghij abcdefgh", "[secret:b] [secret:a]"},
		{[]string{"same-one", "same-one"}, "same-one", "[secret:a]"},
		{[]string{"aaaaaaaa"}, strings.Repeat("a", 7), "aaaaaaa"},
		{[]string{"aaaaaaaa"}, strings.Repeat("a", 29) + "b", "[secret:a]b"},
		{[]string{"abababab"}, "xabababababay", "x[secret:a]ay"},
		{[]string{"line one\nline two"}, "> line one\nline two<", "> [secret:a]<"},
		{[]string{"\x00\xff\xfe\x80\x00\xff\xfe\x80"}, "\xff\x00\xff\xfe\x80\x00\xff\xfe\x80", "\xff[secret:a]"},
	} {
		if got := masker(c.secrets...).Text(c.text); got != c.want {
			t.Errorf("%q without %q is %q, want %q", c.text, c.secrets, got, c.want)
		}
	}
}

// naive masks a complete text according to the package's promise.
func naive(secrets []string, text string) string {
	type found struct{ secret, from, to int }
	var all []found
	for from := range text {
		longest := []found{}
		for i, s := range secrets {
			if strings.HasPrefix(text[from:], s) {
				longest = append(longest, found{i, from, from + len(s)})
			}
		}
		for len(longest) > 0 { // the longest first, then the first by name
			best := 0
			for i := range longest {
				if longest[i].to > longest[best].to {
					best = i
				}
			}
			all = append(all, longest[best])
			longest = append(longest[:best], longest[best+1:]...)
		}
	}
	var out strings.Builder
	at, named := 0, map[int]bool{}
	for _, f := range all {
		if f.from >= at {
			out.WriteString(text[at:f.from])
			named = map[int]bool{}
		} else if f.to <= at {
			continue
		}
		if !named[f.secret] {
			fmt.Fprintf(&out, "[secret:%c]", 'a'+f.secret)
			named[f.secret] = true
		}
		at = f.to
	}
	return out.String() + text[at:]
}

// The output is the same however a text is split, and no more is held back than may be the
// beginning of a secret.
func TestStream_SplitText_SameOutput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 1, 9, -1), 1, 4).Draw(t, "secrets")
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aaabbb.")), 0, 60, -1).Draw(t, "text")
		longest := 0
		for _, s := range secrets {
			longest = max(longest, len(s))
		}
		stream := masker(secrets...).Stream()
		var out []byte
		for rest := []byte(text); len(rest) > 0; {
			piece := bytes.Clone(rest[:rapid.IntRange(1, len(rest)).Draw(t, "piece")])
			rest = rest[len(piece):]
			out = append(out, stream.Write(piece)...)
			clear(piece) // the caller may reuse it
			if len(stream.held) >= longest {
				t.Fatalf("%q is held back", stream.held)
			}
		}
		out = append(out, stream.Flush()...)
		if want := naive(secrets, text); string(out) != want {
			t.Fatalf("%q without %q is %q, want %q", text, secrets, out, want)
		}
		if again := append(bytes.Clone(stream.Write([]byte("ab"))),
			stream.Flush()...); string(again) != masker(secrets...).Text("ab") {
			t.Fatalf("after a flush %q comes out", again)
		}
	})
}

func TestNew_NoSecrets_ReturnsNoMasker(t *testing.T) {
	if New(nil) != nil || New([]Secret{{Name: "a"}}) != nil {
		t.Error("there is a masker without a secret")
	}
	var s *Stream
	if string(s.Write([]byte("x")))+string(s.Flush()) != "x" {
		t.Error("a stream without a masker keeps something")
	}
}

// Texts made of prefixes of a secret, or of the secret, take no more time than others.
func TestStream_PrefixesOfSecrets_TakeLinearTime(t *testing.T) {
	m := masker(strings.Repeat("a", MaxSecret), strings.Repeat("a", MaxSecret-1)+"b", strings.Repeat("ab", MaxSecret/2))
	s := m.Stream()
	piece := bytes.Repeat([]byte("a"), 64<<10)
	n := 0
	for range 64 {
		n += len(s.Write(piece))
	}
	n += len(s.Flush())
	if n != len("[secret:a]") {
		t.Errorf("%d bytes printed of a text that is one secret", n)
	}
}

func BenchmarkStream(b *testing.B) {
	line := []byte("2026-11-21T21:04:03Z level=info msg=\"stored batch\" table=orders rows=1382 took=12ms " +
		"path=/srv/data/part-00017\n")
	text := bytes.Repeat(line, 64<<10/len(line))
	for _, n := range []int{0, 1, 5, 20} {
		b.Run(fmt.Sprintf("%d secrets", n), func(b *testing.B) {
			var secrets []Secret
			for i := range n {
				secrets = append(secrets, Secret{
					Name:  "s",
					Value: fmt.Appendf(nil, "%c%x-%032d", "tsp2a"[i%5], 7919*i, 104729*i),
				})
			}
			s := New(secrets).Stream()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s.Write(text)
			}
		})
	}
}
