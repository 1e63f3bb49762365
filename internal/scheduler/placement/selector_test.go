package placement_test

import (
	"maps"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/scheduler/placement"
)

func TestSelector(t *testing.T) {
	labels := map[string]string{"zone": "a", "disk": "ssd", "example.com/gpu": "", "in": "in"}
	for _, c := range []struct {
		text  string
		match bool
		form  string // normal form; empty: as written; "-": empty
	}{
		{"", true, ""},
		{"zone=a", true, ""},
		{"zone=b", false, ""},
		{" zone = a ", true, "zone=a"},
		{"zone!=a", false, ""},
		{"zone!=b", true, ""},
		{"rack!=b", true, ""},
		{"rack=b", false, ""},
		{"rack=", false, ""},
		{"example.com/gpu=", true, ""},
		{"example.com/gpu!=", false, ""},
		{"zone=,disk=ssd", false, ""},
		{"zone in (a,b)", true, ""},
		{"zone in(b , c)", false, "zone in (b,c)"},
		{"zone\tin ( a )", true, "zone=a"},
		{"zone notin (a,b)", false, ""},
		{"zone notin (b)", true, "zone!=b"},
		{"rack notin (a,b)", true, ""},
		{"rack in (a,b)", false, ""},
		{"zone", true, ""},
		{"rack", false, ""},
		{"!rack", true, ""},
		{"! zone", false, "!zone"},
		{"zone=a,disk=ssd", true, ""},
		{"zone = a , disk != ssd", false, "zone=a,disk!=ssd"},
		{"in in (in), in", true, "in=in,in"},
	} {
		s, err := placement.ParseSelector(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := s.Matches(labels); got != c.match {
			t.Errorf("%q matches: %v", c.text, got)
		}
		want := c.form
		switch want {
		case "":
			want = c.text
		case "-":
			want = ""
		}
		if s.String() != want {
			t.Errorf("%q is printed as %q, want %q", c.text, s, want)
		}
	}
	if none := (*placement.Selector)(nil); !none.Matches(nil) || none.String() != "" {
		t.Error("a nil selector must match all labels")
	}
}

func TestSelectorErrors(t *testing.T) {
	for text, want := range map[string]string{
		" ":                       "character 2: expected the name of a label, found the end of the text",
		"\t\n":                    "character 3: expected the name of a label, found the end of the text",
		"\u00a0":                  "character 1: expected the name of a label, found '\\u00a0'",
		"=a":                      "character 1: expected the name of a label, found '='",
		"zone=a,":                 "character 8: expected the name of a label, found the end of the text",
		"zone=a,,disk":            "character 8: expected the name of a label, found ','",
		"zone==a":                 "character 6: expected a comma, found '='",
		"zone=a b":                "character 8: expected a comma, found 'b'",
		"zone a":                  `character 6: expected =, !=, in, notin or a comma, found "a"`,
		"zone in a":               "character 9: expected '(', found 'a'",
		"zone in (a":              "character 11: expected a comma or ')', found the end of the text",
		"zone in ()":              "character 10: expected a value, found ')'",
		"zone in (a,)":            "character 12: expected a value, found ')'",
		"zone in (a b)":           "character 12: expected a comma or ')', found 'b'",
		"zone notin":              "character 11: expected '(', found the end of the text",
		"!zone=a":                 "character 6: expected a comma, found '='",
		"!":                       "character 2: expected the name of a label, found the end of the text",
		"zone>3":                  "character 5: expected a comma, found '>'",
		"zone=é":                  "character 6: expected a comma, found 'é'",
		"zone=\x00":               `character 6: expected a comma, found '\x00'`,
		"-zone=a":                 "character 1: a label name must begin and end with a letter or digit",
		"zone=a-":                 "character 6: a label value must begin and end with a letter or digit",
		"zone=a/b":                "character 7: a label value must not contain '/'",
		strings.Repeat("k", 64):   "character 1: a label name must have at most 63 characters",
		strings.Repeat("k,", 33):  "character 65: has more than 32 requirements",
		strings.Repeat("k", 1025): "is longer than 1024 characters",
	} {
		_, err := placement.ParseSelector(text)
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if err != nil && common.CodeOf(err) != common.CodeInvalid {
			t.Errorf("%q: code %s", text, common.CodeOf(err))
		}
	}
}

func FuzzParseSelector(f *testing.F) {
	for _, s := range []string{"", "zone=a", "zone in (a,b), !rack", "a notin (b),c!=,d/e", "a=,b", "in in (in)"} {
		f.Add(s, "zone", "a")
	}
	f.Fuzz(func(t *testing.T, text, key, value string) {
		s, err := placement.ParseSelector(text)
		if err != nil {
			if len(err.Error()) > 400 {
				t.Errorf("the error for %q has %d bytes", text, len(err.Error()))
			}
			return
		}
		again, err := placement.ParseSelector(s.String())
		if err != nil {
			t.Fatalf("%q is printed as %q, which is refused: %v", text, s, err)
		}
		labels := map[string]string{key: value}
		before := maps.Clone(labels)
		if s.Matches(labels) != again.Matches(labels) || s.Matches(nil) != again.Matches(nil) ||
			again.String() != s.String() {
			t.Errorf("%q and %q differ", text, s)
		}
		if !maps.Equal(before, labels) {
			t.Error("labels were changed")
		}
	})
}
