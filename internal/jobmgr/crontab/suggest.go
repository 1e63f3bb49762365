package crontab

import (
	"cmp"
	"net/url"
	"path"
	"regexp"
	"strings"
)

var (
	extension = regexp.MustCompile(`(?i)\.(sh|bash|zsh|py|pl|rb|php|js|mjs|cjs|ts|jar|exe|dll|r|jl|lua|tcl)$`)
	// Programs whose first argument names what they do.
	tool = regexp.MustCompile(`^(make|npm|yarn|pnpm|docker|docker-compose|podman|kubectl|systemctl|service|git|apt|` +
		`apt-get|dnf|yum|snap|restic|borg|artisan|manage|rake|rails|cargo|go|wp|drush|occ|console|run-parts|` +
		`invoke-rc\.d|certbot|aws|gcloud|rclone|cronctl)$`)
	verb = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9:._-]*$`)
	// Programs whose name does not describe a job.
	generic = regexp.MustCompile(`^(echo|printf|cat|find|xargs|rm|cp|mv|ln|ls|touch|mkdir|chmod|chown|tee|sort|grep|sed|` +
		`awk|head|tail|date|logger|kill|pkill|killall|tar|gzip|xz|zip)$`)
)

// suggest returns a name for the job of a command: the program without its directory and extension, with the script of
// an interpreter in its place, and with the command of a tool that has several. Names of another file than the user's
// crontab begin with its prefix. A program that may do anything is named by the comment above the line, if there is
// one.
func suggest(prefix, command, title string) string {
	work := workOf(command, maxInside)
	name := programName(&work)
	if words := words(title); (work.code || generic.MatchString(name)) && words != "" {
		name = words
	}
	name = cmp.Or(slug(name, maxProgram), "command")
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

// programName returns the name of a program without its extension; of a tool with its command, of a download with its
// host.
func programName(p *program) string {
	name := extension.ReplaceAllString(p.name, "")
	switch {
	case name == "curl" || name == "wget":
		for _, arg := range p.args {
			if u, err := url.Parse(arg); err == nil && u.Host != "" {
				return name + " " + u.Hostname()
			}
		}
	case tool.MatchString(name):
		if first := commandOf(name, p.args); verb.MatchString(first) {
			return name + " " + first
		}
	}
	return name
}

// toolOptions are the options of tools whose value is a word of its own, before their command.
var toolOptions = map[string]*wrapper{
	"apt-get":        {values: "oct"},
	"aws":            {long: []string{"--profile", "--region", "--endpoint-url"}},
	"docker":         {values: "Hcveuwplm", long: []string{"--name", "--network", "--env-file", "--user", "--workdir"}},
	"docker-compose": {values: "fp", long: []string{"--file", "--project-name", "--project-directory", "--env-file"}},
	"gcloud":         {long: []string{"--project", "--account"}},
	"git":            {values: "Cc", long: []string{"--git-dir", "--work-tree"}},
	"kubectl":        {values: "n", long: []string{"--namespace", "--context", "--kubeconfig"}},
	"make":           {values: "CfI", long: []string{"--directory", "--file"}},
	"npm":            {long: []string{"--prefix"}},
	"podman":         {values: "veuwplm", long: []string{"--name", "--network", "--env-file", "--user", "--workdir"}},
	"restic":         {values: "r", long: []string{"--repo", "--password-file"}},
}

// commandOf returns the command of a tool: its first argument that is neither an option nor a value.
func commandOf(name string, args []string) string {
	options := toolOptions[name]
	if options == nil {
		options = plain
	}
	for first := true; ; first = false {
		args, _, _ = options.inside(args)
		if len(args) == 0 {
			return ""
		}
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "" || arg == "exec" || arg == "run" && first && len(args) > 0:
		case strings.ContainsAny(arg, "$`=") || strings.Trim(arg, "0123456789smh.") == "":
		default:
			return path.Base(arg)
		}
	}
}
