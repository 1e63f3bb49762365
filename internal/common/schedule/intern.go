package schedule

import (
	"runtime"
	"sync"
	"time"
	"weak"
)

// Interner shares parsed expressions by canonical text and locations by name: a parsed expression takes about a
// kilobyte, and most jobs share a few hundred. It keeps an expression only as long as a Schedule uses it, so that
// previews of any number of lines do not fill the memory. Safe for concurrent use.
type Interner struct {
	mu          sync.Mutex
	expressions map[expressionKey]weak.Pointer[expression] // guarded by mu
	zones       map[zoneKey]*zone                          // guarded by mu; bounded by the number of names and rules
}

// expressionKey tells lines apart that fire at different times somewhere.
type expressionKey struct {
	text     string // canonical
	periodic bool
}

type zoneKey struct {
	name  string
	rules Rules
}

// NewInterner returns an empty Interner.
func NewInterner() *Interner {
	return &Interner{
		expressions: make(map[expressionKey]weak.Pointer[expression]),
		zones:       make(map[zoneKey]*zone),
	}
}

// Parse parses a schedule. It uses no clock: a line whose last year is over is accepted, so that a stored job is done
// and not broken; use ParseNew for text that a user has just sent. The error is an *Error.
func (in *Interner) Parse(spec Spec) (Schedule, error) {
	s, err := in.parse(spec)
	if err != nil {
		return Schedule{}, err
	}
	return s, nil
}

// ParseNew parses a schedule that is to be saved at now: it also rejects one without a fire after now, and its error
// for six fields quotes the next fires of both interpretations. The error is an *Error.
func (in *Interner) ParseNew(spec Spec, now time.Time) (Schedule, error) {
	s, refusal := in.parse(spec)
	if refusal != nil {
		if refusal.Code == CodeSixFields {
			refusal = in.withFires(spec, refusal, now)
		}
		return Schedule{}, refusal
	}
	_, ok, err := s.Next(now)
	switch {
	case err != nil:
		return Schedule{}, engineError(err)
	case !ok:
		return Schedule{}, s.never(now)
	}
	return s, nil
}

// never returns the error of a schedule without a fire after now.
func (s Schedule) never(now time.Time) *Error {
	show := func(t time.Time) string { return t.In(s.zone.loc).Format(time.RFC3339) }
	b := s.bounds
	past := func(field, message, hint string) *Error {
		return &Error{Code: CodePast, Field: field, Message: message, Hint: hint}
	}
	if b == nil {
		return past(FieldExpression, "the line never fires after "+show(now), "check the year")
	}
	if !now.Before(b.to) {
		return past(FieldEnd, show(b.to)+" is over: there are no fires after it", "give a later end, or none")
	}
	message := "the line never fires after " + show(now)
	if b.from.After(now) {
		message = "the line never fires from " + show(b.from) + " on"
	}
	if b.to.Before(latest) {
		message += ", up to " + show(b.to)
	}
	return past(FieldExpression, message, "check the year, the start and the end")
}

func (in *Interner) parse(spec Spec) (Schedule, *Error) {
	p, err := parseText(spec.Expr, spec.Name)
	if err != nil {
		return Schedule{}, err
	}
	z, err := in.zone(zoneKey{spec.Zone, spec.Rules})
	if err != nil {
		return Schedule{}, err
	}
	x, err := in.expression(&p)
	if err != nil {
		return Schedule{}, err
	}
	return Schedule{expr: x, zone: z, bounds: newBounds(spec.From, spec.To)}, nil
}

// zone returns a zone, and loads it at most a few times.
func (in *Interner) zone(key zoneKey) (*zone, *Error) {
	in.mu.Lock()
	z := in.zones[key]
	in.mu.Unlock()
	if z != nil {
		return z, nil
	}
	z, err := loadZone(key.name)
	if err != nil {
		return nil, err
	}
	z.rules = key.rules
	in.mu.Lock()
	defer in.mu.Unlock()
	if known := in.zones[key]; known != nil {
		return known, nil
	}
	in.zones[key] = z
	return z, nil
}

// expression returns the shared parse of a text, or creates it.
func (in *Interner) expression(p *parsed) (*expression, *Error) {
	text := p.canonical()
	key := expressionKey{text, p.periodic}
	in.mu.Lock()
	x := in.expressions[key].Value()
	in.mu.Unlock()
	if x != nil {
		return x, nil
	}
	x, err := newExpression(p, text)
	if err != nil {
		return nil, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if known := in.expressions[key].Value(); known != nil {
		return known, nil
	}
	in.expressions[key] = weak.Make(x)
	runtime.AddCleanup(x, in.forget, key)
	return x, nil
}

// forget removes an expression that no Schedule uses any more.
func (in *Interner) forget(key expressionKey) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if p, found := in.expressions[key]; found && p.Value() == nil {
		delete(in.expressions, key)
	}
}
