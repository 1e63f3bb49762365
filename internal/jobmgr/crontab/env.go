package crontab

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"carillon/internal/common"
	"carillon/internal/common/zoneinfo"
)

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// settings are the values of the environment lines so far.
type settings struct {
	zone, defaultZone string
	shell             string
	home, defaultHome string
	jitter            common.Duration
	mail              *string // nil if MAILTO is not set
	vars              map[string]string
	// refused holds the settings that apply under cron and are impossible here, with their lines.
	refused map[string]int
}

func (s *settings) init(o Options) {
	s.zone, s.defaultZone = o.Timezone, o.Timezone
	s.home, s.defaultHome = o.Home, o.Home
	s.vars, s.refused = map[string]string{}, map[string]int{}
}

// refuse records that a setting cannot have the value of the line. Jobs of the lines below it would do something else,
// until another line sets it again.
func (s *settings) refuse(name string, line int) { s.refused[name] = line }

// unusable returns the first of the settings because of which no line can be imported.
func (s *settings) unusable() string {
	first := ""
	for _, name := range slices.Sorted(maps.Keys(s.refused)) {
		if first == "" || s.refused[name] < s.refused[first] {
			first = name
		}
	}
	if first == "" {
		return ""
	}
	return fmt.Sprintf("%s in line %d", common.Excerpt(first), s.refused[first])
}

// apply adds the present settings to a job. homeOf is the home of its user, if it is known.
func (s *settings) apply(j *common.Job, homeOf func(user string) string) {
	j.Timezone, j.Shell, j.Jitter = s.zone, s.shell, s.jitter
	vars := maps.Clone(s.vars)
	home := s.home
	if home == "" && homeOf != nil {
		home = homeOf(j.User)
	}
	if home != "" {
		j.WorkDir = home
		vars["HOME"] = home
	}
	if len(vars) > 0 {
		j.Env = vars
	}
}

// splitEnv splits NAME = value as cron does: blanks around the sign are ignored, name and value may be in single or
// double quotes, which must match, and an unquoted value ends before its trailing blanks. Nothing is expanded. A line
// without this form is not an environment line.
func splitEnv(line string) (name, value string, found bool) {
	name, rest, ok := token(line, "= \t\f")
	if !ok {
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

// token returns a quoted text, or one that ends before any of stop (without stop: at the end, trailing blanks removed).
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
	delete(p.env.refused, name)
	if !variable.MatchString(name) {
		p.report(Note, "variable_name", "the variable %q is ignored: names consist of letters, digits and '_'; "+
			"/bin/sh cannot read it either", common.Shorten(name))
		return
	}
	switch name {
	case "CRON_TZ":
		p.setZone(value)
	case "SHELL":
		if value != "" && !path.IsAbs(value) {
			p.refuse(name, "shell_path", "SHELL=%s is not an absolute path, so cron would rarely find it", value)
			return
		}
		p.env.shell = value
	case "HOME":
		p.setHome(value)
	case "MAILTO":
		p.setMail(value)
	case "LOGNAME", "USER":
		p.report(Note, "follows_user", "%s is ignored: it is set from the user that runs the command", name)
	case "MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING":
		p.report(Note, "mail_only", "%s is ignored: it only concerns mail", name)
	case "RANDOM_DELAY":
		p.setDelay(value)
	case "START_HOURS_RANGE":
		p.report(Fault, "anacrontab", "%s: this is an anacrontab, whose format differs (period, delay, name, "+
			"command)", name)
	default:
		p.setVar(name, value)
	}
}

// refuse reports a setting that cron would accept, and under which the lines below would do something else here.
func (p *parser) refuse(name, code, format, value string) {
	p.report(NotTaken, code, format+"; the lines below are skipped until "+name+" is set "+
		"again", common.Excerpt(value))
	p.env.refuse(name, p.line)
}

func (p *parser) setZone(zone string) {
	if zone == "" {
		p.env.zone = p.env.defaultZone
		return
	}
	if _, err := zoneinfo.Load(zone); err != nil {
		p.refuse("CRON_TZ", "zone", "CRON_TZ=%s is not a time zone (cronie would silently use UTC); use a name "+
			"such as Europe/Berlin", zone)
		return
	}
	p.env.zone = zone
}

func (p *parser) setHome(dir string) {
	switch {
	case dir == "":
		p.env.home = p.env.defaultHome
	case !path.IsAbs(dir):
		p.refuse("HOME", "home_path", "HOME=%s is not an absolute path", dir)
	default:
		p.env.home = dir
	}
}

// setMail records who cron would mail. An empty MAILTO requests no mail. Local users cannot be mailed: the master that
// sends the mail does not know them.
func (p *parser) setMail(to string) {
	p.env.mail = &to
	found, others := addresses(to)
	switch {
	case to == "":
	case len(found) == 0:
		p.report(Note, "mailto_user", "MAILTO=%s is no mail address, so the jobs below notify no one; write it as "+
			"in root@example.com", common.Excerpt(to))
	default:
		p.report(Note, "mailto", "MAILTO=%s: what the jobs below print is mailed, as under cron", common.Excerpt(to))
		if len(others) > 0 {
			p.report(Note, "mailto_user", "%s in MAILTO is no mail address and is left out; write it as in "+
				"root@example.com", common.Excerpt(strings.Join(others, ", ")))
		}
	}
}

// setDelay imports the random delay of cronie: a number of minutes, up to a day, of which its daemon uses a part that
// stays the same while it runs.
func (p *parser) setDelay(value string) {
	n := 0
	for n < len(value) && '0' <= value[n] && value[n] <= '9' {
		n++
	}
	minutes, err := number(value[:n])
	if err != nil || minutes > 24*60 {
		p.report(Note, "bad_delay", "RANDOM_DELAY=%s is ignored, as under cronie: it is not a number of "+
			"minutes from 0 to 1440", common.Excerpt(value))
		return
	}
	p.env.jitter = ""
	if minutes > 0 {
		p.env.jitter = common.Duration(fmt.Sprintf("%dm", minutes))
		p.report(Note, "random_delay", "RANDOM_DELAY=%s becomes jitter: %s of the jobs below, as under cronie; "+
			"Debian's cron ignores it", common.Excerpt(value), p.env.jitter)
	}
}

func (p *parser) setVar(name, value string) {
	if _, known := p.env.vars[name]; !known && len(p.env.vars) >= common.MaxEnv-1 {
		p.report(Fault, "too_many_variables", "too many variables: the maximum is %d", common.MaxEnv-1)
		p.env.refuse(name, p.line)
		return
	}
	if strings.Contains(value, "$") {
		p.report(Note, "dollar", "%s contains '$', which neither cron nor Carillon expands", name)
	}
	p.env.vars[name] = value
}
