package runas

import (
	"strings"
	"testing"

	"carillon/internal/common"
)

// FuzzParse checks that no input panics, and that accepted rules allow root or another user only if the text names it.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "default: bin\n",
		"groups: {backup: {users: [postgres], shells: [/bin/sh], commands: [/usr/bin/rsync]}, '*': {disabled: true}}\n",
		"groups: {g: {users: [root]}}", "groups:\n  - a\n", "a: &a [*a]\n", "groups: {g: {users: [0]}}", "\xff\x00",
		"groups: {'..': {}}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rules, err := Parse(data)
		if err != nil {
			return
		}
		if !strings.Contains(string(data), "root") && !strings.Contains(string(data), "\\") {
			for _, group := range []string{"g", "backup", ""} {
				entry := rules.of(group)
				for _, user := range append(entry.Users, rules.Default) {
					if user == "root" {
						t.Fatalf("root is allowed by %q", data)
					}
				}
			}
		}
		file := &File{rules: rules, own: Account{Name: "me", UID: 1}}
		file.cfg.Path = "/nonexistent"
		named := strings.Contains(string(data), "daemon") || strings.Contains(string(data), "\\")
		if _, why := file.As(&common.Job{Group: "g", User: "daemon"}, "me", Local); why == nil && !named {
			t.Fatalf("the user daemon is allowed by %q", data)
		}
	})
}
