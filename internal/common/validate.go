package common

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of a job.
const (
	MaxJobBytes  = 64 << 10
	MaxTitle     = 200
	MaxLabels    = 32
	MaxLabel     = 63
	MaxArgs      = 256
	MaxEnv       = 128
	MaxExitCodes = 64
	MaxOutput    = 1 << 30
	MaxMemory    = 16 << 40
	MaxTasks     = 65536
	MaxTimeout   = 366 * 24 * time.Hour
)

var (
	labelKeyPattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$`)
	labelPattern    = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$`)
	envPattern      = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
)

// Faults returns all faults of the job except those of its schedule (common/schedule checks it). Locations are the
// names of the JSON fields.
func (j *Job) Faults() Faults {
	c := &checker{}
	j.nameFaults(c)
	j.commandFaults(c)
	j.environmentFaults(c)
	j.paramFaults(c)
	c.outputs(j.Outputs, j.TypeName())
	c.faults = append(c.faults, j.UnknownNames()...)
	j.flowFieldFaults(c)
	j.afterFaults(c)
	j.runOnFaults(c)
	j.daemonFaults(c)
	j.poolFaults(c)
	j.policyFaults(c)
	j.sizeFaults(c)
	return c.faults
}

func (j *Job) nameFaults(c *checker) {
	c.name("name", j.Name)
	c.group("group", j.Group)
	c.line("title", j.Title, MaxTitle)
	c.text("description", j.Description)
	c.labels(j.Labels)
}

func (j *Job) sizeFaults(c *checker) {
	if data, err := json.Marshal(j); err == nil && len(data) > MaxJobBytes {
		c.add("", "too_large", nil, "is larger than 64 KiB").With("size", "64 KiB")
	}
}

func (j *Job) commandFaults(c *checker) {
	j.typeFaults(c)
	if j.IsTyped() {
		return
	}
	switch {
	case strings.TrimSpace(j.Command) == "" && len(j.Args) == 0:
		c.add("command", "required", nil, "is required, unless args are given")
	case j.Command != "" && len(j.Args) > 0:
		c.add("args", "exclusive", nil, "cannot stand beside command: give one of them").With("beside", "command")
	case len(j.Args) > 0 && j.Args[0] == "":
		c.add("args[0]", "required", nil, "must name a program")
	}
	c.most("args", len(j.Args), MaxArgs)
	if len(j.Args) > 0 && j.Shell != "" {
		c.add("shell", "exclusive", nil, "has no meaning with args, which run without a shell").
			With("without", "command")
	}
	c.text("command", j.Command)
	for i, a := range j.Args {
		c.text(fmt.Sprintf("args[%d]", i), a)
	}
	c.text("stdin", j.Stdin)
}

func (j *Job) environmentFaults(c *checker) {
	c.absolute("shell", j.Shell)
	c.absolute("workDir", j.WorkDir)
	if j.User != "" && !ValidUser(j.User) {
		c.add("user", "user", j.User, "cannot be the name of a user of a machine")
	}
	c.most("env", len(j.Env), MaxEnv)
	for _, k := range slices.Sorted(maps.Keys(j.Env)) {
		switch {
		case !envPattern.MatchString(k):
			c.add("env", "env_name", k, "names must be letters, digits and '_', and not begin with a digit")
		case strings.HasPrefix(k, "CARILLON_"):
			c.add("env."+k, "env_reserved", k, "is reserved: CARILLON_ variables are set by the worker")
		}
		c.text("env."+Excerpt(k), j.Env[k])
	}
	j.secretFaults(c)
}

// LabelFaults returns the faults of labels of a job or a worker.
func LabelFaults(labels map[string]string) Faults {
	c := &checker{}
	c.labels(labels)
	return c.faults
}

// checker collects faults.
type checker struct{ faults Faults }

func (c *checker) add(location, code string, value any, format string, args ...any) *Fault {
	return c.faults.Add(location, code, value, format, args...)
}

