package carillon_test

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"carillon"
)

// The console opens links between pages as its own, so each must lead to a page and to a heading or anchor of it.
func TestDocuments_LinksLeadToPages(t *testing.T) {
	pages, places := map[string]string{}, map[string]map[string]bool{}
	err := fs.WalkDir(carillon.Documents(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(carillon.Documents(), name)
		pages[name], places[name] = string(text), placesOf(string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 50 {
		t.Fatalf("%d pages", len(pages))
	}
	link := regexp.MustCompile(`\]\(([^):\s]*?)(?:#([^)\s]+))?\)`)
	for name, text := range pages {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			to := name
			if found[1] != "" {
				to = path.Join(path.Dir(name), found[1])
			}
			if path.Ext(to) != ".md" {
				continue
			}
			if _, exists := pages[to]; !exists && to != "CONTRIBUTING.md" {
				t.Errorf("%s: %s is not a page", name, found[0])
			} else if found[2] != "" && exists && !places[to][found[2]] {
				t.Errorf("%s: %s has no such heading", name, found[0])
			}
		}
	}
}

// placesOf returns the names of the headings and anchors of a page.
func placesOf(text string) map[string]bool {
	places := map[string]bool{}
	for _, found := range regexp.MustCompile(`<a id="([^"]+)">`).FindAllStringSubmatch(text, -1) {
		places[found[1]] = true
	}
	text = regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(text, "")
	for _, found := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		heading := regexp.MustCompile(`\]\([^)]*\)`).ReplaceAllString(found[1], "")
		heading = regexp.MustCompile(`[^\p{L}\p{N}\p{M}_ -]`).ReplaceAllString(strings.ToLower(heading), "")
		places[strings.ReplaceAll(heading, " ", "-")] = true
	}
	return places
}
