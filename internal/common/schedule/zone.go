package schedule

import (
	"math"
	"strings"
	"sync/atomic"
	"time"

	"carillon/internal/common/zoneinfo"
)

// zone is a location with its rules, and the window that was used last, which is nearly always used next.
type zone struct {
	name  string
	loc   *time.Location
	rules Rules
	near  atomic.Pointer[window]
}

// window is a period of Unix seconds [start, end) in which a zone keeps one offset. Ends that do not exist are beyond
// all fires.
type window struct{ start, end, offset int64 }

const (
	forever = math.MaxInt64 / 4
	day     = 24 * 3600
	// reach is more than the difference of any two offsets of a zone: beyond it, no change of the clock affects a
	// wall-clock time.
	reach = 26 * 3600
	// longestGap is the longest gap after which fixed-time lines fire for skipped times.
	longestGap = 3 * 3600
)

// at returns the window that contains u, and caches it.
func (z *zone) at(u int64) window {
	if w := z.near.Load(); w != nil && w.start <= u && u < w.end {
		return *w
	}
	w := z.lookup(u)
	z.near.Store(&w)
	return w
}

// lookup returns the window that contains u.
func (z *zone) lookup(u int64) window {
	t := time.Unix(u, 0).In(z.loc)
	_, offset := t.Zone()
	w := window{-forever, forever, int64(offset)}
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		w.start = min(start.Unix(), u)
	}
	if !end.IsZero() {
		// Beyond its table of changes a zone follows a rule, and ZoneBounds cuts windows at the year and gives every
		// year 365 days: on the last day of a leap year its end is already over. That day becomes a window of its own.
		if w.end = end.Unix(); w.end <= u {
			w.start, w.end = w.end, (u/day+1)*day
		}
	}
	return w
}

// before returns the window that ends where w starts.
func (z *zone) before(w window) (window, bool) {
	if w.start <= -forever {
		return window{}, false
	}
	return z.lookup(w.start - 1), true
}

// after returns the window that starts where w ends.
func (z *zone) after(w window) (window, bool) {
	if w.end >= forever {
		return window{}, false
	}
	return z.lookup(w.end), true
}

// LoadZone returns an IANA zone that a schedule may have.
func LoadZone(name string) (*time.Location, error) {
	z, err := loadZone(name)
	if err != nil {
		return nil, err
	}
	return z.loc, nil
}

// loadZone returns an IANA zone.
func loadZone(name string) (*zone, *Error) {
	fail := func(code, message, hint string) (*zone, *Error) {
		return nil, &Error{Code: code, Field: FieldZone, Message: message, Hint: hint}
	}
	const hint = "use an IANA name such as Europe/Berlin, Asia/Shanghai or UTC"
	switch {
	case name == "":
		return fail(CodeZoneMissing, "there is no time zone", hint)
	case strings.EqualFold(name, "Local"):
		return fail(CodeZoneLocal, quote(name)+" would differ from machine to machine", hint)
	case !zoneName(name):
		return fail(CodeZoneUnknown, quote(name)+" is not a time zone", hint)
	}
	loc, err := zoneinfo.Load(name)
	if err != nil {
		return fail(CodeZoneUnknown, quote(name)+" is not a time zone", hint)
	}
	return &zone{name: name, loc: loc}, nil
}

// zoneName rejects files in zone data that are not zones: leap-second variants, which count time differently, and this
// machine's own zone.
func zoneName(name string) bool {
	if len(name) > maxZoneName {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" {
			return false
		}
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '/', c == '_', c == '-', c == '+':
		default:
			return false
		}
	}
	switch first, _, _ := strings.Cut(name, "/"); first {
	case "right", "posix", "localtime", "posixrules":
		return false
	}
	return true
}
