package schedule

import (
	"strings"
	"time"
)

// sixReadings are the two possible meanings of six fields.
func sixReadings(tokens []token) (secondsFirst, yearLast string) {
	words := make([]string, len(tokens))
	for i, t := range tokens {
		words[i] = t.text
	}
	text := strings.Join(words, " ")
	return text + " *", "0 " + text
}

// sixFields rejects six fields and shows both interpretations. It uses no clock; withFires adds the next fires.
func sixFields(tokens []token, name string) *Error {
	return explainSix(tokens, name, func(string) string { return "" })
}

func explainSix(tokens []token, name string, fires func(line string) string) *Error {
	secondsFirst, yearLast := sixReadings(tokens)
	reading := func(how, line string) (string, bool) {
		words, err := tokenize(line)
		if err == nil {
			_, err = parseFields(second, words, name)
		}
		if err != nil {
			return how + " it is not valid (" + err.Field + ": " + err.Message + ")", false
		}
		return how + " it is " + Describe(Spec{Expr: line, Name: name}, "en") + fires(line), true
	}
	first, firstOK := reading("with seconds first", secondsFirst)
	last, lastOK := reading("with a year last", yearLast)
	var write []string
	if firstOK {
		write = append(write, secondsFirst+" for seconds first")
	}
	if lastOK {
		write = append(write, yearLast+" for a year last")
	}
	hint := "write 7 fields, second first and year last"
	if len(write) > 0 {
		hint += ": " + strings.Join(write, ", or ")
	}
	return &Error{Code: CodeSixFields, Field: FieldExpression, Offset: tokens[5].offset,
		Message: "crons read six fields in two ways: " + first + "; " + last,
		Hint:    hint}
}

// withFires adds the next fires of both interpretations after now to the error for six fields.
func (in *Interner) withFires(spec Spec, refusal *Error, now time.Time) *Error {
	tokens, err := tokenize(spec.Expr)
	if err != nil {
		return refusal
	}
	return explainSix(tokens, spec.Name, func(line string) string {
		spec.Expr = line
		s, err := in.Parse(spec)
		if err != nil {
			return ""
		}
		fires, _ := s.Preview(now, 2)
		if len(fires) == 0 {
			return ", never again"
		}
		texts := make([]string, len(fires))
		for i, t := range fires {
			texts[i] = t.Format(time.RFC3339)
		}
		return ", next " + strings.Join(texts, " and ")
	})
}
