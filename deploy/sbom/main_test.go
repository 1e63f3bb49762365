package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

func TestModules(t *testing.T) {
	got := modules(&debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "example.com/a", Version: "v1.2.3", Sum: "h1:x"},
		{Path: "example.com/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/c", Version: "v2.0.0"}},
	}})
	var purls []string
	for _, c := range got {
		purls = append(purls, c.PURL)
	}
	if want := []string{"pkg:golang/std@1.26.8", "pkg:golang/example.com/a@v1.2.3",
		"pkg:golang/example.com/c@v2.0.0"}; !slices.Equal(purls, want) {
		t.Errorf("%v, want %v", purls, want)
	}
	if got[1].Properties[0].Value != "h1:x" {
		t.Errorf("%+v", got[1])
	}
}

func TestPackagesOfTheConsole(t *testing.T) {
	got, err := npm([]byte(`{"packages": {"": {"version": "1"}, "node_modules/@a/b": {"version": "2.0.0", "integrity": "sha512-AQI="},
		"node_modules/x/node_modules/c": {"version": "3.0.0"}, "node_modules/tool": {"version": "4.0.0", "dev": true}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var purls []string
	for _, c := range got {
		purls = append(purls, c.PURL)
		if c.Name == "@a/b" && (len(c.Hashes) != 1 || c.Hashes[0] != hash{"SHA-512", "0102"}) {
			t.Errorf("%+v", c)
		}
	}
	slices.Sort(purls)
	if want := []string{"pkg:npm/%40a/b@2.0.0", "pkg:npm/c@3.0.0"}; !slices.Equal(purls, want) {
		t.Errorf("%v, want %v", purls, want)
	}
	for _, bad := range []string{"{", `{"packages": {"node_modules/a": {"integrity": "sha512-?"}}}`} {
		if _, err := npm([]byte(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// What is written is the same each time, and of this program and this console.
func TestRun(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	write := func() []byte {
		t.Helper()
		var out bytes.Buffer
		if err := run([]string{"-version", "v1", "-console", "../../web/package-lock.json", own}, &out,
			io.Discard); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	first := write()
	if !bytes.Equal(first, write()) {
		t.Error("twice the same is not the same")
	}
	var d document
	if err := json.Unmarshal(first, &d); err != nil || d.Format != "CycloneDX" || d.Spec != "1.6" ||
		d.Metadata.Component.Version != "v1" {
		t.Fatalf("%+v, %v", d, err)
	}
	has := func(prefix string) bool {
		return slices.ContainsFunc(d.Components, func(c component) bool { return strings.HasPrefix(c.PURL, prefix) })
	}
	if !has("pkg:golang/std@1.") || !has("pkg:npm/react@") || has("pkg:npm/vite@") {
		t.Errorf("%s", first)
	}
	if err := run(nil, io.Discard, io.Discard); err == nil {
		t.Error("it writes down what nothing is made of")
	}
	if err := run([]string{"main.go"}, io.Discard, io.Discard); err == nil {
		t.Error("it reads what is no program")
	}
}
