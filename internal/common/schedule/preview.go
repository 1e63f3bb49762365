package schedule

import (
	"fmt"
	"slices"
	"time"
)

// Codes of a Note. They are stable, for translation.
const (
	NoteGapRun        = "dst_gap_run"        // a fire was moved to the end of a gap
	NoteGapSkip       = "dst_gap_skip"       // a fire is left out because its local time does not exist
	NoteOverlapFirst  = "dst_overlap_first"  // a local time occurs twice; it fires the first time
	NoteOverlapSecond = "dst_overlap_second" // a local time occurs twice; it fires the second time
	NoteOverlapBoth   = "dst_overlap_both"   // a local time occurs twice; it fires both times
	NoteRealTime      = "dst_real_time"      // the clocks change; the line follows real time
	NoteEither        = "cron_either"        // both day fields are restricted; either matches
	NoteShortMonths   = "cron_short_months"  // some months do not have the day
	NoteUnevenStep    = "cron_uneven_step"   // a step that does not divide its field
	NoteEveryMinute   = "cron_every_minute"  // * in the minutes of a restricted hour
	NoteQuartzDays    = "cron_quartz_days"   // other crons number weekdays differently
	NoteHash          = "cron_hash_value"    // the values of H for this name
)

// Note is a remark on a preview: on a fire at a change of the clock or, with a zero At, on the line itself.
type Note struct {
	Code string    `json:"code" doc:"For programs and translations."`
	Text string    `json:"text"`
	At   time.Time `json:"at,omitzero" doc:"The fire concerned, if there is one."`
	// Entry is the Number of the entry that the note is about; 0 for a job with one schedule.
	Entry int               `json:"entry,omitempty" doc:"Of several schedules: number of the one that the note is about, from 1."`
	Data  map[string]string `json:"data,omitempty" doc:"Values for translated texts."`
}

const wallClock = "2006-01-02 15:04:05"

// Bounds of one preview.
const (
	maxPreview = 1000
	maxNotes   = 100
)

// Preview lists the next n fires after from (at most 1000), with at most 100 notes, those on the line first.
func (s Schedule) Preview(from time.Time, n int) (fires []time.Time, notes []Note) {
	if s.IsZero() {
		return nil, nil
	}
	at := from
	for range min(n, maxPreview) {
		t, ok, err := s.Next(at)
		if !ok || err != nil {
			break
		}
		fires = append(fires, t)
		at = t
	}
	if len(fires) == 0 {
		return fires, s.lineNotes()
	}
	return fires, s.notes(s.bounds.start(from).Unix(), fires[len(fires)-1].Unix())
}

// notes returns the remarks on the line, and on its fires after one time, up to another.
func (s Schedule) notes(from, to int64) (notes []Note) {
	for i := range s.expr.entries {
		e := &s.expr.entries[i]
		for _, n := range e.Schedule.notes(max(from, e.Schedule.bounds.start(time.Unix(from, 0)).Unix()), to) {
			n.Entry = e.Number
			notes = append(notes, n)
		}
	}
	if !s.isLine() {
		slices.SortStableFunc(notes, func(a, b Note) int { return a.At.Compare(b.At) })
		return notes[:min(len(notes), maxNotes)]
	}
	notes = append(s.lineNotes(), s.clockNotes(from, to)...)
	return notes[:min(len(notes), maxNotes)]
}

// lineNotes returns the remarks on the line itself.
func (s Schedule) lineNotes() (notes []Note) {
	if !s.isLine() {
		return nil
	}
	if s.expr.either {
		notes = append(notes, Note{Code: NoteEither,
			Text: "day-of-month and day-of-week are both restricted: the line fires when either matches"})
	}
	if s.expr.months {
		notes = append(notes, Note{Code: NoteShortMonths,
			Text: "months without this day are left out; L is the last day of every month"})
	}
	return notes
}

// clockNotes checks each change of the clock that can affect a fire in (from, to].
func (s Schedule) clockNotes(from, to int64) []Note {
	var notes []Note
	for w := s.zone.lookup(max(from, wallMin) - reach); len(notes) < maxNotes; {
		next, found := s.zone.after(w)
		if !found || next.start > to+reach {
			break
		}
		if note, found := s.clockNote(w, next); found && note.At.Unix() > from && note.At.Unix() <= to {
			notes = append(notes, note)
		}
		w = next
	}
	slices.SortStableFunc(notes, func(a, b Note) int { return a.At.Compare(b.At) })
	return notes
}

// clockNote describes the effect of the change from window p to window w on the line, if there is one.
func (s Schedule) clockNote(p, w window) (Note, bool) {
	low, high := w.start+p.offset, w.start+w.offset // local times that are left out
	gap := low < high
	if !gap {
		low, high = high, low // local times that occur twice
	}
	wall, ok, err := s.expr.next(low - 1)
	if !ok || err != nil || wall >= high {
		return Note{}, false
	}
	local := time.Unix(wall, 0).UTC()
	data := map[string]string{"local": local.Format(wallClock), "zone": s.zone.name}
	note := func(code string, at int64, text string) (Note, bool) {
		t := time.Unix(at, 0).In(s.zone.loc)
		return Note{
			Code: code,
			At:   t,
			Text: fmt.Sprintf("%s in %s %s", data["local"], s.zone.name, text),
			Data: data,
		}, true
	}
	resume := time.Unix(w.start, 0).In(s.zone.loc).Format(wallClock)
	if gap {
		data["resume"] = resume
	}
	switch {
	case s.expr.allHours && gap:
		return note(NoteRealTime, w.start, "does not exist: the clocks jump to "+resume+
			", and the line goes on in real time")
	case s.expr.allHours:
		return note(NoteRealTime, wall-w.offset, "comes twice: the line goes on in real time through both passes")
	case gap && s.zone.rules.Gap == GapRun && high-low <= longestGap:
		return note(NoteGapRun, w.start, "does not exist: it fires at "+resume+", the first instant after the gap")
	case gap:
		return note(NoteGapSkip, w.start, "does not exist: it does not fire")
	case s.overlap() == OverlapSecond:
		return note(NoteOverlapSecond, wall-w.offset, "comes twice: it fires in the second pass")
	case s.overlap() == OverlapBoth:
		return note(NoteOverlapBoth, wall-w.offset, "comes twice: it fires in both passes")
	default:
		return note(NoteOverlapFirst, wall-p.offset, "comes twice: it fires in the first pass")
	}
}
