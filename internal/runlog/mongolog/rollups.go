package mongolog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"carillon/internal/runlog"
	"carillon/internal/runlog/rollup"
)

// The kinds of roll-ups. Those of a job's hours are counted from the runs; the others are sums of them.
const (
	hourOfJob = "hour"
	dayOfJob  = "day"
	hourOfAll = "all-hour"
	dayOfAll  = "all-day"
)

const (
	hourLong = int64(time.Hour / time.Second)
	dayLong  = 24 * hourLong
)

// rollupDoc is a version of a roll-up. The highest version counts.
type rollupDoc struct {
	ID      string       `bson:"_id"`
	Kind    string       `bson:"kind"`
	Job     string       `bson:"job"` // empty: all jobs
	At      int64        `bson:"at"`  // start of the hour or day, Unix seconds
	Version int64        `bson:"version"`
	Sum     []byte       `bson:"sum"` // of all workers
	Workers []workerCell `bson:"workers"`

	// Of a job's hour only: Base is the part counted of runs that were deleted, or are about to be deleted by
	// the documents in Gone; Runs is the number of other runs counted.
	Runs int64        `bson:"runs"`
	Base []workerCell `bson:"base"`
	Gone []string     `bson:"gone"`
}

// workerCell is the count of one worker, encoded.
type workerCell struct {
	Worker string `bson:"worker"`
	Cell   []byte `bson:"cell"`
}

// rollupID is unique for each version of a roll-up. The job, which may be any text, comes last.
func rollupID(d *rollupDoc) string {
	return fmt.Sprintf("%s/%d/%d/%s", d.Kind, d.At, d.Version, d.Job)
}

// says reports whether two versions have the same contents.
func (d *rollupDoc) says(o *rollupDoc) bool {
	sameCells := func(a, b []workerCell) bool {
		return slices.EqualFunc(a, b, func(a, b workerCell) bool {
			return a.Worker == b.Worker && bytes.Equal(a.Cell, b.Cell)
		})
	}
	return d.Runs == o.Runs && bytes.Equal(d.Sum, o.Sum) && sameCells(d.Workers, o.Workers) &&
		sameCells(d.Base, o.Base) &&
		slices.Equal(d.Gone, o.Gone)
}

// retries returns the number of retries counted; 0 if the sum cannot be read.
func (d *rollupDoc) retries() int64 {
	var cell rollup.Cell
	if cell.AddEncoded(d.Sum) != nil {
		return 0
	}
	return cell.Retries()
}

// cells are counts by worker.
type cells = rollup.Cells[string]

func merge(c cells, encoded []workerCell) error {
	for _, e := range encoded {
		if err := c.At(e.Worker).AddEncoded(e.Cell); err != nil {
			return &unreadable{err}
		}
	}
	return nil
}

func encode(c cells) []workerCell {
	var encoded []workerCell
	for _, worker := range slices.Sorted(maps.Keys(c)) {
		encoded = append(encoded, workerCell{Worker: worker, Cell: c[worker].Encode()})
	}
	return encoded
}

func sum(c cells) []byte {
	var all rollup.Cell
	for _, cell := range c {
		all.Merge(cell)
	}
	return all.Encode()
}

// rollupPlace identifies a roll-up of a kind.
type rollupPlace struct {
	job string
	at  int64
}

// newest keeps the highest version of each roll-up.
func newest(docs []rollupDoc) (highest map[rollupPlace]rollupDoc, old []string) {
	highest = make(map[rollupPlace]rollupDoc, len(docs))
	for _, d := range docs {
		place := rollupPlace{d.Job, d.At}
		if known, there := highest[place]; !there {
			highest[place] = d
		} else if known.Version < d.Version {
			old, highest[place] = append(old, known.ID), d
		} else {
			old = append(old, d.ID)
		}
	}
	return highest, old
}

