package crontab

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"carillon/internal/common"
	"carillon/internal/common/redirection"
)

var (
	// A sixth field in a crontab would be executed as part of the command.
	sixthField = regexp.MustCompile(`^(\*(/\d+)?|\?)$`)
	digits     = regexp.MustCompile(`^[0-9]+$`)
)

// entry converts a line with a schedule and a command to a job.
func (p *parser) entry(line string, above comments) {
	text := line
	if rest, found := strings.CutPrefix(text, "-"); found && rest != "" &&
		strings.ContainsRune("*0123456789@", rune(rest[0])) {
		p.report(Note, "quiet", "the leading '-' (no entry in the system log) is ignored")
		text = rest
	}
	expr, rest, ok := p.timetable(text)
	if !ok {
		return
	}
	user := p.Owner
	if p.System {
		user, rest = word(rest)
		if !common.ValidUser(user) {
			p.report(Fault, "user_name", "%q is not a user name; the system format has the user before the "+
				"command", common.Shorten(user))
			return
		}
	}
	raw := strings.TrimSpace(rest)
	if rest, found := strings.CutPrefix(raw, "-n "); found {
		p.report(Note, "mail_option", "the option -n before the command (mail only on failure) is ignored; "+
			"Debian's cron would run it as the command")
		raw = strings.TrimSpace(rest)
	}
	if !p.commandFits(raw) {
		return
	}
	if p.System && p.User != "" && user != p.User {
		p.report(NotTaken, "other_user", "user %s: the workers run as %s; --keep-users imports the lines of "+
			"all users", user, p.User)
		return
	}
	if reason := p.env.unusable(); reason != "" {
		p.report(NotTaken, "bad_setting", "skipped because of %s", reason)
		return
	}
	if len(p.result.Entries) >= p.most() {
		p.report(Fault, "too_many", "more than %d entries; the lines from here on were not read", p.most())
		p.stopped = true
		return
	}
	job := common.Job{Group: cmp.Or(p.Group, Group), CronExpr: expr, User: user}
	job.Title, job.Description = above.split()
	job.Command, job.Stdin = splitPercent(raw)
	if job.Command == "" {
		p.report(NotTaken, "no_command", "no command: cron would run an empty one")
		return
	}
	if job.Command != raw && strings.Contains(raw, "%") && cutByPercent(job.Command) {
		p.report(Note, "percent", "cron ends the command at the first %%, and what follows is its standard input; a "+
			"percent sign is written as \\%%")
	}
	if quote := openQuote(job.Command); quote != 0 {
		p.report(Note, "open_quote", "the quote %s of the command is not closed: the shell rejects it, and each "+
			"run fails", string(quote))
	}
	p.env.apply(&job, p.HomeOf)
	e := Entry{Line: p.line, Job: job, MailTo: p.env.mail}
	p.identify(&e, expr+"\x00"+p.nameOf(user)+"\x00"+raw)
	e.earlier.title, e.earlier.description = title(line), above.text()
	if test, found := guarded(job.Command); found {
		p.report(Note, "guard", "if %s fails, the run fails with exit code 1; as \"if %s; then …; fi\" it "+
			"would succeed", cut(test), cut(test))
	}
	if redirect, found := redirection.OfAll(job.Command); found {
		p.report(Note, "redirected", "%q redirects all output, so Carillon keeps "+
			"none", common.Shorten(strings.TrimSpace(redirect)))
	}
	if leavesProcess(job.Command) {
		p.report(Note, "leftover", "a process that the command leaves in the background is ended with its run; start "+
			"services with systemd, or as a job with daemon")
	}
	if n := chained(job.Command); n > 0 {
		p.report(Note, "chain", "%s commands run one after the other: as steps of a flow, or as jobs that "+
			"name the one before in their field after, each has output, retries and a status of its own",
			strconv.Itoa(n))
	}
	p.result.Entries = append(p.result.Entries, e)
}

// nameOf returns the user as part of a line's mark: that of the line, so that the owner of a crontab in the user format
// does not change the marks of its lines.
func (p *parser) nameOf(user string) string {
	if p.System {
		return user
	}
	return ""
}

