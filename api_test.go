package carillon_test

import (
	"flag"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"carillon"
	"carillon/internal/common"
)

var update = flag.Bool("update", false, "write the golden files")

// The exported API of the library is compared with golden files, so that no change of it goes unnoticed, and contains
// no type of an internal package.
func TestExportedAPI(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{".", "carillontest", "local", "lock"} {
		got, name := exported(t, folder), folder
		if folder == "." {
			name = "carillon"
		}
		golden := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != got {
			t.Errorf("the API of %s has changed; check that it is intended, then run with -update:\n%s", name, got)
		}
	}
}

// exported returns the exported declarations of the package in a folder, without bodies and values.
func exported(t *testing.T, folder string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ours := internals(file)
		ast.FileExports(file)
		for _, decl := range file.Decls {
			text := declaration(t, decl)
			if text == "" {
				continue
			}
			for _, pkg := range ours {
				if strings.Contains(text, pkg+".") {
					t.Errorf("%s: a type of an internal package is exported: %s", name, text)
				}
			}
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n") + "\n"
}

// internals returns the names of the internal packages that a file imports.
func internals(file *ast.File) (names []string) {
	for _, spec := range file.Imports {
		if p := strings.Trim(spec.Path.Value, `"`); strings.HasPrefix(p, "carillon/internal/") {
			names = append(names, path.Base(p))
		}
	}
	return names
}

// receiver returns the name of the type of a method.
func receiver(method *ast.FuncDecl) *ast.Ident {
	of := method.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	return of.(*ast.Ident)
}

// declaration returns the text of an exported declaration; empty for an import, and
// for a method of a type that is not exported.
func declaration(t *testing.T, decl ast.Decl) string {
	t.Helper()
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && !receiver(d).IsExported() {
			return ""
		}
		d.Body = nil
	case *ast.GenDecl:
		if d.Tok == token.IMPORT {
			return ""
		}
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
				v.Values = nil
				if v.Type == nil {
					v.Type = ast.NewIdent("_") // inferred
				}
			}
		}
	}
	var text strings.Builder
	if err := format.Node(&text, token.NewFileSet(), decl); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// A field that jobs get must be one that programs can set.
func TestJob_HasTheFieldsOfTheAPI(t *testing.T) {
	t.Parallel()
	compareFields(t, "Job", reflect.TypeFor[common.Job](), reflect.TypeFor[carillon.Job]())
}

func compareFields(t *testing.T, path string, want, got reflect.Type) {
	t.Helper()
	plain := func(typ reflect.Type) reflect.Type {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
			typ = typ.Elem()
		}
		return typ
	}
	want, got = plain(want), plain(got)
	if want.Kind() != reflect.Struct || got.Kind() != reflect.Struct || want == got {
		return
	}
	fields := map[string]reflect.StructField{}
	for f := range got.Fields() {
		fields[jsonName(f)] = f
	}
	for f := range want.Fields() {
		name := jsonName(f)
		if name == "" || name == "-" {
			continue
		}
		if _, found := fields[name]; !found {
			t.Errorf("%s.%s is missing", path, name)
			continue
		}
		compareFields(t, path+"."+name, f.Type, fields[name].Type)
	}
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
