package crontab

import (
	"slices"
	"strings"
)

// wrapper is a program that runs another one: what stands between its name and the other program.
type wrapper struct {
	values   string   // short options with a value
	long     []string // other options whose value is a word of its own
	inline   string   // short options after which a command line, or code of an interpreter, follows
	operands int      // words before the program, such as a file of flock
	unless   byte     // the option that stands for the operand
	sub      []string // words, one of which must precede the program
	script   bool     // an interpreter: the other program is a script, and code is no command line
}

var (
	shell = &wrapper{values: "oO", inline: "c"}
	plain = &wrapper{}
)

var wrappers = map[string]*wrapper{
	"sh": shell, "bash": shell, "dash": shell, "zsh": shell, "ksh": shell, "ash": shell, "fish": shell, "csh": shell,
	"tcsh": shell,

	"builtin": plain, "chronic": plain, "command": plain, "cronic": plain, "dbus-run-session": plain, "nohup": plain,
	"npx": plain, "run-one": plain, "setsid": plain, "torify": plain, "torsocks": plain, "unbuffer": plain,
	"catchsegv": plain, "proxychains": plain, "proxychains4": plain,
	"chpst":    {values: "uUbemdopfcrtl/n"},
	"chrt":     {values: "TPD", operands: 1},
	"cpulimit": {values: "lpeP"},
	"doas":     {values: "uC"},
	"env":      {values: "uC", long: []string{"--unset", "--chdir"}},
	"envdir":   {operands: 1},
	"exec":     {values: "a"},
	"flock": {
		values:   "wE",
		long:     []string{"--timeout", "--wait", "--conflict-exit-code"},
		inline:   "c",
		operands: 1,
	},
	"ionice":  {values: "cnpPu", long: []string{"--class", "--classdata", "--pid"}},
	"lckdo":   {values: "W", operands: 1},
	"nice":    {values: "n", long: []string{"--adjustment"}},
	"numactl": {values: "NCmp"},
	"runuser": {
		values:   "ugGsw",
		long:     []string{"--user", "--group", "--shell"},
		inline:   "c",
		operands: 1,
		unless:   'u',
	},
	"setlock":     {operands: 1},
	"setuidgid":   {operands: 1},
	"stdbuf":      {values: "ioe", long: []string{"--input", "--output", "--error"}},
	"su":          {values: "sgGw", long: []string{"--shell", "--group"}, inline: "c", operands: 1},
	"sudo":        {values: "ugpCrtThDRU", long: []string{"--user", "--group", "--chdir", "--host", "--prompt"}},
	"systemd-cat": {values: "tp", long: []string{"--identifier", "--priority"}},
	"systemd-run": {values: "pueMHt", long: []string{"--unit", "--property", "--slice", "--uid", "--gid", "--setenv"}},
	"taskset":     {operands: 1},
	"time":        {values: "fo", long: []string{"--format", "--output"}},
	"timeout":     {values: "ks", long: []string{"--kill-after", "--signal"}, operands: 1},
	"xvfb-run":    {values: "nsefpw", long: []string{"--server-num", "--server-args"}},
	"bundle":      {sub: []string{"exec"}},
	"conda":       {sub: []string{"run"}, values: "np", long: []string{"--name", "--prefix"}},
	"docker":      {sub: []string{"exec"}, values: "uwe", operands: 1},
	"podman":      {sub: []string{"exec"}, values: "uwe", operands: 1},
	"pdm":         {sub: []string{"run"}},
	"pipenv":      {sub: []string{"run"}},
	"poetry":      {sub: []string{"run"}, values: "C", long: []string{"--directory"}},
	"uv": {
		sub:    []string{"run"},
		values: "p",
		long:   []string{"--python", "--with", "--project", "--directory"},
	},
	"bun":     {sub: []string{"run"}, script: true},
	"deno":    {sub: []string{"run"}, script: true},
	"python":  {values: "WXQ", inline: "c", script: true},
	"php":     {values: "dczt", inline: "rBRE", script: true},
	"perl":    {values: "I", inline: "eE", script: true},
	"ruby":    {values: "IrC", inline: "e", script: true},
	"node":    {values: "rC", long: []string{"--require", "--import", "--loader"}, inline: "ep", script: true},
	"java":    {long: []string{"-cp", "-classpath", "--class-path", "--module-path"}, script: true},
	"dotnet":  {script: true},
	"julia":   {values: "tpLJ", inline: "eE", script: true},
	"Rscript": {inline: "e", script: true},
	"tsx":     {script: true},
	"ts-node": {values: "PT", inline: "ep", script: true},
	"tclsh":   {script: true},
	"lua":     {values: "l", inline: "e", script: true},
}

// wrapperOf returns the wrapper of a program's name, which may end with a version; nil if it is none.
func wrapperOf(name string) *wrapper {
	if w := wrappers[name]; w != nil {
		return w
	}
	name = strings.TrimRight(name, "0123456789.")
	switch name {
	case "pypy":
		name = "python"
	case "nodejs":
		name = "node"
	}
	if w := wrappers[name]; w != nil && w.script {
		return w
	}
	return nil
}

// inside returns the words of the program that a wrapper runs, from the words after its name, or the text after an
// option for a command line or code. It reports false if the words are not those of the wrapper.
func (w *wrapper) inside(words []string) (rest []string, code string, ok bool) {
	operands := w.operands
	if w.sub != nil {
		at := slices.IndexFunc(words, func(word string) bool { return !strings.HasPrefix(word, "-") })
		if at < 0 || !slices.Contains(w.sub, words[at]) {
			return nil, "", w.script
		}
		words = words[at+1:]
	}
	coded := false
	for len(words) > 0 {
		word := words[0]
		switch {
		case word == "--":
			return words[1:], "", true
		case strings.HasPrefix(word, "-") && !coded && len(w.inline) > 0 && word == "--command":
			coded = true
			words = words[1:]
		case strings.HasPrefix(word, "-") || strings.HasPrefix(word, "+") && w == shell:
			var takesOperand bool
			words, coded, takesOperand = w.option(words, coded)
			if takesOperand {
				operands = 0
			}
		case coded:
			return nil, word, true
		case w == wrappers["env"] && assigns(word):
			words = words[1:]
		case operands > 0:
			operands--
			words = words[1:]
		default:
			return words, "", true
		}
	}
	return nil, "", true
}

// option skips an option and its value. It reports whether one for code was among those in the word, and whether it
// stands for the operand.
func (w *wrapper) option(words []string, coded bool) (rest []string, code, operand bool) {
	word := words[0]
	rest = words[1:]
	skip := func() {
		if len(rest) > 0 {
			rest = rest[1:]
		}
	}
	if slices.Contains(w.long, word) {
		skip()
		return rest, coded, false
	}
	if strings.HasPrefix(word, "--") {
		return rest, coded, false
	}
	for i := 1; i < len(word); i++ {
		operand = operand || w.unless != 0 && word[i] == w.unless
		switch {
		case strings.IndexByte(w.inline, word[i]) >= 0:
			coded = true
		case strings.IndexByte(w.values, word[i]) >= 0:
			if i == len(word)-1 {
				skip()
			}
			return rest, coded, operand
		}
	}
	return rest, coded, operand
}

func assigns(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && variable.MatchString(name)
}
