package httpapi

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog/rollup"
)

// StatusCounts count runs, and fires that did not run, by how they ended.
type StatusCounts struct {
	Succeeded int64 `json:"succeeded"`
	Failed    int64 `json:"failed"`
	TimedOut  int64 `json:"timed_out"`
	Killed    int64 `json:"killed"`
	Lost      int64 `json:"lost"`
	Skipped   int64 `json:"skipped" doc:"Fires; a gap counts as often as it stands for."`
	Refused   int64 `json:"refused"`
	Missed    int64 `json:"missed" doc:"Likewise."`
}

func countsOf(by *[len(common.Statuses)]int64) StatusCounts {
	of := func(s common.Status) int64 {
		for i, known := range common.Statuses {
			if s == known {
				return by[i]
			}
		}
		return 0
	}
	return StatusCounts{Succeeded: of(common.StatusSucceeded), Failed: of(common.StatusFailed), TimedOut: of(common.StatusTimedOut),
		Killed: of(common.StatusKilled), Lost: of(common.StatusLost), Skipped: of(common.StatusSkipped),
		Refused: of(common.StatusRefused), Missed: of(common.StatusMissed)}
}

// runs are those that were taken by a worker.
func (c *StatusCounts) runs() int64 {
	return c.Succeeded + c.Failed + c.TimedOut + c.Killed + c.Lost + c.Refused
}

// successRate is the share of runs that succeeded. A run that was killed, by a user or for
// the one that replaced it, says nothing of the job.
func (c *StatusCounts) successRate() *float64 {
	judged := c.runs() - c.Killed
	if judged == 0 {
		return nil
	}
	return new(float64(c.Succeeded) / float64(judged))
}

// Times are what many times come to, in milliseconds. All are 0 where there is none.
type Times struct {
	Count  int64   `json:"count"`
	MeanMs float64 `json:"meanMs"`
	P50Ms  float64 `json:"p50Ms" doc:"The median. Percentiles are within 7 % of the true ones."`
	P95Ms  float64 `json:"p95Ms"`
	P99Ms  float64 `json:"p99Ms"`
	MaxMs  float64 `json:"maxMs"`
}

func timesOf(h *rollup.Histogram) Times {
	return Times{Count: int64(h.Count), MeanMs: milliseconds(h.Mean()), P50Ms: milliseconds(h.Quantile(.5)), P95Ms: milliseconds(h.Quantile(.95)),
		P99Ms: milliseconds(h.Quantile(.99)), MaxMs: milliseconds(h.Max)}
}

// milliseconds to three places.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Figures are what runs come to.
type Figures struct {
	Runs        int64        `json:"runs" doc:"Runs that have ended, attempts one by one. Fires that did not run are not among them."`
	Statuses    StatusCounts `json:"statuses"`
	SuccessRate *float64     `json:"successRate,omitempty" doc:"succeeded ÷ (succeeded + failed + timed_out + lost + refused); absent where no run counts."`
	Duration    Times        `json:"duration" doc:"From start to end, of the runs that succeeded."`
	Delay       Times        `json:"delay" doc:"How much later than due the fires of the plan were started, first attempts."`
}

func figuresOf(c *rollup.Cell) Figures {
	counts := countsOf(&c.Runs)
	return Figures{Runs: counts.runs(), Statuses: counts, SuccessRate: counts.successRate(), Duration: timesOf(&c.Duration), Delay: timesOf(&c.Delay)}
}