// findRollups reads roll-ups in all their versions, lower versions of a place first: a version is deleted
// only after a higher one exists, so that a reader in this order finds one of them.
func (s *Store) findRollups(ctx context.Context, kind string, jobs []string, from, to int64,
	without ...string) ([]rollupDoc, error) {
	filter := bson.D{{Key: "kind", Value: kind}}
	if jobs != nil {
		filter = append(filter, bson.E{Key: "job", Value: bson.D{{Key: "$in", Value: jobs}}})
	}
	filter = append(filter, bson.E{Key: "at", Value: bson.D{{Key: "$gte", Value: from}, {Key: "$lt", Value: to}}})
	opts := options.Find().SetSort(bson.D{{Key: "job", Value: 1}, {Key: "at", Value: 1}, {Key: "version", Value: 1}})
	projection := bson.D{}
	for _, field := range without {
		projection = append(projection, bson.E{Key: field, Value: 0})
	}
	if len(projection) > 0 {
		opts.SetProjection(projection)
	}
	return find[rollupDoc](ctx, s.rollups, filter, opts)
}

// Rollups returns roll-ups in order of time.
func (s *Store) Rollups(ctx context.Context, q runlog.RollupQuery) ([]rollup.Row, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	kind := hourOfJob
	switch {
	case q.Job == "" && q.Days:
		kind = dayOfAll
	case q.Job == "":
		kind = hourOfAll
	case q.Days:
		kind = dayOfJob
	}
	if !storable(q.Job) {
		return nil, nil
	}
	cut := "workers"
	if q.Workers {
		cut = "sum"
	}
	from, to := span(q.From, q.To)
	docs, err := s.findRollups(ctx, kind, []string{q.Job}, from, to, cut, "base", "gone")
	if err != nil {
		return nil, s.failed(ctx, "read roll-ups", err)
	}
	highest, _ := newest(docs)
	var rows []rollup.Row
	for _, d := range highest {
		encoded := d.Workers
		if !q.Workers {
			encoded = []workerCell{{Cell: d.Sum}}
		}
		for _, e := range encoded {
			row := rollup.Row{At: time.Unix(d.At, 0).UTC(), Job: q.Job, Worker: e.Worker}
			if err := row.Cell.AddEncoded(e.Cell); err != nil {
				return nil, fmt.Errorf("read roll-up %q: %w", d.ID, err)
			}
			if !row.Cell.Empty() {
				rows = append(rows, row)
			}
		}
	}
	slices.SortFunc(rows, func(a, b rollup.Row) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Worker, b.Worker))
	})
	return rows, nil
}

// Totals adds up the hours of each job; whole days are read from the roll-ups of days.
func (s *Store) Totals(ctx context.Context, jobs []string, from, to time.Time) (map[string]rollup.Cell, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	jobs = slices.DeleteFunc(slices.Clone(jobs), func(job string) bool { return !storable(job) })
	if len(jobs) == 0 {
		return nil, nil
	}
	begin, end := span(from, to)
	firstDay, lastDay := -roundDown(-begin, dayLong), roundDown(end, dayLong)
	type part struct {
		kind     string
		from, to int64
	}
	parts := []part{{hourOfJob, begin, end}}
	if firstDay < lastDay {
		parts = []part{{hourOfJob, begin, firstDay}, {dayOfJob, firstDay, lastDay}, {hourOfJob, lastDay, end}}
	}
	totals := map[string]rollup.Cell{}
	for _, p := range parts {
		if p.from >= p.to {
			continue
		}
		docs, err := s.findRollups(ctx, p.kind, jobs, p.from, p.to, "workers", "base", "gone")
		if err != nil {
			return nil, s.failed(ctx, "read roll-ups", err)
		}
		highest, _ := newest(docs)
		for place, d := range highest {
			cell := totals[place.job]
			if err := cell.AddEncoded(d.Sum); err != nil {
				return nil, fmt.Errorf("read roll-up %q: %w", d.ID, err)
			}
			totals[place.job] = cell
		}
	}
	maps.DeleteFunc(totals, func(_ string, cell rollup.Cell) bool { return cell.Empty() })
	return totals, nil
}

// span returns the bounds [from, to) in Unix seconds. A zero time is no bound.
func span(from, to time.Time) (begin, end int64) {
	begin, end = -1<<62, 1<<62
	if !from.IsZero() {
		begin = seconds(from)
	}
	if !to.IsZero() {
		end = seconds(to)
	}
	return begin, end
}

// seconds returns the first full second at or after a time.
func seconds(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

// storable reports whether a job may have this name: other texts are never stored.
func storable(job string) bool { return utf8.ValidString(job) }

// roundDown returns the largest multiple of unit that is at most n.
func roundDown(n, unit int64) int64 {
	rest := n % unit
	if rest < 0 {
		rest += unit
	}
	return n - rest
}
