package crontab

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"unicode"

	"carillon/internal/common"
)

// Lengths of the parts of a name; with a number or a mark they are below the limit of names.
const (
	maxPrefix  = 48
	maxProgram = 40
)

// PrefixOf returns the prefix of the names from a file's path.
func PrefixOf(file string) string { return prefixOf(path.Base(file)) }

// prefixOf returns the prefix, which is a label's value as well, of a text.
func prefixOf(text string) string { return cmp.Or(slug(text, maxPrefix), Group) }

// identify labels an entry with the mark of its line, which depends neither on the position of the line nor on other
// lines, and names it. The second of two identical lines has its own mark.
func (p *parser) identify(e *Entry, line string) {
	prefix, command := prefixOf(p.Prefix), e.Job.Command
	sum := sha256.Sum256([]byte(line))
	mark := hex.EncodeToString(sum[:4])
	p.marks[mark]++
	if n := p.marks[mark]; n > 1 {
		p.report(Note, "same_line", "repeats a line above; both are imported")
		mark = fmt.Sprintf("%s-%d", mark, n)
	}
	e.Job.Labels = map[string]string{Label: prefix, LineLabel: mark}
	e.earlier.name = fmt.Sprintf("%s-%s-%s", prefix, cmp.Or(slug(earlierProgram(command), maxProgram), "command"), mark)
	e.base = suggest(prefix, command, e.Job.Title)
	_ = p.namer.Name(e) // fails only with the error of Taken
}

// Key returns the identity of an imported job, from its labels; empty if it has none. Jobs of equal keys were imported
// from the same line of the same file.
func Key(labels map[string]string) string {
	if labels[LineLabel] == "" {
		return ""
	}
	return labels[Label] + "/" + labels[LineLabel]
}

// Namer names entries: one that was imported before has the name of its job, another one a name that no job has.
type Namer struct {
	// Imported are the names of jobs by their Key.
	Imported map[string]string
	// Taken reports whether a job has a name; nil if there are none.
	Taken func(name string) (bool, error)

	used map[string]bool
	next map[string]int
}

// Name names an entry. A merged one has the name of the first job that was imported from its lines before. It fails
// only with the error of Taken.
func (n *Namer) Name(e *Entry) error {
	if n.used == nil {
		n.used, n.next = map[string]bool{}, map[string]int{}
	}
	if name, found := n.Imported[Key(e.Job.Labels)]; found {
		e.Job.Name, e.Imported = name, true
	}
	for _, key := range e.keys {
		switch name, found := n.Imported[key]; {
		case !found:
		case !e.Imported:
			e.Job.Name, e.Imported = name, true
		default:
			e.Superseded = append(e.Superseded, name)
		}
	}
	if e.Imported {
		return nil
	}
	if n.Taken != nil {
		found, err := n.Taken(e.earlier.name)
		if err != nil {
			return err
		}
		if found {
			e.Job.Name, e.Imported = e.earlier.name, true
			return nil
		}
	}
	for {
		n.next[e.base]++
		name := e.base
		if i := n.next[e.base]; i > 1 {
			name = fmt.Sprintf("%s-%d", e.base, i)
		}
		if n.used[name] {
			continue
		}
		n.used[name] = true
		if n.Taken != nil {
			taken, err := n.Taken(name)
			if err != nil {
				return err
			}
			if taken {
				continue
			}
		}
		e.Job.Name = name
		return nil
	}
}

// AsBefore returns a job of this entry as versions before LineLabel stored it.
func (e *Entry) AsBefore(job common.Job) common.Job {
	job.Title, job.Description = e.earlier.title, e.earlier.description
	job.Labels = map[string]string{Label: e.Job.Labels[Label]}
	return job
}

// slug makes a text valid for names: lower case letters, digits and single dashes.
func slug(text string, limit int) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(text) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			b.WriteRune(r)
			dash = false
		} else {
			dash = true
		}
		if b.Len() >= limit {
			break
		}
	}
	return b.String()
}

func unprintable(r rune) bool {
	return common.Misleads(r) || unicode.IsSpace(r) || r == unicode.ReplacementChar
}
