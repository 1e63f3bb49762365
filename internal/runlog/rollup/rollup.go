// Package rollup counts runs: by job and worker, by hour and by day of UTC.
//
// It promises that adding runs one by one gives the same result as merging cells in which they were added. It
// is pure: no goroutine, no I/O.
package rollup

import (
	"encoding/binary"
	"slices"
	"time"

	"carillon/internal/common"
)

// Cell counts runs.
type Cell struct {
	// Runs are counted by status, in the order of common.Statuses. A gap entry counts as its number of fires.
	Runs counts
	// Retried counts, by status, the attempts that another one followed. It is counted with the attempt that
	// followed, which knows how the one before it ended.
	Retried counts
	// nodes are the parts of Runs and Retried that are runs of nodes of flow runs.
	nodes, nodesRetried counts
	// Duration is the time of the runs that succeeded, from start to end.
	Duration Histogram
	// Delay is the time from the due time to the start of the command, of first attempts for planned fires.
	Delay Histogram
	// Cost is what the runs used, as far as it was measured. Cells that an older version wrote have none.
	Cost Cost
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
	if i := slices.Index(common.Statuses[:], r.Status); i >= 0 {
		c.Runs[i] += n
		if common.OfNode(r.ID) {
			c.nodes[i] += n
		}
	}
	c.AddOpen(r)
	c.Cost.add(r)
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

// AddOpen counts a run that has not ended: the attempt before it is not the outcome of their fire.
func (c *Cell) AddOpen(r *common.Run) {
	if i := slices.Index(common.Statuses[:], r.Follows()); i >= 0 {
		c.Retried[i]++
		if common.OfNode(r.ID) {
			c.nodesRetried[i]++
		}
	}
}

// Merge adds the counts of another cell.
func (c *Cell) Merge(o *Cell) {
	for i, n := range o.Runs {
		c.Runs[i] += n
		c.Retried[i] += o.Retried[i]
		c.nodes[i] += o.nodes[i]
		c.nodesRetried[i] += o.nodesRetried[i]
	}
	c.Duration.Merge(&o.Duration)
	c.Delay.Merge(&o.Delay)
	c.Cost.merge(o.Cost)
}

// WithoutNodes returns the cell without the outcomes of nodes of flow runs: in a list of all fires a flow run is one.
// Durations are still those of all runs.
func (c *Cell) WithoutNodes() Cell {
	rest := *c
	for i := range rest.Runs {
		rest.Runs[i] -= c.nodes[i]
		rest.Retried[i] -= c.nodesRetried[i]
	}
	rest.nodes, rest.nodesRetried = counts{}, counts{}
	return rest
}

// SameCounts reports whether two cells count the same runs and times. Sums of times may differ by rounding.
func (c *Cell) SameCounts(o *Cell) bool {
	return c.Runs == o.Runs && c.Retried == o.Retried && c.nodes == o.nodes && c.nodesRetried == o.nodesRetried &&
		c.Duration.Count == o.Duration.Count && c.Delay.Count == o.Delay.Count
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

// Fires counts fires by the status of their last attempt: an attempt that another one followed is not the outcome
// of its fire. It is not negative while the earlier of two attempts is not counted yet.
func (c *Cell) Fires() (by counts) {
	for i, n := range c.Runs {
		by[i] = max(0, n-c.Retried[i])
	}
	return by
}

// Retries returns the number of attempts that another one followed.
func (c *Cell) Retries() (n int64) {
	for _, of := range c.Retried {
		n += of
	}
	return n
}

// Attempts returns the number of runs that a worker claimed.
func (c *Cell) Attempts() int64 {
	return c.Total() - c.Of(common.StatusSkipped) - c.Of(common.StatusMissed)
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

// counts are numbers by status.
type counts = [len(common.Statuses)]int64

// Encode encodes the cell for a store. The retries, after them the nodes, and after these the cost are at the end, if
// there are any, where older versions do not read them.
func (c *Cell) Encode() []byte {
	data := c.Delay.append(c.Duration.append(appendCounts([]byte{version}, &c.Runs)))
	ofNodes := c.nodes != counts{} || c.nodesRetried != counts{}
	costs := c.Cost != Cost{}
	if c.Retried == (counts{}) && !ofNodes && !costs {
		return data
	}
	if data = appendSome(data, &c.Retried, costs); !ofNodes && !costs {
		return data
	}
	if data = appendSome(appendSome(data, &c.nodes, costs), &c.nodesRetried, costs); !costs {
		return data
	}
	return c.Cost.append(data)
}

// appendSome is appendCounts, but may encode counts that are all zero as the counts of no status.
func appendSome(data []byte, by *counts, may bool) []byte {
	if may && *by == (counts{}) {
		return binary.AppendUvarint(data, 0)
	}
	return appendCounts(data, by)
}

func appendCounts(data []byte, by *counts) []byte {
	data = binary.AppendUvarint(data, uint64(len(by)))
	for _, n := range by {
		data = binary.AppendUvarint(data, uint64(n))
	}
	return data
}

// takeCounts adds encoded counts, and returns the remaining data. Statuses that a later version added at the end
// are left out.
func takeCounts(data []byte, by *counts) ([]byte, error) {
	statuses, size := binary.Uvarint(data)
	if size <= 0 {
		return nil, errShort
	}
	data = data[size:]
	for i := range statuses {
		n, size := binary.Uvarint(data)
		if size <= 0 {
			return nil, errShort
		}
		data = data[size:]
		if i < uint64(len(by)) {
			by[i] += int64(n)
		}
	}
	return data, nil
}

// AddEncoded merges an encoded cell.
func (c *Cell) AddEncoded(data []byte) error {
	if len(data) == 0 || data[0] != version {
		return errShort
	}
	data, err := takeCounts(data[1:], &c.Runs)
	if err != nil {
		return err
	}
	if data, err = c.Duration.take(data); err != nil {
		return err
	}
	if data, err = c.Delay.take(data); err != nil || len(data) == 0 {
		return err
	}
	for _, by := range [...]*counts{&c.Retried, &c.nodes, &c.nodesRetried} {
		if data, err = takeCounts(data, by); err != nil || len(data) == 0 {
			return err
		}
	}
	return c.Cost.take(data)
}
