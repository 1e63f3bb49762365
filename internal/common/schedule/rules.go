package schedule

// Gap is what a fixed-time line does with a local time that the clock skips.
type Gap uint8

// Values of Gap.
const (
	// GapRun fires once, at the first instant after a gap of up to three hours.
	GapRun Gap = iota
	// GapSkip does not fire.
	GapSkip
)

// Overlap is what a line does with a local time that occurs twice.
type Overlap uint8

// Values of Overlap.
const (
	// OverlapCron fires both times if a field of the time begins with *, as cron does, and otherwise the first time.
	OverlapCron Overlap = iota
	// OverlapFirst fires the first time only.
	OverlapFirst
	// OverlapSecond fires the second time only.
	OverlapSecond
	// OverlapBoth fires both times.
	OverlapBoth
)

// Rules decide what lines do on a night when the clocks change. The zero value is the default: run after a
// gap, and in an overlap as cron does. Lines whose hour field covers all 24 hours follow real time instead.
type Rules struct {
	Gap     Gap
	Overlap Overlap
}

// ParseRules parses the two values of a job's dst setting; empty means the default. The error is an *Error.
func ParseRules(gap, overlap string) (Rules, error) {
	var r Rules
	switch gap {
	case "", "run":
		r.Gap = GapRun
	case "skip":
		r.Gap = GapSkip
	default:
		return Rules{}, &Error{
			Code: CodeDSTGap, Field: FieldGap,
			Message: quote(gap) + " is not a rule for a local time that does not exist",
			Hint:    "use run or skip",
		}
	}
	switch overlap {
	case "":
		r.Overlap = OverlapCron
	case "first":
		r.Overlap = OverlapFirst
	case "second":
		r.Overlap = OverlapSecond
	case "both":
		r.Overlap = OverlapBoth
	default:
		return Rules{}, &Error{
			Code: CodeDSTOverlap, Field: FieldOverlap,
			Message: quote(overlap) + " is not a rule for a local time that comes twice",
			Hint:    "use first, second or both",
		}
	}
	return r, nil
}

// String returns the value that ParseRules accepts.
func (g Gap) String() string {
	if g == GapSkip {
		return "skip"
	}
	return "run"
}

// String returns the value that ParseRules accepts.
func (o Overlap) String() string {
	switch o {
	case OverlapFirst:
		return "first"
	case OverlapSecond:
		return "second"
	case OverlapBoth:
		return "both"
	default:
		return ""
	}
}
