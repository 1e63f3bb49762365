package sqlitelog

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
	"carillon/internal/runlog/rollup"
)

// How much of the past one Tidy compares with its runs: one part after the other, in rotation.
const (
	repairRuns  = 5000
	repairNames = 2000
	// settledAfter is how long ago an hour must have ended to be checked: almost no run is added to it any
	// more.
	settledAfter = 2 * time.Hour
)

// recount is a roll-up to check: of a job in an hour.
type recount struct{ hour, job int64 }

// repair compares roll-ups with their runs, if all of these still exist, and corrects wrong ones.
func (s *Store) repair(ctx context.Context, t *runlog.Tidy, done *runlog.Tidied) error {
	var at recount
	for name, to := range map[string]*int64{"checked_hour": &at.hour, "checked_job": &at.job} {
		if err := s.reader.QueryRowContext(ctx, selectCounter, name).Scan(to); err != nil {
			return err
		}
	}
	hour := &book{span: time.Hour}
	var first sql.NullInt64
	if err := s.reader.QueryRowContext(ctx, "SELECT min(at) FROM hours").Scan(&first); err != nil || !first.Valid {
		return err
	}
	low := first.Int64
	if !t.Hours.IsZero() { // a day is checked only if all its hours exist
		low = max(low, (&book{span: 24 * time.Hour}).from(t.Hours)*24)
	}
	end := hour.at(t.Now.Add(-settledAfter))
	if at.hour < low || at.hour >= end {
		at = recount{hour: low}
	}
	if at.hour >= end {
		return nil
	}
	left := repairRuns
	for names := int64(repairNames); left > 0 && names > 0 && at.hour < end; {
		jobs, last, err := s.jobsOf(ctx, at, &names)
		if err != nil {
			return err
		}
		for _, job := range jobs {
			looked, repaired, err := s.check(ctx, recount{at.hour, job})
			if err != nil {
				return err
			}
			if repaired {
				done.Repaired++
			}
			at.job = job
			if left -= looked; left <= 0 {
				break
			}
		}
		if left > 0 {
			at.job = last
		}
		if at.job < 0 {
			repaired, err := s.checkAll(ctx, at.hour)
			if err != nil {
				return err
			}
			if repaired {
				done.Repaired++
			}
			at = recount{hour: at.hour + 1}
		}
	}
	return s.exclusive(ctx, func(tx *sql.Tx) error {
		for name, value := range map[string]int64{"checked_hour": at.hour, "checked_job": at.job} {
			if err := setCounter(ctx, tx, name, value); err != nil {
				return err
			}
		}
		return nil
	})
}

const (
	// Jobs of an hour, among names in order of their numbers, of which no run was deleted from it.
	selectJobs = `SELECT id FROM names WHERE id > ?1 AND id <= ?2
AND (EXISTS (SELECT 1 FROM runs INDEXED BY runs_by_job WHERE job = names.id AND planned >= ?3 AND planned < ?4)
	OR EXISTS (SELECT 1 FROM hours WHERE at = ?5 AND job = names.id))
AND NOT EXISTS (SELECT 1 FROM expired WHERE job = names.id AND upto >= ?3)
ORDER BY id`
	selectInHour = `SELECT (SELECT doc FROM docs WHERE docs.n = runs.n), worker FROM runs INDEXED BY runs_by_job
WHERE job = ? AND planned >= ? AND planned < ?`
	selectOfHour = "SELECT worker, cell FROM % WHERE at = ? AND job = ?"
)

// jobsOf returns the next jobs that have runs or roll-ups in an hour, and the number of the last of so many
// names that it read; -1 if there are no more.
func (s *Store) jobsOf(ctx context.Context, at recount, names *int64) (jobs []int64, last int64, err error) {
	var end int64
	if err := s.reader.QueryRowContext(ctx, "SELECT max(id) FROM names").Scan(&end); err != nil {
		return nil, 0, err
	}
	last = min(end, at.job+*names)
	*names -= last - at.job
	jobs, err = s.jobsUpTo(ctx, at, last)
	if last == end {
		last = -1
	}
	return jobs, last, err
}

func (s *Store) jobsUpTo(ctx context.Context, at recount, last int64) ([]int64, error) {
	from, to := hourBounds(at.hour)
	return collect(ctx, s.reader, selectJobs, []any{at.job, last, from, to, at.hour},
		func(rows *sql.Rows) (n int64, err error) {
			return n, rows.Scan(&n)
		})
}

// hourBounds returns the bounds of an hour in nanoseconds.
func hourBounds(hour int64) (from, to int64) {
	return hour * int64(time.Hour), (hour + 1) * int64(time.Hour)
}

// check compares a roll-up with its runs. An apparent error is checked again within a write transaction, and
// then corrected.
func (s *Store) check(ctx context.Context, at recount) (looked int, repaired bool, err error) {
	looked, right, err := s.compare(ctx, s.reader, at, nil)
	if err != nil || right {
		return looked, false, err
	}
	err = s.exclusive(ctx, func(tx *sql.Tx) error {
		if err := s.settle(ctx, tx, true); err != nil {
			return err
		}
		var cells rollup.Cells[int64]
		if _, right, err = s.compare(ctx, tx, at, &cells); err != nil || right {
			return err
		}
		if err := put(ctx, tx, "hours", place{at: at.hour, job: at.job}, cells); err != nil {
			return err
		}
		repaired = true
		return s.sumUp(ctx, tx, at)
	})
	return looked, repaired, err
}

