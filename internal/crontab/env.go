package crontab

import (
	"maps"
	"path"
	"regexp"
	"strings"
	"time"

	"carillon/internal/common"
)

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// settings is what the environment lines so far have set.
type settings struct {
	zone, defaultZone string
	shell             string
	home, defaultHome string
	vars              map[string]string
}

func (s *settings) init(o Options) {
	s.zone, s.defaultZone = o.Timezone, o.Timezone
	s.home, s.defaultHome = o.Home, o.Home
	s.vars = map[string]string{}
}

// apply gives a job what is in force.
func (s *settings) apply(j *common.Job) {
	j.Timezone, j.Shell = s.zone, s.shell
	vars := maps.Clone(s.vars)
	if s.home != "" {
		j.WorkDir = s.home
		vars["HOME"] = s.home
	}
	if len(vars) > 0 {
		j.Env = vars
	}
}

// splitEnv takes NAME = value apart as cron does: blanks around the sign do not
// count, name and value may stand in single or double quotes which must match,
// and an unquoted value ends before its trailing blanks. Nothing is expanded.
// What does not have this form is not an environment line.
func splitEnv(line string) (name, value string, found bool) {
	name, rest, ok := token(line, "= \t\f")
	if !ok || name == "" {
		return "", "", false
	}
	rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t\f"), "=")
	if !ok {
		return "", "", false
	}
	rest = strings.TrimLeft(rest, " \t\f")
	value, rest, ok = token(rest, "")
	if !ok || strings.Trim(rest, " \t\f") != "" {
		return "", "", false
	}
	return name, value, true
}

// token takes a quoted text, or one that ends before any of stop (with no stop:
// at the end, trailing blanks cut).
func token(s, stop string) (text, rest string, ok bool) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		return strings.Cut(s[1:], s[:1])
	}
	if stop == "" {
		return strings.TrimRight(s, " \t\f"), "", true
	}
	end := strings.IndexAny(s, stop)
	if end < 0 {
		return "", "", false
	}
	return s[:end], s[end:], true
}

func (p *parser) setting(name, value string) {
	if !variable.MatchString(name) {
		p.tell(Fault, "variable_name", "%q is not a name for a variable", common.Excerpt(name))
		return
	}
	switch name {
	case "CRON_TZ":
		p.setZone(value)
	case "SHELL":
		if value != "" && !path.IsAbs(value) {
			p.tell(Fault, "shell_path", "SHELL must be an absolute path, not %q", common.Excerpt(value))
			return
		}
		p.env.shell = value
	case "HOME":
		p.setHome(value)
	case "MAILTO":
		if value != "" {
			p.tell(NotTaken, "mailto", "MAILTO=%s: mail about runs is not available in this version; the lines below it are taken, and their output is kept with each run", common.Excerpt(value))
		}
	case "LOGNAME", "USER":
		p.tell(Note, "follows_user", "%s is ignored: it follows from whom the command runs as", name)
	case "MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING":
		p.tell(Note, "mail_only", "%s is ignored: it only concerns mail", name)
	case "RANDOM_DELAY":
		p.tell(NotTaken, "random_delay", "RANDOM_DELAY=%s: a random delay is not available in this version; the lines below it are taken and start at the full minute", common.Excerpt(value))
	default:
		p.setVar(name, value)
	}
}

func (p *parser) setZone(zone string) {
	if zone == "" {
		p.env.zone = p.env.defaultZone
		return
	}
	if _, err := time.LoadLocation(zone); err != nil || zone == "Local" {
		p.tell(Fault, "zone", "CRON_TZ=%s is not a time zone; write one like Europe/Berlin or UTC", common.Excerpt(zone))
		return
	}
	p.env.zone = zone
}

func (p *parser) setHome(dir string) {
	switch {
	case dir == "":
		p.env.home = p.env.defaultHome
	case !path.IsAbs(dir):
		p.tell(Fault, "home_path", "HOME must be an absolute path, not %q", common.Excerpt(dir))
	default:
		p.env.home = dir
	}
}

func (p *parser) setVar(name, value string) {
	if _, known := p.env.vars[name]; !known && len(p.env.vars) >= common.MaxEnv-1 {
		p.tell(Fault, "too_many_variables", "sets one variable too many: at most %d", common.MaxEnv-1)
		return
	}
	if strings.Contains(value, "$") {
		p.tell(Note, "dollar", "%s holds a '$', which neither cron nor Carillon expands", name)
	}
	p.env.vars[name] = value
}
