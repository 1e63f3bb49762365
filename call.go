package carillon

import (
	"context"
	"log/slog"
	"time"

	"carillon/internal/common"
	"carillon/internal/worker/funcrun"
)

// Run is a run of a function. As an io.Writer it writes to the output of the run. Its methods are safe for concurrent
// use; after the run has ended they return ErrEnded.
type Run struct {
	ID        string
	Job       string
	PlannedAt time.Time
	Interval  Interval // zero for a run outside the schedule
	Attempt   int      // from 1
	// Previous is the status of the attempt before, or of the job's last run on this process; empty if it is unknown.
	Previous string
	Params   map[string]string // values of the parameters and of env
	// Fence is the fencing token: it grows with each claim of the job. Resources compare it to reject late writes.
	Fence int64
	By    string // who requested the run; empty: the schedule

	call *funcrun.Call
}

// Interval is the period of data that a fire of the schedule processes.
type Interval struct{ Start, End time.Time }

// RunOf returns the run that the context of a function belongs to; nil for any other context.
func RunOf(ctx context.Context) *Run {
	c := funcrun.CallOf(ctx)
	if c == nil {
		return nil
	}
	r := &Run{
		ID:        c.Record.Run,
		Job:       c.Record.Job,
		PlannedAt: c.Record.PlannedAt,
		Attempt:   c.Record.Attempt,
		Previous:  string(c.Previous),
		Params:    c.Params(),
		Fence:     c.Fence,
		By:        c.Record.By,
		call:      c,
	}
	if c.Interval != nil {
		r.Interval = Interval{Start: c.Interval.Start, End: c.Interval.End}
	}
	return r
}

// Write writes to the output of the run.
func (r *Run) Write(p []byte) (int, error) { return r.call.Print(common.Stdout, p) }

// Output sets an output of the run, which its job must declare with Outputs.
func (r *Run) Output(name, value string) error { return r.call.SetOutput(name, value) }

// Logger returns a logger that writes to the output of the run; outside of a run, one that discards all.
func Logger(ctx context.Context) *slog.Logger {
	c := funcrun.CallOf(ctx)
	if c == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(logWriter{c}, nil))
}

type logWriter struct{ call *funcrun.Call }

func (w logWriter) Write(p []byte) (int, error) { return w.call.Print(common.Stderr, p) }
