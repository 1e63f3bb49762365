package crontab

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"carillon/internal/common"
)

var (
	userName = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,31}\$?$`)
	// A sixth field in a crontab would be run as a command.
	sixthField = regexp.MustCompile(`^(\*(/\d+)?|\?)$`)
)

// entry turns a line with a timetable and a command into a job.
func (p *parser) entry(line, description string) {
	text := line
	if rest, found := strings.CutPrefix(text, "-"); found && rest != "" && strings.ContainsRune("*0123456789", rune(rest[0])) {
		p.tell(Note, "quiet", "the leading '-' (do not write to the system log) is dropped")
		text = rest
	}
	expr, rest, ok := p.timetable(text)
	if !ok {
		return
	}
	user := ""
	if p.System {
		user, rest = word(rest)
		if !userName.MatchString(user) {
			p.tell(Fault, "user_name", "%q is not a user name; in the system format the user stands before the command", common.Excerpt(user))
			return
		}
	}
	raw := strings.TrimSpace(rest)
	if raw == "" {
		p.tell(Fault, "no_command", "has no command")
		return
	}
	if !p.commandFits(raw) {
		return
	}
	if user != "" && p.User != "" && user != p.User {
		p.tell(NotTaken, "other_user", "user %s: to run as another user than the worker's own (%s) is not available in this version", user, p.User)
		return
	}
	if len(p.result.Entries) >= p.most() {
		p.tell(Fault, "too_many", "a crontab may hold %d entries at most; nothing below this line was read", p.most())
		p.stopped = true
		return
	}
	job := common.Job{
		Title: title(line), Description: description, Group: cmp.Or(p.Group, Group), Labels: map[string]string{Label: label(p.Prefix)},
		CronExpr: expr, User: user,
	}
	job.Command, job.Stdin = splitPercent(raw)
	if job.Command == "" {
		p.tell(Fault, "no_command", "has no command before the '%%'")
		return
	}
	p.env.apply(&job)
	job.Name = p.name(expr, user, raw, job.Command)
	p.result.Entries = append(p.result.Entries, Entry{Line: p.line, Job: job})
}

// commandFits notices a format that was mistaken for another, which would give
// jobs that do something else.
func (p *parser) commandFits(raw string) bool {
	first, rest := word(raw)
	switch {
	case sixthField.MatchString(first):
		p.tell(Fault, "sixth_field", "has more than five fields: %q would be the command", common.Excerpt(first))
		return false
	case !p.System && first == "root" && rest != "":
		p.tell(Fault, "system_format", "the command begins with %q, as in the system format; read the file with --system", first)
		return false
	}
	return true
}

// timetable takes the expression off the line and checks it as cron does.
func (p *parser) timetable(line string) (expr, rest string, ok bool) {
	if line[0] == '@' {
		return p.alias(line)
	}
	var texts [5]string
	var sets [5]set
	rest = line
	for i, f := range fields {
		texts[i], rest = word(rest)
		if texts[i] == "" {
			p.tell(Fault, "field_count", "has %d of five fields and no command", i)
			return "", "", false
		}
		bits, err := f.parse(texts[i])
		if err != nil {
			if random(texts[i]) {
				p.tell(NotTaken, "random_time", "%s %q: a random time is not available in this version; write a fixed one", f.name, common.Excerpt(texts[i]))
			} else {
				p.tell(Fault, "field", "%v", err)
			}
			return "", "", false
		}
		sets[i] = bits
		if strings.HasPrefix(texts[i], "*") && bits == f.all() {
			texts[i] = "*"
		}
	}
	if !p.days(texts, sets) {
		return "", "", false
	}
	return strings.Join(texts[:], " "), rest, true
}

// days judges the two day fields together. Cron joins them with "or" when both
// begin with something else than a star, and with "and" otherwise.
func (p *parser) days(texts [5]string, sets [5]set) bool {
	dom, dow := texts[2], texts[4]
	starDom, starDow := strings.HasPrefix(dom, "*"), strings.HasPrefix(dow, "*")
	switch {
	case (starDom || starDow) && dom != "*" && dow != "*":
		p.tell(NotTaken, "both_days", "day of month %q and day of week %q must both match, since one of them begins with '*'; there is no such timetable here: write one of the fields as a list", common.Excerpt(dom), common.Excerpt(dow))
		return false
	case !starDom && !starDow:
		p.tell(Note, "either_day", "day of month and day of week are both set: it runs when either matches, as under cron")
	case dow == "*" && neverFires(sets[2], sets[3]):
		p.tell(NotTaken, "never", "never fires: no such month has such a day")
		return false
	}
	return true
}

func (p *parser) alias(line string) (expr, rest string, ok bool) {
	alias, rest := word(line)
	switch strings.ToLower(alias) {
	case "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly":
		return strings.ToLower(alias), rest, true
	case "@reboot":
		p.tell(NotTaken, "reboot", "@reboot: a job is not tied to one machine's start; use a systemd unit for it")
	default:
		p.tell(Fault, "alias", "%q is not a timetable that cron knows", common.Excerpt(alias))
	}
	return "", "", false
}

// word takes the first word off a text, blanks around it dropped.
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
