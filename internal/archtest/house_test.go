package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// houseFaults returns the violations of the house rules.
func houseFaults(files []*file) (faults []string) {
	documented := map[string]bool{}
	for _, f := range files {
		if f.syntax.Doc != nil {
			documented[f.pkg] = true
		}
		faults = append(faults, notes(f)...)
		if slices.Contains(f.imports, "testing/synctest") && f.pkg != "internal/platform/virtualtime" {
			faults = append(faults, f.pkg+": virtual time comes from internal/platform/virtualtime, which survives "+
				"the race detector")
		}
		if f.test || ast.IsGenerated(f.syntax) {
			continue
		}
		say := func(at token.Pos, message string) { faults = append(faults, f.place(at)+": "+message) }
		if k, known := kindOf(f.pkg); !known || k != support {
			calls(f, say)
			idioms(f, say)
		}
		variables(f, say)
		quotations(f, say)
	}
	for _, f := range files {
		if !documented[f.pkg] && !f.test {
			documented[f.pkg] = true
			faults = append(faults, f.pkg+": the package has no doc comment")
		}
	}
	return faults
}

// notes finds reminders such as to-do comments: open work is recorded where users and planners see it.
func notes(f *file) (faults []string) {
	for _, group := range f.syntax.Comments {
		for _, word := range []string{"TO" + "DO", "FIX" + "ME", "X" + "XX"} {
			if strings.Contains(group.Text(), word) {
				faults = append(faults, f.place(group.Pos())+": a "+word+" is not a place for what is missing")
			}
		}
	}
	return faults
}

// calls finds calls that only main may make, and waits that cannot be interrupted.
func calls(f *file, say func(token.Pos, string)) {
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				say(n.Pos(), "no init: the constructor takes all dependencies")
			}
		case *ast.SelectorExpr:
			pkg, ok := n.X.(*ast.Ident)
			if !ok {
				return true
			}
			switch pkg.Name + "." + n.Sel.Name {
			case "os.Exit":
				if !strings.HasPrefix(f.pkg, "cmd/") && !strings.HasPrefix(f.pkg, "bench/") && f.pkg != "test/chaos" &&
					f.pkg != "deploy/sbom" && !strings.HasPrefix(f.pkg, "examples/") &&
					(f.pkg != "." || f.name != "strict.go") {
					say(n.Pos(), "only main ends the process")
				}
			case "clientv3.New", "clientv3.NewWatcher", "clientv3.NewMaintenance":
				if f.pkg != "internal/etcdkit" && !strings.HasPrefix(f.pkg, "bench/") && f.pkg != "test/chaos" {
					say(n.Pos(), "etcd clients come from etcdkit.Dial, which renews its login for calls and watches")
				}
			case "time.LoadLocation":
				say(n.Pos(), "zones come from zoneinfo.Load: the machine's zone files may differ from those of others")
			case "time.Sleep":
				say(n.Pos(), "a sleep cannot be interrupted: wait on a timer and on the context")
			case "slog.Info", "slog.Warn", "slog.Error", "slog.Debug", "slog.Default", "slog.SetDefault":
				say(n.Pos(), "the logger is a parameter")
			case "http.DefaultClient", "http.DefaultServeMux", "http.Get", "http.Post":
				say(n.Pos(), "use a client with a timeout; the default one has none")
			}
		}
		return true
	})
}

// ownWatch and ownRetry list the packages that may hold etcd idioms: the transactions of joblock share a guard.
var (
	ownWatch = []string{"internal/etcdkit", "bench/*", "test/*"}
	ownRetry = append([]string{"internal/joblock"}, ownWatch...)
)

