// Command sbom writes down what programs are made of, as CycloneDX 1.6 in JSON
// (https://cyclonedx.org/docs/1.6/json/): the Go modules that the linker took, as the
// programs say themselves, the standard library, and the packages of the console.
// The same programs give the same bytes.
//
//	sbom -console web/package-lock.json bin/carillon-master bin/cronctl > sbom.cdx.json
package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	flags.SetOutput(stderr)
	console := flags.String("console", "", "package-lock.json of what is built into the console")
	version := flags.String("version", "dev", "version of the programs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return fmt.Errorf("name the programs")
	}
	found := map[string]component{}
	for _, path := range flags.Args() {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return err
		}
		for _, c := range modules(info) {
			found[c.PURL] = c
		}
	}
	if *console != "" {
		lock, err := os.ReadFile(*console)
		if err != nil {
			return err
		}
		packages, err := npm(lock)
		if err != nil {
			return fmt.Errorf("%s: %w", *console, err)
		}
		for _, c := range packages {
			found[c.PURL] = c
		}
	}
	out := document{Format: "CycloneDX", Spec: "1.6", Version: 1, Components: make([]component, 0, len(found))}
	out.Metadata.Component = component{Type: "application", Name: "carillon", Version: *version}
	for _, c := range found {
		out.Components = append(out.Components, c)
	}
	slices.SortFunc(out.Components, func(a, b component) int { return cmp.Compare(a.PURL, b.PURL) })
	encoder := json.NewEncoder(stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}

type document struct {
	Format   string `json:"bomFormat"`
	Spec     string `json:"specVersion"`
	Version  int    `json:"version"`
	Metadata struct {
		Component component `json:"component"`
	} `json:"metadata"`
	Components []component `json:"components"`
}

type component struct {
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// modules are those of a program. What go.sum says of one is a hash of its files, and no
// hash that CycloneDX has a word for.
func modules(info *debug.BuildInfo) []component {
	std := strings.TrimPrefix(info.GoVersion, "go")
	all := []component{{Type: "library", Name: "std", Version: std, PURL: "pkg:golang/std@" + std}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component{
			Type:    "library",
			Name:    m.Path,
			Version: m.Version,
			PURL:    "pkg:golang/" + m.Path + "@" + m.Version,
		}
		if m.Sum != "" {
			c.Properties = []property{{Name: "go.sum", Value: m.Sum}}
		}
		all = append(all, c)
	}
	return all
}

// npm are the packages of a package-lock.json that are not for development alone.
func npm(lock []byte) ([]component, error) {
	var file struct {
		Packages map[string]struct {
			Version, Integrity string
			Dev                bool
		}
	}
	if err := json.Unmarshal(lock, &file); err != nil {
		return nil, err
	}
	var all []component
	for path, p := range file.Packages {
		_, name, found := cutLast(path, "node_modules/")
		if !found || p.Dev {
			continue
		}
		c := component{
			Type:    "library",
			Name:    name,
			Version: p.Version,
			PURL:    "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version,
		}
		if sum, sha := strings.CutPrefix(p.Integrity, "sha512-"); sha {
			raw, err := base64.StdEncoding.DecodeString(sum)
			if err != nil {
				return nil, fmt.Errorf("integrity of %s: %w", name, err)
			}
			c.Hashes = []hash{{Alg: "SHA-512", Content: hex.EncodeToString(raw)}}
		}
		all = append(all, c)
	}
	return all, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
