package system

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// flowsPage has the tutorial of flows.
const flowsPage = "../../docs/flows.md"

// shownOutput stands for the command of a passage that shows an output.
const shownOutput = "(the output of a command)"

// passage is a command of a page, or an output that it shows.
type passage struct {
	place   string // file and line
	command string // without its comment; of a here-document, the first line
	text    string // without the comment behind a command
}

var comment = regexp.MustCompile(`\s+# .*$`)

// passages returns the fenced blocks of a part of the page, those with commands line by line. A block of another
// language is an error.
func passages(t *testing.T, from, to string) (found []passage) {
	t.Helper()
	page, err := os.ReadFile(flowsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(page), "\n"+from+"\n")
	part, _, ends := strings.Cut(rest, "\n"+to+"\n")
	if !begins || !ends {
		t.Fatalf("%s has no part from %q to %q", flowsPage, from, to)
	}
	number := strings.Count(before, "\n") + 2
	lines := strings.Split(part, "\n")
	for i := 0; i < len(lines); i++ {
		language, fence := strings.CutPrefix(lines[i], "```")
		if !fence {
			continue
		}
		begin := i + 1
		for i++; i < len(lines) && lines[i] != "```"; i++ {
		}
		block := lines[begin:min(i, len(lines))]
		place := func(at int) string { return fmt.Sprintf("%s:%d", flowsPage, number+begin+at+1) }
		switch language {
		case "sh":
			found = append(found, commands(block, place)...)
		case "":
			found = append(found, passage{place(0), shownOutput, strings.Join(block, "\n") + "\n"})
		default:
			t.Fatalf("%s: a block of %s, which the test does not know", place(-1), language)
		}
	}
	for from := range replacements(time.Now()) {
		if n := strings.Count(part, from); n != 1 && strings.Contains(part, "cat > step.sh") {
			t.Fatalf("%s has %q %d times, want once", flowsPage, from, n)
		}
	}
	return found
}

// commands splits a block of shell commands, each of a line or with a here-document.
func commands(block []string, place func(int) string) (found []passage) {
	for i := 0; i < len(block); i++ {
		command := comment.ReplaceAllString(block[i], "")
		p := passage{place(i), command, command + "\n"}
		if strings.HasSuffix(p.command, "<<'EOF'") {
			for end := false; !end && i+1 < len(block); {
				i++
				p.text += block[i] + "\n"
				end = block[i] == "EOF"
			}
		}
		found = append(found, p)
	}
	return found
}