// idioms finds etcd idioms outside etcdkit: watches, and transactions with compares that are repeated in a loop.
func idioms(f *file, say func(token.Pos, string)) {
	if !slices.Contains(f.imports, "go.etcd.io/etcd/client/v3") {
		return
	}
	method := func(n ast.Node, name string) (receiver ast.Expr, found bool) {
		if call, ok := n.(*ast.CallExpr); ok {
			if selector, ok := call.Fun.(*ast.SelectorExpr); ok && selector.Sel.Name == name {
				return selector.X, true
			}
		}
		return nil, false
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if _, found := method(n, "Watch"); found && !covered(ownWatch, f.pkg) {
			say(n.Pos(), "watches come from etcdkit.Watch, which detects gaps and silence")
		}
		var body *ast.BlockStmt
		switch loop := n.(type) {
		case *ast.ForStmt:
			body = loop.Body
		case *ast.RangeStmt:
			body = loop.Body
		default:
			return true
		}
		ast.Inspect(body, func(n ast.Node) bool {
			if txn, found := method(n, "If"); found && !covered(ownRetry, f.pkg) {
				if _, found := method(txn, "Txn"); found {
					say(n.Pos(), "a compare-and-swap is repeated by etcdkit.Store.Update, with backoff")
				}
			}
			return true
		})
		return true
	})
}

// quotations finds texts that are escaped twice: excerpts in a %q.
func quotations(f *file, say func(token.Pos, string)) {
	const message = "Excerpt escapes its text, as %q does: quote common.Shorten"
	excerpt := func(e ast.Expr) bool {
		call, ok := e.(*ast.CallExpr)
		if !ok {
			return false
		}
		switch name := call.Fun.(type) {
		case *ast.Ident:
			return name.Name == "Excerpt"
		case *ast.SelectorExpr:
			return name.Sel.Name == "Excerpt"
		}
		return false
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if name, ok := call.Fun.(*ast.SelectorExpr); ok && name.Sel.Name == "Quote" && slices.ContainsFunc(call.Args,
			excerpt) {
			say(n.Pos(), message)
		}
		for i := range call.Args {
			for k, verb := range verbsOf(textOf(call.Args[i])) {
				if at := i + 1 + k; verb == 'q' && at < len(call.Args) && excerpt(call.Args[at]) {
					say(call.Args[at].Pos(), message)
				}
			}
		}
		return true
	})
}

// textOf returns the text of a literal, or of literals that are joined.
func textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value) // empty for numbers
		return text
	case *ast.BinaryExpr:
		return textOf(e.X) + textOf(e.Y)
	}
	return ""
}

// verbsOf returns the verbs of a format, one for each argument.
func verbsOf(format string) (verbs []byte) {
	for {
		_, rest, found := strings.Cut(format, "%")
		if rest = strings.TrimLeft(rest, "+-# .0123456789"); !found || rest == "" {
			return verbs
		}
		if rest[0] != '%' {
			verbs = append(verbs, rest[0])
		}
		format = rest[1:]
	}
}

// variables finds package-level state: variables without a value, of a mutable kind, or assigned to in the
// same file.
func variables(f *file, say func(token.Pos, string)) {
	const message = "package-level state: move it to the value that owns it"
	for _, d := range f.syntax.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.VAR {
			continue
		}
		embedded := decl.Doc != nil && strings.Contains(commentText(decl.Doc), "//go:embed")
		for _, s := range decl.Specs {
			spec := s.(*ast.ValueSpec)
			embedded := embedded || spec.Doc != nil && strings.Contains(commentText(spec.Doc), "//go:embed")
			if len(spec.Values) == 0 && !embedded {
				say(spec.Pos(), message)
			}
			for _, v := range spec.Values {
				if mutable(v) {
					say(spec.Pos(), message)
				}
			}
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if n.Tok != token.DEFINE && global(f, left) {
					say(n.Pos(), message)
				}
			}
		case *ast.IncDecStmt:
			if global(f, n.X) {
				say(n.Pos(), message)
			}
		}
		return true
	})
}

func commentText(g *ast.CommentGroup) string {
	var lines []string
	for _, c := range g.List {
		lines = append(lines, c.Text)
	}
	return strings.Join(lines, "\n")
}

// mutable reports whether a value is only useful if it is modified later.
func mutable(v ast.Expr) bool {
	call, ok := v.(*ast.CallExpr)
	if ok {
		name, ok := call.Fun.(*ast.Ident)
		return ok && (name.Name == "make" || name.Name == "new")
	}
	if and, ok := v.(*ast.UnaryExpr); ok && and.Op == token.AND {
		v = and.X
	}
	lit, ok := v.(*ast.CompositeLit)
	if !ok {
		return false
	}
	t, ok := lit.Type.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := t.X.(*ast.Ident)
	return ok && (pkg.Name == "sync" || pkg.Name == "atomic")
}

