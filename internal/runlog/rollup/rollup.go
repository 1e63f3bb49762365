// Package rollup counts runs: by job and worker, by hour and by day of UTC.
//
// It promises that adding runs one by one gives the same result as merging cells in which they were added. It
// is pure: no goroutine, no I/O.
package rollup

import (
	"encoding/binary"
	"time"

	"carillon/internal/common"
)

// Cell counts runs.
type Cell struct {
	// Runs are counted by status, in the order of common.Statuses. A gap entry counts as its number of fires.
	Runs [len(common.Statuses)]int64
	// Duration is the time of the runs that succeeded, from start to end.
	Duration Histogram
	// Delay is the time from the due time to the start of the command, of first attempts for planned fires.
	Delay Histogram
}

// Cells are cells by key.
type Cells[K comparable] map[K]*Cell

// At returns the cell of a key, a new one if there is none.
func (c Cells[K]) At(key K) *Cell {
	if c[key] == nil {
		c[key] = &Cell{}
	}
	return c[key]
}

// Row is a cell with its time, job and worker.
type Row struct {
	At     time.Time // start of its hour or day
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

// Merge adds the counts of another cell.
func (c *Cell) Merge(o *Cell) {
	for i, n := range o.Runs {
		c.Runs[i] += n
	}
	c.Duration.Merge(&o.Duration)
	c.Delay.Merge(&o.Delay)
}

// Of returns how many runs ended with a status.
func (c *Cell) Of(s common.Status) int64 {
	for i, known := range common.Statuses {
		if s == known {
			return c.Runs[i]
		}
	}
	return 0
}

// Total returns the number of runs.
func (c *Cell) Total() (n int64) {
	for _, of := range c.Runs {
		n += of
	}
	return n
}

// Empty reports whether nothing was counted.
func (c *Cell) Empty() bool { return c.Total() == 0 }

// HourOf returns the hour of UTC in which a run was planned, and in which it is counted.
func HourOf(planned time.Time) time.Time { return planned.UTC().Truncate(time.Hour) }

// DayOf returns the day of UTC of a time.
func DayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// version is the format version that Encode writes.
const version = 1

// Encode encodes the cell for a store.
func (c *Cell) Encode() []byte {
	data := []byte{version}
	data = binary.AppendUvarint(data, uint64(len(c.Runs)))
	for _, n := range c.Runs {
		data = binary.AppendUvarint(data, uint64(n))
	}
	return c.Delay.append(c.Duration.append(data))
}

// AddEncoded merges an encoded cell. Statuses that a later version added at the end are left out.
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
