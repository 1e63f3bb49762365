package web_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"carillon/web"
)

// sources is what dist is made from; vite.config.ts has the same list and the same algorithm.
var sources = []string{"index.html", "package.json", "package-lock.json", "public", "src", "tsconfig.json",
	"vite.config.ts"}

func hashOfSources(t *testing.T) string {
	t.Helper()
	var files []string
	for _, source := range sources {
		err := fs.WalkDir(os.DirFS("."), source, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(files)
	all := sha256.New()
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(all, "%x  %s\n", sha256.Sum256(content), file)
	}
	return hex.EncodeToString(all.Sum(nil))
}

func TestDistIsBuiltFromTheseSources(t *testing.T) {
	stamp, err := fs.ReadFile(web.Dist(), "sources.sha256")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.TrimSpace(string(stamp)), hashOfSources(t); got != want {
		t.Errorf("dist was built from other sources (%s, now %s): run npm ci && npm run build in web", got, want)
	}
}

func TestDistIsServableUnderTheStrictPolicy(t *testing.T) {
	index, err := fs.ReadFile(web.Dist(), "index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, forbidden := range []string{`<style`, ` style="`, ` onclick=`, `javascript:`, `data:`} {
		if strings.Contains(string(index), forbidden) {
			t.Errorf("index.html holds %q, which default-src 'self' forbids", forbidden)
		}
	}
	inline := regexp.MustCompile(`<script[^>]*>[^<]`)
	if found := inline.FindString(string(index)); found != "" {
		t.Errorf("index.html holds an inline script: %q", found)
	}
	for _, match := range regexp.MustCompile(`(?:src|href)="/([^"]+)"`).FindAllStringSubmatch(string(index), -1) {
		if _, err := fs.Stat(web.Dist(), match[1]); err != nil {
			t.Errorf("index.html refers to a file that is not there: %v", err)
		}
	}
}

func TestDistCarriesNoSourceMaps(t *testing.T) {
	err := fs.WalkDir(web.Dist(), ".", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".map") {
			t.Errorf("%s is a source map", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Browsers keep these files for ever: the name must change with the content.
func TestDistAssets_HaveTheirHashInTheirName_AndAreInUse(t *testing.T) {
	dist := web.Dist()
	index, err := fs.ReadFile(dist, "index.html")
	if err != nil {
		t.Fatal(err)
	}
	assets, err := fs.ReadDir(dist, "assets")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	all.Write(index)
	for _, asset := range assets {
		content, err := fs.ReadFile(dist, "assets/"+asset.Name())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(asset.Name(), ".woff2") {
			all.Write(content)
		}
	}
	hashed := regexp.MustCompile(`^[\w-]+\.[0-9a-f]{10}\.(js|css|woff2)$`)
	for _, asset := range assets {
		if !hashed.MatchString(asset.Name()) {
			t.Errorf("assets/%s has no hash in its name", asset.Name())
		}
		if !strings.Contains(all.String(), asset.Name()) {
			t.Errorf("assets/%s is left from an earlier build: no file refers to it", asset.Name())
		}
	}
}
