package schedules

import "time"

// hourOf returns the hour of the wall clock of t's time zone that contains t. A clock change that
// is not at a full hour ends an hour and begins another.
func hourOf(t time.Time) (begin, end time.Time) {
	_, offset := t.Zone()
	past := (t.Unix() + int64(offset)) % int64(time.Hour/time.Second)
	begin = time.Unix(t.Unix()-past, 0).In(t.Location())
	end = begin.Add(time.Hour)
	since, until := t.ZoneBounds()
	if !since.IsZero() && begin.Before(since) {
		begin = since
	}
	if !until.IsZero() && until.Before(end) {
		end = until
	}
	return begin, end
}

// hoursOf returns the begins of the hours that overlap a range.
func hoursOf(from, to time.Time) []time.Time {
	var all []time.Time
	for from.Before(to) {
		begin, end := hourOf(from)
		all, from = append(all, begin), end
	}
	return all
}