func (c *checker) name(location, s string) {
	if !ValidName(s) {
		c.add(location, "name", s, "%s", NameRule)
	}
}

// group checks the name of a group, which may be empty.
func (c *checker) group(location, s string) {
	if s != "" && !ValidGroup(s) {
		c.add(location, "name", s, "%s", GroupRule)
	}
}

// most checks the length of a list.
func (c *checker) most(location string, length, limit int) {
	if length > limit {
		c.add(location, "too_many", length, "must be at most %d", limit).With("most", limit)
	}
}

func (c *checker) enum(location, value string, allowed ...string) {
	if value != "" && !slices.Contains(allowed, value) {
		c.add(location, "enum", value, "must be one of %s", strings.Join(allowed, ", ")).
			With("allowed", strings.Join(allowed, ", "))
	}
}

func (c *checker) text(location, s string) {
	if !utf8.ValidString(s) {
		c.add(location, "utf8", nil, "is not valid UTF-8")
	} else if strings.ContainsRune(s, 0) {
		c.add(location, "nul", nil, "must not contain a NUL character")
	}
}

func (c *checker) line(location, s string, limit int) {
	c.text(location, s)
	if utf8.RuneCountInString(s) > limit {
		c.add(location, "too_long", nil, "must be at most %d characters", limit).With("characters", limit)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r != 0 && Misleads(r) }) {
		c.add(location, "control", s, "must be one line without control characters")
	}
}

// Misleads reports whether a character may show a text as another one: controls of terminals, those that change the
// direction of the text after them, and the ends of lines of Unicode.
func Misleads(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) &&
		r != '\u200e' && r != '\u200f' && r != '\u061c' // these are marks, which change no other text
}

func (c *checker) absolute(location, s string) {
	c.line(location, s, 4096)
	if s != "" && (!path.IsAbs(s) || path.Clean(s) != strings.TrimRight(s, "/") && s != "/") {
		c.add(location, "path", s, "must be an absolute path without '..'")
	}
}

func (c *checker) labels(labels map[string]string) {
	c.most("labels", len(labels), MaxLabels)
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		if !labelKeyPattern.MatchString(k) {
			c.add("labels", "label", k, "names must be 1 to 63 letters, digits, '.', '_', '-' or '/'")
		}
		if !labelPattern.MatchString(labels[k]) {
			c.add("labels."+Excerpt(k), "label", labels[k], "must be up to 63 letters, digits, '.', '_' or '-'")
		}
	}
}

func (c *checker) duration(location string, d Duration, least, most time.Duration) {
	if d == "" {
		return
	}
	v, err := d.Value()
	switch {
	case err != nil:
		c.add(location, "duration", string(d), "is not a duration; write 90s, 5m, 1h30m or 2d")
	case v < least || v > most:
		c.add(location, "range", string(d), "must be from %v to %v", least, most).With("least", least, "most", most)
	}
}

const maxExcerpt = 80 // bytes of an excerpt

// Shorten cuts a user's text that an error or a log line quotes with %q, so that its escaped form has at most 80 bytes.
func Shorten(s string) string {
	n := 0
	for at := 0; at < len(s); {
		_, size := utf8.DecodeRuneInString(s[at:])
		if n += len(strconv.Quote(s[at:at+size])) - len(`""`); n > maxExcerpt {
			return s[:at] + "…"
		}
		at += size
	}
	return s
}

// Excerpt cuts a user's text to 80 bytes and escapes what is not printable, so that an error or a log line can contain
// it without being forged. In %q, which escapes as well, use Shorten.
func Excerpt(s string) string {
	var b strings.Builder
	for _, r := range s {
		piece := string(r)
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			quoted := fmt.Sprintf("%+q", r)
			piece = quoted[1 : len(quoted)-1]
		}
		if b.Len()+len(piece) > maxExcerpt {
			b.WriteString("…")
			break
		}
		b.WriteString(piece)
	}
	return b.String()
}
