package trial

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"carillon/internal/common"
)

// End is how a node ends. The zero value is exit code 0.
type End struct {
	// Status is a terminal status, or StatusRunning for a node that does not end. If it is empty, the exit code
	// decides, as it does in a run: by the successExitCodes of the step.
	Status common.Status
	Exit   *int
	Reason string // code of the reason; empty for the usual one of the status
}

var reasonPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// ParseEnd parses the text form of an end: a status, an exit code, or parts of both, separated by commas:
// "timed_out", "3", "exit=3", "failed,exit=3,reason=signal".
func ParseEnd(text string) (End, error) {
	var e End
	for n, part := range strings.Split(text, ",") {
		name, value, named := strings.Cut(part, "=")
		_, notNumber := strconv.Atoi(part)
		switch {
		case named && name == "exit", n == 0 && notNumber == nil:
			if !named {
				value = part
			}
			code, err := strconv.Atoi(value)
			if err != nil || code < 0 || code > 255 || e.Exit != nil {
				return e, fmt.Errorf("%q is not an exit code from 0 to 255", common.Shorten(value))
			}
			e.Exit = &code
		case named && name == "reason" && reasonPattern.MatchString(value):
			e.Reason = value
		case !named && n == 0 && isEnd(common.Status(part)):
			e.Status = common.Status(part)
		default:
			return e, fmt.Errorf("%q is not one of %s, exit=N and reason=CODE", common.Shorten(part), ends())
		}
	}
	return e, nil
}

// isEnd reports whether a status can be given for a node.
func isEnd(s common.Status) bool {
	return slices.Contains(common.Statuses[:], s) && s != common.StatusWaiting
}

// ends lists the statuses that can be given.
func ends() string {
	var all []string
	for _, s := range common.Statuses {
		if isEnd(s) {
			all = append(all, string(s))
		}
	}
	return strings.Join(all, ", ")
}

// outcome is the end of a node, complete.
type outcome struct {
	status  common.Status
	exit    *int
	reason  *common.Reason
	outputs map[string]string
}

// outcome returns how a node of a step ends that was given this end and these outputs.
func (e End) outcome(step *common.Step, outputs map[string]string) outcome {
	o := outcome{status: e.Status, exit: e.Exit}
	switch step.Kind() {
	case common.ApprovalStep:
		return e.answer(step, outputs)
	case common.WaitStep:
		return e.waited(step)
	}
	if o.exit == nil {
		switch o.status {
		case "", common.StatusSucceeded:
			o.exit = new(0)
		case common.StatusFailed:
			o.exit = new(failure(step))
		}
	}
	if o.status == "" {
		o.status = common.StatusFailed
		if succeeds(step, *o.exit) {
			o.status = common.StatusSucceeded
		}
	}
	o.reason = usualReason(step, &o)
	if e.Reason != "" {
		o.reason = &common.Reason{Code: e.Reason}
	}
	switch o.status {
	case common.StatusSucceeded, common.StatusFailed, common.StatusTimedOut, common.StatusKilled:
		o.report(step, outputs)
	}
	return o
}

// answer returns how an approval ends that was given this end, and these values of its parameters.
func (e End) answer(step *common.Step, params map[string]string) outcome {
	o := outcome{status: e.Status}
	if o.status == "" {
		o.status = common.StatusSucceeded
	}
	o.reason = usualReason(step, &o)
	if o.status == common.StatusTimedOut && step.Approval.OnTimeout == common.TimeoutSkips {
		o.status = common.StatusSkipped
		o.reason = &common.Reason{Code: common.ReasonNotAnswered, Text: "it was not answered in time"}
	}
	if e.Reason != "" {
		o.reason = &common.Reason{Code: e.Reason}
	}
	if o.status == common.StatusSucceeded {
		o.outputs, _ = step.Approval.Params.Given(params) // check has found the faults
	}
	return o
}

// waited returns how a step ends that waits for fires of a job and was given this end.
func (e End) waited(step *common.Step) outcome {
	o := outcome{status: e.Status}
	if o.status == "" {
		o.status = common.StatusSucceeded
	}
	if o.reason = usualReason(step, &o); e.Reason != "" {
		o.reason = &common.Reason{Code: e.Reason}
	}
	return o
}

// report adds the outputs that a run reports, and fails a success whose outputs are not valid.
func (o *outcome) report(step *common.Step, outputs map[string]string) {
	values, name, fault := read(step, outputs)
	o.outputs = values
	if fault == "" || o.status != common.StatusSucceeded {
		return
	}
	o.status = common.StatusFailed
	o.reason = &common.Reason{Code: common.ReasonOutputsInvalid, Text: "the output " + name + " " + fault,
		Data: map[string]string{"output": name}}
}

// succeeds reports whether an exit code of a step counts as success. Of a job only its own definition says so, which a
// trial does not have: it is the one that is 0.
func succeeds(step *common.Step, code int) bool {
	return code == 0 || slices.Contains(step.SuccessExitCodes, code)
}

// failure returns the smallest exit code of a step that is no success.
func failure(step *common.Step) int {
	code := 1
	for succeeds(step, code) {
		code++
	}
	return code
}

// usualReason returns the reason that a run which ended this way has; nil without one.
func usualReason(step *common.Step, o *outcome) *common.Reason {
	asks := step.Kind() == common.ApprovalStep
	if step.Kind() == common.WaitStep {
		return usualOfWait(step, o.status)
	}
	switch o.status {
	case common.StatusSucceeded:
		if asks {
			return &common.Reason{Code: common.ReasonApproved, Text: "it was approved"}
		}
	case common.StatusFailed:
		if asks {
			return &common.Reason{Code: common.ReasonRejected, Text: "it was rejected"}
		}
		code := strconv.Itoa(*o.exit)
		return &common.Reason{Code: "exit_code", Text: "exit code " + code, Data: map[string]string{"exitCode": code}}
	case common.StatusTimedOut:
		if asks {
			return &common.Reason{Code: common.ReasonTimeout, Text: "it was not answered in time"}
		}
		return &common.Reason{Code: common.ReasonTimeout, Text: "it ran longer than its timeout"}
	case common.StatusKilled:
		return &common.Reason{Code: "killed_by_user", Text: "its run was killed"}
	case common.StatusSkipped:
		return &common.Reason{Code: common.ReasonFunctionSkipped, Text: "its run had nothing to do"}
	}
	return nil
}

// usualOfWait returns the reason of a step that waits for fires of a job.
func usualOfWait(step *common.Step, status common.Status) *common.Reason {
	job := step.Wait.Job
	switch status {
	case common.StatusSucceeded:
		return &common.Reason{Code: common.ReasonFiresSucceeded, Text: "the fires of job " + job + " have succeeded"}
	case common.StatusFailed:
		return &common.Reason{Code: common.ReasonFireFailed, Text: "a fire of job " + job + " has failed"}
	case common.StatusTimedOut:
		return &common.Reason{Code: common.ReasonFiresMissing,
			Text: "fires of job " + job + " have not succeeded in time"}
	case common.StatusKilled:
		return &common.Reason{Code: "killed_by_user", Text: "its run was killed"}
	}
	return nil
}
