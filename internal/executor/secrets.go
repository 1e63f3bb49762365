package executor

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"carillon/internal/common"
	"carillon/internal/mask"
)

// Secrets opens what a value of a job's env stands for.
type Secrets interface {
	// Open gives a secret to a job of a group; the reason says why it cannot be had.
	Open(ctx context.Context, name, group string) ([]byte, *common.Reason)
}

// open gives the variables of the job that stand for secrets their values. What a trigger
// gives for a parameter is never taken for a name: who may only run a job must not come to read secrets by it.
func (x *Executor) open(ctx context.Context, t *Task) (values map[string]string, masks []mask.Secret, refused *outcome) {
	refs := t.Job.SecretRefs()
	if len(refs) == 0 {
		return nil, nil, nil
	}
	values = make(map[string]string, len(refs))
	for _, variable := range slices.Sorted(maps.Keys(refs)) {
		name := refs[variable]
		if x.cfg.Secrets == nil {
			return nil, nil, (&outcome{common.StatusRefused, &common.Reason{Code: common.ReasonSecretMissing,
				Text: fmt.Sprintf("there is no secret %s: this worker has none", common.Excerpt(name))}}).with("secret", name)
		}
		plain, why := x.cfg.Secrets.Open(ctx, name, t.Job.Group)
		switch {
		case why == nil:
		case ctx.Err() != nil:
			return nil, nil, outcomeOfCause(context.Cause(ctx))
		default:
			return nil, nil, &outcome{common.StatusRefused, why}
		}
		values[variable] = string(plain)
		masks = append(masks, mask.Secret{Name: name, Value: plain})
		more := lines(name, plain)
		masks = append(masks, more[:min(len(more), max(0, maxLines-len(masks)))]...)
	}
	return values, masks, nil
}

// maxLines bounds how many lines of a job's secrets are masked each by itself: each byte of the output is
// compared with all that is masked.
const maxLines = 128

// lines are those of a secret that has more than one: a command may print them with something before each.
func lines(name string, plain []byte) (masks []mask.Secret) {
	for line := range bytes.Lines(plain) {
		if line = bytes.TrimSpace(line); len(line) >= mask.MinSecret && len(line) < len(plain) {
			masks = append(masks, mask.Secret{Name: name, Value: line})
		}
	}
	return masks
}
