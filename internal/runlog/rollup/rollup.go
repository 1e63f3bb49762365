// Package rollup holds what is kept of runs when they are counted together: by job and
// worker, by hour and by day of UTC.
//
// It promises that adding runs one by one, and merging cells in which they were added,
// gives the same. It is pure: no goroutine, no I/O.
package rollup

import (
	"encoding/binary"
	"time"

	"carillon/internal/common"
)

// Cell counts runs.
type Cell struct {
	// Runs are counted by status, in the order of common.Statuses. A gap counts as often
	// as it stands for.
	Runs [len(common.Statuses)]int64
	// Duration is that of the runs that succeeded, from start to end.
	Duration Histogram
	// Delay is how much later than due the command was started, of first attempts for
	// fires of the plan.
	Delay Histogram
}

// Row is a cell and what it is of.
type Row struct {
	At     time.Time // when its hour or day begins
	Job    string    // empty: all jobs
	Worker string    // id; empty: all workers, those without one included
	Cell   Cell
}

// Add counts a run that has ended.
func (c *Cell) Add(r *common.Run) {
	n := int64(1)
	if r.Gap != nil {
		n = max(1, r.Gap.Count)
	}
	for i, s := range common.Statuses {
		if s == r.Status {
			c.Runs[i] += n
		}
	}
	if r.Status == common.StatusSucceeded && r.StartedAt != nil && r.EndedAt != nil {
		c.Duration.Add(r.EndedAt.Sub(*r.StartedAt))
	}
	if r.Cause == common.CauseCron && r.Attempt == 1 && r.StartedAt != nil {
		due := r.PlannedAt
		if r.DueAt != nil {
			due = *r.DueAt
		}
		c.Delay.Add(r.StartedAt.Sub(due))
	}
}

// Merge adds what another cell counted.
func (c *Cell) Merge(o *Cell) {
	for i, n := range o.Runs {
		c.Runs[i] += n
	}
	c.Duration.Merge(&o.Duration)
	c.Delay.Merge(&o.Delay)
}

// Of is how many runs ended with a status.
func (c *Cell) Of(s common.Status) int64 {
	for i, known := range common.Statuses {
		if s == known {
			return c.Runs[i]
		}
	}
	return 0
}

// Total is how many runs there were.
func (c *Cell) Total() (n int64) {
	for _, of := range c.Runs {
		n += of
	}
	return n
}

// Empty tells whether nothing was counted.
func (c *Cell) Empty() bool { return c.Total() == 0 }

// HourOf is the hour of UTC in which a run was planned: the one that it is counted in.
func HourOf(planned time.Time) time.Time { return planned.UTC().Truncate(time.Hour) }

// DayOf is the day of UTC that a time belongs to.
func DayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// version of what Encode writes.
const version = 1

// Encode writes the cell for a store.
func (c *Cell) Encode() []byte {
	data := []byte{version}
	data = binary.AppendUvarint(data, uint64(len(c.Runs)))
	for _, n := range c.Runs {
		data = binary.AppendUvarint(data, uint64(n))
	}
	return c.Delay.append(c.Duration.append(data))
}

// AddEncoded merges what Encode wrote. Statuses that a later version added at the end are
// left out.
func (c *Cell) AddEncoded(data []byte) error {
	if len(data) == 0 || data[0] != version {
		return errShort
	}
	statuses, size := binary.Uvarint(data[1:])
	if size <= 0 {
		return errShort
	}
	data = data[1+size:]
	for i := range statuses {
		n, size := binary.Uvarint(data)
		if size <= 0 {
			return errShort
		}
		data = data[size:]
		if i < uint64(len(c.Runs)) {
			c.Runs[i] += int64(n)
		}
	}
	data, err := c.Duration.take(data)
	if err != nil {
		return err
	}
	_, err = c.Delay.take(data)
	return err
}
