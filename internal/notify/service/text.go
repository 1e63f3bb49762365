package service

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"carillon/internal/notify"
)

// clip shortens a text to a number of characters, counted in UTF-16 like the services that count so; the others allow
// more.
func clip(s string, most int) string { return shorten(s, most, utf16.RuneLen, 1) }

// clipBytes shortens a text to a number of bytes.
func clipBytes(s string, most int) string { return shorten(s, most, utf8.RuneLen, len("…")) }

// shorten cuts a text at a character, and marks that with an ellipsis of the given size.
func shorten(s string, most int, size func(rune) int, mark int) string {
	used, end := 0, -1 // end is the last place that leaves room for the mark
	for i, r := range s {
		if end < 0 && used+max(size(r), 1) > most-mark {
			end = i
		}
		if used += max(size(r), 1); used > most {
			return s[:end] + "…"
		}
	}
	return s
}

// leastOutput is the room below which output is left out.
const leastOutput = 40

// outputOf returns the last lines of the output of a run in at most so many characters, as UTF-16 or bytes whichever
// are more.
func outputOf(m *notify.Message, most int) string {
	s := strings.Trim(notify.Visible(m.Data.Output), "\n")
	if len(s) <= most {
		return s
	}
	if most < leastOutput {
		return ""
	}
	from := len(s) - most + len("…\n")
	if i := strings.IndexByte(s[from-1:], '\n'); i >= 0 && i < most/2 { // a whole line, unless it is a long one
		return "…\n" + s[from+i:]
	}
	for !utf8.RuneStart(s[from]) {
		from++
	}
	return "…" + s[from:]
}

// quiet returns a text whose "@" mentions no one: a character of no width follows it.
func quiet(s string) string { return strings.ReplaceAll(s, "@", "@\u200b") }

// width returns the number of characters of a text, as UTF-16.
func width(s string) (n int) {
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// markdown escapes a text, so that nothing in it is formatted, linked or quoted.
func markdown(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_~|>[]()#<", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// fenced returns a text as a block of code, which it cannot end.
func fenced(s string) string {
	return "```\n" + strings.ReplaceAll(s, "```", "``\u200b`") + "\n```"
}

// plainText returns a message as text of at most so many bytes: title, facts, the end of the output, and the link.
func plainText(w *words, m *notify.Message, most int) string {
	title := clipBytes(w.title(m), most/6)
	link := ""
	if m.Data.URL != "" {
		link = "\n\n" + m.Data.URL
	}
	return title + "\n\n" + bodyText(w, m, most-len(title)-len("\n\n")-len(link)) + link
}

// bodyText returns the facts of a message and the end of the output in at most so many bytes.
func bodyText(w *words, m *notify.Message, most int) string {
	var lines []string
	for _, f := range w.facts(m) {
		lines = append(lines, f.name+": "+clipBytes(f.value, most/6))
	}
	text := strings.Join(lines, "\n")
	if room := most - len(text) - len("\n\n"); room > 0 {
		if output := outputOf(m, room); output != "" {
			text += "\n\n" + output
		}
	}
	return clipBytes(text, most)
}
