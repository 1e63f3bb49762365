package archtest

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// phrases are banned wording with what to write in its place. They match at word boundaries and ignore case.
type phrases struct {
	any   *regexp.Regexp // one group for each phrase
	write []string
}

// vague matches subjects that do not say which process or person acts.
const vague = `nobody|somebody|everybody|anybody|whoever`

// newPhrases returns the wording that docs/glossary.md replaces.
func newPhrases() phrases {
	table := [][2]string{
		{`(?:tells?|says?|knows?) (?:whether|if)`, "reports whether"},
		{`hand(?:s|ed)? out`, "return, assign"},
		{`(?:is|are|was|be|been) told`, "is notified, receives"},
		{`hears? of|heard of`, "is notified of, learns of"},
		{vague, "no worker, the caller, the client, an operator: name the subject"},
		{`what (?:waits|was waiting)`, "backlog, pending runs"},
		{`not as it should be`, "active problem"},
		{`(?:a|the) wish(?:es)?`, "kill request"},
		{`may have been done`, "outcome unknown: the request may have been applied"},
		{`random time that grows`, "jittered exponential backoff"},
		{`likewise`, "repeat what applies"},
		{`dearer|in vain`, "say what it costs, or what failed"},
	}
	patterns, write := make([]string, len(table)), make([]string, len(table))
	for i, row := range table {
		patterns[i], write[i] = "("+row[0]+")", row[1]
	}
	return phrases{regexp.MustCompile(`(?i)\b(?:` + strings.Join(patterns, "|") + `)\b`), write}
}

// documents are the pages that are held to the same rule. The glossary quotes the banned phrases.
func documents(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/adr/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return slices.DeleteFunc(all, func(name string) bool { return strings.HasSuffix(name, "docs/glossary.md") })
}

// banned returns a fault for each banned phrase of a text. Line breaks within a phrase do not hide it.
func banned(place, text string, all phrases) (faults []string) {
	flat := strings.Join(strings.Fields(text), " ")
	for _, found := range all.any.FindAllStringSubmatch(flat, -1) {
		which := slices.IndexFunc(found[1:], func(group string) bool { return group != "" })
		faults = append(faults, place+": "+strconv.Quote(found[0])+": write: "+all.write[which])
	}
	return faults
}

// bannedIn returns the banned phrases of the comments and string literals of one file.
func bannedIn(f *file, all phrases) (faults []string) {
	for _, group := range f.syntax.Comments {
		faults = append(faults, banned(f.place(group.Pos()), group.Text(), all)...)
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			faults = append(faults, banned(f.place(lit.Pos()), lit.Value, all)...)
		}
		return true
	})
	return faults
}

func TestTexts_BannedPhrases_AreReplaced(t *testing.T) {
	all := newPhrases()
	for _, f := range tree(t) {
		if f.test || ast.IsGenerated(f.syntax) {
			continue
		}
		for _, fault := range bannedIn(f, all) {
			t.Error(fault)
		}
	}
}

// Strings of tests are not checked: some name the Unix user with user id 65534.
func TestComments_OfTests_NameTheSubject(t *testing.T) {
	words := regexp.MustCompile(`(?i)\b(?:` + vague + `|likewise)\b`)
	for _, f := range tree(t) {
		if !f.test {
			continue
		}
		for _, group := range f.syntax.Comments {
			if found := words.FindString(group.Text()); found != "" {
				t.Errorf("%s: %q: name the subject, or repeat what applies", f.place(group.Pos()), found)
			}
		}
	}
}

func TestDocuments_BannedPhrases_AreReplaced(t *testing.T) {
	all := newPhrases()
	for _, name := range documents(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			for _, fault := range banned(strings.TrimPrefix(name, root+"/")+":"+strconv.Itoa(i+1), line, all) {
				t.Error(fault)
			}
		}
	}
}

// lineStarts match line breaks with the marks that continue a comment.
var lineStarts = regexp.MustCompile(`\n\s*(?://|\*)?\s*`)

func TestConsole_BannedPhrases_AreReplaced(t *testing.T) {
	all, files, web := newPhrases(), 0, filepath.Join(root, "web")
	look := func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.Contains(name, ".gen.") {
			return err
		}
		files++
		data, err := os.ReadFile(name)
		text := lineStarts.ReplaceAllString(string(data), " ")
		for _, fault := range banned(strings.TrimPrefix(name, root+"/"), text, all) {
			t.Error(fault)
		}
		return err
	}
	for _, folder := range []string{"src", "e2e", "scripts", "bench"} {
		if err := filepath.WalkDir(filepath.Join(web, folder), look); err != nil {
			t.Fatal(err)
		}
	}
	if files < 300 {
		t.Errorf("looked at %d files: where is the console?", files)
	}
}

func TestPlantedPhrases_AreFound(t *testing.T) {
	all := newPhrases()
	f := parse(t, "p", "p.go", "// Package p promises.\npackage p\n\n// ready tells\n// whether it is.\nconst text = "+
		"`Nobody is told`\n")
	if got := bannedIn(f, all); len(got) != 3 {
		t.Errorf("found %q, want three", got)
	}
	if got := banned("p", "It reports whether no worker is eligible, and foretells whether.", all); len(got) != 0 {
		t.Errorf("found %q in a plain text", got)
	}
}
