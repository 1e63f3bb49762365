package schedule

import (
	"strconv"
	"strings"
)

// Codes of an Error. They are stable: texts are translated by them.
const (
	CodeEmpty       = "cron_empty"          // no text at all
	CodeTooLong     = "cron_too_long"       // more than 256 characters
	CodeCharacters  = "cron_characters"     // something else than printable ASCII on one line
	CodeFieldCount  = "cron_field_count"    // not 5, 6 or 7 fields
	CodeSixFields   = "cron_six_fields"     // six fields that crons read in two ways
	CodeZonePrefix  = "cron_zone_prefix"    // TZ= or CRON_TZ= in front of the line
	CodeAlias       = "cron_alias"          // an unknown @word
	CodeTrailing    = "cron_trailing"       // text after a complete @word or value
	CodeEmptyItem   = "cron_empty_item"     // nothing between two commas
	CodeSyntax      = "cron_syntax"         // a character that fits nowhere
	CodeFieldRange  = "cron_field_range"    // a value outside the field's range
	CodeReversed    = "cron_range_reversed" // a range that ends before it starts
	CodeStep        = "cron_step"           // a step of 0, or longer than the field
	CodeHash        = "cron_hash"           // H where it has no meaning
	CodeDayStep     = "cron_day_step"       // */n in one day field beside a restricted other
	CodeNever       = "cron_never"          // a line that never fires
	CodePast        = "cron_past"           // a line whose last fire is over
	CodeEvery       = "cron_every"          // an @every that is no duration of at least 1 s
	CodeAt          = "cron_at"             // an @at that is no RFC 3339 time
	CodeEngine      = "cron_engine"         // the engine refused what we made for it
	CodeZoneMissing = "zone_missing"        // no zone given
	CodeZoneLocal   = "zone_local"          // the zone "Local", which differs by machine
	CodeZoneUnknown = "zone_unknown"        // not an IANA zone name
	CodeDSTGap      = "dst_gap"             // unknown gap rule
	CodeDSTOverlap  = "dst_overlap"         // unknown overlap rule
)

// Limits of what is read, and of what an error repeats.
const (
	maxQuoted        = 80  // bytes
	maxTextLen       = 256 // bytes
	maxZoneName      = 64  // bytes
	minYear, maxYear = 1970, 2099
)

// Names of what an Error is about, beside the seven fields of a line.
const (
	FieldExpression = "expression"
	FieldZone       = "timezone"
	FieldGap        = "dst.gap"
	FieldOverlap    = "dst.overlap"
	FieldEnd        = "endAt"
)

// Error says what is wrong with a Spec, where, and what to write instead.
type Error struct {
	Code    string // stable, for translation; one of the Code constants
	Field   string // second … year, expression, timezone, dst.gap, dst.overlap, endAt
	Offset  int    // byte offset in Spec.Expr of the first character that is wrong
	Message string // a sentence for the user; quotes at most 80 escaped bytes of input
	Hint    string // what to write instead; may be empty
}

// Error is the message with its place and its hint.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Field)
	switch e.Field {
	case FieldZone, FieldGap, FieldOverlap, FieldEnd:
	default:
		b.WriteString(" (character ")
		b.WriteString(strconv.Itoa(e.Offset + 1))
		b.WriteString(")")
	}
	b.WriteString(": ")
	b.WriteString(e.Message)
	if e.Hint != "" {
		b.WriteString("; ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// quote escapes user text and cuts it, so that an error never repeats more than
// 80 bytes of what was sent.
func quote(s string) string {
	if len(s) > maxQuoted {
		s = s[:maxQuoted]
		return cut(strconv.QuoteToASCII(s), true)
	}
	return cut(strconv.QuoteToASCII(s), false)
}

// cut shortens quoted text without breaking an escape in two.
func cut(quoted string, more bool) string {
	body := quoted[1 : len(quoted)-1]
	end := 0
	for end < len(body) {
		n := escapeLen(body[end:])
		if end+n > maxQuoted {
			more = true
			break
		}
		end += n
	}
	if more {
		return `"` + body[:end] + `…"`
	}
	return `"` + body[:end] + `"`
}

// escapeLen is the length of the first, perhaps escaped, character.
func escapeLen(s string) int {
	if s[0] != '\\' || len(s) < 2 {
		return 1
	}
	n := 2
	switch s[1] {
	case 'x':
		n = 4
	case 'u':
		n = 6
	case 'U':
		n = 10
	}
	return min(n, len(s))
}

// Words are what a translated message is filled with, names and values in turn: the field, the
// character that is wrong, counted from one, and the word of the line that stands there.
func (e *Error) Words(line string) []any {
	text := ""
	if e.Offset < len(line) {
		text, _, _ = strings.Cut(strings.TrimLeft(line[e.Offset:], ","), ",")
		text, _, _ = strings.Cut(strings.ReplaceAll(text, "\t", " "), " ")
	}
	quoted := quote(text)
	return []any{"field", e.Field, "at", e.Offset + 1, "text", quoted[1 : len(quoted)-1]}
}
