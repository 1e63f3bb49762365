package funcrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor/inside"
)

// Call is a run of a function. Its methods are safe for concurrent use, also after the function has returned.
type Call struct {
	Job      common.Job
	Record   common.Record
	Fence    int64
	Previous common.Status    // of the attempt before, or of the job's last run here; empty: unknown
	Interval *common.Interval // nil for a run outside the schedule

	mu      sync.Mutex
	capture *inside.Capture   // guarded by mu; nil once the run has ended
	outputs map[string]string // guarded by mu
}

type callKey struct{}

// CallOf returns the call that a context belongs to; nil if it belongs to none.
func CallOf(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// Params returns the values of the job's env and parameters.
func (c *Call) Params() map[string]string {
	values := maps.Clone(c.Job.Env)
	if values == nil {
		values = map[string]string{}
	}
	maps.Copy(values, c.Job.ParamValues(c.Record.Params))
	return values
}

// ErrEnded is returned for output of a run that has ended.
var ErrEnded = fmt.Errorf("the run has ended: %w", io.ErrClosedPipe)

// Print writes to the output of the run. It does not retain p.
func (c *Call) Print(stream common.Stream, p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.capture == nil {
		return 0, ErrEnded
	}
	c.capture.Write(stream, p)
	return len(p), nil
}

// Errors of SetOutput.
var (
	errUndeclared = errors.New("the job declares no such output")
	errTooLarge   = errors.New("the output is too large")
)

// SetOutput sets an output of the run, which the job must declare.
func (c *Call) SetOutput(name, value string) error {
	declared, found := c.Job.Outputs[name]
	switch {
	case !found:
		return fmt.Errorf("output %s: %w", common.Excerpt(name), errUndeclared)
	case len(value) > declared.Limit():
		return fmt.Errorf("output %s of %d bytes: %w", common.Excerpt(name), len(value), errTooLarge)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.capture == nil {
		return ErrEnded
	}
	if c.outputs == nil {
		c.outputs = map[string]string{}
	}
	c.outputs[name] = value
	return nil
}

// read returns an output as a file of a command would hold it.
func (c *Call) read(name string, limit int) (data []byte, missing bool, fault string) {
	value, found := c.outputs[name]
	return []byte(value)[:min(len(value), limit)], !found, ""
}

// begin opens the output of the run.
func (c *Call) begin(capture *inside.Capture) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.capture = capture
}

// close closes the output of the run, and returns it with its size.
func (c *Call) close() (closed *inside.Capture, total int64, truncated bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	closed, c.capture = c.capture, nil
	total, truncated = closed.Close()
	return closed, total, truncated
}

// stuckFactor is how many times the grace period of a run passes before a function that does not return is reported.
const stuckFactor = 10

// stuckAfter returns how long the context of a run may have ended before its function counts as stuck.
func stuckAfter(r *common.Record) time.Duration {
	return stuckFactor * max(r.Policy.KillGrace, time.Second)
}
