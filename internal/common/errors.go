package common

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Code says what kind of failure an error is; it is stable, for scripts and for
// translation. The HTTP status follows from it in one table (httpapi).
type Code string

// The codes that leave a process.
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

// Error is a failure that a user may read: a code, a sentence and, where one
// helps, a hint. Faults lists every fault of a refused input at once. Where a code
// alone tells too little to act upon, Reason says which of its failures it is; Data is
// what a translated sentence is filled with.
type Error struct {
	Code    Code
	Reason  string
	Message string
	Hint    string
	Data    Words
	Faults  []Fault
	// RetryAfter is how long the caller should wait before it asks again; zero where nothing is known about that.
	RetryAfter time.Duration
	Err        error // the cause, for logs; never shown to a user
}

// ErrUnsure is within the error of a change of which it could not be found out whether it was made.
var ErrUnsure = errors.New("it may have been done")

// Fault is one thing wrong with one place of an input.
type Fault struct {
	Location string `json:"location"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	Value    any    `json:"value,omitempty"`
	Data     Words  `json:"data,omitempty"`
}

// With adds what a translated message is filled with: names, each with its value.
func (f *Fault) With(pairs ...any) *Fault {
	f.Data = WordsOf(pairs...)
	return f
}

// WordsOf makes words of names and values that follow each other.
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

// Errorf makes an Error without a cause.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid makes the error of a refused input.
func Invalid(message string, faults ...Fault) *Error {
	return &Error{Code: CodeInvalid, Message: message, Faults: faults}
}

// CodeOf tells the code of an error; one without a code is internal.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}