// compare reports whether the roll-ups of a job in an hour agree with its runs.
func (s *Store) compare(ctx context.Context, db asker, at recount, into *rollup.Cells[int64]) (looked int,
	right bool, err error) {
	from, to := hourBounds(at.hour)
	cells := rollup.Cells[int64]{}
	_, err = collect(ctx, db, selectInHour, []any{at.job, from, to}, func(rows *sql.Rows) (none struct{}, err error) {
		var doc string
		var worker int64
		if err := rows.Scan(&doc, &worker); err != nil {
			return none, err
		}
		var run common.Run
		if run, err = entry.DecodeRun(doc); err != nil {
			return none, err
		}
		cells.At(worker).Add(&run)
		looked++
		return none, nil
	})
	if err != nil {
		return 0, false, err
	}
	stored, err := cellsOf(ctx, db, "hours", at.hour, at.job)
	if into != nil {
		*into = cells
	}
	return looked, sameCells(cells, stored), err
}

// cellsOf returns the cells of the workers.
func cellsOf(ctx context.Context, db asker, table string, at, job int64) (rollup.Cells[int64], error) {
	cells := rollup.Cells[int64]{}
	return cells, addCells(ctx, db, cells, in(table, selectOfHour), at, job)
}

// addCells adds the rows of a query, each a worker and a cell.
func addCells(ctx context.Context, db asker, cells rollup.Cells[int64], text string, args ...any) error {
	_, err := collect(ctx, db, text, args, func(rows *sql.Rows) (none struct{}, err error) {
		var worker int64
		var cell sql.RawBytes
		if err := rows.Scan(&worker, &cell); err != nil {
			return none, err
		}
		return none, cells.At(worker).AddEncoded(cell)
	})
	return err
}

// sameCells reports whether the counts of runs and times are equal.
func sameCells(a, b rollup.Cells[int64]) bool {
	return maps.EqualFunc(a, b, (*rollup.Cell).SameCounts)
}

// put replaces the roll-ups of a job at a time.
func put(ctx context.Context, tx *sql.Tx, table string, at place, cells rollup.Cells[int64]) error {
	if _, err := tx.ExecContext(ctx, in(table, "DELETE FROM % WHERE at = ? AND job = ?"), at.at, at.job); err != nil {
		return err
	}
	for _, worker := range slices.Sorted(maps.Keys(cells)) {
		if _, err := tx.ExecContext(ctx, in(table, "INSERT INTO % (at, job, worker, cell) VALUES (?, ?, ?, ?)"),
			at.at, at.job, worker, cells[worker].Encode()); err != nil {
			return err
		}
	}
	return nil
}

const (
	selectAllJobs = "SELECT worker, cell FROM hours WHERE at = ? AND job > 0"
	selectDay     = "WITH RECURSIVE every(at) AS (SELECT ?1 UNION ALL SELECT at + 1 FROM every WHERE at < ?1 + " +
		"23)\nSELECT hours.worker, hours.cell FROM every CROSS JOIN hours ON hours.at = every.at AND hours.job = ?2"
)

// sumUp recomputes the sums that contain a corrected roll-up: that of all jobs, and the days.
func (s *Store) sumUp(ctx context.Context, tx *sql.Tx, at recount) error {
	all := rollup.Cells[int64]{}
	if err := addCells(ctx, tx, all, selectAllJobs, at.hour); err != nil {
		return err
	}
	if err := put(ctx, tx, "hours", place{at: at.hour}, all); err != nil {
		return err
	}
	day := floorDiv(at.hour, 24)
	for _, job := range slices.Compact([]int64{noName, at.job}) {
		cells := rollup.Cells[int64]{}
		if err := addCells(ctx, tx, cells, selectDay, day*24, job); err != nil {
			return err
		}
		if err := put(ctx, tx, "days", place{at: day, job: job}, cells); err != nil {
			return err
		}
	}
	return nil
}

// checkAll compares the roll-up of all jobs in an hour with those of the jobs.
func (s *Store) checkAll(ctx context.Context, hour int64) (repaired bool, err error) {
	compare := func(db asker) (right bool, err error) {
		jobs := rollup.Cells[int64]{}
		if err := addCells(ctx, db, jobs, selectAllJobs, hour); err != nil {
			return false, err
		}
		all, err := cellsOf(ctx, db, "hours", hour, noName)
		return sameCells(jobs, all), err
	}
	right, err := compare(s.reader)
	if err != nil || right {
		return false, err
	}
	err = s.exclusive(ctx, func(tx *sql.Tx) error {
		if right, err = compare(tx); err != nil || right {
			return err
		}
		repaired = true
		return s.sumUp(ctx, tx, recount{hour: hour})
	})
	return repaired, err
}
