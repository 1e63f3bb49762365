package main

import (
	"maps"
	"strings"

	"carillon/internal/common"
)

// pairs parses texts of the form NAME=VALUE; the last one of a name applies.
func pairs(flag string, texts []string) (map[string]string, error) {
	all := map[string]string{}
	for _, text := range texts {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return nil, common.Errorf(common.CodeInvalid, "%s %q is not NAME=VALUE", flag, common.Shorten(text))
		}
		all[name] = value
	}
	return all, nil
}

// changed returns the pairs after the changes: NAME=VALUE sets one, NAME- removes it.
func changed(flag string, before *map[string]string, changes []string) (map[string]string, error) {
	after := map[string]string{}
	maps.Copy(after, value(before))
	for _, text := range changes {
		if name, gone := strings.CutSuffix(text, "-"); gone && !strings.Contains(text, "=") {
			delete(after, name)
			continue
		}
		given, err := pairs(flag, []string{text})
		if err != nil {
			return nil, err
		}
		maps.Copy(after, given)
	}
	return after, nil
}
