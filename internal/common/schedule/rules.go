package schedule

// Gap says what a fixed-time line does with a local time that the clocks jump over.
type Gap uint8

// The choices for a gap.
const (
	// GapRun fires once, at the first instant after a gap of up to three hours.
	GapRun Gap = iota
	// GapSkip does not fire.
	GapSkip
)

// Overlap says what a fixed-time line does with a local time that comes twice.
type Overlap uint8

// The choices for an overlap.
const (
	// OverlapFirst fires in the first pass only.
	OverlapFirst Overlap = iota
	// OverlapSecond fires in the second pass only.
	OverlapSecond
	// OverlapBoth fires in both passes.
	OverlapBoth
)

// Rules say what happens to fixed-time lines on a night when the clocks change.
// The zero value is the default: run after a gap, first pass of an overlap. Lines
// whose hour field covers all 24 hours follow real time and know no rules.
type Rules struct {
	Gap     Gap
	Overlap Overlap
}

// ParseRules reads the two words of a job's dst setting; an empty word is the
// default. The error is an *Error.
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
	case "", "first":
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

// String is the word that ParseRules reads.
func (g Gap) String() string {
	if g == GapSkip {
		return "skip"
	}
	return "run"
}

// String is the word that ParseRules reads.
func (o Overlap) String() string {
	switch o {
	case OverlapSecond:
		return "second"
	case OverlapBoth:
		return "both"
	default:
		return "first"
	}
}
