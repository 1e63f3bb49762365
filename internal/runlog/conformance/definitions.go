package conformance

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"carillon/internal/common"
)

func definitions(t *testing.T, s Store, _ Size) {
	ctx := t.Context()
	digest := func(n int) string { return strings.Repeat(fmt.Sprintf("%02x", n), 32) }
	large := make([][]byte, 33)
	for i := range large {
		large[i] = bytes.Repeat([]byte{byte(i), 0, 0xff}, 85<<10)
	}
	bodies := map[string][][]byte{digest(1): {[]byte("one")}, digest(2): {{0}, {1, 2}, {3}}, digest(3): large}
	for digest, parts := range bodies {
		if err := s.Define(ctx, digest, parts); err != nil {
			t.Fatal(err)
		}
		if err := s.Define(ctx, digest, [][]byte{[]byte("other")}); err != nil {
			t.Errorf("a stored body is stored again: %v", err)
		}
	}
	for digest, want := range bodies {
		got, err := s.Definition(ctx, digest)
		if err != nil || !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("definition %.4s: %d parts, want %d, %v", digest, len(got), len(want), err)
		}
	}
	for _, none := range []string{"", digest(4), digest(1)[:63], "\xff"} {
		if _, err := s.Definition(ctx, none); common.CodeOf(err) != common.CodeNotFound {
			t.Errorf("definition %.4q: %v", none, err)
		}
	}
	asked := []string{digest(1), digest(4), digest(3)}
	for n := range 1200 {
		asked = append(asked, fmt.Sprintf("none-%d", n))
	}
	got, err := s.Defined(ctx, asked)
	if want := map[string]bool{digest(1): true, digest(3): true}; err != nil || !maps.Equal(got, want) {
		t.Errorf("defined are %v, %v", got, err)
	}
	if got, err := s.Defined(ctx, nil); err != nil || len(got) > 0 {
		t.Errorf("of none defined are %v, %v", got, err)
	}
}
