package schedule

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gorhill/cronexpr"
)

// expression is a canonical text with the engine's parse of it, shared by all jobs with the same line.
type expression struct {
	text     string
	kind     kind
	period   time.Duration // kindEvery
	at       time.Time     // kindAt
	allHours bool          // the line follows real time through gaps and overlaps
	periodic bool          // a field of the time begins with *
	someDays bool          // a day field is restricted
	either   bool          // both day fields are restricted
	months   bool          // no day of the line exists in some months
	hours    uint32        // kindCron: its hours
	minutes  uint64        // kindCron: its minutes
	seconds  uint64        // kindCron: its seconds
	days     string        // kindCron: the fields that determine the days, as in text
	entries  []Entry       // kindSeveral: the schedules, in the order of the list

	mu     sync.Mutex // the engine writes into the expression when it is read
	engine *cronexpr.Expression
	from   int64        // where the last search started
	known  [ahead]int64 // fires from there on, as far as they were computed
	count  int          // number of valid entries of known
}

// ahead is the number of fires that are computed at once for a line that restricts days: the engine lists a month's
// days for each search, which takes ten times as long as the rest.
const ahead = 8

// Bounds of wall-clock seconds for the engine. Its years are 1970 to 2099; a day is left on both sides for zones.
const (
	wallMin = -2 * 86400
	wallMax = 4102444800 + 2*86400 // 2100-01-01 and two days
)

// newExpression parses a canonical text with the engine.
func newExpression(p *parsed, text string) (*expression, *Error) {
	x := &expression{text: text, kind: p.kind, period: p.period, at: p.at}
	if p.kind != kindCron {
		return x, nil
	}
	x.allHours, x.periodic = p.line[hour].star, p.periodic
	x.someDays = !p.line[dom].star || !p.line[dow].star
	x.either = p.line.either()
	x.months = p.line.skipsMonths()
	x.hours, x.minutes = uint32(p.line[hour].bits(&defs[hour])), p.line[minute].bits(&defs[minute])
	x.seconds = p.line[second].bits(&defs[second])
	x.days = strings.SplitN(text, " ", dom+1)[dom]
	engine, err := engineParse(text)
	if err != nil {
		return nil, engineError(err)
	}
	x.engine = engine
	_, ok, err := x.next(wallMin)
	switch {
	case err != nil:
		return nil, engineError(err)
	case !ok:
		return nil, &Error{Code: CodeNever, Field: FieldExpression, Message: "the line never fires: no such day exists",
			Hint: "check day, month and year against each other"}
	}
	return x, nil
}

// engineError returns the error of a line that the engine cannot plan.
func engineError(err error) *Error {
	return &Error{Code: CodeEngine, Field: FieldExpression, Message: "the line cannot be planned: " + err.Error(),
		Hint: "write it in another way, and report the line"}
}

// engineParse converts a panic of the engine to an error.
func engineParse(text string) (engine *cronexpr.Expression, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cron engine panicked: %v", r)
		}
	}()
	return cronexpr.Parse(text)
}

// next returns the first matching wall-clock second after wall; ok is false if there is none before 2100. Wall-clock
// seconds count as if the zone were UTC.
func (x *expression) next(wall int64) (next int64, ok bool, err error) {
	if wall >= wallMax {
		return 0, false, nil
	}
	wall = max(wall, wallMin)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.from <= wall {
		for _, t := range x.known[:x.count] {
			if t > wall {
				return t, true, nil
			}
		}
	}
	defer func() {
		if r := recover(); r != nil {
			next, ok, err = 0, false, fmt.Errorf("cron engine panicked on %s: %v", quote(x.text), r)
		}
	}()
	if err := x.ask(wall); err != nil || x.count == 0 {
		return 0, false, err
	}
	return x.known[0], true, nil
}

// ask puts the fires after wall into known; the caller holds mu.
func (x *expression) ask(wall int64) error {
	from := time.Unix(wall, 0).UTC()
	x.from, x.count = wall, 0
	if !x.someDays {
		return x.keep(x.engine.Next(from))
	}
	for _, t := range x.engine.NextN(from, ahead) {
		if err := x.keep(t); err != nil {
			return err
		}
	}
	return nil
}

// keep adds a result of the engine, which is the zero time if there is none. A result that is not later than the
// previous one would make a job fire forever.
func (x *expression) keep(t time.Time) error {
	if t.IsZero() {
		return nil
	}
	last := x.from
	if x.count > 0 {
		last = x.known[x.count-1]
	}
	if t.Unix() <= last {
		x.count = 0
		return fmt.Errorf("cron engine went backwards on %s", quote(x.text))
	}
	x.known[x.count] = t.Unix()
	x.count++
	return nil
}
