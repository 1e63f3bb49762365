package executor

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"carillon/internal/common"
	"carillon/internal/executor/inside"
	"carillon/internal/executor/redact"
)

// Secrets decrypts the secrets that jobs reference.
type Secrets interface {
	// Open returns the value of a secret for a job of a group, or the reason why it is not available.
	Open(ctx context.Context, name, group string) ([]byte, *common.Reason)
}

// open returns the values of the job's variables that reference secrets. Parameter values of a trigger are never
// interpreted as references: a user who may only run a job must not be able to read secrets.
func (x *Executor) open(ctx context.Context, t *Task) (values map[string]string, masks []redact.Secret,
	refused *inside.Outcome) {
	refs := t.Job.SecretRefs()
	if len(refs) == 0 {
		return nil, nil, nil
	}
	values = make(map[string]string, len(refs))
	for _, variable := range slices.Sorted(maps.Keys(refs)) {
		name := refs[variable]
		if x.cfg.Secrets == nil {
			why := &inside.Outcome{Status: common.StatusRefused, Reason: &common.Reason{
				Code: common.ReasonSecretMissing,
				Text: fmt.Sprintf("no secret %s: this worker has no secrets", common.Excerpt(name)),
			}}
			return nil, nil, why.With("secret", name)
		}
		plain, why := x.cfg.Secrets.Open(ctx, name, t.Job.Group)
		switch {
		case why == nil:
		case ctx.Err() != nil:
			return nil, nil, inside.OfCause(context.Cause(ctx))
		default:
			return nil, nil, &inside.Outcome{Status: common.StatusRefused, Reason: why}
		}
		values[variable] = string(plain)
		masks = append(masks, redact.Secret{Name: name, Value: plain})
		more := lines(name, plain)
		masks = append(masks, more[:min(len(more), max(0, maxLines-len(masks)))]...)
	}
	return values, masks, nil
}

// maxLines limits how many lines of a job's secrets are masked individually: each byte of the output is compared with
// all of them.
const maxLines = 128

// lines returns the lines of a secret with several lines: a command may print each of them with a prefix.
func lines(name string, plain []byte) (masks []redact.Secret) {
	for line := range bytes.Lines(plain) {
		if line = bytes.TrimSpace(line); len(line) >= redact.MinSecret && len(line) < len(plain) {
			masks = append(masks, redact.Secret{Name: name, Value: line})
		}
	}
	return masks
}
