package inside

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"carillon/internal/common"
	"carillon/internal/executor/redact"
)

// Outcome is the status and reason of a run that has ended.
type Outcome struct {
	Status common.Status
	Reason *common.Reason
}

// Failed returns the outcome of a failed run.
func Failed(code, format string, args ...any) *Outcome {
	return &Outcome{common.StatusFailed, &common.Reason{Code: code, Text: fmt.Sprintf(format, args...)}}
}

// With adds a value for translated texts.
func (o *Outcome) With(key, value string) *Outcome {
	if o.Reason.Data == nil {
		o.Reason.Data = make(map[string]string)
	}
	o.Reason.Data[key] = value
	return o
}

// MaskReason masks secrets in the reason: it may quote paths and programs of the job.
func MaskReason(masks *redact.Masker, r *common.Reason) {
	if masks == nil || r == nil {
		return
	}
	r.Text = masks.Text(r.Text)
	for k, v := range r.Data {
		r.Data[k] = masks.Text(v)
	}
}

// OfCause returns the outcome of a run that was stopped.
func OfCause(cause error) *Outcome {
	stopped := &Outcome{common.StatusKilled, &common.Reason{Code: "cancelled", Text: cause.Error()}}
	if h, ok := errors.AsType[Hurried](cause); ok {
		stopped.With("atOnceBy", h.By)
	}
	if k, ok := errors.AsType[Killed](cause); ok {
		stopped.Reason.Code = cmp.Or(k.Code, "killed_by_user")
		stopped.With("by", k.By)
		if k.Code == "" {
			stopped.With("signal", string(k.FirstSignal()))
		}
		if k.Note != "" {
			stopped.With("note", k.Note)
		}
		return stopped
	}
	if t, ok := errors.AsType[TimedOut](cause); ok {
		stopped.Status, stopped.Reason.Code = common.StatusTimedOut, "timeout"
		if t.Worker {
			stopped.Reason.Code = "max_run_time"
		}
		return stopped.With("after", t.After.String())
	}
	switch {
	case errors.Is(cause, ErrStopping):
		stopped.Reason.Code = "worker_stopping"
	case errors.Is(cause, ErrCutOff):
		stopped.Reason.Code = "worker_cut_off"
	}
	return stopped
}

// ParamsRefused returns the outcome of parameter values that the current job does not accept, whatever wrote them to
// etcd.
func ParamsRefused(faults []common.Fault) *Outcome {
	texts := make([]string, min(len(faults), 5))
	for i := range texts {
		texts[i] = faults[i].Location + ": " + faults[i].Message
	}
	o := &Outcome{common.StatusRefused, &common.Reason{Code: "param", Text: strings.Join(texts, "; ")}}
	return o.With("param", strings.TrimPrefix(faults[0].Location, "params."))
}

// FeatureRefused returns the outcome of a definition of a newer version that this worker cannot run as specified.
func FeatureRefused(lacking []string) *Outcome {
	needs := strings.Join(lacking, ", ")
	o := &Outcome{common.StatusRefused, &common.Reason{
		Code: common.ReasonNeedsFeature,
		Text: fmt.Sprintf("the job needs the feature %q, which this version of the worker does not have", needs),
	}}
	return o.With("needs", needs)
}
