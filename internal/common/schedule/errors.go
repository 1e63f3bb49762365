package schedule

import (
	"strconv"
	"strings"
)

// Codes of an Error. They are stable, for translation.
const (
	CodeEmpty       = "cron_empty"          // empty text
	CodeTooLong     = "cron_too_long"       // more than 256 characters
	CodeCharacters  = "cron_characters"     // a character that is not printable ASCII, or a second line
	CodeFieldCount  = "cron_field_count"    // not 5, 6 or 7 fields
	CodeSixFields   = "cron_six_fields"     // six fields, which crons interpret in two ways
	CodeZonePrefix  = "cron_zone_prefix"    // TZ= or CRON_TZ= before the line
	CodeAlias       = "cron_alias"          // an unknown @word
	CodeTrailing    = "cron_trailing"       // text after a complete @word or value
	CodeEmptyItem   = "cron_empty_item"     // nothing between two commas
	CodeSyntax      = "cron_syntax"         // an unexpected character
	CodeFieldRange  = "cron_field_range"    // a value outside the field's range
	CodeReversed    = "cron_range_reversed" // a range that ends before it starts
	CodeStep        = "cron_step"           // a step of 0, or longer than the field
	CodeHash        = "cron_hash"           // H in an unsupported place
	CodeDayStep     = "cron_day_step"       // */n in one day field beside a restricted other
	CodeNever       = "cron_never"          // a line that never fires
	CodePast        = "cron_past"           // a line whose last fire is in the past
	CodeEvery       = "cron_every"          // the period of @every is no duration of at least 1 s
	CodeEveryStart  = "cron_every_start"    // @every without a start, beside other schedules
	CodeAt          = "cron_at"             // the time of @at is not RFC 3339
	CodeEngine      = "cron_engine"         // the engine rejected the canonical text
	CodeZoneMissing = "zone_missing"        // no zone given
	CodeZoneLocal   = "zone_local"          // the zone "Local", which differs by machine
	CodeZoneUnknown = "zone_unknown"        // not an IANA zone name
	CodeDSTGap      = "dst_gap"             // unknown gap rule
	CodeDSTOverlap  = "dst_overlap"         // unknown overlap rule
)

// Limits of input, and of its quotation in errors.
const (
	maxQuoted        = 80  // bytes
	maxTextLen       = 256 // bytes
	maxZoneName      = 64  // bytes
	minYear, maxYear = 1970, 2099
)

// Names of the parts that an Error is about, beside the seven fields of a line.
const (
	FieldExpression = "expression"
	FieldZone       = "timezone"
	FieldGap        = "dst.gap"
	FieldOverlap    = "dst.overlap"
	FieldEnd        = "endAt"
)

// Error describes what is wrong with a Spec, where, and what to write instead.
type Error struct {
	Code    string // stable, for translation; one of the Code constants
	Field   string // second … year, expression, timezone, dst.gap, dst.overlap, endAt
	Offset  int    // byte offset of the first wrong character in Spec.Expr
	Message string // a sentence for the user; quotes at most 80 escaped bytes of input
	Hint    string // what to write instead; may be empty
}

// Error returns the message with its place and its hint.
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

// quote escapes user text and cuts it, so that an error never repeats more than 80 bytes of the input.
func quote(s string) string {
	if len(s) > maxQuoted {
		s = s[:maxQuoted]
		return cut(strconv.QuoteToASCII(s), true)
	}
	return cut(strconv.QuoteToASCII(s), false)
}

// cut shortens quoted text without breaking an escape sequence.
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

// escapeLen returns the length of the first character, which may be escaped.
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

// Words returns the values for a translated message, names and values in turn: the field, the position of the wrong
// character, counted from one, and the word of the line at that position.
func (e *Error) Words(line string) []any {
	text := ""
	if e.Offset < len(line) {
		text, _, _ = strings.Cut(strings.TrimLeft(line[e.Offset:], ","), ",")
		text, _, _ = strings.Cut(strings.ReplaceAll(text, "\t", " "), " ")
	}
	quoted := quote(text)
	return []any{"field", e.Field, "at", e.Offset + 1, "text", quoted[1 : len(quoted)-1]}
}
