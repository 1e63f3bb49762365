package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor/inside"
	"carillon/internal/executor/typeschema"
)

// Exit codes of plug-ins with a meaning.
const (
	exitUsage = 64 // the settings are not valid
	exitLater = 75 // temporary failure: try again later
)

// input is what a plug-in reads on its standard input.
type input struct {
	Protocol int         `json:"protocol"`
	Run      inputRun    `json:"run"`
	With     common.With `json:"with"`
	Deadline *time.Time  `json:"deadline,omitempty"`
}

type inputRun struct {
	ID            string            `json:"id"`
	Fire          string            `json:"fire"`
	Job           string            `json:"job"`
	Attempt       int               `json:"attempt"`
	PlannedAt     time.Time         `json:"plannedAt"`
	IntervalStart *time.Time        `json:"intervalStart,omitempty"`
	IntervalEnd   *time.Time        `json:"intervalEnd,omitempty"`
	Fence         int64             `json:"fence"`
	Params        map[string]string `json:"params"`
}

// plugged completes the command of a job whose type is a plug-in: the program, its input, and its environment, which
// holds no secrets.
func (x *Executor) plugged(ctx context.Context, t *Task, g granted, s *spec) *inside.Outcome {
	name := t.Job.TypeName()
	p := x.look(ctx, name)
	if p.is == nil {
		if ctx.Err() != nil {
			return inside.OfCause(context.Cause(ctx))
		}
		code, text := common.ReasonTypeMissing, "this worker does not have the type %s of the job"
		if _, is := errors.AsType[untrusted](p.problem); is {
			code, text = common.ReasonTypeUntrusted, "users other than root may change the plug-in of the type %s"
		}
		return typeRefused(code, &t.Job, text).With("error", p.problem.Error())
	}
	if on := t.Record.Policy.OnLost; p.is.Escapes && on != common.LostAbandon && on != common.LostDetach {
		return withRefused(fmt.Errorf("onLost must be abandon or detach with the type %s", name))
	}
	with, err := filled(t.Job.With, valuesOf(s.env), secretsOfWith(g.secrets))
	if err == nil {
		err = p.is.Check(with)
	}
	if err != nil {
		return withRefused(err)
	}
	in := input{
		Protocol: typeschema.Protocol,
		Run: inputRun{
			ID:        t.Record.Run,
			Fire:      t.Record.Fire,
			Job:       t.Record.Job,
			Attempt:   t.Record.Attempt,
			PlannedAt: t.Record.PlannedAt.UTC(),
			Fence:     t.Fence,
			Params:    t.Job.ParamValues(t.Record.Params),
		},
		With: with,
	}
	if i := t.Interval; i != nil {
		in.Run.IntervalStart, in.Run.IntervalEnd = timeOf(i.Start), timeOf(i.End)
	}
	if in.Run.Params == nil {
		in.Run.Params = map[string]string{}
	}
	if in.With == nil {
		in.With = common.With{}
	}
	if limit := x.limit(t); limit.After > 0 {
		in.Deadline = new(x.cfg.Now().Add(limit.After).UTC())
	}
	data, err := json.Marshal(&in)
	if err != nil {
		return withRefused(err)
	}
	s.stdin, s.path, s.args = string(data), p.file, []string{p.file, "run"}
	s.env = slices.DeleteFunc(s.env, func(v string) bool {
		variable, _, _ := strings.Cut(v, "=")
		return t.Job.NamesSecret(variable)
	})
	s.env = append(s.env, "CARILLON_TYPE="+name)
	return nil
}

func withRefused(err error) *inside.Outcome {
	o := &inside.Outcome{Status: common.StatusRefused, Reason: &common.Reason{Code: common.ReasonWithRefused,
		Text: "the settings of the job do not match its type: " + err.Error()}}
	return o.With("fault", err.Error())
}

func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC())
}

// filled returns the settings with their values and secrets.
func filled(with common.With, values, secrets map[string]string) (common.With, error) {
	return with.Map(func(location, text string) (any, error) {
		if secret, found := secrets[location]; found {
			return secret, nil
		}
		pieces, err := common.Pieces(text)
		if err != nil {
			return nil, fmt.Errorf("with.%s %w", location, err)
		}
		var out strings.Builder
		for _, p := range pieces {
			value, found := values[p.Name]
			if p.Name != "" && !found {
				return nil, fmt.Errorf("with.%s contains ${%s}, which has no value", location, p.Name)
			}
			out.WriteString(p.Text)
			out.WriteString(value)
		}
		return out.String(), nil
	})
}

// ofPlugIn returns the outcome of a plug-in by its exit code, where that has a meaning.
func ofPlugIn(t *Task, e *end, how *inside.Outcome) *inside.Outcome {
	if !t.Job.IsTyped() || how.Status != common.StatusFailed || !e.status.Exited() {
		return how
	}
	switch e.status.ExitStatus() {
	case exitUsage:
		return withRefused(errors.New("the plug-in has refused them, see its output"))
	case exitLater:
		how.Reason.Text += " (try again later)"
	}
	return how
}

// inJSON returns how secrets stand in the input of a plug-in.
func inJSON(secret []byte) [][]byte {
	data, err := json.Marshal(string(secret))
	if err != nil {
		return nil
	}
	return [][]byte{data[1 : len(data)-1]}
}
