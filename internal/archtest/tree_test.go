package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "carillon"
	root   = "../.."
)

// file is one Go file of the module.
type file struct {
	pkg     string // path of its package below the module
	name    string
	test    bool
	imports []string
	text    string
	fset    *token.FileSet
	syntax  *ast.File
}

func (f *file) place(p token.Pos) string {
	return path.Join(f.pkg, f.name) + ":" + strconv.Itoa(f.fset.Position(p).Line)
}

// parse reads one file; pkg and name are its location.
func parse(t *testing.T, pkg, name, source string) *file {
	t.Helper()
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, name, source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	f := &file{pkg: pkg, name: path.Base(filepath.ToSlash(name)), text: source, fset: fset, syntax: syntax}
	f.test = strings.HasSuffix(f.name, "_test.go")
	for _, spec := range syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		f.imports = append(f.imports, p)
	}
	return f
}

// tree reads all Go files of the module. Directories with a go.mod of their own are other modules.
func tree(t *testing.T) []*file {
	t.Helper()
	var files []*file
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if p != root && (skipped(d.Name()) || exists(filepath.Join(p, "go.mod"))) {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(p, ".go") {
			rel, err := filepath.Rel(root, filepath.Dir(p))
			if err != nil {
				return err
			}
			source, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			files = append(files, parse(t, filepath.ToSlash(rel), p, string(source)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no Go files were found")
	}
	return files
}

func skipped(folder string) bool {
	switch folder {
	case "node_modules", "testdata", "bin", "data", "dist":
		return true
	}
	return strings.HasPrefix(folder, ".")
}

func exists(p string) bool {
	_, err := os.Stat(p)
	return err == nil
}