// global reports whether an expression is, or is inside, a package-level variable of the file.
func global(f *file, e ast.Expr) bool {
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.Ident:
			for _, d := range f.syntax.Decls {
				decl, ok := d.(*ast.GenDecl)
				if !ok || decl.Tok != token.VAR {
					continue
				}
				for _, s := range decl.Specs {
					for _, name := range s.(*ast.ValueSpec).Names {
						if x.Obj != nil && x.Obj == name.Obj {
							return true
						}
					}
				}
			}
			return false
		default:
			return false
		}
	}
}

func TestHouseRules(t *testing.T) {
	for _, fault := range houseFaults(tree(t)) {
		t.Error(fault)
	}
}

func TestPlantedHabits(t *testing.T) {
	const etcdHead = "// Package p promises.\npackage p\n\nimport clientv3 \"go.etcd.io/etcd/client/v3\"\n\n"
	for _, c := range []struct{ source, want string }{
		{"// Package p promises.\npackage p\n\nvar table = []int{1}\n", ""},
		{"package p\n", "has no doc comment"},
		{"// Package p promises.\npackage p\n\nfunc init() {}\n", "no init"},
		{"// Package p promises.\npackage p\n\nimport \"time\"\n\nfunc f() { time.Sleep(1) }\n",
			"cannot be interrupted"},
		{"// Package p promises.\npackage p\n\nimport _ \"testing/synctest\"\n", "internal/platform/virtualtime"},
		{"// Package p promises.\npackage p\n\nimport \"os\"\n\nfunc f() { os.Exit(1) }\n", "only main"},
		{"// Package p promises.\npackage p\n\nfunc f() { clientv3.New() }\n", "etcdkit.Dial"},
		{etcdHead + "func f() { s.client.Watch(ctx, key) }\n", "etcdkit.Watch"},
		{etcdHead + "func f() { for { client.Txn(ctx).If(c).Then(op).Commit() } }\n", "etcdkit.Store.Update"},
		{etcdHead + "func f() { client.Txn(ctx).If(c).Then(op).Commit() }\n", ""},
		{"// Package p promises.\npackage p\n\nfunc f() { say(\"%d %% \"+\n\"%q\", 1, common.Excerpt(s)) }\n",
			"Shorten"},
		{"// Package p promises.\npackage p\n\nfunc f() { strconv.Quote(common.Excerpt(s)) }\n", "Shorten"},
		{"// Package p promises.\npackage p\n\nfunc f() { say(\"%q %s\", a, common.Excerpt(s)) }\n", ""},
		{"// Package p promises.\npackage p\n\nvar count int\n", "package-level state"},
		{"// Package p promises.\npackage p\n\nimport \"sync\"\n\nvar mu = sync.Mutex{}\n", "package-level state"},
		{"// Package p promises.\npackage p\n\nvar cache = make(map[string]int)\n", "package-level state"},
		{"// Package p promises.\npackage p\n\nvar cache = map[string]int{}\n\nfunc f() { cache[\"a\"] = 1 }\n",
			"package-level state"},
		{"// Package p promises.\npackage p\n\nvar n = 1\n\nfunc f() { n++ }\n", "package-level state"},
		{"// Package p promises.\npackage p\n\nvar n = 1\n\nfunc f() { n := 2; n++; _ = n }\n", ""},
		{"// Package p promises.\npackage p\n\nimport \"embed\"\n\n//go:embed x\nvar files embed.FS\n", ""},
		{"// Package p promises.\npackage p\n\n// TO" + "DO: later\nfunc f() {}\n", "is not a place"},
	} {
		f := parse(t, "internal/p", "p.go", c.source)
		faults := strings.Join(houseFaults([]*file{f}), "\n")
		if (faults == "") != (c.want == "") || !strings.Contains(faults, c.want) {
			t.Errorf("%s\ngot %q, want %q", c.source, faults, c.want)
		}
	}
}