// commandFits detects a wrong format, which would produce jobs that do something else.
func (p *parser) commandFits(raw string) bool {
	first, rest := word(raw)
	switch {
	case sixthField.MatchString(first):
		p.report(Fault, "sixth_field", "more than five fields: %q would be the command", common.Shorten(first))
		return false
	case rest != "" && digits.MatchString(first):
		p.report(NotTaken, "number_command", "cron would run %q as a command: this looks like an anacrontab, "+
			"or like six fields", common.Shorten(first))
		return false
	case !p.System && first == "root" && rest != "":
		p.report(Fault, "system_format",
			"the command begins with %q, as in the system format; read the file with --system", first)
		return false
	}
	return true
}

// timetable removes the expression from the line and checks it as cron does.
func (p *parser) timetable(line string) (expr, rest string, ok bool) {
	if line[0] == '@' {
		return p.alias(line)
	}
	var texts, given [5]string
	var sets [5]set
	rest = line
	for i, f := range fields {
		given[i], rest = word(rest)
		if given[i] == "" {
			p.report(Fault, "field_count", "%d of five fields, and no command", i)
			return "", "", false
		}
		r, err := f.read(given[i])
		if bad, found := errors.AsType[refusal](err); found {
			p.notice(bad)
			return "", "", false
		}
		for _, n := range r.notes {
			n.text = fmt.Sprintf("%s %q %s", f.name, n.what, n.text)
			p.notice(n)
		}
		texts[i], sets[i] = r.text, r.set
		if strings.HasPrefix(given[i], "*") && r.set == f.all() {
			texts[i] = "*"
		}
	}
	if !p.days(given, texts, sets) {
		return "", "", false
	}
	return strings.Join(texts[:], " "), rest, true
}

// days checks the two day fields together. Cron joins them with "or" if neither begins with a star, and with "and"
// otherwise.
func (p *parser) days(given, texts [5]string, sets [5]set) bool {
	dom, dow := texts[2], texts[4]
	starDom, starDow := strings.HasPrefix(given[2], "*"), strings.HasPrefix(given[4], "*")
	switch {
	case (starDom || starDow) && dom != "*" && dow != "*":
		p.report(NotTaken, "both_days", "day of month %q and day of week %q must both match under cron, since "+
			"one begins with '*'; Carillon has no equivalent: restrict one of them, and test the other in the "+
			"command",
			common.Shorten(given[2]), common.Shorten(given[4]))
		return false
	case !starDom && !starDow:
		p.report(Note, "either_day",
			"day of month and day of week are both set: it runs when either matches, as under cron")
	case dow == "*" && neverFires(sets[2], sets[3]):
		p.report(NotTaken, "never", "never fires: no such month has such a day")
		return false
	}
	return true
}

func (p *parser) alias(line string) (expr, rest string, ok bool) {
	alias, rest := word(line)
	lower := strings.ToLower(alias)
	switch lower {
	case "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly", "@reboot":
		switch {
		case alias != lower:
			p.report(Fault, "alias", "cron accepts %q only in lower case: %s", common.Shorten(alias), lower)
		case lower == "@reboot":
			p.report(NotTaken, "reboot", "@reboot has no equivalent, since a job is not tied to one machine; "+
				"use a systemd unit")
		default:
			return alias, rest, true
		}
	default:
		p.report(Fault, "alias", "%q is not a schedule that cron accepts", common.Shorten(alias))
	}
	return "", "", false
}

// word removes the first word from a text, and the blanks around it.
func word(s string) (first, rest string) {
	s = strings.TrimLeft(s, " \t")
	end := strings.IndexAny(s, " \t")
	if end < 0 {
		return s, ""
	}
	return s[:end], strings.TrimLeft(s[end:], " \t")
}

func title(line string) string {
	clean := strings.Join(strings.FieldsFunc(line, unprintable), " ")
	runes := []rune(clean)
	if len(runes) <= common.MaxTitle {
		return clean
	}
	return fmt.Sprintf("%s…", string(runes[:common.MaxTitle-1]))
}
