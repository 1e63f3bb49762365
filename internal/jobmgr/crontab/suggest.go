package crontab

import (
	"cmp"
	"net/url"
	"path"
	"regexp"
	"strings"
)

var (
	extension   = regexp.MustCompile(`(?i)\.(sh|bash|zsh|py|pl|rb|php|js|mjs|ts|jar|exe)$`)
	interpreter = regexp.MustCompile(`^(sh|bash|dash|zsh|ksh|python[0-9.]*|perl|ruby|php[0-9.]*|node|java|flock|` +
		`timeout|chronic|cronic|setsid|stdbuf|bundle|poetry|pipenv|npx)$`)
	// Programs whose first argument names what they do.
	tool = regexp.MustCompile(`^(make|npm|yarn|pnpm|docker|docker-compose|podman|kubectl|systemctl|service|git|apt|` +
		`apt-get|dnf|yum|snap|restic|borg|artisan|manage|rake|rails|cargo|go|wp|drush|occ|console|run-parts|` +
		`invoke-rc\.d|certbot|aws|gcloud|rclone|cronctl)$`)
	inline = regexp.MustCompile(`^-[a-z]*[cer]$`) // the option before a script as an argument
	verb   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9:._-]*$`)
	// Programs whose name does not describe a job.
	generic = regexp.MustCompile(`^(echo|printf|cat|find|xargs|rm|cp|mv|ln|ls|touch|mkdir|chmod|chown|tee|sort|grep|sed|` +
		`awk|head|tail|date|logger|kill|pkill|killall|tar|gzip|xz|zip)$`)
)

// suggest returns a name for the job of a command: the program without its directory and extension, with the script of
// an interpreter in its place, and with the command of a tool that has several. Names of another file than the user's
// crontab begin with its prefix. A program that may do anything is named by the comment above the line, if there is
// one.
func suggest(prefix, command, title string) string {
	program := programName(command)
	if words := words(title); generic.MatchString(program) && words != "" {
		program = words
	}
	name := cmp.Or(slug(program, maxProgram), "command")
	if prefix == Group || name == prefix || strings.HasPrefix(name, prefix+"-") {
		return name
	}
	return prefix + "-" + name
}

// words returns the first words of a text as part of a name.
func words(text string) string {
	whole := slug(text, len(text))
	if len(whole) <= maxProgram {
		return whole
	}
	cut := strings.LastIndexByte(whole[:maxProgram+1], '-')
	return whole[:max(cut, 0)]
}

func programName(command string) string {
	name, args := mainProgram(command)
	for range 4 { // interpreters that start interpreters
		if !interpreter.MatchString(name) {
			break
		}
		script, rest := scriptOf(args)
		if script == "" {
			break
		}
		name, args = path.Base(script), rest
	}
	name = extension.ReplaceAllString(name, "")
	switch {
	case name == "curl" || name == "wget":
		for _, arg := range args {
			if u, err := url.Parse(strings.Trim(arg, `"'`)); err == nil && u.Host != "" {
				return name + " " + u.Hostname()
			}
		}
	case tool.MatchString(name):
		if first, _ := scriptOf(args); first != "" && verb.MatchString(path.Base(first)) {
			return name + " " + path.Base(first)
		}
	}
	return name
}

// scriptOf returns the first argument that is neither an option nor a number, a lock file or a redirection, and those
// after it. A script that is itself an argument, as of sh -c, is no name.
func scriptOf(args []string) (script string, rest []string) {
	for i, arg := range args {
		arg = strings.Trim(arg, `"'`)
		switch {
		case inline.MatchString(arg):
			return "", nil
		case arg == "" || strings.HasPrefix(arg, "-") || strings.HasSuffix(arg, ".lock") ||
			strings.HasSuffix(arg, ".pid") || arg == "exec" || arg == "run" && i == 0 && len(args) > 1:
			continue
		case strings.ContainsAny(arg, "<>$`=") || strings.Trim(arg, "0123456789smh.") == "":
			continue
		}
		return arg, args[i+1:]
	}
	return "", nil
}
