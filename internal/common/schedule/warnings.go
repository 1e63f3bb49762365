package schedule

import (
	"strconv"
	"strings"
)

// Warnings returns remarks on the text itself: what its author may have meant in another cron's dialect. There are none
// for a text that Parse rejects. Preview returns the remarks that depend on the schedule alone.
func Warnings(spec Spec) []Note {
	p, refused := parseText(spec.Expr, spec.Name)
	if refused != nil || p.kind != kindCron {
		return nil
	}
	tokens, refused := tokenize(spec.Expr)
	if refused != nil || len(tokens) < 5 {
		return nil // an alias
	}
	first := minute
	if len(tokens) == 7 {
		first = second
	}
	var notes []Note
	add := func(code, text string, data map[string]string) {
		notes = append(notes, Note{Code: code, Text: text, Data: data})
	}
	hashed := false
	for i, tok := range tokens {
		pos := first + i
		d := &defs[pos]
		hashed = hashed || strings.ContainsAny(withoutNames(tok.text, d), "Hh")
		if pos == dom || pos == year {
			continue
		}
		if text, found := strings.CutPrefix(tok.text, "*/"); found {
			if n, err := strconv.Atoi(text); err == nil && d.size()%n != 0 {
				add(NoteUnevenStep, d.name+" "+quote(tok.text)+": "+strconv.Itoa(d.size())+
					" is not a multiple of "+text+
					", so the last step is shorter; @every keeps an even pace",
					map[string]string{"field": d.name, "text": tok.text, "size": strconv.Itoa(d.size()), "step": text})
			}
		}
	}
	if p.line[minute].star && !p.line[hour].star {
		add(NoteEveryMinute, "the minute field is *: the line fires in every minute of the hours it names; write 0 "+
			"for once an hour", nil)
	}
	if day := tokens[dow-first].text; strings.Contains(spec.Expr, "?") && strings.ContainsAny(day, "1234567") {
		add(NoteQuartzDays, "? comes from Quartz, where weekday 1 is Sunday; here 0 and 7 are Sunday and 1 is "+
			"Monday: write names such as MON", nil)
	}
	if hashed {
		add(NoteHash, "H stands for values made from the job's name: "+p.canonical(),
			map[string]string{"line": p.canonical()})
	}
	return notes
}

// withoutNames removes the names of a field, so that the H of MARCH or THU does not count as the hash sign.
func withoutNames(text string, d *fieldDef) string {
	text = strings.ToUpper(text)
	for _, name := range d.names {
		text = strings.ReplaceAll(text, name, "")
	}
	return text
}

// skipsMonths reports whether some of the line's months lack all of its days.
func (l *line) skipsMonths() bool {
	f := &l[dom]
	if f.star || f.last || f.lastWork || !l[dow].star {
		return false
	}
	days := f.set
	for i := range days {
		days[i] |= f.work[i]
	}
	first := days.values(1)[0]
	months := l[month].set
	if l[month].star {
		months = set{1<<12 - 1}
	}
	for _, m := range months.values(1) {
		longest := 31
		switch m {
		case 2:
			longest = 29
		case 4, 6, 9, 11:
			longest = 30
		}
		if first > longest || m == 2 && first == 29 {
			return true
		}
	}
	return false
}
