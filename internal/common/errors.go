package common

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Code is the kind of a failure. It is stable, for scripts and for translation; httpapi maps it to an HTTP status in
// one table.
type Code string

// Codes of errors that users receive.
const (
	CodeInvalid         Code = "invalid"
	CodeNotFound        Code = "not_found"
	CodeExists          Code = "exists"
	CodeStale           Code = "stale"
	CodeConflict        Code = "conflict"
	CodeUnauthenticated Code = "unauthenticated"
	CodeForbidden       Code = "forbidden"
	CodeUnavailable     Code = "unavailable"
	CodeTooLarge        Code = "too_large"
	CodeUnsupportedType Code = "unsupported_media_type"
	CodeNotAllowed      Code = "method_not_allowed"
	CodeTooMany         Code = "too_many_requests"
	CodeInternal        Code = "internal"
)

// Error is a failure that a user may read: a code, a sentence and, where one helps, a hint. Faults lists all faults of
// a rejected input. Reason distinguishes failures with the same code; Data fills the translated sentence.
type Error struct {
	Code    Code
	Reason  string
	Message string
	Hint    string
	Data    Words
	Faults  []Fault
	// RetryAfter is how long the caller should wait before the next request; zero if that is unknown.
	RetryAfter time.Duration
	Err        error // cause, for logs; never shown to a user
}

// ErrUnsure is wrapped by the error of a change whose outcome is unknown.
var ErrUnsure = errors.New("outcome unknown: the request may have been applied")

// Fault is one fault at one place of an input.
type Fault struct {
	Location string `json:"location" doc:"Location: such as path.name, query.limit, header.If-Match or body.env.PATH." example:"body.timeout"`
	Code     string `json:"code" doc:"Stable fault code." example:"duration"`
	Message  string `json:"message" doc:"The fault, following its location: for example must be a duration."`
	Hint     string `json:"hint,omitempty" doc:"Advice on correcting it."`
	Value    any    `json:"value,omitempty" doc:"The value sent, shortened and escaped."`
	Data     Words  `json:"data,omitempty" doc:"Values for translated texts."`
}

// NewFault returns a fault. Of a text as value it quotes an excerpt; nil is not quoted.
func NewFault(location, code string, value any, format string, args ...any) Fault {
	if text, ok := value.(string); ok {
		value = Excerpt(text)
	}
	return Fault{Location: location, Code: code, Value: value, Message: fmt.Sprintf(format, args...)}
}

// WithHint returns the fault with advice.
func (f Fault) WithHint(hint string) Fault {
	f.Hint = hint
	return f
}

// Faults collects the faults of an input.
type Faults []Fault

// Add adds a fault like NewFault, and returns it for further values.
func (f *Faults) Add(location, code string, value any, format string, args ...any) *Fault {
	*f = append(*f, NewFault(location, code, value, format, args...))
	return &(*f)[len(*f)-1]
}

// With adds values for a translated message: names, each followed by its value.
func (f *Fault) With(pairs ...any) *Fault {
	f.Data = WordsOf(pairs...)
	return f
}

// WordsOf returns words from names, each followed by its value.
func WordsOf(pairs ...any) Words {
	words := make(Words, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		words[fmt.Sprint(pairs[i])] = fmt.Sprint(pairs[i+1])
	}
	return words
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Message)
	for i, f := range e.Faults {
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s: %s", f.Location, f.Message)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error without a cause.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithReason sets the reason.
func (e *Error) WithReason(reason string) *Error {
	e.Reason = reason
	return e
}

// With sets the values of the translated sentence: names, each followed by its value.
func (e *Error) With(pairs ...any) *Error {
	e.Data = WordsOf(pairs...)
	return e
}

// WithHint sets the hint.
func (e *Error) WithHint(hint string) *Error {
	e.Hint = hint
	return e
}

// WithCause sets the cause.
func (e *Error) WithCause(err error) *Error {
	e.Err = err
	return e
}

// Invalid returns the error of a rejected input.
func Invalid(message string, faults ...Fault) *Error {
	return &Error{Code: CodeInvalid, Message: message, Faults: faults}
}

// CodeOf returns the code of an error; CodeInternal if it has none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}
