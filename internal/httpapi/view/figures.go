package view

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog/rollup"
)

// StatusCounts counts fires, or attempts, by status.
type StatusCounts struct {
	Succeeded int64 `json:"succeeded"`
	Failed    int64 `json:"failed"`
	TimedOut  int64 `json:"timed_out"`
	Killed    int64 `json:"killed"`
	Lost      int64 `json:"lost"`
	Skipped   int64 `json:"skipped" doc:"Fires; a gap entry counts all its fires."`
	Refused   int64 `json:"refused"`
	Missed    int64 `json:"missed" doc:"Fires; a gap entry counts all its fires."`
}

// CountsOf returns counts in the order of common.Statuses by their names.
func CountsOf(by [len(common.Statuses)]int64) StatusCounts {
	of := func(s common.Status) int64 {
		for i, known := range common.Statuses {
			if s == known {
				return by[i]
			}
		}
		return 0
	}
	return StatusCounts{
		Succeeded: of(common.StatusSucceeded),
		Failed:    of(common.StatusFailed),
		TimedOut:  of(common.StatusTimedOut),
		Killed:    of(common.StatusKilled),
		Lost:      of(common.StatusLost),
		Skipped:   of(common.StatusSkipped),
		Refused:   of(common.StatusRefused),
		Missed:    of(common.StatusMissed),
	}
}

// Ran returns the number of those that a worker claimed.
func (c *StatusCounts) Ran() int64 {
	return c.Succeeded + c.Failed + c.TimedOut + c.Killed + c.Lost + c.Refused
}

// Total returns the number of all.
func (c *StatusCounts) Total() int64 { return c.Ran() + c.Skipped + c.Missed }

// SuccessRate returns the share of successes among successes and problems. What a user or the job's own policy has
// decided does not count: killed and skipped ones.
func (c *StatusCounts) SuccessRate() *float64 {
	judged := c.Total() - c.Killed - c.Skipped
	if judged == 0 {
		return nil
	}
	return new(float64(c.Succeeded) / float64(judged))
}

// Times summarizes durations, in milliseconds. All are 0 without samples.
type Times struct {
	Count  int64   `json:"count"`
	MeanMs float64 `json:"meanMs"`
	P50Ms  float64 `json:"p50Ms" doc:"The median. Percentiles are within 7 % of the true ones."`
	P95Ms  float64 `json:"p95Ms"`
	P99Ms  float64 `json:"p99Ms"`
	MaxMs  float64 `json:"maxMs"`
}

func timesOf(h *rollup.Histogram) Times {
	return Times{
		Count:  int64(h.Count),
		MeanMs: Milliseconds(h.Mean()),
		P50Ms:  Milliseconds(h.Quantile(.5)),
		P95Ms:  Milliseconds(h.Quantile(.95)),
		P99Ms:  Milliseconds(h.Quantile(.99)),
		MaxMs:  Milliseconds(h.Max),
	}
}

// Milliseconds converts a duration, with three decimal places.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Cost is what runs used. The fields are absent if no run was measured, as by workers of an older version.
type Cost struct {
	CPUSeconds     float64 `json:"cpuSeconds,omitempty" doc:"CPU time of all runs together: each attempt counts. Absent if none was measured, as the following."`
	MaxMemoryBytes int64   `json:"maxMemoryBytes,omitempty" doc:"Highest resident memory of a run."`
	ReadBytes      int64   `json:"readBytes,omitempty" doc:"Bytes that the runs read from storage."`
	WrittenBytes   int64   `json:"writtenBytes,omitempty" doc:"Bytes that the runs wrote to storage."`
}

func costOf(c *rollup.Cost) Cost {
	return Cost{CPUSeconds: c.CPU.Seconds(), MaxMemoryBytes: c.Memory, ReadBytes: c.Read, WrittenBytes: c.Written}
}

// Figures summarizes fires: each counts once, by the outcome of its last attempt.
type Figures struct {
	Fires       int64        `json:"fires" doc:"Fires with an outcome, as in the ledger: those that ran and ended, and those that were skipped or missed."`
	Runs        int64        `json:"runs" doc:"Completed runs: each attempt counts."`
	Retries     int64        `json:"retries" doc:"Attempts that another one followed; they are not the outcome of their fire."`
	Statuses    StatusCounts `json:"statuses" doc:"Fires by the outcome of their last attempt, as in the ledger. A fire whose retry is pending or running does not count yet."`
	SuccessRate *float64     `json:"successRate,omitempty" doc:"Share of the fires: succeeded ÷ (succeeded + failed + timed_out + lost + refused + missed); absent without fires that count."`
	Duration    Times        `json:"duration" doc:"From start to end, for succeeded runs."`
	Delay       Times        `json:"delay" doc:"Start delay after the due time, for first attempts of scheduled fires."`
	Cost
}

// FiguresOf summarizes a cell.
func FiguresOf(c *rollup.Cell) Figures {
	counts := CountsOf(c.Fires())
	return Figures{
		Fires:       counts.Total(),
		Runs:        c.Attempts(),
		Retries:     c.Retries(),
		Statuses:    counts,
		SuccessRate: counts.SuccessRate(),
		Duration:    timesOf(&c.Duration),
		Delay:       timesOf(&c.Delay),
		Cost:        costOf(&c.Cost),
	}
}

// AttemptFigures summarizes runs: each attempt counts.
type AttemptFigures struct {
	Runs        int64        `json:"runs" doc:"Completed runs: each attempt counts."`
	Statuses    StatusCounts `json:"statuses" doc:"Attempts by outcome."`
	SuccessRate *float64     `json:"successRate,omitempty" doc:"Share of the attempts, computed as that of fires."`
	Duration    Times        `json:"duration" doc:"From start to end, for succeeded runs."`
	Delay       Times        `json:"delay" doc:"Start delay after the due time, for first attempts of scheduled fires."`
	Cost
}

// AttemptFiguresOf summarizes the attempts of a cell.
func AttemptFiguresOf(c *rollup.Cell) AttemptFigures {
	counts := CountsOf(c.Runs)
	return AttemptFigures{
		Runs:        counts.Ran(),
		Statuses:    counts,
		SuccessRate: counts.SuccessRate(),
		Duration:    timesOf(&c.Duration),
		Delay:       timesOf(&c.Delay),
		Cost:        costOf(&c.Cost),
	}
}
